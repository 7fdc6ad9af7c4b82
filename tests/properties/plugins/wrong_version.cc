#include "rule.h"

extern "C" int32_t kvw_plugin_abi_version(void) {
  return 7;
}
RULE_APPLY
