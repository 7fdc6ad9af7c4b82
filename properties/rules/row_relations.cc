// Metamorphic relations that change what a row holds or how many of its slots may be overwritten.
#include <kvwitness/case.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "properties/rules/further_run.h"
#include "properties/rules/judged_rows.h"
#include "properties/rules/judges.h"

namespace kvwitness::harness::judges {
namespace {

// Runs `changed`, whose rows have the tokens of `value` in another order or multiplicity: they must have the witnesses
// that `outcome` shows.
Verdict same_witnesses(const Case& value, const Outcome& outcome, Case changed, Implementation& implementation,
                       const std::string& what) {
  const FurtherRun run = run_further(std::move(changed), implementation);
  if (run.verdict) {
    return *run.verdict;
  }
  JudgedRows rows(value, outcome.rows);
  if (!rows.merges()) {
    return against(compare_runs(outcome.rows, run.outcome.rows, result_width(value), what), run);
  }
  std::vector<std::int32_t> wanted = run.value.learned;
  for (std::int64_t row = 0; row < value.rows(); ++row) {
    for (const Written& written : rows.written(rows[row])) {
      wanted[static_cast<std::size_t>(row * run.value.topk + written.slot)] = written.token;
    }
  }
  return against(compare_runs(wanted, run.outcome.rows, run.value.topk, what), run);
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
  Case wider = call_only(value);
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
  Case repeated = call_only(value);
  bool changed = false;
  for (std::int64_t row = 0; row < value.rows(); ++row) {
    const std::span<std::int32_t> tokens = learned_row(repeated, row);
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
  Case rows = call_only(value);
  bool changed = false;
  for (std::int64_t row = 0; row < value.rows(); ++row) {
    if (const auto token = first_token(learned_row(rows, row))) {
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

// A token to add to a row, and the segment whose witness it removes (-1: none).
struct Occupant {
  std::int32_t token = 0;
  std::int64_t segment = -1;
};

// @param may_pass_end  whether the token may lie past the context's end
Occupant occupant_for(JudgedRows& rows, const JudgedRow& row, bool may_pass_end) {
  const std::span<const Written> written = rows.written(row);
  if (row.is_empty()) {
    return {.token = may_pass_end ? 0 : -1};
  }
  if (written.empty()) {
    return {};
  }
  const bool whole = row.effective_segments == row.num_segments;
  const bool last_missing = written.back().slot == row.num_segments - 1;
  const bool has_room = row.context_len < std::numeric_limits<std::int32_t>::max();
  if (may_pass_end && row.index % 2 == 1 && whole && last_missing && has_room) {
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

// Where the tokens go: into a further slot of each row, or over padding, of the rows that have some.
enum class Place : std::uint8_t { kFurtherSlot, kPadding };

struct WithOccupants {
  Case value;
  std::vector<std::int32_t> wanted;  // its witnesses
  std::int64_t added = 0;            // to how many rows
};

WithOccupants with_occupants(const Case& value, const Outcome& outcome, Place place, bool may_pass_end) {
  JudgedRows rows(value, outcome.rows);
  WithOccupants with{.value = call_only(value), .wanted = outcome.rows};
  std::vector<std::int32_t> tokens;
  for (std::int64_t index = 0; index < value.rows(); ++index) {
    const Occupant occupant = occupant_for(rows, rows[index], may_pass_end);
    tokens.push_back(occupant.token);
    if (place == Place::kPadding) {
      const auto slot = padding_slot(learned_row(with.value, index));
      if (!slot) {
        continue;
      }
      learned_row(with.value, index)[*slot] = occupant.token;
    }
    ++with.added;
    if (!rows[index].is_empty()) {  // token 0 lies in segment 0, whose witness goes if there is one
      const std::int64_t segment = std::max<std::int64_t>(occupant.segment, 0);
      with.wanted[static_cast<std::size_t>(index * value.num_segments + segment)] = -1;
    }
  }
  if (place == Place::kFurtherSlot) {
    with.value = widened(value, tokens);
  }
  return with;
}

}  // namespace

Verdict permutation(const Case& value, const Outcome& outcome, Implementation& implementation) {
  Case permuted = call_only(value);
  for (std::int64_t row = 0; row < value.rows(); ++row) {
    const std::span<std::int32_t> tokens = learned_row(permuted, row);
    if (row % 2 == 0) {
      std::ranges::reverse(tokens);
    } else if (!tokens.empty()) {
      std::ranges::rotate(tokens, tokens.begin() + (1 + row / 2) % std::ssize(tokens));
    }
  }
  if (permuted.learned == value.learned) {
    return Verdict::silent();
  }
  return same_witnesses(value, outcome, std::move(permuted), implementation,
                        "the row's tokens in another order have other witnesses");
}

Verdict repeated_token(const Case& value, const Outcome& outcome, Implementation& implementation) {
  std::optional<Case> repeated = with_token_over_padding(value);
  if (!repeated) {
    repeated = with_token_appended(value);
  }
  if (!repeated) {
    return Verdict::silent();
  }
  return same_witnesses(value, outcome, std::move(*repeated), implementation,
                        "a repeated token changes the row's witnesses");
}

Verdict budget_growth(const Case& value, const Outcome& outcome, Implementation& implementation) {
  if (value.max_replacements == std::numeric_limits<std::int64_t>::max()) {
    return Verdict::silent();
  }
  Case grown = call_only(value);
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

Verdict added_occupant(const Case& value, const Outcome& outcome, Implementation& implementation) {
  // Into padding where each row has some; otherwise the widths that an implementation serves and the tokens that it
  // takes decide what can be added.
  const std::int64_t every_row = value.rows();
  for (const bool may_pass_end : {true, false}) {
    WithOccupants in_padding = with_occupants(value, outcome, Place::kPadding, may_pass_end);
    std::vector<WithOccupants> choices;
    if (in_padding.added < every_row) {
      choices.push_back(with_occupants(value, outcome, Place::kFurtherSlot, may_pass_end));
    }
    if (in_padding.added > 0 || every_row == 0) {
      choices.push_back(std::move(in_padding));
    }
    for (WithOccupants& choice : choices) {
      const FurtherRun run = run_further(std::move(choice.value), implementation);
      if (!run.verdict) {
        return against(compare_runs(choice.wanted, run.outcome.rows, value.num_segments,
                                    "a token added to a row removes the witness of its segment and changes nothing "
                                    "else"),
                       run);
      }
      if (run.verdict->kind == Verdict::Kind::kBroken) {
        return *run.verdict;
      }
    }
  }
  return Verdict::outside_domain();
}

}  // namespace kvwitness::harness::judges
