// The rule by definition, for the unit tests of the library: 128-bit products, no reciprocal, no mask, one vector a
// row.
#ifndef TESTS_LIB_RULE_H
#define TESTS_LIB_RULE_H

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace kvwitness::rule {

using Wide = unsigned __int128;

inline std::uint64_t sigma(std::uint64_t token, std::uint64_t context_len, std::uint64_t num_segments) {
  const std::uint64_t segments = std::min(num_segments, context_len);
  return static_cast<std::uint64_t>(Wide{token} * segments / context_len);
}

inline std::uint64_t edge(std::uint64_t segment, std::uint64_t context_len, std::uint64_t num_segments) {
  const std::uint64_t segments = std::min(num_segments, context_len);
  return static_cast<std::uint64_t>((Wide{segment} * context_len + segments - 1) / segments);
}

inline std::vector<std::int32_t> witness_row(std::span<const std::int32_t> row, std::int32_t context_len,
                                             std::uint64_t num_segments) {
  std::vector<std::int32_t> witnesses(num_segments, -1);
  if (context_len <= 0) {
    return witnesses;
  }
  const auto len = static_cast<std::uint64_t>(context_len);
  std::set<std::uint64_t> occupied;
  for (const std::int32_t token : row) {
    if (token >= 0) {
      occupied.insert(std::min(sigma(static_cast<std::uint64_t>(token), len, num_segments), num_segments - 1));
    }
  }
  for (std::uint64_t segment = 0; segment < std::min(num_segments, len); ++segment) {
    if (!occupied.contains(segment)) {
      witnesses[segment] = static_cast<std::int32_t>(edge(segment, len, num_segments));
    }
  }
  return witnesses;
}

inline std::vector<std::int32_t> applied_row(std::span<const std::int32_t> row, std::int32_t context_len,
                                             std::size_t learned_keep, std::uint64_t num_segments,
                                             std::size_t max_replacements) {
  std::vector<std::int32_t> merged(row.begin(), row.end());
  std::size_t slot = learned_keep;
  for (const std::int32_t witness : witness_row(row, context_len, num_segments)) {
    if (witness >= 0 && slot < merged.size() && slot - learned_keep < max_replacements) {
      merged[slot++] = witness;
    }
  }
  return merged;
}

inline std::vector<std::int32_t> scattered_row(std::span<const std::int32_t> row, std::int32_t context_len,
                                               std::uint64_t num_segments) {
  const std::size_t learned_keep = row.size() > num_segments ? row.size() - num_segments : 0;
  return applied_row(row, context_len, learned_keep, num_segments, num_segments);
}

}  // namespace kvwitness::rule

#endif  // TESTS_LIB_RULE_H
