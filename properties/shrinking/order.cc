#include "properties/shrinking/order.h"

#include <kvwitness/legality.h>

#include <algorithm>
#include <vector>

namespace kvwitness::harness::shrinking {
namespace {

// Plain padding first, then small tokens, then other negatives.
Wide size_of_token(std::int32_t token) {
  return token == -1 ? 0 : token >= 0 ? Wide{token} + 1 : Wide{-2} * token;
}

void add_call(Complexity& sum, const Case& value) {
  ++sum.calls;
  sum.values += static_cast<Wide>(value.learned.size() + value.context_lens.size());
  sum.placements += value.in_place + value.row_stride.has_value() + (value.base_offset != 0) +
                    (value.form == Form::kFlat) + (value.operation != Operation::kWitnesses);
  for (const std::int64_t number : {value.topk, value.num_segments, value.learned_keep, value.max_replacements,
                                    value.row_stride.value_or(0), std::int64_t{value.base_offset}}) {
    sum.numbers += size_of_number(number);
  }
  for (const std::int32_t len : value.context_lens) {
    sum.numbers += size_of_number(len);
  }
  const std::size_t width = value.topk > 0 ? static_cast<std::size_t>(value.topk) : value.learned.size();
  for (std::size_t i = 0; i < value.learned.size(); ++i) {
    sum.tokens += size_of_token(value.learned[i]);
    sum.positions += value.learned[i] == -1 ? 0 : static_cast<Wide>(i % width);
  }
}

bool all_legal(const std::vector<Case>& calls) {
  return std::ranges::all_of(calls, is_legal);
}

}  // namespace

Wide size_of_number(std::int64_t value) {
  return value >= 0 ? Wide{2} * value : Wide{-2} * value + 1;
}

Complexity complexity_of(const Case& value) {
  Complexity sum;
  add_call(sum, value);
  for (const Case& earlier : value.prior_calls) {
    add_call(sum, earlier);
  }
  return sum;
}

bool keeps_status(const Case& candidate, const Case& value) {
  return expected_status(candidate, true) == expected_status(value, true) &&
         (!all_legal(value.prior_calls) || all_legal(candidate.prior_calls));
}

}  // namespace kvwitness::harness::shrinking
