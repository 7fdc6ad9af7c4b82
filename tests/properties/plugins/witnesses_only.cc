// A right plug-in with one operation and no name.
#include "rule.h"

RULE_VERSION
RULE_WITNESS_INDICES
