#include "tests/faults/faulty_checks.h"

#include <array>
#include <limits>

#include "tests/faults/faulty_row.h"

namespace kvwitness::faults {
namespace {

using std::int64_t;
using std::uint64_t;
__extension__ using Wide = __int128;

enum class Check : std::uint8_t { kNegative, kLearned, kSegments, kKeep, kStride };

bool is_negative(const Arguments& call) {
  const bool stride = call.row_stride < 0 && !(is(Fault::negative_stride_accepted) && call.rows == 1);
  const bool budget = call.max_replacements < 0 && !is(Fault::negative_budget_accepted);
  if (is(Fault::least_count_accepted)) {
    const auto negative = [](int64_t count) { return count < 0 && count != std::numeric_limits<int64_t>::min(); };
    return negative(call.topk) || negative(call.num_segments) || negative(call.keep) ||
           negative(call.max_replacements) || negative(call.row_stride);
  }
  return call.topk < 0 || call.num_segments < 0 || call.keep < 0 || budget || stride;
}

bool mismatches(const Arguments& call) {
  if (is(Fault::product_wraps)) {
    return static_cast<uint64_t>(call.rows) * static_cast<uint64_t>(call.topk) !=
           static_cast<uint64_t>(call.learned_len);
  }
  if (is(Fault::product_of_32_bits)) {
    return static_cast<std::uint32_t>(call.rows * static_cast<int64_t>(static_cast<std::uint32_t>(call.topk))) !=
           static_cast<std::uint32_t>(call.learned_len);
  }
  const Wide wanted = Wide{call.rows} * call.topk;
  if (is(Fault::fewer_learned_accepted)) return call.learned_len > wanted;
  return is(Fault::more_learned_accepted) ? call.learned_len < wanted : call.learned_len != wanted;
}

bool segments_out_of_range(const Arguments& call) {
  const int64_t segments = is(Fault::segments_of_32_bits)
                               ? static_cast<std::int32_t>(static_cast<std::uint32_t>(call.num_segments))
                               : call.num_segments;
  if (call.kind == Kind::kWitnesses) {
    return segments == 0 || Wide{call.rows} * segments * 4 > std::numeric_limits<int64_t>::max();
  }
  return (segments == 0 && !is(Fault::segments_0_accepted)) || segments > (is(Fault::segments_65_accepted) ? 65 : 64);
}

bool overlaps(const Arguments& call) {
  if (call.rows < (is(Fault::one_row_stride_refused) ? 1 : 2)) return false;
  if (is(Fault::equal_stride_refused) && call.kind == Kind::kScatter) return call.row_stride <= call.topk;
  if (is(Fault::refused_after_first_row)) return false;
  const int64_t least = call.topk - (is(Fault::stride_below_accepted) ? 1 : 0);
  return call.row_stride < least ||
         (Wide{call.rows - 1} * call.row_stride + call.topk) * 4 > std::numeric_limits<int64_t>::max();
}

std::int32_t result_of(Check check, const Arguments& call) {
  switch (check) {
    case Check::kNegative:
      return is_negative(call) ? 4 : 0;
    case Check::kLearned:
      return mismatches(call) ? 1 : 0;
    case Check::kSegments:
      return segments_out_of_range(call) ? 2 : 0;
    case Check::kKeep:
      if (is(Fault::keep_of_32_bits)) {
        return static_cast<std::int32_t>(static_cast<std::uint32_t>(call.keep)) > call.topk ? 3 : 0;
      }
      return call.keep > call.topk + (is(Fault::keep_above_accepted) ? 1 : 0) && !is(Fault::refused_by_row) ? 3 : 0;
    case Check::kStride:
      return overlaps(call) ? 6 : 0;
  }
  return 0;
}

std::array<Check, 5> order_of_checks() {
  switch (chosen_entry().fault) {
    case Fault::refusals_in_other_order:
      return {Check::kNegative, Check::kSegments, Check::kLearned, Check::kKeep, Check::kStride};
    case Fault::refusals_keep_first:
      return {Check::kNegative, Check::kLearned, Check::kKeep, Check::kSegments, Check::kStride};
    case Fault::refusals_stride_first:
      return {Check::kNegative, Check::kLearned, Check::kStride, Check::kSegments, Check::kKeep};
    case Fault::refusals_negative_last:
      return {Check::kLearned, Check::kSegments, Check::kKeep, Check::kStride, Check::kNegative};
    default:
      return {Check::kNegative, Check::kLearned, Check::kSegments, Check::kKeep, Check::kStride};
  }
}

}  // namespace

std::int32_t check(const Arguments& call) {
  if (call.kind == Kind::kScatter && call.num_segments == 0) {
    if (is(Fault::off_checks_shape) && call.topk < 0) return 4;
    return is(Fault::off_refused) ? 2 : 0;
  }
  if ((is(Fault::no_rows_accepted) && call.rows == 0) || (is(Fault::no_slots_accepted) && call.topk == 0) ||
      (is(Fault::no_budget_accepted) && call.kind == Kind::kApply && call.max_replacements == 0)) {
    return 0;
  }
  for (const Check next : order_of_checks()) {
    const std::int32_t status = result_of(next, call);
    if (status != 0) return is(Fault::refusals_of_one_code) ? 1 : status;
  }
  return 0;
}

}  // namespace kvwitness::faults
