// What a candidate set covers of a context, and how much of a dense attention row it holds.
//
// A candidate set is any list of int32: duplicates count once, negatives and offsets outside [0, L) count
// for nothing. The metrics let an experiment decide about a policy; they prove nothing about a model by
// themselves. Source: vllm-project/vllm#47942, aether_core::kvwitness.
#ifndef KVWITNESS_METRICS_H
#define KVWITNESS_METRICS_H

#include <cstddef>
#include <cstdint>
#include <span>

namespace kvwitness {

// The share of the segments that hold a candidate:
//
//     |{ sigma(x) : x in candidates, 0 <= x < L }| / S_eff, in [0, 1]; 1 where L <= 0 or S = 0.
//
// @param candidates    offsets in tokens, in any order
// @param context_len   L in tokens
// @param num_segments  S
//
// O(candidates + S_eff) time. Above 64 segments one bit a segment of memory is allocated (std::bad_alloc).
// Example: [0, 5, 5, -1, 9] at L = 8, S = 4 gives 0.5.
double segment_coverage(std::span<const std::int32_t> candidates, std::int32_t context_len, std::size_t num_segments);

// The share of a dense attention row that the candidates hold:
//
//     sum of attention[x] over the distinct x in candidates with 0 <= x < L / sum of attention
//
// L is attention.size(). NaN where the total is 0 or a value is NaN or infinite. Both sums are pairwise, and scaled where
// they would exceed the largest double, so that the ratio of non-negative rows is within 1e-12 (relative) of the exact
// one.
//
// @param candidates  offsets in tokens, in any order
// @param attention   [L] weights
//
// O(candidates + L) time. Allocates one bit a token (std::bad_alloc).
double attention_mass_recall(std::span<const std::int32_t> candidates, std::span<const double> attention);

}  // namespace kvwitness

#endif  // KVWITNESS_METRICS_H
