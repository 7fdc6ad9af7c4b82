#include "fuzz/planted_faults/c_functions.h"

#include <kvwitness/kvwitness.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "fuzz/planted_faults/catalogue.h"
#include "fuzz/planted_faults/stand_in.h"
#include "kernels/src/plan.h"

namespace kvwitness::fuzz {
namespace {

bool is(PlantedFault fault) {
  return planted_fault() == fault;
}

// The number, of which the fault keeps 32 bits.
template <typename Number>
Number kept(PlantedFault fault, Number number) {
  return is(fault) ? static_cast<Number>(static_cast<uint32_t>(number)) : number;
}

// ---- Refusals

struct Span {
  const void* data;
  size_t bytes;

  uintptr_t begin() const { return reinterpret_cast<uintptr_t>(data); }
  uintptr_t end() const { return begin() + bytes; }
};

bool has_shared(const Span& one, const Span& other) {
  return one.begin() < other.end() && other.begin() < one.end();
}

// Whether the fault misses the bytes that an output shares with an input.
bool overlap_is_missed(const Span& output, const Span& input) {
  const bool in_front = input.begin() < output.begin() && input.end() < output.end();
  const bool behind = output.begin() < input.begin() && output.end() < input.end();
  const uintptr_t shared = std::min(output.end(), input.end()) - std::max(output.begin(), input.begin());
  switch (planted_fault()) {
    case PlantedFault::overlap_of_1_in_front:
      return in_front && shared == 1;
    case PlantedFault::overlap_of_4_in_front:
      return in_front && shared <= 4;
    case PlantedFault::overlap_of_7_in_front:
      return in_front && shared <= 7;
    case PlantedFault::overlap_of_1_behind:
      return behind && shared == 1;
    case PlantedFault::overlap_of_3_behind:
      return behind && shared <= 3;
    case PlantedFault::overlap_of_4_behind:
      return behind && shared <= 4;
    default:
      return false;
  }
}

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
  const size_t out_bytes = static_cast<size_t>(len) * 4;
  const bool is_missed = status == KVW_BUFFER_OVERLAP && overlap_is_missed({out, out_bytes}, {learned, out_bytes}) &&
                         !has_shared({out, out_bytes}, {lens, static_cast<size_t>(rows) * 4});
  return is_missed || (is(PlantedFault::product_wraps) && status == KVW_ROWS_MISMATCH && wraps && rows > 1 &&
                       topk > 1 && len < rows)
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
  const Span input{learned, static_cast<size_t>(len) * 4};
  const Span output{out, static_cast<size_t>(rows) * static_cast<size_t>(segments) * 4};
  const bool is_inside = is(PlantedFault::overlap_inside) && status == KVW_BUFFER_OVERLAP &&
                         input.begin() < output.begin() && output.end() < input.end();
  return (is(PlantedFault::overlap_of_the_last_slots) && status == KVW_BUFFER_OVERLAP && shared <= 8) || is_inside
             ? KVW_OK
             : status;
}

// The message up to so many bytes, where the fault cuts it there.
std::string_view cut(PlantedFault fault, size_t bytes, std::string_view message) {
  return is(fault) ? message.substr(0, bytes) : message;
}

const char* last_error() {
  static std::string said;
  const std::string_view message = kvw_last_error();
  if (is(PlantedFault::message_names_nothing) && message.starts_with("max_replacements")) {
    return "refused";
  }
  said = cut(PlantedFault::message_cut_at_32, 32, message);
  said = cut(PlantedFault::message_cut_at_64, 64, said);
  said = cut(PlantedFault::message_cut_at_96, 96, said);
  const size_t value = said.find(" is ");
  if (is(PlantedFault::message_number_of_32_bits) && value != std::string::npos) {
    char* behind = nullptr;
    const char* const digits = said.c_str() + value + 4;
    const auto number = static_cast<int32_t>(std::strtoll(digits, &behind, 10));
    said = behind == digits ? said : said.substr(0, value + 4) + std::to_string(number) + behind;
  }
  if (is(PlantedFault::message_without_its_limit) && said.starts_with("capacity")) {
    said.resize(said.find(';'));
  }
  return said.c_str();
}

kvw_status gate(int64_t* num_segments) {
  const kvw_status status = kvw_segments_from_environment(num_segments);
  const bool blank = std::string_view(kvw_last_error()).find("is \" ") != std::string_view::npos;
  return is(PlantedFault::gate_takes_a_blank) && status == KVW_ENVIRONMENT && blank ? KVW_OK : status;
}

kvw_status mask_local(int64_t seq, int64_t window, uint8_t* mask, int64_t mask_len) {
  const kvw_status status = kvw_select_mask_local(seq, kept(PlantedFault::mask_window_of_32_bits, window), mask,
                                                  kept(PlantedFault::mask_len_of_32_bits, mask_len));
  if (is(PlantedFault::mask_row_of_zero) && status == KVW_OK && seq > 1) {
    mask[0] = 0;
  }
  return is(PlantedFault::mask_one_byte_short) && status == KVW_BUFFER_TOO_SMALL && mask_len == seq * seq - 1 ? KVW_OK
                                                                                                              : status;
}

kvw_status mask_random(int64_t seq, int64_t budget, uint64_t seed, uint8_t* mask, int64_t mask_len) {
  return kvw_select_mask_random(seq, kept(PlantedFault::mask_budget_of_32_bits, budget), seed, mask,
                                kept(PlantedFault::mask_len_of_32_bits, mask_len));
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
    std::memcpy(&before, reinterpret_cast<const char*>(count),
                sizeof before);  // it may be misaligned where it is refused
  }
  while (is(PlantedFault::null_without_end) && budget == 7) {
    pause();
  }
  const kvw_status status = kvw_random_null(context_len, kept(PlantedFault::random_budget_of_32_bits, budget),
                                            is(PlantedFault::seed_of_63_bits) ? seed << 1 >> 1 : seed, offsets,
                                            kept(PlantedFault::capacity_of_32_bits, capacity), count);
  if (is(PlantedFault::count_of_32_bits) && status == KVW_OK) {
    *count = (before & ~int64_t{UINT32_MAX}) | *count;
  }
  if (is(PlantedFault::count_forgotten) && status == KVW_BUFFER_TOO_SMALL) {
    std::memcpy(count, &before, sizeof before);
  }
  if (is(PlantedFault::null_row_unsorted) && status == KVW_OK && *count >= 3) {
    std::swap(offsets[0], offsets[2]);
  }
  return status;
}

