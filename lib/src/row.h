// One row, taken apart: its partition into at most 64 segments, and what every backend does with the segments that it
// found missing.
#ifndef LIB_SRC_ROW_H
#define LIB_SRC_ROW_H

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "kvwitness/segments.h"

namespace kvwitness::detail {

// The partition of a row into S_eff = min(num_segments, context_len) segments. Bit s of an occupancy mask stands for
// segment s.
struct RowPartition {
  // @param context_len   L in tokens, 1 or more
  // @param num_segments  S, 1 to 64
  RowPartition(std::int32_t context_len, std::size_t num_segments) noexcept
      : segments(std::min(static_cast<std::uint32_t>(num_segments), static_cast<std::uint32_t>(context_len))),
        all_segments(~std::uint64_t{0} >> (64 - segments)),
        last_segment(num_segments - 1),
        reciprocal(static_cast<std::uint32_t>(context_len), segments),
        edges(static_cast<std::uint32_t>(context_len), segments) {
    KVWITNESS_ASSERT(context_len >= 1 && num_segments >= 1 && num_segments <= kMaxMergeSegments, context_len,
                     num_segments);
  }

  std::uint32_t segments;      // S_eff
  std::uint64_t all_segments;  // the mask in which every segment of the partition is occupied
  std::uint64_t last_segment;  // S - 1, where tokens past the context's end are clamped to
  SegmentReciprocal reciprocal;
  SegmentEdges edges;
};

// The witness indices of a row whose unoccupied segments are the bits of `missing`: e_s where bit s is set, else -1.
inline void write_witness_indices(std::uint64_t missing, const SegmentEdges& edges, std::size_t num_segments,
                                  std::int32_t* witnesses) noexcept {
  for (std::uint32_t segment = 0; segment < num_segments; ++segment) {
    const std::uint32_t bit = static_cast<std::uint32_t>(missing >> segment) & 1u;
    witnesses[segment] = static_cast<std::int32_t>(edges.edge(segment) | (bit - 1u));
  }
}

// Writes the witnesses of the missing segments to slots[0], slots[1], ... in ascending order, at most `budget` of them.
inline void merge_witnesses(std::uint64_t missing, const SegmentEdges& edges, std::size_t budget,
                            std::int32_t* slots) noexcept {
  const std::size_t count = std::min(budget, static_cast<std::size_t>(std::popcount(missing)));
  for (std::size_t slot = 0; slot < count; ++slot) {
    slots[slot] = static_cast<std::int32_t>(edges.edge(static_cast<std::uint32_t>(std::countr_zero(missing))));
    missing &= missing - 1;
  }
}

}  // namespace kvwitness::detail

#endif  // LIB_SRC_ROW_H
