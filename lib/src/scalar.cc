#include "lib/src/scalar.h"

#include <algorithm>
#include <cstring>

#include "lib/src/row.h"

namespace kvwitness::detail {
namespace {

// Tokens between two looks at whether every segment has been seen.
constexpr std::size_t kTokensPerLook = 64;

// The occupancy of tokens [first, last), not clamped by the partition. A negative token shifts a 0 into place.
std::uint64_t occupancy(const std::int32_t* first, const std::int32_t* last, const RowPartition& partition) noexcept {
  std::uint64_t occupied = 0;
  for (; first != last; ++first) {
    const auto token = static_cast<std::uint32_t>(*first);
    const std::uint64_t segment = std::min(partition.reciprocal.segment_of(token), partition.last_segment);
    occupied |= std::uint64_t{(token >> 31) ^ 1u} << segment;
  }
  return occupied;
}

// The unoccupied segments of a row, as a mask; stops reading when none can be left.
std::uint64_t missing_segments(const std::int32_t* row, std::size_t topk, const RowPartition& partition) noexcept {
  std::uint64_t missing = partition.all_segments;
  for (std::size_t slot = 0; slot < topk && missing != 0; slot += kTokensPerLook) {
    const std::size_t end = std::min(slot + kTokensPerLook, topk);
    missing &= ~occupancy(row + slot, row + end, partition);
  }
  return missing;
}

void scalar_witness_indices(const RowBatch& batch, std::size_t num_segments, std::int32_t* witnesses) noexcept {
  for (std::size_t row = 0; row < batch.rows; ++row) {
    std::int32_t* const out = witnesses + row * num_segments;
    if (batch.context_lens[row] <= 0) {
      std::fill_n(out, num_segments, -1);
      continue;
    }
    const RowPartition partition(batch.context_lens[row], num_segments);
    const std::uint64_t missing = missing_segments(batch.learned + row * batch.row_stride, batch.topk, partition);
    write_witness_indices(missing, partition.edges, num_segments, out);
  }
}

void scalar_apply(const RowBatch& batch, const MergePlan& plan, std::int32_t* out,
                  std::size_t out_row_stride) noexcept {
  const bool in_place = out == batch.learned;
  for (std::size_t row = 0; row < batch.rows; ++row) {
    const std::int32_t* const learned = batch.learned + row * batch.row_stride;
    std::int32_t* const merged = out + row * out_row_stride;
    if (!in_place) {
      std::memcpy(merged, learned, batch.topk * sizeof(std::int32_t));
    }
    if (batch.context_lens[row] <= 0) {
      continue;
    }
    const RowPartition partition(batch.context_lens[row], plan.num_segments);
    // In place, the row is read to its end before the first slot is overwritten.
    const std::uint64_t missing = missing_segments(learned, batch.topk, partition);
    merge_witnesses(missing, partition.edges, plan.budget, merged + plan.learned_keep);
  }
}

const char* runs_everywhere() noexcept {
  return nullptr;
}

}  // namespace

constexpr Backend kScalarBackend{"scalar", runs_everywhere, scalar_witness_indices, scalar_apply};

}  // namespace kvwitness::detail
