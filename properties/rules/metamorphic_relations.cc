// The relations: properties that compare a run with further runs of the same implementation, on cases whose answers
// must be related. None needs the expected answer.
#include <kvwitness/oracle.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "properties/case/status.h"
#include "properties/rules/judged_rows.h"

namespace kvwitness::harness {
namespace {

using Tokens = std::span<std::int32_t>;

bool any_operation(Operation) {
  return true;
}
bool merging_apply(Operation operation) {
  return operation == Operation::kApply;
}
bool witness_indices(Operation operation) {
  return operation == Operation::kWitnesses;
}

// The same call without what is no part of it.
Case bare(const Case& value) {
  Case copy;
  copy.operation = value.operation;
  copy.topk = value.topk;
  copy.num_segments = value.num_segments;
  copy.learned_keep = value.learned_keep;
  copy.max_replacements = value.max_replacements;
  copy.context_lens = value.context_lens;
  copy.learned = value.learned;
  copy.form = value.form;
  copy.row_stride = value.row_stride;
  copy.in_place = value.in_place;
  copy.base_offset = value.base_offset;
  copy.prior_calls = value.prior_calls;
  return copy;
}

Tokens row_of(Case& value, std::int64_t row) {
  return Tokens(value.learned)
      .subspan(static_cast<std::size_t>(row * value.topk), static_cast<std::size_t>(value.topk));
}

// A further run's rows, or why there are none: outside the domain (silent), or a legal call that failed (broken).
struct FurtherRun {
  Case value;
  Outcome outcome;
  std::optional<Verdict> verdict;

