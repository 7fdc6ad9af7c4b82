// Metamorphic relations that change which rows a batch has, their order or their neighbours.
#include <kvwitness/case.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "properties/rules/further_run.h"
#include "properties/rules/judged_rows.h"
#include "properties/rules/judges.h"

namespace kvwitness::harness::judges {
namespace {

// Changes the tokens and lengths of the rows of one parity. No length passes the longest one, and a row whose tokens lie
// in its context is replaced by such a row, so that the case stays in its domain.
Case with_other_neighbours(const Case& value, std::int64_t parity) {
  Case other = call_only(value);
  const std::int32_t longest = std::ranges::max(value.context_lens);
  for (std::int64_t row = parity; row < value.rows(); row += 2) {
    std::int32_t& context_len = other.context_lens[static_cast<std::size_t>(row)];
    const std::int32_t other_len = context_len <= 1 ? std::clamp(longest, 1, 5) : context_len / 2 + 1;
    for (std::int32_t& token : learned_row(other, row)) {
      token = token < 0 ? 0 : token < context_len ? (context_len - 1 - token) % other_len : -1;
    }
    context_len = other_len;
  }
  return other;
}

Case rows_between(const Case& value, std::int64_t begin, std::int64_t end) {
  Case part = call_only(value);
  const auto cut = [](std::vector<std::int32_t>& elements, std::int64_t from, std::int64_t to) {
    elements = std::vector<std::int32_t>(elements.begin() + from, elements.begin() + to);
  };
  cut(part.context_lens, begin, end);
  cut(part.learned, begin * value.topk, end * value.topk);
  return part;
}

}  // namespace

Verdict row_independence(const Case& value, const Outcome& outcome, Implementation& implementation) {
  const JudgedRows rows(value, outcome.rows);
  for (std::int64_t parity = 0; parity < 2; ++parity) {
    const FurtherRun run = run_further(with_other_neighbours(value, parity), implementation);
    if (run.verdict) {
      return *run.verdict;
    }
    for (std::int64_t row = 1 - parity; row < value.rows(); row += 2) {
      Verdict verdict = compare_runs(rows[row].result, run.row(row), result_width(value),
                                     "among other rows this row's result is another", row);
      if (verdict.kind == Verdict::Kind::kBroken) {
        return against(std::move(verdict), run);
      }
    }
  }
  return Verdict::holds();
}

Verdict row_permutation(const Case& value, const Outcome& outcome, Implementation& implementation) {
  Case reversed = call_only(value);
  std::ranges::reverse(reversed.context_lens);
  for (std::int64_t row = 0; row < value.rows() / 2; ++row) {
    std::ranges::swap_ranges(learned_row(reversed, row), learned_row(reversed, value.rows() - 1 - row));
  }
  const FurtherRun run = run_further(std::move(reversed), implementation);
  if (run.verdict) {
    return *run.verdict;
  }
  const JudgedRows rows(value, outcome.rows);
  for (std::int64_t row = 0; row < value.rows(); ++row) {
    Verdict verdict = compare_runs(rows[row].result, run.row(value.rows() - 1 - row), result_width(value),
                                   "with the rows of the batch reversed this row's result is another", row);
    if (verdict.kind == Verdict::Kind::kBroken) {
      return against(std::move(verdict), run);
    }
  }
  return Verdict::holds();
}

Verdict batch_split(const Case& value, const Outcome& outcome, Implementation& implementation) {
  const std::int64_t middle = value.rows() / 2;
  const std::span<const std::int32_t> whole(outcome.rows);
  for (const auto& [begin, end] : {std::pair{std::int64_t{0}, middle}, std::pair{middle, value.rows()}}) {
    const FurtherRun run = run_further(rows_between(value, begin, end), implementation);
    if (run.verdict) {
      return *run.verdict;
    }
    const std::int64_t width = result_width(value);
    Verdict verdict =
        compare_runs(run.outcome.rows, whole.subspan(static_cast<std::size_t>(begin * width), run.outcome.rows.size()),
                     width, "the whole batch and a part of it called by itself differ", begin);
    if (verdict.kind == Verdict::Kind::kBroken) {
      return against(std::move(verdict), run);
    }
  }
  return Verdict::holds();
}

}  // namespace kvwitness::harness::judges
