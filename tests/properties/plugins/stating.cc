// A right plug-in that states its domain, and aborts on a call outside.
#include <cstdlib>

#include "rule.h"

RULE_VERSION
RULE_WITNESS_INDICES

namespace {

constexpr int64_t kWidths[] = {8, 512};
constexpr int64_t kSegments[] = {3, 64};

}  // namespace

extern "C" int32_t kvw_plugin_domain(kvw_plugin_domain_info* domain) {
  if (domain->struct_size < static_cast<int64_t>(sizeof(kvw_plugin_domain_info))) return 1;
  domain->operations = KVW_PLUGIN_WITNESSES | KVW_PLUGIN_SCATTER;
  domain->flags = KVW_PLUGIN_CONTIGUOUS | KVW_PLUGIN_IN_RANGE;
  domain->max_context = 1000;
  domain->max_rows = 3;
  domain->align_bytes = 16;
  domain->topk = kWidths;
  domain->topk_count = 2;
  domain->num_segments = kSegments;
  domain->num_segments_count = 2;
  return 0;
}

extern "C" int32_t kvw_plugin_apply(const int32_t*, int64_t, int64_t, const int32_t*, int64_t, int64_t, int64_t,
                                    int64_t, int32_t*) {
  std::abort();  // not stated
}