  std::span<const std::int32_t> row(std::int64_t row) const {
    const auto width = static_cast<std::size_t>(result_width(value));
    return std::span(outcome.rows).subspan(static_cast<std::size_t>(row) * width, width);
  }
};

FurtherRun run_further(Case further, Implementation& implementation, const MemoryContext& memory_context = {}) {
  FurtherRun run{std::move(further), {}, {}};
  const bool strided = sees_stride(implementation, run.value);
  if (!implementation.supports(run.value) || beyond_limits(run.value, strided)) {
    run.verdict = Verdict::silent();
    return run;
  }
  run.outcome = implementation.run_in(run.value, memory_context);
  run.verdict = unjudgeable(run.value, run.outcome, implementation);
  if (run.verdict && run.verdict->kind == Verdict::Kind::kBroken) {
    run.verdict->compared_with = run.value;
  }
  return run;
}

Verdict against(Verdict verdict, const FurtherRun& run) {
  if (verdict.kind == Verdict::Kind::kBroken) {
    verdict.compared_with = run.value;
  }
  return verdict;
}

// The first run's verdict where it cannot be compared: silent for refused calls and for the off switch, which leave no
// rows to relate.
std::optional<Verdict> incomparable(const Case& value, const Outcome& outcome, const Implementation& implementation) {
  if (auto verdict = unjudgeable(value, outcome, implementation)) {
    return verdict;
  }
  return is_off(value) ? std::optional(Verdict::silent()) : std::nullopt;
}

// What a row must become when its learned tokens are `learned` and its witnesses are those that `result` shows for
// another order or multiplicity of the same tokens.
std::vector<std::int32_t> with_same_witnesses(JudgedRows& rows, std::int64_t row, Tokens learned) {
  std::vector<std::int32_t> wanted;
  if (!rows.merges()) {
    wanted.assign(rows[row].result.begin(), rows[row].result.end());
    return wanted;
  }
  wanted.assign(learned.begin(), learned.end());
  for (const Written& written : rows.written(rows[row])) {
    wanted[static_cast<std::size_t>(written.slot)] = written.token;
  }
  return wanted;
}

Verdict permutation(const Case& value, const Outcome& outcome, Implementation& implementation) {
  if (auto verdict = incomparable(value, outcome, implementation)) {
    return *verdict;
  }
  Case permuted = bare(value);
  for (std::int64_t row = 0; row < value.rows(); ++row) {
    const Tokens tokens = row_of(permuted, row);
    if (row % 2 == 0) {
      std::ranges::reverse(tokens);
    } else if (!tokens.empty()) {
      std::ranges::rotate(tokens, tokens.begin() + (1 + row / 2) % std::ssize(tokens));
    }
  }
  if (permuted.learned == value.learned) {
    return Verdict::silent();
  }
  const FurtherRun run = run_further(std::move(permuted), implementation);
  if (run.verdict) {
    return *run.verdict;
  }
  JudgedRows rows(value, outcome.rows);
  Case given = run.value;
  for (std::int64_t row = 0; row < value.rows(); ++row) {
    const std::vector<std::int32_t> wanted = with_same_witnesses(rows, row, row_of(given, row));
    Verdict verdict = compare_rows(wanted, run.row(row), std::ssize(wanted),
                                   "the row's tokens in another order have other witnesses", row);
    if (verdict.kind == Verdict::Kind::kBroken) {
      return against(std::move(verdict), run);
    }
  }
  return Verdict::holds();
}

Verdict row_permutation(const Case& value, const Outcome& outcome, Implementation& implementation) {
  if (auto verdict = incomparable(value, outcome, implementation)) {
    return *verdict;
  }
  if (value.rows() < 2) {
    return Verdict::silent();
  }
  Case reversed = bare(value);
  std::ranges::reverse(reversed.context_lens);
  for (std::int64_t row = 0; row < value.rows() / 2; ++row) {
    std::ranges::swap_ranges(row_of(reversed, row), row_of(reversed, value.rows() - 1 - row));
  }
  const FurtherRun run = run_further(std::move(reversed), implementation);
  if (run.verdict) {
    return *run.verdict;
  }
  const JudgedRows rows(value, outcome.rows);
  for (std::int64_t row = 0; row < value.rows(); ++row) {
    Verdict verdict = compare_rows(rows[row].result, run.row(value.rows() - 1 - row), result_width(value),
                                   "with the rows of the batch reversed this row's result is another", row);
    if (verdict.kind == Verdict::Kind::kBroken) {
      return against(std::move(verdict), run);
    }
  }
  return Verdict::holds();
}

// Changes the tokens and lengths of the rows of one parity.
Case with_other_neighbours(const Case& value, std::int64_t parity) {
  Case other = bare(value);
  for (std::int64_t row = parity; row < value.rows(); row += 2) {
    std::int32_t& context_len = other.context_lens[static_cast<std::size_t>(row)];
    for (std::int32_t& token : row_of(other, row)) {
      token = token < 0 ? 0 : token < context_len ? context_len - 1 - token : -1;
    }
    context_len = context_len <= 1 ? 5 : context_len / 2 + 1;
  }
  return other;
}

Verdict row_independence(const Case& value, const Outcome& outcome, Implementation& implementation) {
  if (auto verdict = incomparable(value, outcome, implementation)) {
    return *verdict;
  }
  if (value.rows() < 2) {
    return Verdict::silent();
  }
  const JudgedRows rows(value, outcome.rows);
  for (std::int64_t parity = 0; parity < 2; ++parity) {
    const FurtherRun run = run_further(with_other_neighbours(value, parity), implementation);
    if (run.verdict) {
      return *run.verdict;
    }
    for (std::int64_t row = 1 - parity; row < value.rows(); row += 2) {
      Verdict verdict = compare_rows(rows[row].result, run.row(row), result_width(value),
                                     "among other rows this row's result is another", row);
      if (verdict.kind == Verdict::Kind::kBroken) {
        return against(std::move(verdict), run);
      }
    }
  }
  return Verdict::holds();
}

Case rows_between(const Case& value, std::int64_t begin, std::int64_t end) {
  Case part = bare(value);
  const auto cut = [](std::vector<std::int32_t>& elements, std::int64_t from, std::int64_t to) {
    elements = std::vector<std::int32_t>(elements.begin() + from, elements.begin() + to);
  };
  cut(part.context_lens, begin, end);
  cut(part.learned, begin * value.topk, end * value.topk);
  return part;
}

Verdict batch_split(const Case& value, const Outcome& outcome, Implementation& implementation) {
  if (auto verdict = incomparable(value, outcome, implementation)) {
    return *verdict;
  }
  if (value.rows() < 2) {
    return Verdict::silent();
  }
  const std::int64_t middle = value.rows() / 2;
  const std::span<const std::int32_t> whole(outcome.rows);
  for (const auto& [begin, end] : {std::pair{std::int64_t{0}, middle}, std::pair{middle, value.rows()}}) {
    const FurtherRun run = run_further(rows_between(value, begin, end), implementation);
    if (run.verdict) {
      return *run.verdict;
    }
    const std::int64_t width = result_width(value);
    Verdict verdict =
        compare_rows(run.outcome.rows, whole.subspan(static_cast<std::size_t>(begin * width), run.outcome.rows.size()),
                     width, "the whole batch and a part of it that is called alone differ", begin);
    if (verdict.kind == Verdict::Kind::kBroken) {
      return against(std::move(verdict), run);
    }
  }
  return Verdict::holds();
}

// A slot of padding, the last of the row; nothing where it has none.
std::optional<std::size_t> padding_slot(std::span<const std::int32_t> row) {
  for (std::size_t slot = row.size(); slot-- > 0;) {
    if (row[slot] < 0) {
      return slot;
    }
  }
  return std::nullopt;
}

std::optional<std::int32_t> first_token(std::span<const std::int32_t> row) {
  const auto found = std::ranges::find_if(row, [](std::int32_t token) { return token >= 0; });
  return found == row.end() ? std::nullopt : std::optional(*found);
}

// The case with one more slot in each row, which holds extra[row].
Case widened(const Case& value, std::span<const std::int32_t> extra) {
  Case wider = bare(value);
  wider.topk = value.topk + 1;
  // An implementation that sees no stride may be given any: the largest stays as it is.
  if (wider.row_stride && *wider.row_stride < std::numeric_limits<std::int64_t>::max()) {
    ++*wider.row_stride;
  }
  wider.learned.clear();
  for (std::int64_t row = 0; row < value.rows(); ++row) {
    const auto begin = value.learned.begin() + row * value.topk;
    wider.learned.insert(wider.learned.end(), begin, begin + value.topk);
    wider.learned.push_back(extra[static_cast<std::size_t>(row)]);
  }
  return wider;
}

// Repeats a token in place of padding in every row that has both; nothing where no row has.
std::optional<Case> with_token_over_padding(const Case& value) {
  Case repeated = bare(value);
  bool changed = false;
  for (std::int64_t row = 0; row < value.rows(); ++row) {
    const Tokens tokens = row_of(repeated, row);
    const auto slot = padding_slot(tokens);
    const auto token = first_token(tokens);
    if (slot && token) {
      tokens[*slot] = *token;
      changed = true;
    }
  }
  return changed ? std::optional(std::move(repeated)) : std::nullopt;
}

// Repeats a token in a further slot of every row. Nothing for scatter, whose kept prefix depends on the width, and
// where no row has a token.
std::optional<Case> with_token_appended(const Case& value) {
  if (value.operation == Operation::kScatter) {
    return std::nullopt;
  }
  std::vector<std::int32_t> extra(value.context_lens.size(), -1);
  Case rows = bare(value);
  bool changed = false;
  for (std::int64_t row = 0; row < value.rows(); ++row) {
    if (const auto token = first_token(row_of(rows, row))) {
      extra[static_cast<std::size_t>(row)] = *token;
      changed = true;
    }
  }
  if (!changed) {
    return std::nullopt;
  }
  Case wider = widened(value, extra);
  if (value.operation == Operation::kApply) {
    wider.max_replacements = merge_of(value).budget;  // the further slot is not to be overwritten
  }
  return wider;
}

Verdict repeated_token(const Case& value, const Outcome& outcome, Implementation& implementation) {
  if (auto verdict = incomparable(value, outcome, implementation)) {
    return *verdict;
  }
  std::optional<Case> repeated = with_token_over_padding(value);
  if (!repeated) {
    repeated = with_token_appended(value);
  }
  if (!repeated) {
    return Verdict::silent();
  }
  const FurtherRun run = run_further(std::move(*repeated), implementation);
  if (run.verdict) {
    return *run.verdict;
  }
  JudgedRows rows(value, outcome.rows);
  Case given = run.value;
  for (std::int64_t row = 0; row < value.rows(); ++row) {
    const std::vector<std::int32_t> wanted = with_same_witnesses(rows, row, row_of(given, row));
    Verdict verdict =
        compare_rows(wanted, run.row(row), std::ssize(wanted), "a repeated token changes the row's witnesses", row);
    if (verdict.kind == Verdict::Kind::kBroken) {
      return against(std::move(verdict), run);
    }
  }
  return Verdict::holds();
}

Verdict stride_widening(const Case& value, const Outcome& outcome, Implementation& implementation) {
  if (auto verdict = incomparable(value, outcome, implementation)) {
    return *verdict;
  }
  if (value.rows() < 2 || value.topk == 0 || !implementation.honours_stride(value.operation)) {
    return Verdict::silent();
  }
  // One column more moves the rows off every alignment; an implementation that needs one takes the next width that it
  // supports.
  for (const std::int64_t columns : {1, 4, 16, 64}) {
    Case wider = bare(value);
    wider.row_stride = value.row_stride.value_or(value.topk) + columns;
    const FurtherRun run = run_further(std::move(wider), implementation);
    if (!run.verdict) {
      return against(
          compare_rows(outcome.rows, run.outcome.rows, result_width(value),
                       "with " + std::to_string(columns) + " more spare columns between the rows the result differs"),
          run);
    }
    if (run.verdict->kind == Verdict::Kind::kBroken) {
      return *run.verdict;
    }
  }
  return Verdict::silent();
}

Verdict budget_growth(const Case& value, const Outcome& outcome, Implementation& implementation) {
  if (auto verdict = incomparable(value, outcome, implementation)) {
    return *verdict;
  }
  if (value.max_replacements == std::numeric_limits<std::int64_t>::max()) {
    return Verdict::silent();
  }
  Case grown = bare(value);
  ++grown.max_replacements;
  const FurtherRun run = run_further(std::move(grown), implementation);
  if (run.verdict) {
    return *run.verdict;
  }
  JudgedRows rows(value, outcome.rows);
  const auto [keep, budget] = rows.merge();
  for (std::int64_t index = 0; index < value.rows(); ++index) {
    const JudgedRow row = rows[index];
    const bool one_more = rows.witness_count(row) > budget && keep + budget < value.topk;
    const std::span<const std::int32_t> result = run.row(index);
    for (std::size_t slot = 0; slot < result.size(); ++slot) {
      const bool may_change = one_more && static_cast<std::int64_t>(slot) == keep + budget;
      const bool changed = result[slot] != row.result[slot];
      if (changed != may_change) {
        return against(
            broken(row.name() + ": with one more replacement slot " + std::to_string(slot) +
                       (changed ? " changed from " : " kept ") + std::to_string(row.result[slot]) +
                       (changed ? " to " + std::to_string(result[slot]) : std::string{}) + "; " +
                       (one_more ? "only slot " + std::to_string(keep + budget) + " changes, for a dropped witness"
                                 : "nothing was dropped or no slot is left, so none changes"),
                   {index, static_cast<std::int64_t>(slot), row.result[slot], result[slot]}),
            run);
      }
    }
  }
  return Verdict::holds();
}

// A token to add to a row, and the segment whose witness it removes (-1: none).
struct Occupant {
  std::int32_t token = 0;
  std::int64_t segment = -1;
};

Occupant occupant_for(JudgedRows& rows, const JudgedRow& row) {
  const std::span<const Written> written = rows.written(row);
  if (written.empty() || row.is_empty()) {
    return {};
  }
  const bool whole = row.effective_segments == row.num_segments;
  const bool last_missing = written.back().slot == row.num_segments - 1;
  if (row.index % 2 == 1 && whole && last_missing && row.context_len < std::numeric_limits<std::int32_t>::max()) {
    return {static_cast<std::int32_t>(row.context_len),
            row.num_segments - 1};  // past the context's end: marks the last segment
  }
  const Written& middle = written[written.size() / 2];
  if (middle.slot >= row.effective_segments) {
    return {};
  }
  // The last token of the segment, which is farthest from the witness.
  const std::int64_t next_edge =
      ((middle.slot + 1) * row.context_len + row.effective_segments - 1) / row.effective_segments;
  return {static_cast<std::int32_t>(next_edge - 1), middle.slot};
}

Verdict added_occupant(const Case& value, const Outcome& outcome, Implementation& implementation) {
  if (auto verdict = incomparable(value, outcome, implementation)) {
    return *verdict;
  }
  JudgedRows rows(value, outcome.rows);
  Case added = bare(value);
  std::vector<std::int32_t> tokens;
  std::vector<std::int32_t> wanted = outcome.rows;
  bool all_have_padding = true;
  for (std::int64_t index = 0; index < value.rows(); ++index) {
    const Occupant occupant = occupant_for(rows, rows[index]);
    tokens.push_back(occupant.token);
    if (occupant.segment >= 0) {
      wanted[static_cast<std::size_t>(index * value.num_segments + occupant.segment)] = -1;
    } else if (!rows[index].is_empty() && rows[index].num_segments > 0) {
      // Token 0 lies in segment 0, whose witness goes if there is one.
      wanted[static_cast<std::size_t>(index * value.num_segments)] = -1;
    }
    const auto slot = padding_slot(row_of(added, index));
    all_have_padding &= slot.has_value();
    if (slot) {
      row_of(added, index)[*slot] = occupant.token;
    }
  }
  const FurtherRun run = run_further(all_have_padding ? std::move(added) : widened(value, tokens), implementation);
  if (run.verdict) {
    return *run.verdict;
  }
  return against(compare_rows(wanted, run.outcome.rows, value.num_segments,
                              "a token added to a row removes the witness of its segment and changes nothing else"),
                 run);
}

// Whether two runs that must be equal are: for refused calls too.
Verdict same_answer(const Case& value, const Outcome& first, const Outcome& second, const Case& again,
                    const std::string& what) {
  Verdict verdict = Verdict::holds();
  if (first.status != second.status) {
    verdict = broken(what + ": status " + std::to_string(second.status) + ", before " + std::to_string(first.status));
  } else if (first.rows.size() != second.rows.size()) {
    verdict = broken(what + ": " + std::to_string(second.rows.size()) + " elements, before " +
                     std::to_string(first.rows.size()));
  } else if (first.status == status::kOk) {
    verdict = compare_rows(first.rows, second.rows, result_width(value), what);
  }
  if (verdict.kind == Verdict::Kind::kBroken) {
    verdict.compared_with = again;
  }
  return verdict;
}

// The verdict where a run's ending leaves nothing to compare; a refused call that came back may be compared.
std::optional<Verdict> not_returned(const Outcome& outcome, const Case& value) {
  if (outcome.ending == Ending::kReturned) {
    return std::nullopt;
  }
  if (outcome.ending == Ending::kUnsupported) {
    return Verdict::silent();
  }
  Verdict verdict = broken(why_not_returned(outcome));
  verdict.compared_with = value;
  return verdict;
}

// The verdict where a call that came back is called unsupported when it is made again.
std::optional<Verdict> declined(const Outcome& second, const Case& again) {
  if (second.ending != Ending::kUnsupported) {
    return std::nullopt;
  }
  Verdict verdict = broken("the call was served, and is declined when it is made again");
  verdict.compared_with = again;
  return verdict;
}

// Runs the case once more, in the given memory_context, and expects the same.
Verdict run_once_more(const Case& value, const Outcome& outcome, Implementation& implementation,
                      const MemoryContext& memory_context, const std::string& what) {
  if (auto verdict = not_returned(outcome, value)) {
    return *verdict;
  }
  const Case again = bare(value);
  const Outcome second = implementation.run_in(again, memory_context);
  if (auto verdict = declined(second, again)) {
    return *verdict;
  }
  if (auto verdict = not_returned(second, again)) {
    return *verdict;
  }
  return same_answer(value, outcome, second, again, what);
}

Verdict determinism(const Case& value, const Outcome& outcome, Implementation& implementation) {
  return run_once_more(value, outcome, implementation, {}, "the same call gives another answer");
}

Verdict spare_poison(const Case& value, const Outcome& outcome, Implementation& implementation) {
  for (const MemoryContext& memory_context :
       {MemoryContext{MemoryContext::Fill::kPadding, false}, MemoryContext{MemoryContext::Fill::kTokens, true}}) {
    Verdict verdict = run_once_more(value, outcome, implementation, memory_context,
                                    "with other memory around the buffers the answer is another");
    if (verdict.kind != Verdict::Kind::kHolds) {
      return verdict;
    }
  }
  return Verdict::holds();
}

Verdict repeat_run(const Case& value, const Outcome& outcome, Implementation& implementation) {
  if (auto verdict = not_returned(outcome, value)) {
    return *verdict;
  }
  Case again = bare(value);
  Case first = bare(value);
  first.prior_calls.clear();
  again.prior_calls.push_back(std::move(first));
  const Outcome second = implementation.run_in(again, {});
  if (auto verdict = declined(second, again)) {
    return *verdict;
  }
  if (auto verdict = not_returned(second, again)) {
    return *verdict;
  }
  if (second.prior_calls.empty()) {
    return broken("the calls before the last one have no outcome");
  }
  if (auto verdict = declined(second.prior_calls.back(), again)) {
    return *verdict;
  }
  Verdict verdict =
      same_answer(value, outcome, second.prior_calls.back(), again, "made again, the call gives another answer");
  return verdict.kind == Verdict::Kind::kBroken
             ? verdict
             : same_answer(value, outcome, second, again,
                           "made twice in a row, the call gives another answer the second time");
}

Verdict backend_equality(const Case& value, const Outcome& outcome, Implementation& implementation) {
  if (auto verdict = unjudgeable(value, outcome, implementation)) {
    return *verdict;
  }
  bool compared = false;
  const std::string name = implementation.name();
  Case alone = bare(value);
  alone.prior_calls.clear();
  for (const std::unique_ptr<Implementation>& backend : implementation.peers()) {
    if (backend->name() == name || !backend->supports(alone) || !legal_for(*backend, alone)) {
      continue;
    }
    const Outcome other = backend->run(alone);
    const Verdict verdict =
        same_answer(value, other, outcome, alone, name + " and the backend " + backend->name() + " differ");
    if (verdict.kind == Verdict::Kind::kBroken) {
      return verdict;
    }
    compared = true;
  }
  return compared ? Verdict::holds() : Verdict::silent();
}

constexpr std::array kProperties = {
    Property{"permutation", "The witnesses are a function of the row's set of tokens: its order changes nothing.",
             false, true, any_operation, permutation},
    Property{"row_independence", "A row's result depends on that row and its length alone.", false, true, any_operation,
             row_independence},
    Property{"determinism", "The same input gives the same bits.", false, true, any_operation, determinism},
    Property{"row_permutation", "The rows of the batch in another order have the same results in that order.", false,
             true, any_operation, row_permutation},
    Property{"repeated_token", "Repeating a token in a row leaves its witnesses unchanged.", false, true, any_operation,
             repeated_token},
    Property{"batch_split", "A batch and its parts called one by one give the same rows.", false, true, any_operation,
             batch_split},
    Property{"stride_widening", "The distance between rows changes no result.", false, true, any_operation,
             stride_widening},
    Property{"budget_growth",
             "One more in max_replacements changes one further slot where a witness was dropped and a slot is left, "
             "and nothing "
             "elsewhere.",
             false, true, merging_apply, budget_growth},
    Property{
        "added_occupant",
        "A token added to a row removes the witness of its segment, if there was one, and changes no other witness.",
        false, true, witness_indices, added_occupant},
    Property{"repeat_run", "A call leaves nothing behind: made again in the same process it gives the same answer.",
             false, true, any_operation, repeat_run},
    Property{"spare_poison",
             "Nothing outside the rows plays a part: neither spare columns nor what lies before and behind the buffers "
             "nor what the "
             "output held.",
             false, true, any_operation, spare_poison},
    Property{"backend_equality", "Every backend of the library gives the same bits.", false, true, any_operation,
             backend_equality},
};

}  // namespace

std::span<const Property> relations() {
  return kProperties;
}

}  // namespace kvwitness::harness
