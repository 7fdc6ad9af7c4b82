#include "properties/generators/domain.h"

#include <kvwitness/legality.h>

#include <algorithm>
#include <iterator>

namespace kvwitness::harness {

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

}  // namespace kvwitness::harness
