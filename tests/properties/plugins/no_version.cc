#include "rule.h"

RULE_APPLY
