// A right plug-in for scatter with topk 8, 16-byte bases and packed rows.
#include <cstdlib>
#include <cstring>

#include "rule.h"

RULE_VERSION
extern "C" int32_t kvw_plugin_supports(const char* operation, int64_t rows, int64_t topk, int64_t row_stride,
                                       int64_t num_segments, int64_t base_offset_bytes) {
  return std::strcmp(operation, "scatter") == 0 && rows >= 0 && topk == 8 && row_stride == topk && num_segments <= 8 &&
         base_offset_bytes % 16 == 0;
}
extern "C" int32_t kvw_plugin_scatter(int32_t* topk_indices, int64_t row_stride, int64_t topk,
                                      const int32_t* context_lens, int64_t rows, int64_t num_segments) {
  if (topk != 8 || row_stride != 8 || num_segments > 8 || reinterpret_cast<std::uintptr_t>(topk_indices) % 16 != 0) {
    std::abort();
  }
  return rule::scatter(topk_indices, row_stride, topk, context_lens, rows, num_segments);
}
