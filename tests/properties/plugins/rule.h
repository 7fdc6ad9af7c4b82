// The rule in few lines, for plug-ins that are right but for one fault.
#ifndef TESTS_PROPERTIES_PLUGINS_RULE_H
#define TESTS_PROPERTIES_PLUGINS_RULE_H

#include <kvwitness/plugin.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace rule {

inline std::int64_t effective(std::int64_t context_len, std::int64_t num_segments) {
  return std::min(std::max<std::int64_t>(context_len, 0), num_segments);
}

// e_s of every segment that the row leaves unoccupied, -1 of the others.
inline std::vector<std::int32_t> witnesses(const std::int32_t* row, std::int64_t topk, std::int64_t context_len,
                                           std::int64_t num_segments) {
  const std::int64_t segments = effective(context_len, num_segments);
  std::vector<std::int32_t> found(static_cast<std::size_t>(num_segments), -1);
  for (std::int64_t s = 0; s < segments; ++s) {
    found[static_cast<std::size_t>(s)] = static_cast<std::int32_t>((s * context_len + segments - 1) / segments);
  }
  for (std::int64_t slot = 0; slot < topk && segments > 0; ++slot) {
    if (row[slot] >= 0) {
      found[static_cast<std::size_t>(std::min(row[slot] * segments / context_len, num_segments - 1))] = -1;
    }
  }
  return found;
}

inline void merge(const std::int32_t* row, std::int64_t topk, std::int64_t context_len, std::int64_t learned_keep,
                  std::int64_t num_segments, std::int64_t max_replacements, std::int32_t* out) {
  const std::vector<std::int32_t> found = witnesses(row, topk, context_len, num_segments);
  std::int64_t slot = learned_keep;
  std::copy_n(row, topk, out);
  for (const std::int32_t witness : found) {
    if (witness >= 0 && slot < topk && slot - learned_keep < max_replacements) {
      out[slot++] = witness;
    }
  }
}

inline std::int32_t witness_indices(const std::int32_t* learned, std::int64_t topk, const std::int32_t* context_lens,
                                    std::int64_t rows, std::int64_t num_segments, std::int32_t* out) {
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::vector<std::int32_t> found = witnesses(learned + row * topk, topk, context_lens[row], num_segments);
    std::copy(found.begin(), found.end(), out + row * num_segments);
  }
  return 0;
}

inline std::int32_t apply(const std::int32_t* learned, std::int64_t topk, const std::int32_t* context_lens,
                          std::int64_t rows, std::int64_t learned_keep, std::int64_t num_segments,
                          std::int64_t max_replacements, std::int32_t* out) {
  for (std::int64_t row = 0; row < rows; ++row) {
    merge(learned + row * topk, topk, context_lens[row], learned_keep, num_segments, max_replacements,
          out + row * topk);
  }
  return 0;
}

inline std::int32_t scatter(std::int32_t* rows_in_place, std::int64_t row_stride, std::int64_t topk,
                            const std::int32_t* context_lens, std::int64_t rows, std::int64_t num_segments) {
  for (std::int64_t row = 0; num_segments > 0 && row < rows; ++row) {
    std::int32_t* const begin = rows_in_place + row * row_stride;
    const std::vector<std::int32_t> given(begin, begin + topk);
    merge(given.data(), topk, context_lens[row], std::max<std::int64_t>(0, topk - num_segments), num_segments,
          num_segments, begin);
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
