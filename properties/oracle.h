// The statement of the rule that a reader starts from: every answer decided by definition.
//
// Shares no arithmetic with the library and includes nothing of it: segments are found by interval membership with 128-bit integers,
// by scanning, without reciprocals or bit masks. Slow on purpose.
#ifndef PROPERTIES_ORACLE_H
#define PROPERTIES_ORACLE_H

#include <cstdint>
#include <span>
#include <vector>

#include "properties/case.h"

namespace kvwitness::harness {

// The status that a call must give (a kvw_status number; 0 for a legal call). `honours_stride` says whether the implementation sees the case's
// row stride; where not, nothing is said of it.
std::int32_t expected_status(const Case& value, bool honours_stride);
inline bool is_legal(const Case& value) { return expected_status(value, true) == 0; }

// The packed rows that the call must leave (see Outcome::rows). For a refused call and for a legal scatter with num_segments 0: the rows
// as given. Needs a case within the element limits of case.h.
std::vector<std::int32_t> expected_rows(const Case& value);

// The parts of the rule, for the invariants that need them one at a time. L is the context length (L >= 1), S the segment count (S >= 1).
std::int64_t oracle_effective_segments(std::int64_t context_len, std::int64_t num_segments);
// The least x in [0, L] with x * S_eff >= segment * L.
std::int64_t oracle_edge(std::int64_t segment, std::int64_t context_len, std::int64_t num_segments);
// The s with e_s <= x < e_(s+1), continued past the context's end by the same formula; by interval membership.
std::int64_t oracle_segment(std::int64_t token, std::int64_t context_len, std::int64_t num_segments);
// Which of the S_eff segments the row occupies; size S_eff, empty for an empty row.
std::vector<bool> oracle_occupancy(std::span<const std::int32_t> row, std::int64_t context_len, std::int64_t num_segments);
// The row's witnesses, ascending.
std::vector<std::int32_t> oracle_witnesses(std::span<const std::int32_t> row, std::int64_t context_len, std::int64_t num_segments);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_ORACLE_H
