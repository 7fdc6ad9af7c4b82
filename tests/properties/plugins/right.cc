// A right plug-in with all three operations and a name of its own.
#include "rule.h"

RULE_VERSION
RULE_WITNESS_INDICES
RULE_APPLY
RULE_SCATTER
extern "C" const char* kvw_plugin_name(void) {
  return "right by the rule";
}
