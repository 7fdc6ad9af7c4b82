// The rule by definition, for whatever tests something by it: exact products, one token at a time, nothing fast. The
// library's tests and the plug-ins of tests/properties include it; faulty_row.h is the same with a fault in it. The
// oracle of properties/ owes nothing to it, and the examples of tests/examples stand alone, because people copy them.
//
// C++17, and nothing but the standard library.
#ifndef TESTS_RULE_RULE_H
#define TESTS_RULE_RULE_H

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kvwitness::rule {

__extension__ using Wide = unsigned __int128;

// S_eff = min(S, L).
inline std::uint64_t effective_segments(std::uint64_t context_len, std::uint64_t num_segments) {
  return std::min(num_segments, context_len);
}

// sigma(x) = floor(x * S_eff / L). context_len >= 1, as below.
inline std::uint64_t sigma(std::uint64_t token, std::uint64_t context_len, std::uint64_t num_segments) {
  return static_cast<std::uint64_t>(Wide{token} * effective_segments(context_len, num_segments) / context_len);
}

// e_s = ceil(s * L / S_eff).
inline std::uint64_t edge(std::uint64_t segment, std::uint64_t context_len, std::uint64_t num_segments) {
  const std::uint64_t segments = effective_segments(context_len, num_segments);
  return static_cast<std::uint64_t>((Wide{segment} * context_len + segments - 1) / segments);
}

// Entry s of the row's witness indices: e_s where s < S_eff and no token of the row is in segment s, else -1. `Row` is
// any range of std::int32_t, as below.
template <class Row>
std::vector<std::int32_t> witness_row(const Row& row, std::int32_t context_len, std::uint64_t num_segments) {
  std::vector<std::int32_t> witnesses(num_segments, -1);
  if (context_len <= 0) return witnesses;
  const auto len = static_cast<std::uint64_t>(context_len);
  for (std::uint64_t segment = 0; segment < effective_segments(len, num_segments); ++segment) {
    witnesses[segment] = static_cast<std::int32_t>(edge(segment, len, num_segments));
  }
  for (const std::int32_t token : row) {
    if (token < 0) continue;
    witnesses[std::min(sigma(static_cast<std::uint64_t>(token), len, num_segments), num_segments - 1)] = -1;
  }
  return witnesses;
}

// The row with its witnesses, ascending, from slot `learned_keep` on: at most `max_replacements` of them.
template <class Row>
std::vector<std::int32_t> applied_row(const Row& row, std::int32_t context_len, std::size_t learned_keep,
                                      std::uint64_t num_segments, std::size_t max_replacements) {
  std::vector<std::int32_t> merged(row.begin(), row.end());
  std::size_t slot = learned_keep;
  for (const std::int32_t witness : witness_row(row, context_len, num_segments)) {
    if (witness >= 0 && slot < merged.size() && slot - learned_keep < max_replacements) merged[slot++] = witness;
  }
  return merged;
}

// The row scattered in place. num_segments >= 1.
template <class Row>
std::vector<std::int32_t> scattered_row(const Row& row, std::int32_t context_len, std::uint64_t num_segments) {
  const std::size_t learned_keep = row.size() > num_segments ? row.size() - num_segments : 0;
  return applied_row(row, context_len, learned_keep, num_segments, num_segments);
}

}  // namespace kvwitness::rule

#endif  // TESTS_RULE_RULE_H