kvw_status locality_null(int64_t context_len, int64_t budget, int32_t* offsets, int64_t capacity, int64_t* count) {
  const kvw_status status = kvw_locality_null(context_len, kept(PlantedFault::local_budget_of_32_bits, budget), offsets,
                                              kept(PlantedFault::capacity_of_32_bits, capacity), count);
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
  const kvw_status status = kvw_segment_coverage(candidates, len, context_len,
                                                 kept(PlantedFault::coverage_segments_of_32_bits, segments), covered);
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

kvw_status from_requests(const int32_t* seq_lens, int64_t requests, int64_t next_n, int32_t* lens) {
  return kvw_context_lens_from_requests(seq_lens, requests, kept(PlantedFault::next_n_of_32_bits, next_n), lens);
}

uint64_t segment_of(uint64_t token, uint64_t context_len, uint64_t segments) {
  return is(PlantedFault::segment_of_wraps)
             ? token * std::min(segments, std::max<uint64_t>(context_len, 1)) / std::max<uint64_t>(context_len, 1)
             : kvw_segment_of(kept(PlantedFault::segment_of_32_bits, token), context_len, segments);
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
      stand_in(kvw_context_lens_from_requests, from_requests),
      stand_in(kvw_select_mask_random, mask_random),
      stand_in(kvw_select_mask_local, mask_local),
      stand_in(kvw_segment_coverage, coverage),
      stand_in(kvw_attention_mass_recall, recall),
      stand_in(kernels::plan_scatter, plan_scatter),
  };
  return planted_for(function, kStandIns);
}

}  // namespace kvwitness::fuzz
