// The rule with a fault in it, plainly written, for the host and for a kernel.
#ifndef FUZZ_PLANTED_FAULTS_RULE_H
#define FUZZ_PLANTED_FAULTS_RULE_H

#include <algorithm>
#include <cstdint>

#include "fuzz/planted_faults/catalogue.h"

namespace kvwitness::fuzz {

// The row's length as the fault reads it.
inline std::int64_t planted_length(PlantedFault fault, std::int64_t context_len) {
  return fault == PlantedFault::length_negative_as_1 && context_len < 0 ? 1 : context_len;
}

inline std::int64_t planted_effective(PlantedFault fault, std::int64_t context_len, std::int64_t num_segments) {
  return fault == PlantedFault::short_row_keeps_its_count ? num_segments : std::min(num_segments, context_len);
}

inline std::int64_t planted_edge(PlantedFault fault, std::int64_t segment, std::int64_t context_len,
                                 std::int64_t effective) {
  return (segment * context_len + (fault == PlantedFault::edge_rounded_down ? 0 : effective - 1)) / effective;
}

// The segment that a slot's token marks, or -1 for none. context_len >= 1.
inline std::int64_t planted_mark(PlantedFault fault, std::int64_t slot, std::int32_t token, std::int64_t context_len,
                                 std::int64_t num_segments, std::int64_t topk, std::int64_t learned_keep) {
  if (token < 0) {
    return fault == PlantedFault::only_minus_one_is_padding && token != -1 ? 0 : -1;
  }
  if ((fault == PlantedFault::odd_last_slot_skipped && topk % 2 == 1 && slot == topk - 1) ||
      (fault == PlantedFault::past_end_ignored && token >= context_len) ||
      (fault == PlantedFault::only_head_read && slot >= learned_keep)) {
    return -1;
  }
  const std::int64_t effective = planted_effective(fault, context_len, num_segments);
  std::int64_t segment = token * effective / context_len;
  if (fault == PlantedFault::segment_in_32_bits) {
    segment = static_cast<std::uint32_t>(token * effective) / context_len;
  } else if (fault == PlantedFault::segment_in_float) {
    segment = static_cast<std::int64_t>(static_cast<float>(token) * static_cast<float>(effective) /
                                        static_cast<float>(context_len));
  }
  segment = std::min(segment, num_segments - 1);
  return fault == PlantedFault::mask_shift_wraps && num_segments <= 64 ? segment % 32 : segment;
}

// How many slots may be overwritten.
inline std::int64_t planted_budget(PlantedFault fault, std::int64_t budget, std::int64_t learned_keep,
                                   std::int64_t topk) {
  return fault == PlantedFault::budget_one_more ? std::min(budget + 1, topk - learned_keep) : budget;
}

}  // namespace kvwitness::fuzz

#endif  // FUZZ_PLANTED_FAULTS_RULE_H
