// The rule, decided by definition: what a reader starts from, and what every implementation is judged against.
//
// A learned row lists the context tokens that an indexer picked, as offsets into a context of L tokens; negative entries
// are padding. The context is cut into S_eff = min(S, L) segments, where S is the policy's segment count:
//
// - Segment s starts at its edge e_s, the least offset x with x * S_eff >= s * L.
//   That is e_s = ceil(s * L / S_eff).
// - Token x lies in the segment s with e_s <= x < e_(s+1).
//   That is sigma(x) = floor(x * S_eff / L).
// - A token x >= 0 of the row occupies segment min(sigma(x), S - 1), also past the context's end.
// - The witnesses of the row are the edges e_s of the segments s < S_eff that no token occupies, ascending.
//
// Example: L = 16, S = 4, row [0, 5, 9, -1]. The edges are 0, 4, 8, 12; the tokens 0, 5 and 9 occupy segments 0, 1 and
// 2; the one witness is 12.
//
// Three operations use them, on row-major rows:
//
// - witnesses: the result has num_segments entries a row; entry s is e_s where that is a witness, else -1.
// - apply: the first B = min(max_replacements, topk - learned_keep) witnesses overwrite the slots from
//   learned_keep on.
// - scatter: apply in place, with learned_keep = max(0, topk - num_segments) and
//   max_replacements = num_segments.
//
// A row with L <= 0 has no witness and stays as it is. Occupancy is read from the whole row, also from slots that apply
// overwrites.
//
// Nothing here is shared with the library: segments are found by the defining inequality in 128-bit integers, by
// bisection and by scanning, with no division by L, no reciprocal and no bit mask. Source of the rule:
// vllm-project/vllm#47942.
#ifndef KVWITNESS_ORACLE_H
#define KVWITNESS_ORACLE_H

#include <kvwitness/case.h>
#include <kvwitness/legality.h>

#include <cstdint>
#include <span>
#include <vector>

namespace kvwitness::harness {

// The packed rows that the call must leave (see Outcome::rows). For a refused call and for a scatter with num_segments
// 0: `learned` as given. A row stride says where the rows lie and has no part in this: what is refused only for its
// stride gets the packed call's rows.
//
// Takes O(rows * (topk * log S + S)); needs a case within the element limits of case.h.
std::vector<std::int32_t> expected_rows(const Case& value);

// The parts of the rule one at a time. L is the context length (L >= 1 where nothing else is said), S the segment count
// (S >= 1).

// min(S, L).
std::int64_t oracle_effective_segments(std::int64_t context_len, std::int64_t num_segments);
// e_s: the least x in [0, L] with x * S_eff >= segment * L, by bisection. 0 <= segment <= S_eff; e_(S_eff) = L.
std::int64_t oracle_edge(std::int64_t segment, std::int64_t context_len, std::int64_t num_segments);
// The s with e_s <= token < e_(s+1), by bisection; continued past the context's end by the same inequality. token >= 0.
std::int64_t oracle_segment(std::int64_t token, std::int64_t context_len, std::int64_t num_segments);
// Which of the S_eff segments the row occupies; size S_eff, empty for an empty row (context_len <= 0).
std::vector<bool> oracle_occupancy(std::span<const std::int32_t> row, std::int64_t context_len,
                                   std::int64_t num_segments);
// The row's witnesses, ascending; none for an empty row.
std::vector<std::int32_t> oracle_witnesses(std::span<const std::int32_t> row, std::int64_t context_len,
                                           std::int64_t num_segments);

}  // namespace kvwitness::harness

#endif  // KVWITNESS_ORACLE_H
