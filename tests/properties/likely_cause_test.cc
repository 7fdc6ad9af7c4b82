// What a report says of a failure, over every planted fault of the rule: one entry a cause, sides that differ and agree
// with the rule, and a likely cause in words that names the mistake.
#include "properties/run/likely_cause.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kvwitness/oracle.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "properties/report/failure_groups.h"
#include "properties/report/row_text.h"
#include "properties/run/runner.h"
#include "tests/properties/faulty_rule.h"
#include "tests/properties/report_entries.h"

namespace kvwitness::harness {
namespace {

using rule::Fault;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

ImplementationResult judged(Fault fault) {
  RunOptions options;
  for (const Property& property : all_properties()) options.properties.push_back(&property);
  options.cases_per_property = 60;
  std::vector<std::unique_ptr<Implementation>> implementations;
  implementations.push_back(std::make_unique<FaultyRule>("faulty", Faults{.rule = fault}));
  auto report = run_properties(options, implementations, nullptr);
  EXPECT_TRUE(report.has_value()) << report.error();
  return report ? std::move(report->implementations.at(0)) : ImplementationResult{};
}

void expect_wrong_row_departs_from_the_rule(const Counterexample& found) {
  ASSERT_TRUE(found.wrong_row.has_value()) << found.minimal;
  const WrongRow& wrong = *found.wrong_row;
  EXPECT_EQ(wrong.expected, expected_rows(wrong.row));
  EXPECT_NE(wrong.expected_value(), wrong.actual_value());
  const Case& of = wrong.is_of_compared_case ? *found.verdict.compared_with : found.minimal;
  const std::vector<std::int32_t> rows = expected_rows(of);
  const auto begin = rows.begin() + wrong.index * std::ssize(wrong.expected);
  EXPECT_TRUE(std::equal(wrong.expected.begin(), wrong.expected.end(), begin));
}

// Faults of the catalogue whose readings are known, and the cause that a report must name.
struct Known {
  Fault fault;
  const char* words;
};
constexpr Known kKnown[] = {
    {Fault::edge_rounded_down, "segment edges are rounded down"},
    {Fault::edge_in_float, "the segment edge is computed in single precision"},
    {Fault::edge_in_32_bits, "s * L wraps at 2^32 in the segment edge"},
    {Fault::edge_one_late, "every segment edge but the first is one token late"},
    {Fault::edge_one_early, "every segment edge but the first is one token early"},
    {Fault::edge_of_the_end, "the witness is the last token of its segment"},
    {Fault::edge_by_width, "the segment edge is s * ceil(L / S)"},
    {Fault::edge_of_S, "segment edges of a short row are computed with S"},
    {Fault::edge_accumulated, "a segment edge is one token off"},
    {Fault::segment_in_float, "the segment of a token is computed in single precision"},
    {Fault::segment_in_32_bits, "x * S wraps at 2^32 in the segment of a token"},
    {Fault::segment_by_width, "the segment of a token is x / ceil(L / S)"},
    {Fault::segment_rounded, "the segment of a token is rounded to the nearest"},
    {Fault::segment_by_reciprocal_60, "a token beside a segment's edge is counted to the wrong segment"},
    {Fault::segment_in_24_bits, "the upper bits of a token are dropped in a 24-bit multiply"},
    {Fault::segment_of_S, "the segment of a token is computed with S in a short row"},
    {Fault::segment_of_16_bits, "tokens are kept in 16 bits"},
    {Fault::only_head_read, "tokens of the tail, from learned_keep on, are not read"},
    {Fault::only_tail_read, "tokens of the kept head, below learned_keep, are not read"},
    {Fault::overwritten_not_read, "tokens in the slots of the budget are not read"},
    {Fault::first_1024_read, "slots from 1024 on are not read"},
    {Fault::first_4096_read, "slots from 4096 on are not read"},
    {Fault::remainder_of_4_skipped, "the last topk % 4 slots are not read"},
    {Fault::remainder_of_256_skipped, "the last topk % 256 slots are not read"},
    {Fault::first_slot_skipped, "slot 0 is not read"},
    {Fault::last_slot_skipped, "the last slot is not read"},
    {Fault::odd_last_row, "the last row of the batch is left out"},
    {Fault::rows_above_256_without_slots, "rows from 256 on are left out"},
    {Fault::past_end_ignored, "a token at or past the context's end marks nothing"},
    {Fault::past_end_clamped_to_effective, "a token past the context's end marks segment S_eff - 1 of a short row"},
    {Fault::past_end_wraps_mask, "the segment of a token past the context's end wraps in the mask"},
    {Fault::past_end_modulo, "a token past the context's end is taken modulo L"},
    {Fault::past_end_ends_row, "nothing behind the first token past the context's end is read"},
    {Fault::at_end_inside, "the token x = L marks nothing"},
    {Fault::zero_is_padding, "token 0 is taken for padding"},
    {Fault::only_minus_one_is_padding, "of negative entries only -1 is taken for padding; others mark segment 0"},
    {Fault::padding_ends_row, "nothing behind the first padding entry is read"},
    {Fault::padding_marks_last, "padding is read as an unsigned token"},
    {Fault::padding_marks_first, "padding marks segment 0"},
    {Fault::padding_compacted, "padding is moved to the row's end before the merge"},
    {Fault::only_padding_overwritten, "witnesses go only into slots that hold padding"},
    {Fault::mask_exclusive, "two tokens of one segment cancel"},
    {Fault::mask_bit_63_lost, "segment 63 is never marked"},
    {Fault::mask_shift_wraps, "segments from 32 on mark the lower half"},
    {Fault::mask_sign_extends, "segment 31 marks the upper half"},
    {Fault::mask_full_but_one, "a full mask is expected one segment too early"},
    {Fault::last_segment_dropped, "the last segment never gets a witness"},
    {Fault::S_from_33_to_62, "segments from 32 on count as missing"},
    {Fault::mask_not_reset, "segments marked by the row before are still marked"},
    {Fault::length_unsigned, "a negative length is read as an unsigned number"},
    {Fault::length_0_as_1, "a length of 0 is read as 1"},
    {Fault::length_negative_as_1, "a negative length is read as 1"},
    {Fault::length_of_15_bits, "the length is kept in 16 bits, signed"},
    {Fault::keep_one_more, "witnesses start one slot behind learned_keep"},
    {Fault::keep_one_less, "witnesses start one slot before learned_keep"},
    {Fault::keep_rounded_down, "learned_keep is rounded down to a multiple of 4"},
    {Fault::budget_one_more, "the budget is one too large"},
    {Fault::budget_one_less, "the budget is one too small"},
    {Fault::budget_ignored, "the budget is not kept"},
    {Fault::budget_of_63, "at most 63 witnesses are written"},
    {Fault::budget_drops_first, "the first witnesses are dropped, not the last"},
    {Fault::descending, "witnesses stand in descending order"},
    {Fault::halves_swapped, "the witnesses of the segments from 32 on come first"},
    {Fault::right_aligned, "witnesses stand at the row's end"},
    {Fault::unused_tail_cleared, "the rest of the budget is filled with -1"},
    {Fault::witness_repeated, "the last witness fills the rest of the budget"},
    {Fault::duplicates_removed, "repeated tokens are removed from the row"},
    {Fault::row_sorted, "the row is sorted after the merge"},
    {Fault::kept_all_written, "learned_keep = topk leaves the last slot to a witness"},
    {Fault::indices_above_1024, "segments from 1024 on are no witnesses"},
    {Fault::indices_rest_zero, "entries without a witness are 0"},
    {Fault::indices_compacted, "witnesses stand at the front instead of at their segments"},
};

std::string known_words(Fault fault) {
  const auto* const known = std::ranges::find(kKnown, fault, &Known::fault);
  return known == std::end(kKnown) ? "" : known->words;
}

TEST(FailureReports, OfEveryFaultOfTheRuleNameItsCauseAndAgreeWithTheRule) {
  std::size_t one_entry = 0, faults = 0;
  for (std::size_t index = 1; index < std::size(rule::kFaultNames); ++index) {
    SCOPED_TRACE(rule::kFaultNames[index]);
    const ImplementationResult result = judged(static_cast<Fault>(index));
    const std::vector<FailureGroup> groups = failure_groups(result);
    EXPECT_LE(groups.size(), 3U) << "one fault, one entry: at most the few ways in which it shows";
    faults += groups.empty() ? 0 : 1;
    one_entry += groups.size() == 1 ? 1 : 0;
    bool is_named = false;
    for (const FailureGroup& group : groups) {
      const std::vector<Field> fields = failure_fields(result, group, {});
      EXPECT_EQ(contradiction(fields), "");
      expect_wrong_row_departs_from_the_rule(*group.shown->counterexample);
      is_named =
          is_named || heading_of(result, group).find(known_words(static_cast<Fault>(index))) != std::string::npos;
    }
    EXPECT_TRUE(is_named || groups.empty()) << "no entry says: " << known_words(static_cast<Fault>(index));
  }
  EXPECT_GE(one_entry, 9 * faults / 10) << one_entry << " of " << faults << " faults have one entry";
}

WrongRow wrong(Case row, std::vector<std::int32_t> actual) {
  WrongRow result;
  result.expected = expected_rows(row);
  result.slot = std::ranges::mismatch(result.expected, actual).in1 - result.expected.begin();
  result.row = std::move(row);
  result.actual = std::move(actual);
  return result;
}
Case witnesses(std::int32_t len, std::int64_t segments, std::vector<std::int32_t> learned) {
  Case value;
  value.operation = Operation::kWitnesses;
  value.topk = std::ssize(learned);
  value.num_segments = segments;
  value.context_lens = {len};
  value.learned = std::move(learned);
  return value;
}
Case apply(std::int32_t len, std::int64_t segments, std::vector<std::int32_t> learned, std::int64_t keep,
           std::int64_t most) {
  Case value = witnesses(len, segments, std::move(learned));
  value.operation = Operation::kApply;
  value.learned_keep = keep;
  value.max_replacements = most;
  return value;
}

// Rows worked out by hand, for readings that no fault of the catalogue shows.
TEST(LikelyCause, IsReadFromARow) {
  std::vector<std::int32_t> lower_half(64, -1), modulo_32(64);
  for (std::int32_t s = 0; s < 64; ++s) modulo_32[static_cast<std::size_t>(s)] = s % 32 == 0 ? -1 : s;
  std::vector<std::int32_t> modulo_64(65, -1);
  std::iota(modulo_64.begin() + 1, modulo_64.begin() + 64, 1);
  std::iota(lower_half.begin(), lower_half.begin() + 32, 0);
  const struct {
    const char* words;
    WrongRow row;
  } kRows[] = {
      {"s * L overflows a signed 32-bit integer in the segment edge",
       wrong(witnesses(1 << 30, 4, {}), {0, 268435456, -536870911, -268435455})},
      {"the segment edge is s * floor(L / S)", wrong(witnesses(7, 4, {}), {0, 1, 2, 3})},
      {"x * S overflows a signed 32-bit integer in the segment of a token",
       wrong(witnesses(2147483647, 2, {1 << 30}), {0, 1 << 30})},
      {"the segment of a token is x / floor(L / S)", wrong(witnesses(7, 4, {1}), {0, -1, 4, 6})},
      {"segments from 32 on count as occupied", wrong(witnesses(64, 64, {}), lower_half)},
      {"bit s is bit s modulo 32", wrong(witnesses(64, 64, {0}), modulo_32)},
      {"segments are marked modulo 64", wrong(witnesses(65, 65, {64}), modulo_64)},
      {"others are read as unsigned tokens", wrong(witnesses(8, 2, {-2}), {0, -1})},
      {"past the context's end wraps in a mask of 32 bits", wrong(witnesses(8, 2, {128}), {-1, 4})},
      {"learned_keep is not honoured", wrong(apply(8, 2, {5, 6, 7}, 1, 2), {0, 6, 7})},
      {"where the budget is short no witness is written", wrong(apply(8, 4, {-1, -1}, 1, 1), {-1, -1})},
      {"the length is kept in 16 bits", wrong(witnesses(65544, 2, {}), {0, 4})},
      {"L - 1 is used where the length is L", wrong(witnesses(9, 2, {}), {0, 4})},
      {"L + 1 is used where the length is L", wrong(witnesses(8, 2, {}), {0, 5})},
      {"a row shorter than S is left as it is", wrong(witnesses(2, 4, {}), {-1, -1, -1, -1})},
      {"a token past the context's end is taken for padding or removed", wrong(apply(4, 1, {9, 1}, 0, 0), {-1, 1})},
      {"the row is sorted before the merge", wrong(apply(8, 2, {7, 5, 6}, 2, 1), {5, 6, 0})},
      {"no slot is read", wrong(witnesses(8, 2, {1, 5}), {0, 4})},
      {"no segment gets a witness", wrong(witnesses(8, 2, {1}), {-1, -1})},
  };
  std::set<std::string> shown;
  for (const auto& [words, row] : kRows) {
    EXPECT_THAT(misreadings_behind(std::span(&row, 1)), Contains(HasSubstr(words)));
    shown.insert(words);
  }
  // Every reading of the table is shown, here or by a fault of the catalogue.
  for (const Known& known : kKnown) shown.insert(known.words);
  for (const std::string_view words : known_misreadings()) {
    EXPECT_TRUE(std::ranges::any_of(shown, [&](const std::string& part) {
      return words.find(part) != std::string_view::npos;
    })) << words;
  }
}

TEST(LikelyCause, IsTheOneThatExplainsMostOfTheFailures) {
  const auto failed = [](std::string name, WrongRow row) {
    PropertyResult property;
    property.property = std::move(name);
    property.kind = ResultKind::kFail;
    property.counterexample.emplace();
    property.counterexample->minimal = row.row;
    property.counterexample->wrong_row = std::move(row);
    property.counterexample->reproduction = Reproduction::kFresh;
    return property;
  };
  // By itself the first row may be of many mistakes; the second only of an edge that is rounded down.
  ImplementationResult result;
  result.properties = {failed("coverage", wrong(witnesses(3, 2, {}), {0, 1})),
                       failed("round_trip", wrong(witnesses(7, 4, {}), {0, 1, 3, 5}))};
  name_likely_causes(result);
  EXPECT_THAT(result.properties[0].counterexample->likely_cause, StartsWith("segment edges are rounded down"));
  EXPECT_EQ(result.properties[0].counterexample->likely_cause, result.properties[1].counterexample->likely_cause);
}

TEST(LikelyCause, IsLeftOutWhereNothingKnownGivesTheRow) {
  const WrongRow row = wrong(witnesses(1000, 4, {1, 300}), {-1, -1, 777, 3});
  EXPECT_THAT(misreadings_behind(std::span(&row, 1)), IsEmpty());
}

}  // namespace
}  // namespace kvwitness::harness
