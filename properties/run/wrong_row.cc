#include "properties/run/wrong_row.h"

#include <kvwitness/legality.h>
#include <kvwitness/oracle.h>

#include <algorithm>
#include <cstddef>
#include <utility>

#include "properties/rules/judged_rows.h"
#include "properties/run/case_size.h"

namespace kvwitness::harness {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 22;

template <typename T>
std::span<T> row_of(std::span<T> rows, std::int64_t width, std::int64_t index) {
  return rows.subspan(static_cast<std::size_t>(index * width), static_cast<std::size_t>(width));
}

Case only_row(const Case& value, std::int64_t index) {
  Case row;
  row.operation = value.operation;
  row.topk = value.topk;
  row.num_segments = value.num_segments;
  row.learned_keep = value.learned_keep;
  row.max_replacements = value.max_replacements;
  row.context_lens = {value.context_lens[static_cast<std::size_t>(index)]};
  const auto learned = row_of(std::span(value.learned), value.topk, index);
  row.learned.assign(learned.begin(), learned.end());
  return row;
}

void set_previous(WrongRow& wrong, const Case& call, std::int64_t index) {
  const auto tokens = row_of(std::span(call.learned), call.topk, index);
  wrong.previous.assign(tokens.begin(), tokens.end());
  wrong.previous_len = call.context_lens[static_cast<std::size_t>(index)];
}

// The row that was read before the wrong one.
void find_previous(WrongRow& wrong, const Case& value) {
  if (wrong.index > 0) return set_previous(wrong, value, wrong.index - 1);
  for (std::size_t i = value.prior_calls.size(); i-- > 0;) {
    const Case& prior = value.prior_calls[i];
    if (is_legal(prior) && !is_off(prior) && prior.rows() > 0) return set_previous(wrong, prior, prior.rows() - 1);
  }
}

}  // namespace

std::optional<WrongRow> find_wrong_row(const Case& value, std::span<const std::int32_t> rows,
                                       std::span<const std::int32_t> before) {
  const std::int64_t width = result_width(value);
  if (!is_legal(value) || is_off(value) || width == 0 || value.rows() > kMostElements / width ||
      static_cast<std::int64_t>(elements_of(value)) > kMostElements ||
      static_cast<std::int64_t>(rows.size()) != value.rows() * width) {
    return std::nullopt;
  }
  for (std::int64_t index = 0; index < value.rows(); ++index) {
    Case row = only_row(value, index);
    std::vector<std::int32_t> expected = expected_rows(row);
    const auto actual = row_of(rows, width, index);
    const auto [wanted, given] = std::ranges::mismatch(expected, actual);
    if (given == actual.end()) continue;
    WrongRow wrong;
    wrong.slot = given - actual.begin();
    wrong.is_unwritten =
        before.size() == rows.size() && before[static_cast<std::size_t>(index * width + wrong.slot)] == *given;
    wrong.index = index;
    wrong.rows = value.rows();
    find_previous(wrong, value);
    wrong.row = std::move(row);
    wrong.actual.assign(actual.begin(), actual.end());
    wrong.expected = std::move(expected);
    return wrong;
  }
  return std::nullopt;
}

}  // namespace kvwitness::harness
