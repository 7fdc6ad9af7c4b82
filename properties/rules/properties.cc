// The table of properties.
#include <kvwitness/assertions.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>

#include "properties/rules/judged_rows.h"
#include "properties/rules/judges.h"
#include "properties/rules/property.h"

namespace kvwitness::harness {
namespace {

using judges::each_merged_row;
using judges::each_row;

bool merging_operations(Operation operation) {
  return operation != Operation::kWitnesses;
}
bool only_apply(Operation operation) {
  return operation == Operation::kApply;
}
bool only_witnesses(Operation operation) {
  return operation == Operation::kWitnesses;
}

// In the order of `kvwitness list` and of reports.
constexpr std::array kProperties = {
    Property{
        .name = "oracle_equality",
        .statement = "The status and every slot of the result are those of the rule.",
        .uses_oracle = true,
        .judges_large_calls = true,
        .judge_run = judges::oracle_equality,
    },
    Property{
        .name = "round_trip",
        .statement =
            "Every witness is the edge of its segment: sigma(e_s) = s, and no earlier token lies in segment s.",
        .needs = {.calls = Calls::kSelecting},
        .judge_run = each_row<judges::round_trip>,
    },
    Property{
        .name = "disjointness",
        .statement = "No witness is a token of its learned row.",
        .needs = {.calls = Calls::kSelecting},
        .judge_run = each_row<judges::disjointness>,
    },
    Property{
        .name = "distinctness",
        .statement = "The witnesses of a row are pairwise distinct.",
        .needs = {.calls = Calls::kSelecting},
        .judge_run = each_row<judges::distinctness>,
    },
    Property{
        .name = "causality",
        .statement = "Every witness lies in its row's context: 0 <= e_s < L.",
        .needs = {.calls = Calls::kSelecting},
        .judge_run = each_row<judges::causality>,
    },
    Property{
        .name = "coverage",
        .statement = "Where all learned tokens lie in [0, L), the row and its witnesses cover every segment; "
                     "a merged row does exactly when no witness was dropped and every segment with a token in an "
                     "overwritten slot has one in a slot that was not overwritten.",
        .needs = {.calls = Calls::kSelecting},
        .focus = Focus::kInRange,
        .judge_run = each_row<judges::coverage>,
    },
    Property{
        .name = "gap_bound",
        .statement = "Where every segment is covered and all learned tokens lie in [0, L), no run of unselected tokens "
                     "is longer than 2 * ceil(L / S_eff) - 2.",
        .needs = {.calls = Calls::kSelecting},
        .focus = Focus::kInRange,
        .judge_run = each_row<judges::gap_bound>,
    },
    Property{
        .name = "permutation",
        .statement = "The witnesses are a function of the row's set of tokens: its order changes nothing.",
        .needs = {.calls = Calls::kSelecting},
        .is_metamorphic_relation = true,
        .judge_run = judges::permutation,
    },
    Property{
        .name = "retention",
        .statement = "Slots [0, learned_keep) are bit-identical to the input.",
        .concerns = merging_operations,
        .needs = {.calls = Calls::kLegal},
        .judge_run = each_merged_row<judges::retention>,
    },
    Property{
        .name = "budget",
        .statement = "At most B = min(max_replacements, topk - learned_keep) slots change, as one run that starts at "
                     "learned_keep; every other slot is bit-identical.",
        .concerns = merging_operations,
        .needs = {.calls = Calls::kLegal},
        .focus = Focus::kManyWitnesses,
        .judge_run = each_merged_row<judges::budget>,
    },
    Property{
        .name = "order",
        .statement = "Witnesses stand in ascending segment order, and those that the budget drops are the last.",
        .needs = {.calls = Calls::kSelecting},
        .focus = Focus::kManyWitnesses,
        .judge_run = each_row<judges::order>,
    },
    Property{
        .name = "padding",
        .statement = "A negative entry marks no segment and stays as it is unless a witness overwrites its slot.",
        .needs = {.calls = Calls::kSelecting},
        .focus = Focus::kPadding,
        .judge_run = each_row<judges::padding>,
    },
    Property{
        .name = "empty_row",
        .statement = "A row with L <= 0 has no witness and stays as it is.",
        .needs = {.calls = Calls::kSelecting},
        .focus = Focus::kEmptyRows,
        .judge_run = each_row<judges::empty_row>,
    },
    Property{
        .name = "short_row",
        .statement = "Where 0 < L < S each token is its own segment, and every token that the row lacks is a witness.",
        .needs = {.calls = Calls::kSelecting},
        .focus = Focus::kShortRows,
        .judge_run = each_row<judges::short_row>,
    },
    Property{
        .name = "out_of_range",
        .statement = "A learned x >= L is neither refused nor removed: it marks min(sigma(x), S - 1), which is the "
                     "last segment where S_eff = S and none where S_eff < S, and stays as it is unless a witness "
                     "overwrites its slot.",
        .needs = {.calls = Calls::kSelecting},
        .focus = Focus::kOutOfRange,
        .judge_run = each_row<judges::out_of_range>,
    },
    Property{
        .name = "row_independence",
        .statement = "A row's result depends only on that row and its length.",
        .needs = {.calls = Calls::kSelecting, .rows = 2},
        .is_metamorphic_relation = true,
        .judge_run = judges::row_independence,
    },
    Property{
        .name = "determinism",
        .statement = "The same input gives the same bits.",
        .is_metamorphic_relation = true,
        .judge_run = judges::determinism,
    },
    Property{
        .name = "refusal",
        .statement = "A malformed call is refused with the first that applies: negative count, rows mismatch, segments "
                     "out of range, learned keep out of range, row stride; every other call is accepted.",
        .needs = {.argument_checks = true},
        .focus = Focus::kRefusals,
        .uses_oracle = true,
        .judges_large_calls = true,
        .judge_run = judges::refusal,
    },
    Property{
        .name = "refused_writes_nothing",
        .statement = "A refused call writes nothing: every output and in-place buffer keeps its bytes.",
        .needs = {.argument_checks = true},
        .focus = Focus::kRefusals,
        .uses_oracle = true,
        .judges_large_calls = true,
        .judge_run = judges::refused_writes_nothing,
    },
    Property{
        .name = "bounds",
        .statement = "A call touches only its own elements: it returns, and neither an input nor a byte before, "
                     "behind or between its rows changes.",
        .judges_large_calls = true,
        .judge_run = judges::bounds,
    },
    Property{
        .name = "row_permutation",
        .statement = "The rows of the batch in another order have the same results in that order.",
        .needs = {.calls = Calls::kSelecting, .rows = 2},
        .is_metamorphic_relation = true,
        .judge_run = judges::row_permutation,
    },
    Property{
        .name = "repeated_token",
        .statement = "Repeating a token in a row leaves its witnesses unchanged.",
        .needs = {.calls = Calls::kSelecting},
        .is_metamorphic_relation = true,
        .judge_run = judges::repeated_token,
    },
    Property{
        .name = "batch_split",
        .statement = "A batch and its parts called one by one give the same rows.",
        .needs = {.calls = Calls::kSelecting, .rows = 2},
        .is_metamorphic_relation = true,
        .judge_run = judges::batch_split,
    },
    Property{
        .name = "stride_widening",
        .statement = "The distance between rows changes no result.",
        .needs = {.calls = Calls::kSelecting, .rows = 2},
        .is_metamorphic_relation = true,
        .judge_run = judges::stride_widening,
    },
    Property{
        .name = "budget_growth",
        .statement = "One more in max_replacements changes one further slot where a witness was dropped and a slot is "
                     "left, and nothing elsewhere.",
        .concerns = only_apply,
        .needs = {.calls = Calls::kSelecting},
        .focus = Focus::kManyWitnesses,
        .is_metamorphic_relation = true,
        .judge_run = judges::budget_growth,
    },
    Property{
        .name = "added_occupant",
        .statement = "A token added to a row removes the witness of its segment, if there was one, and changes no "
                     "other witness.",
        .concerns = only_witnesses,
        .needs = {.calls = Calls::kSelecting},
        .focus = Focus::kManyWitnesses,
        .is_metamorphic_relation = true,
        .judge_run = judges::added_occupant,
    },
    Property{
        .name = "repeat_run",
        .statement = "A call leaves nothing behind: made again in the same process it gives the same answer.",
        .is_metamorphic_relation = true,
        .judge_run = judges::repeat_run,
    },
    Property{
        .name = "spare_poison",
        .statement = "Nothing outside the rows plays a part: neither spare columns nor what lies before and behind the "
                     "buffers nor what the output held.",
        .is_metamorphic_relation = true,
        .judge_run = judges::spare_poison,
    },
    Property{
        .name = "backend_equality",
        .statement = "Every backend of the library gives the same bits.",
        .needs = {.calls = Calls::kLegal, .peers = true},
        .is_metamorphic_relation = true,
        .judge_run = judges::backend_equality,
    },
};

constexpr Operation kOperations[] = {Operation::kWitnesses, Operation::kApply, Operation::kScatter};

}  // namespace

Verdict Property::judge(const Case& value, const Outcome& outcome, Implementation& implementation) const {
  KVWITNESS_ASSERT(judge_run != nullptr);
  if (outcome.ending == Ending::kUnsupported || !concerns(value.operation) ||
      (needs.peers && implementation.peers().empty())) {
    return Verdict::silent();
  }
  if (needs.calls != Calls::kAll) {
    if (auto verdict = unjudgeable(value, outcome, implementation)) {
      return *std::move(verdict);
    }
  }
  const bool off = needs.calls == Calls::kSelecting && is_off(value);
  return off || value.rows() < needs.rows ? Verdict::silent() : judge_run(value, outcome, implementation);
}

std::string_view Property::why_not_provided(const Implementation& implementation) const {
  if (needs.argument_checks && !implementation.checks_arguments()) {
    return "it does not promise the refusals";
  }
  if (needs.peers && implementation.peers().empty()) {
    return "it is about the library's own implementations";
  }
  const auto has = [&](Operation operation) { return concerns(operation) && implementation.provides(operation); };
  return std::ranges::any_of(kOperations, has) ? "" : "it has none of the operations that the property is about";
}

std::span<const Property> all_properties() {
  return kProperties;
}

const Property* find_property(std::string_view name) {
  const auto found = std::ranges::find(kProperties, name, &Property::name);
  return found == kProperties.end() ? nullptr : &*found;
}

}  // namespace kvwitness::harness
