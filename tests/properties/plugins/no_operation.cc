#include "rule.h"

RULE_VERSION
