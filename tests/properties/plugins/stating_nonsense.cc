// Right but for the domain that it states: no alignment is 12 bytes.
#include "rule.h"

RULE_VERSION
RULE_SCATTER

extern "C" int32_t kvw_plugin_domain(kvw_plugin_domain_info* domain) {
  domain->align_bytes = 12;
  return 0;
}
