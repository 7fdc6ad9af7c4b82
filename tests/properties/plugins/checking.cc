// A plug-in that promises the refusals, and gives only those of the number of segments.
#include "rule.h"

RULE_VERSION
extern "C" int32_t kvw_plugin_checks_arguments(void) {
  return 1;
}
extern "C" int32_t kvw_plugin_witness_indices(const int32_t* learned, int64_t learned_len, int64_t topk,
                                              const int32_t* context_lens, int64_t rows, int64_t num_segments,
                                              int32_t* witnesses) {
  if (learned_len != rows * topk) {
    witnesses[0] = 5;  // writes although it refuses
    return 1;
  }
  return num_segments == 0 ? 2 : rule::witness_indices(learned, topk, context_lens, rows, num_segments, witnesses);
}
