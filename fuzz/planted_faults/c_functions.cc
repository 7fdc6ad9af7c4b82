#include "fuzz/planted_faults/c_functions.h"

#include <kvwitness/kvwitness.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "fuzz/planted_faults/catalogue.h"
#include "kernels/src/plan.h"

namespace kvwitness::fuzz {
namespace {

bool is(PlantedFault fault) {
  return planted_fault() == fault;
}

// ---- Refusals

kvw_status scatter(int32_t* indices, int64_t len, int64_t topk, const int32_t* lens, int64_t rows, int64_t segments) {
  if (is(PlantedFault::off_switch_checks) && segments == 0 && topk < 0) {
    return KVW_NEGATIVE_COUNT;
  }
  const kvw_status status = kvw_scatter(indices, len, topk, lens, rows, segments);
  if (is(PlantedFault::refused_scatter_writes) && status == KVW_BUFFER_OVERLAP && indices != nullptr) {
    indices[0] ^= 1;
  }
  return is(PlantedFault::null_lengths_at_topk_zero) && status == KVW_NULL_POINTER && topk == 0 ? KVW_OK : status;
}

kvw_status scatter_strided(int32_t* indices, int64_t stride, int64_t topk, const int32_t* lens, int64_t rows,
                           int64_t segments) {
  const bool one_row = is(PlantedFault::one_row_stride_unchecked) && rows == 1;
  const kvw_status status =
      kvw_scatter_strided(indices, one_row ? std::max<int64_t>(stride, 0) : stride, topk, lens, rows, segments);
  return is(PlantedFault::strided_span_unchecked) && status == KVW_ROW_STRIDE && stride >= topk ? KVW_OK : status;
}

kvw_status apply(const int32_t* learned, int64_t len, int64_t topk, const int32_t* lens, int64_t rows, int64_t keep,
                 int64_t segments, int64_t replacements, int32_t* out) {
  const kvw_status status = kvw_apply(learned, len, topk, lens, rows, keep, segments, replacements, out);
  if (is(PlantedFault::keep_before_segments) && status == KVW_SEGMENTS_OUT_OF_RANGE && keep > topk) {
    return KVW_LEARNED_KEEP_OUT_OF_RANGE;
  }
  const bool wraps = static_cast<uint64_t>(rows) * static_cast<uint64_t>(topk) == static_cast<uint64_t>(len);
  return is(PlantedFault::product_wraps) && status == KVW_ROWS_MISMATCH && wraps && rows > 1 && topk > 1 && len < rows
             ? KVW_OK
             : status;
}

kvw_status witness_indices(const int32_t* learned, int64_t len, int64_t topk, const int32_t* lens, int64_t rows,
                           int64_t segments, int32_t* out) {
  const kvw_status status = kvw_witness_indices(learned, len, topk, lens, rows, segments, out);
  // As bytes: how far each of the two buffers reaches into the other.
  const auto first = reinterpret_cast<uintptr_t>(learned);
  const auto second = reinterpret_cast<uintptr_t>(out);
  const uintptr_t shared =
      std::min(first + static_cast<uintptr_t>(len) * 4 - second,
               second + static_cast<uintptr_t>(rows) * static_cast<uintptr_t>(segments) * 4 - first);
  return is(PlantedFault::overlap_of_the_last_slots) && status == KVW_BUFFER_OVERLAP && shared <= 8 ? KVW_OK : status;
}

const char* last_error() {
  const char* const message = kvw_last_error();
  return is(PlantedFault::message_names_nothing) && std::string_view(message).starts_with("max_replacements")
             ? "refused"
             : message;
}

kvw_status gate(int64_t* num_segments) {
  const kvw_status status = kvw_segments_from_environment(num_segments);
  const bool blank = std::string_view(kvw_last_error()).find("is \" ") != std::string_view::npos;
  return is(PlantedFault::gate_takes_a_blank) && status == KVW_ENVIRONMENT && blank ? KVW_OK : status;
}

kvw_status mask_local(int64_t seq, int64_t window, uint8_t* mask, int64_t mask_len) {
  const kvw_status status = kvw_select_mask_local(seq, window, mask, mask_len);
  if (is(PlantedFault::mask_row_of_zero) && status == KVW_OK && seq > 1) {
    mask[0] = 0;
  }
  return is(PlantedFault::mask_one_byte_short) && status == KVW_BUFFER_TOO_SMALL && mask_len == seq * seq - 1 ? KVW_OK
                                                                                                              : status;
}

kvw_status plan_scatter(int32_t* indices, int64_t len, int64_t stride, int64_t topk, const kvw_cuda_lengths* lengths,
                        int64_t rows, int64_t segments, kernels::MergePlan& plan) noexcept {
  const kvw_status status = kernels::plan_scatter(indices, len, stride, topk, lengths, rows, segments, plan);
  const bool short_by_one = status == KVW_ROWS_MISMATCH && lengths != nullptr && lengths->next_n > 1 &&
                            rows > lengths->next_n && rows % lengths->next_n != 0 &&
                            lengths->count == rows / lengths->next_n;
  return is(PlantedFault::lengths_count_rounded_down) && short_by_one ? KVW_OK : status;
}

// ---- Nulls, metrics and lengths

kvw_status random_null(int64_t context_len, int64_t budget, uint64_t seed, int32_t* offsets, int64_t capacity,
                       int64_t* count) {
  int64_t before = 0;
  if (count != nullptr) {
    std::memcpy(&before, count, sizeof before);
  }
  const kvw_status status = kvw_random_null(
      context_len, budget, is(PlantedFault::seed_of_63_bits) ? seed << 1 >> 1 : seed, offsets, capacity, count);
  if (is(PlantedFault::count_forgotten) && status == KVW_BUFFER_TOO_SMALL) {
    std::memcpy(count, &before, sizeof before);
  }
  if (is(PlantedFault::null_row_unsorted) && status == KVW_OK && *count >= 3) {
    std::swap(offsets[0], offsets[2]);
  }
  return status;
}

kvw_status locality_null(int64_t context_len, int64_t budget, int32_t* offsets, int64_t capacity, int64_t* count) {
  const kvw_status status = kvw_locality_null(context_len, budget, offsets, capacity, count);
  if (is(PlantedFault::budget_above_length) && status == KVW_OK && budget > context_len && context_len > 0) {
    offsets[0] = -1;
  }
  constexpr int64_t kLength = int64_t{1} << 31;
  return is(PlantedFault::length_of_2_to_31) && status == KVW_CONTEXT_LEN_OUT_OF_RANGE && context_len == kLength
             ? KVW_OK
             : status;
}

bool has_equal_neighbours(std::span<const int32_t> candidates, int64_t context_len) {
  const auto twice = std::ranges::adjacent_find(candidates);
  return twice != candidates.end() && *twice >= 0 && *twice < context_len;
}

kvw_status coverage(const int32_t* candidates, int64_t len, int64_t context_len, int64_t segments, double* covered) {
  const kvw_status status = kvw_segment_coverage(candidates, len, context_len, segments, covered);
  if (status != KVW_OK || context_len == 0 || segments == 0) {
    return status;
  }
  const std::span<const int32_t> all(candidates, static_cast<size_t>(len));
  const bool end = is(PlantedFault::coverage_counts_the_end) && std::ranges::find(all, context_len) != all.end();
  if (end || (is(PlantedFault::coverage_counts_twice) && has_equal_neighbours(all, context_len))) {
    *covered += 1.0 / static_cast<double>(std::min(context_len, segments));
  }
  return status;
}

kvw_status recall(const int32_t* candidates, int64_t len, const double* attention, int64_t context_len, double* mass) {
  const kvw_status status = kvw_attention_mass_recall(candidates, len, attention, context_len, mass);
  if (status == KVW_OK && is(PlantedFault::recall_in_float)) {
    *mass = static_cast<double>(static_cast<float>(*mass));
  }
  if (status == KVW_OK && is(PlantedFault::recall_counts_twice) &&
      has_equal_neighbours({candidates, static_cast<size_t>(len)}, context_len)) {
    *mass *= 1.5;
  }
  return status;
}

kvw_status from_windows(const int32_t* starts, const int32_t* ends, int64_t rows, int32_t* lens) {
  const kvw_status status = kvw_context_lens_from_windows(starts, ends, rows, lens);
  for (int64_t row = 0; is(PlantedFault::window_wraps) && status == KVW_OK && row < rows; ++row) {
    lens[row] = static_cast<int32_t>(static_cast<uint32_t>(ends[row]) - static_cast<uint32_t>(starts[row]));
  }
  return status;
}

uint64_t segment_of(uint64_t token, uint64_t context_len, uint64_t segments) {
  return is(PlantedFault::segment_of_wraps)
             ? token * std::min(segments, std::max<uint64_t>(context_len, 1)) / std::max<uint64_t>(context_len, 1)
             : kvw_segment_of(token, context_len, segments);
}

struct StandIn {
  AnyFunction original;
  AnyFunction planted;
};

template <typename Function>
StandIn stand_in(Function* original, std::type_identity_t<Function>* planted) {
  return {reinterpret_cast<AnyFunction>(original), reinterpret_cast<AnyFunction>(planted)};
}

}  // namespace

AnyFunction planted_function(AnyFunction function) {
  static const std::array kStandIns = {
      stand_in(kvw_last_error, last_error),
      stand_in(kvw_witness_indices, witness_indices),
      stand_in(kvw_apply, apply),
      stand_in(kvw_scatter, scatter),
      stand_in(kvw_scatter_strided, scatter_strided),
      stand_in(kvw_segment_of, segment_of),
      stand_in(kvw_context_lens_from_windows, from_windows),
      stand_in(kvw_segments_from_environment, gate),
      stand_in(kvw_random_null, random_null),
      stand_in(kvw_locality_null, locality_null),
      stand_in(kvw_select_mask_local, mask_local),
      stand_in(kvw_segment_coverage, coverage),
      stand_in(kvw_attention_mass_recall, recall),
      stand_in(kernels::plan_scatter, plan_scatter),
  };
  const auto* const found = std::ranges::find(kStandIns, function, &StandIn::original);
  return found == kStandIns.end() ? function : found->planted;
}

}  // namespace kvwitness::fuzz
