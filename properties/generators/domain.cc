#include "properties/generators/domain.h"

#include <kvwitness/legality.h>

#include <algorithm>
#include <iterator>

namespace kvwitness::harness {

Domain whole_domain() {
  return {.operations = {Operation::kWitnesses, Operation::kApply, Operation::kScatter}};
}

std::vector<std::int64_t> values_within(const std::vector<std::int64_t>& list, const Range& range) {
  std::vector<std::int64_t> within;
  std::ranges::copy_if(list, std::back_inserter(within),
                       [&](std::int64_t value) { return value >= range.low && value <= range.high; });
  return within;
}

Range legal_segments(Operation operation, const Range& segments) {
  if (operation == Operation::kWitnesses) return {std::max<std::int64_t>(segments.low, 1), segments.high};
  if (operation == Operation::kScatter && segments.high == 0) return segments;
  return {std::max<std::int64_t>(segments.low, 1), std::min(segments.high, kMaxMergeSegments)};
}

bool admits_value(const std::vector<std::int64_t>& list, const Range& range) {
  return list.empty() ? range.low <= range.high : !values_within(list, range).empty();
}

std::int64_t least_value(const std::vector<std::int64_t>& list, const Range& range) {
  if (list.empty()) return range.low;
  const auto choices = values_within(list, range);
  return choices.empty() ? range.high + 1 : std::ranges::min(choices);
}

std::int64_t greatest_value(const std::vector<std::int64_t>& list, const Range& range) {
  if (list.empty()) return range.high;
  const auto choices = values_within(list, range);
  return choices.empty() ? range.low - 1 : std::ranges::max(choices);
}

bool admits_case(const Domain& domain, const Case& value) {
  const auto listed = [](const std::vector<std::int64_t>& list, std::int64_t number) {
    return list.empty() || std::ranges::find(list, number) != list.end();
  };
  if (std::ranges::find(domain.operations, value.operation) == domain.operations.end()) return false;
  if (!std::ranges::all_of(value.prior_calls, [&](const Case& prior) { return admits_case(domain, prior); })) {
    return false;
  }
  if (domain.contiguous && value.row_stride && *value.row_stride != value.topk) return false;
  if (value.base_offset * std::int64_t{4} % domain.align_bytes != 0) return false;
  if (!is_legal(value)) return !domain.legal_only;
  // Scatter's off switch is legal whatever else is passed; that belongs to the refusals.
  const bool rows_fit = value.topk >= 0 &&
                        static_cast<__int128>(value.rows()) * value.topk == static_cast<__int128>(value.learned.size());
  if (domain.legal_only && !rows_fit) return false;
  return listed(domain.topk, value.topk) && listed(domain.num_segments, value.num_segments) &&
         listed(domain.rows, value.rows());
}

}  // namespace kvwitness::harness
