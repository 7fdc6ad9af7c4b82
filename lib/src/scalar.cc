#include "lib/src/scalar.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "lib/src/backend_contract.h"
#include "lib/src/row.h"

namespace kvwitness::detail {
namespace {

// Tokens between two looks at whether every segment has been seen.
constexpr std::ptrdiff_t kTokensPerLook = 128;

// Which segments have been seen, one byte each: a store a token, which no padding or hole can make a branch predictor
// miss. The last byte is for every number of 64 and more.
class SeenSegments {
 public:
  void add(std::uint64_t segment) { seen_[std::min<std::uint64_t>(segment, 64)] = 1; }

  // The first 64 as a mask. The product moves bit 0 of byte i of a word to bit 56 + i.
  std::uint64_t mask() const {
    std::uint64_t mask = 0;
    for (int first = 0; first < 64; first += 8) {
      std::uint64_t word = 0;
      for (int byte = 0; byte < 8; ++byte) {
        word |= std::uint64_t{seen_[first + byte]} << (8 * byte);
      }
      mask |= (word * 0x0102040810204080u >> 56) << first;
    }
    return mask;
  }

 private:
  unsigned char seen_[65] = {};
};

bool holds_token_past(std::span<const std::int32_t> row, std::int32_t context_len) noexcept {
  bool past = false;
  for (const std::int32_t token : row) {
    past |= token >= context_len;
  }
  return past;
}

// The unoccupied segments of a row, as a mask; stops reading when none can be left.
std::uint64_t missing_segments(std::span<const std::int32_t> row, std::int32_t context_len,
                               const RowPartition& partition) noexcept {
  const SegmentReciprocal reciprocal = partition.reciprocal;
  std::uint64_t missing = partition.all_segments;
  SeenSegments seen;
  const std::int32_t* token = row.data();
  const std::int32_t* const end = token + row.size();
  while (token != end && missing != 0) {
    const std::int32_t* const look = token + std::min(kTokensPerLook, end - token);
    for (; token != look; ++token) {
      // A negative token is a large unsigned one, and no token past the context's end gets the number of a segment.
      seen.add(reciprocal.segment_of(static_cast<std::uint32_t>(*token)));
    }
    missing = partition.all_segments & ~seen.mask();
  }
  // What is left of the clamp to S - 1. In a short row that lies outside the partition, and is never missing.
  if ((missing >> partition.last_segment & 1u) != 0 && holds_token_past(row, context_len)) {
    missing ^= std::uint64_t{1} << partition.last_segment;
  }
  return missing;
}

void scalar_witness_indices(const RowBatch& batch, std::size_t num_segments, std::int32_t* witnesses) noexcept {
  assert_witness_indices_call(batch, num_segments, witnesses);
  for (std::size_t row = 0; row < batch.rows; ++row) {
    std::int32_t* const out = witnesses + row * num_segments;
    if (batch.context_lens[row] <= 0) {
      std::fill_n(out, num_segments, -1);
      continue;
    }
    const RowPartition partition(batch.context_lens[row], num_segments);
    const std::span learned(batch.learned + row * batch.row_stride, batch.topk);
    const std::uint64_t missing = missing_segments(learned, batch.context_lens[row], partition);
    write_witness_indices(missing, partition.edges, num_segments, out);
  }
}

void scalar_apply(const RowBatch& batch, const MergePlan& plan, std::int32_t* out,
                  std::size_t out_row_stride) noexcept {
  assert_apply_call(batch, plan, out, out_row_stride);
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
    const std::uint64_t missing = missing_segments({learned, batch.topk}, batch.context_lens[row], partition);
    merge_witnesses(missing, partition.edges, plan.budget, merged + plan.learned_keep);
  }
}

const char* runs_everywhere() noexcept {
  return nullptr;
}

}  // namespace

constexpr Backend kScalarBackend{"scalar", runs_everywhere, scalar_witness_indices, scalar_apply};

}  // namespace kvwitness::detail
