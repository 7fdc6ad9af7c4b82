// A right plug-in in a line an operation, for plug-ins that are right but for one fault.
#ifndef TESTS_PROPERTIES_PLUGINS_RULE_H
#define TESTS_PROPERTIES_PLUGINS_RULE_H

#include <kvwitness/plugin.h>

#include <algorithm>
#include <cstdint>
#include <span>

#include "tests/rule/rule.h"

namespace rule {

// Row `index` of rows that lie `stride` elements apart.
inline std::span<const std::int32_t> row_of(const std::int32_t* rows, std::int64_t index, std::int64_t stride,
                                            std::int64_t topk) {
  return {rows + index * stride, static_cast<std::size_t>(topk)};
}

inline std::int32_t witness_indices(const std::int32_t* learned, std::int64_t topk, const std::int32_t* context_lens,
                                    std::int64_t rows, std::int64_t num_segments, std::int32_t* out) {
  for (std::int64_t row = 0; row < rows; ++row) {
    std::ranges::copy(kvwitness::rule::witness_row(row_of(learned, row, topk, topk), context_lens[row],
                                                   static_cast<std::uint64_t>(num_segments)),
                      out + row * num_segments);
  }
  return 0;
}

inline std::int32_t apply(const std::int32_t* learned, std::int64_t topk, const std::int32_t* context_lens,
                          std::int64_t rows, std::int64_t learned_keep, std::int64_t num_segments,
                          std::int64_t max_replacements, std::int32_t* out) {
  for (std::int64_t row = 0; row < rows; ++row) {
    std::ranges::copy(kvwitness::rule::applied_row(
                          row_of(learned, row, topk, topk), context_lens[row], static_cast<std::size_t>(learned_keep),
                          static_cast<std::uint64_t>(num_segments), static_cast<std::size_t>(max_replacements)),
                      out + row * topk);
  }
  return 0;
}

inline std::int32_t scatter(std::int32_t* rows_in_place, std::int64_t row_stride, std::int64_t topk,
                            const std::int32_t* context_lens, std::int64_t rows, std::int64_t num_segments) {
  for (std::int64_t row = 0; num_segments > 0 && row < rows; ++row) {
    std::ranges::copy(kvwitness::rule::scattered_row(row_of(rows_in_place, row, row_stride, topk), context_lens[row],
                                                     static_cast<std::uint64_t>(num_segments)),
                      rows_in_place + row * row_stride);
  }
  return 0;
}

}  // namespace rule

#define RULE_VERSION                                \
  extern "C" int32_t kvw_plugin_abi_version(void) { \
    return KVW_PLUGIN_ABI_VERSION;                  \
  }

#define RULE_WITNESS_INDICES                                                                                     \
  extern "C" int32_t kvw_plugin_witness_indices(const int32_t* learned, int64_t, int64_t topk,                   \
                                                const int32_t* context_lens, int64_t rows, int64_t num_segments, \
                                                int32_t* witnesses) {                                            \
    return rule::witness_indices(learned, topk, context_lens, rows, num_segments, witnesses);                    \
  }

#define RULE_APPLY                                                                                                \
  extern "C" int32_t kvw_plugin_apply(const int32_t* learned, int64_t, int64_t topk, const int32_t* context_lens, \
                                      int64_t rows, int64_t learned_keep, int64_t num_segments,                   \
                                      int64_t max_replacements, int32_t* out) {                                   \
    return rule::apply(learned, topk, context_lens, rows, learned_keep, num_segments, max_replacements, out);     \
  }

#define RULE_SCATTER                                                                                       \
  extern "C" int32_t kvw_plugin_scatter(int32_t* topk_indices, int64_t row_stride, int64_t topk,           \
                                        const int32_t* context_lens, int64_t rows, int64_t num_segments) { \
    return rule::scatter(topk_indices, row_stride, topk, context_lens, rows, num_segments);                \
  }

#endif  // TESTS_PROPERTIES_PLUGINS_RULE_H
