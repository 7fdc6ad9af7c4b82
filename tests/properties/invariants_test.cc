#include <gtest/gtest.h>
#include <kvwitness/legality.h>
#include <kvwitness/oracle.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "properties/case/implementation.h"
#include "properties/case/status.h"
#include "properties/implementations/registry.h"
#include "properties/rules/property.h"
#include "tests/properties/sampled_cases.h"

namespace kvwitness::harness {
namespace {

constexpr std::int32_t kHole = -1;
const std::string kStray = "the element 0 behind the output rows changed from 3 to 4";

// The right outcome of every run, changed by a test's hand. It has the peers of the library's own implementations.
class Altered final : public Implementation {
 public:
  using Change = std::function<void(const Case&, const MemoryContext&, Outcome&)>;
  explicit Altered(Change change) : right_(make_oracle()), change_(std::move(change)) {}
  std::string name() const override { return "altered"; }
  Outcome run_in(const Case& value, const MemoryContext& memory_context) override {
    Outcome outcome = right_->run_in(value, memory_context);
    change_(value, memory_context, outcome);
    return outcome;
  }
  std::span<const std::unique_ptr<Implementation>> peers() const override { return right_->peers(); }

 private:
  std::unique_ptr<Implementation> right_;
  Change change_;
};

Verdict judge(const std::string& property, const Case& value, Implementation& implementation) {
  return find_property(property)->judge(value, implementation.run(value), implementation);
}

Verdict judge(const std::string& property, const Case& value, Altered::Change change) {
  Altered implementation(std::move(change));
  return judge(property, value, implementation);
}

void expect_holds(const std::string& property, const Case& value) {
  const Verdict verdict = judge(property, value, [](const Case&, const MemoryContext&, Outcome&) {});
  EXPECT_EQ(verdict.kind, Verdict::Kind::kHolds) << property << " " << value << " " << verdict.what;
}

// The right answer holds, the changed one is broken.
Verdict expect_broken(const std::string& property, const Case& value, Altered::Change change) {
  expect_holds(property, value);
  const Verdict verdict = judge(property, value, std::move(change));
  EXPECT_EQ(verdict.kind, Verdict::Kind::kBroken) << property << " " << value;
  EXPECT_FALSE(verdict.what.empty());
  return verdict;
}

Verdict expect_broken_by_rows(const std::string& property, const Case& value, std::vector<std::int32_t> rows) {
  return expect_broken(property, value,
                       [&](const Case&, const MemoryContext&, Outcome& outcome) { outcome.rows = rows; });
}

// The property has nothing against these rows, whatever others have.
void expect_kept_by_rows(const std::string& property, const Case& value, std::vector<std::int32_t> rows) {
  const Verdict verdict =
      judge(property, value, [&](const Case&, const MemoryContext&, Outcome& outcome) { outcome.rows = rows; });
  EXPECT_EQ(verdict.kind, Verdict::Kind::kHolds) << property << " " << value << " " << verdict.what;
}

void expect_silent(const std::string& property, const Case& value) {
  const Verdict verdict = judge(property, value, [](const Case&, const MemoryContext&, Outcome&) {});
  EXPECT_EQ(verdict.kind, Verdict::Kind::kSilent) << property << " " << value << " " << verdict.what;
}

Case one_row(Operation operation, std::int32_t context_len, std::int64_t num_segments,
             std::vector<std::int32_t> learned) {
  Case value;
  value.operation = operation;
  value.topk = std::ssize(learned);
  value.num_segments = num_segments;
  value.context_lens = {context_len};
  value.learned = std::move(learned);
  return value;
}

Case witnesses(std::int32_t context_len, std::int64_t num_segments, std::vector<std::int32_t> learned) {
  return one_row(Operation::kWitnesses, context_len, num_segments, std::move(learned));
}

Case scatter(std::int32_t context_len, std::int64_t num_segments, std::vector<std::int32_t> learned) {
  return one_row(Operation::kScatter, context_len, num_segments, std::move(learned));
}

Case apply(std::int32_t context_len, std::int64_t num_segments, std::vector<std::int32_t> learned,
           std::int64_t learned_keep, std::int64_t max_replacements) {
  Case value = one_row(Operation::kApply, context_len, num_segments, std::move(learned));
  value.learned_keep = learned_keep;
  value.max_replacements = max_replacements;
  return value;
}

Case with_row(Case value, std::int32_t context_len, const std::vector<std::int32_t>& learned) {
  value.context_lens.push_back(context_len);
  value.learned.insert(value.learned.end(), learned.begin(), learned.end());
  return value;
}

TEST(Properties, AreListedUnderTheirFixedNamesInOrder) {
  const std::vector<std::string> names = {"oracle_equality",
                                          "round_trip",
                                          "disjointness",
                                          "distinctness",
                                          "causality",
                                          "coverage",
                                          "gap_bound",
                                          "permutation",
                                          "retention",
                                          "budget",
                                          "order",
                                          "padding",
                                          "empty_row",
                                          "short_row",
                                          "out_of_range",
                                          "row_independence",
                                          "determinism",
                                          "refusal",
                                          "refused_writes_nothing",
                                          "bounds",
                                          "row_permutation",
                                          "repeated_token",
                                          "batch_split",
                                          "stride_widening",
                                          "budget_growth",
                                          "added_occupant",
                                          "repeat_run",
                                          "spare_poison",
                                          "backend_equality"};
  ASSERT_EQ(all_properties().size(), names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(all_properties()[i].name, names[i]);
    EXPECT_EQ(find_property(names[i]), &all_properties()[i]);
    EXPECT_GT(all_properties()[i].statement.size(), 20u);
  }
  EXPECT_EQ(find_property("no_such_property"), nullptr);
}

TEST(Properties, HaveWhatTheirDescriptorsNeed) {
  CaseSampler sampler(20);
  const auto oracle = make_oracle();
  std::map<std::string_view, int> unwanted_call, too_few_rows, other_operation;
  for (int i = 0; i < 3000; ++i) {
    const Case value = sampler.next();
    const Outcome outcome = oracle->run(value);
    const bool legal = is_legal(value);
    const bool off = value.operation == Operation::kScatter && value.num_segments == 0;
    for (const Property& property : all_properties()) {
      const bool concerned = property.concerns(value.operation);
      other_operation[property.name] += concerned ? 0 : 1;
      const bool other_call =
          (property.needs.calls != Calls::kAll && !legal) || (property.needs.calls == Calls::kSelecting && off);
      unwanted_call[property.name] += other_call ? 1 : 0;
      too_few_rows[property.name] += value.rows() < property.needs.rows ? 1 : 0;
      if (!concerned || other_call || value.rows() < property.needs.rows) {
        EXPECT_EQ(property.judge(value, outcome, *oracle).kind, Verdict::Kind::kSilent)
            << property.name << " " << value;
      }
    }
  }
  for (const Property& property : all_properties()) {
    EXPECT_TRUE(property.needs.calls == Calls::kAll || unwanted_call[property.name] >= 100) << property.name;
    EXPECT_TRUE(property.needs.rows == 0 || too_few_rows[property.name] >= 100) << property.name;
    EXPECT_EQ(other_operation[property.name] > 0,
              !(property.concerns(Operation::kWitnesses) && property.concerns(Operation::kApply) &&
                property.concerns(Operation::kScatter)))
        << property.name;
  }
}

TEST(Properties, SayWhyTheyAreNotAboutAnImplementation) {
  class OnlyApply final : public Implementation {
   public:
    std::string name() const override { return "only apply, no checks, no peers"; }
    bool provides(Operation operation) const override { return operation == Operation::kApply; }
    bool checks_arguments() const override { return false; }
    Outcome run_in(const Case&, const MemoryContext&) override { return {}; }
  };
  const OnlyApply implementation;
  std::map<std::string, std::set<std::string_view>> by_reason;
  for (const Property& property : all_properties()) {
    by_reason[std::string(property.why_not_provided(implementation))].insert(property.name);
  }
  EXPECT_EQ(by_reason.at("it does not promise the refusals"),
            (std::set<std::string_view>{"refusal", "refused_writes_nothing"}));
  EXPECT_EQ(by_reason.at("it is about the library's own implementations"),
            (std::set<std::string_view>{"backend_equality"}));
  EXPECT_EQ(by_reason.at("it has none of the operations that the property is about"),
            (std::set<std::string_view>{"added_occupant"}));
  EXPECT_EQ(by_reason.at("").size(), all_properties().size() - 4);
}

TEST(Properties, AreThoseOfTheReadme) {
  std::ifstream stream(KVWITNESS_SOURCE_FOLDER "/properties/README.md");
  ASSERT_TRUE(stream.is_open());
  std::vector<std::string> written;
  bool in_table = false;
  for (std::string line; std::getline(stream, line);) {
    in_table = line.starts_with("| property |") || (in_table && line.starts_with("|"));
    if (in_table && line.starts_with("| `")) written.push_back(line);
  }
  std::vector<std::string> wanted;
  for (const Property& property : all_properties()) {
    wanted.push_back("| `" + std::string(property.name) + "` | " +
                     (property.is_metamorphic_relation ? "metamorphic relation" : "invariant") + " | " +
                     std::string(property.statement) + " |");
  }
  EXPECT_EQ(written, wanted);
}

// Each property against every operation that it concerns: right outcomes never break it, and it says something often
// enough to matter.
TEST(Properties, HoldOfTheRulesOwnAnswersOnSampledCases) {
  CaseSampler sampler(4711);
  std::map<std::string_view, int> judged;
  const auto oracle = make_oracle();
  for (int i = 0; i < 6000; ++i) {
    const Case value = sampler.next();
    const Outcome outcome = oracle->run(value);
    for (const Property& property : all_properties()) {
      if (!property.concerns(value.operation)) {
        continue;
      }
      const Verdict verdict = property.judge(value, outcome, *oracle);
      ASSERT_NE(verdict.kind, Verdict::Kind::kBroken) << property.name << " " << value << " " << verdict.what;
      judged[property.name] += verdict.kind == Verdict::Kind::kHolds ? 1 : 0;
    }
  }
  for (const Property& property : all_properties()) {
    EXPECT_GE(judged[property.name], 100) << property.name;
  }
}

TEST(Properties, HoldOfEveryImplementationThatRunsHere) {
  for (const auto& implementation : all_implementations()) {
    if (!implementation->availability().can_run) {
      continue;
    }
    CaseSampler sampler(99);
    for (int i = 0; i < 300; ++i) {
      const Case value = sampler.next();
      if (!implementation->supports(value)) {
        continue;
      }
      const Outcome outcome = implementation->run(value);
      for (const Property& property : all_properties()) {
        if (property.concerns(value.operation)) {
          const Verdict verdict = property.judge(value, outcome, *implementation);
          ASSERT_NE(verdict.kind, Verdict::Kind::kBroken)
              << implementation->name() << " " << property.name << " " << value << " " << verdict.what;
        }
      }
    }
  }
}

TEST(Properties, ALegalCallThatDoesNotReturnBreaksAllThatConcernIt) {
  for (const Case& value : {witnesses(16, 4, {0, 5, 9, -1}), scatter(16, 4, {0, 1, 2, 3, 12, -1, -1, -1}),
                            apply(3, 4, {0, 5, 9, -1}, 2, 2), scatter(-1, 2, {1, -2, 3})}) {
    for (const Ending ending : {Ending::kCrashed, Ending::kExited, Ending::kHung, Ending::kProtocolError}) {
      Altered implementation(
          [&](const Case&, const MemoryContext&, Outcome& outcome) { outcome = Outcome::ended(ending, "in a test"); });
      const Outcome outcome = implementation.run(value);
      for (const Property& property : all_properties()) {
        if (property.concerns(value.operation)) {
          const Verdict verdict = property.judge(value, outcome, implementation);
          EXPECT_EQ(verdict.kind, Verdict::Kind::kBroken) << property.name << " " << value;
          EXPECT_NE(verdict.what.find("in a test"), std::string::npos) << property.name << verdict.what;
        }
      }
    }
  }
}

TEST(Properties, ALegalCallThatIsRefusedOrLeavesAResultOfAnotherSizeBreaksAllThatJudgeRows) {
  const std::set<std::string_view> others = {"bounds",     "refused_writes_nothing", "determinism",
                                             "repeat_run", "spare_poison",           "refusal"};
  for (const Case& value : {witnesses(16, 4, {0, 5, 9, -1}), apply(16, 4, {0, 5, 9, -1}, 2, 2)}) {
    for (const bool refused : {true, false}) {
      Altered implementation([&](const Case&, const MemoryContext&, Outcome& outcome) {
        outcome.status = refused ? status::kSegmentsOutOfRange : status::kOk;
        outcome.rows.resize(refused ? outcome.rows.size() : 3);
      });
      const Outcome outcome = implementation.run(value);
      for (const Property& property : all_properties()) {
        if (property.concerns(value.operation) && !others.contains(property.name)) {
          EXPECT_EQ(property.judge(value, outcome, implementation).kind, Verdict::Kind::kBroken)
              << property.name << " " << value;
        }
      }
      EXPECT_EQ(find_property("refusal")->judge(value, outcome, implementation).kind,
                refused ? Verdict::Kind::kBroken : Verdict::Kind::kHolds);
    }
  }
}

TEST(Properties, AreSilentOnAShapeThatTheImplementationDoesNotSupport) {
  const Case value = witnesses(16, 4, {0, 5, 9, -1});
  Altered implementation(
      [](const Case&, const MemoryContext&, Outcome& outcome) { outcome = Outcome::ended(Ending::kUnsupported, ""); });
  for (const Property& property : all_properties()) {
    EXPECT_EQ(property.judge(value, implementation.run(value), implementation).kind, Verdict::Kind::kSilent)
        << property.name;
  }
}

TEST(OracleEquality, NamesTheFirstDifferingSlotWithBothValues) {
  const Case value = with_row(witnesses(16, 4, {0, 5, 9, -1}), 16, {-1, -1, -1, -1});
  const Verdict verdict = expect_broken_by_rows("oracle_equality", value, {-1, -1, -1, 12, 0, 4, 9, 13});
  ASSERT_TRUE(verdict.difference.has_value());
  EXPECT_EQ(*verdict.difference, (Difference{.row = 1, .slot = 2, .expected = 8, .actual = 9}));
}

TEST(OracleEquality, JudgesTheStatusOfRefusedCalls) {
  expect_broken("oracle_equality", apply(16, 65, {1}, 0, 1),
                [](const Case&, const MemoryContext&, Outcome& outcome) { outcome.status = status::kRowsMismatch; });
}

TEST(RoundTrip, AnEdgeRoundedDownLiesInTheSegmentBefore) {
  expect_broken_by_rows("round_trip", witnesses(10, 4, {0}), {-1, 2, 5, 8});
  expect_broken_by_rows("round_trip", scatter(10, 4, {0, -1, -1, -1, -1}), {0, 2, 5, 8, -1});
}

TEST(RoundTrip, AWitnessInsideItsSegmentIsNoEdge) {
  expect_broken_by_rows("round_trip", witnesses(16, 4, {0, 5, 9, -1}), {-1, -1, -1, 13});
  expect_broken_by_rows("round_trip", apply(16, 4, {0, 5, 9, -1}, 2, 2), {0, 5, 13, -1});
}

TEST(RoundTrip, AWitnessInAnotherSegmentsEntryIsWrong) {
  expect_broken_by_rows("round_trip", witnesses(16, 4, {0, 5, 9, -1}), {-1, -1, 12, -1});
}

TEST(Disjointness, AWitnessThatIsALearnedTokenIsSeen) {
  expect_broken_by_rows("disjointness", witnesses(16, 4, {0, 4, 9, -1}), {-1, 4, -1, 12});
  expect_broken_by_rows("disjointness", apply(16, 4, {0, 4, 9, -1}, 2, 2), {0, 4, 4, 12});
}

TEST(Distinctness, AWitnessWrittenTwiceIsSeen) {
  expect_broken_by_rows("distinctness", witnesses(16, 4, {0, -1}), {-1, 4, 8, 8});
  expect_broken_by_rows("distinctness", scatter(16, 2, {0, -1, -1}), {0, 8, 8});
}

TEST(Causality, AWitnessOutsideTheContextIsSeen) {
  expect_broken_by_rows("causality", witnesses(16, 4, {0, -1}), {-1, 4, 8, 16});
  expect_broken_by_rows("causality", witnesses(16, 4, {0, -1}), {-1, 4, 8, -2});
  expect_broken_by_rows("causality", scatter(16, 2, {0, -1, -1}), {0, 16, -1});
  expect_broken_by_rows("causality", scatter(0, 2, {0, -1, -1}), {0, 0, -1});
}

TEST(Coverage, AMissingWitnessLeavesASegmentUncovered) {
  expect_broken_by_rows("coverage", witnesses(16, 4, {0, 5, 9, -1}), {-1, -1, -1, -1});
  expect_broken_by_rows("coverage", scatter(16, 4, {0, 5, -1, -1, -1, -1}), {0, 5, 8, -1, -1, -1});
}

TEST(Coverage, ARowThatMustLoseASegmentDoesNotCoverIt) {
  // Segment 3 has its only token in an overwritten slot: the rule leaves it uncovered, and writing 12 as well is wrong.
  expect_broken_by_rows("coverage", scatter(16, 4, {0, 1, 2, 3, 12, -1, -1, -1}), {0, 1, 2, 3, 4, 8, 12, -1});
  // Both its tokens are overwritten.
  expect_broken_by_rows("coverage", scatter(16, 4, {0, 1, 2, 3, 12, 13, -1, -1}), {0, 1, 2, 12, 4, 8, -1, -1});
  // A witness is dropped.
  expect_broken_by_rows("coverage", apply(16, 4, {0, 5, -1, -1}, 2, 1), {0, 5, 8, 12});
}

TEST(Coverage, SaysNothingOfRowsWithATokenOutsideTheContext) {
  expect_silent("coverage", witnesses(16, 4, {16, 3}));
  expect_silent("coverage", scatter(0, 4, {1, 3}));
  expect_holds("coverage", witnesses(16, 4, {-5, 3}));
  expect_holds("coverage", witnesses(16, 4, {}));
}

TEST(GapBound, ALongUnselectedRunIsSeenAtTheBeginningTheEndAndBetween) {
  // L = 16, S = 4: at most 6 unselected tokens in a run.
  expect_broken_by_rows("gap_bound", witnesses(16, 4, {15}), {-1, -1, 8, -1});
  expect_broken_by_rows("gap_bound", witnesses(16, 4, {0}), {-1, 4, 8, -1});
  expect_broken_by_rows("gap_bound", witnesses(16, 4, {0, 15}), {-1, 7, -1, -1});
  expect_broken_by_rows("gap_bound", scatter(16, 4, {0, 15, -1, -1, -1, -1}), {0, 15, 7, -1, -1, -1});
  // A run of exactly 2 * ceil(L / S) - 2 is right: tokens 1 to 6 between 0 and 7, and 8 to 11 are within the bound.
  const Case tight = witnesses(16, 4, {0, 7, 8, 15});
  expect_holds("gap_bound", tight);
}

TEST(Permutation, WitnessesThatDependOnTheOrderOfTheRowAreSeen) {
  const auto by_first_slot = [](const Case& value, const MemoryContext&, Outcome& outcome) {
    if (value.learned[0] != 0) {
      std::ranges::replace(outcome.rows, 12, kHole);
    }
  };
  const Verdict verdict = expect_broken("permutation", witnesses(16, 4, {0, 5, 9, -1}), by_first_slot);
  ASSERT_TRUE(verdict.compared_with.has_value());
  EXPECT_EQ(verdict.compared_with->learned, (std::vector<std::int32_t>{-1, 9, 5, 0}));
  expect_broken("permutation", apply(16, 4, {0, 5, 9, -1}, 2, 2), by_first_slot);
}

TEST(Retention, AChangeInTheKeptPrefixIsSeen) {
  const Verdict verdict = expect_broken_by_rows("retention", apply(16, 4, {0, 5, 9, -1}, 2, 2), {0, 6, 12, -1});
  EXPECT_EQ(verdict.difference, (Difference{.row = 0, .slot = 1, .expected = 5, .actual = 6}));
  expect_broken_by_rows("retention", scatter(16, 0, {0, 5}), {0, 8});
}

TEST(Budget, AChangeBehindTheBudgetBeforeItOrWithAHoleIsSeen) {
  expect_broken_by_rows("budget", apply(16, 4, {0, -1, -1, -1}, 1, 1), {0, 4, 8, -1});
  expect_broken_by_rows("budget", apply(16, 4, {0, 5, 9, -1}, 2, 2), {0, 12, 9, -1});
  expect_broken_by_rows("budget", apply(16, 4, {0, 5, 9, -1}, 2, 2), {0, 5, 9, 12});
  expect_broken_by_rows("budget", scatter(16, 0, {0, 5}), {0, 8});
}

TEST(Order, DescendingWitnessesAreSeen) {
  expect_broken_by_rows("order", apply(16, 4, {0, -1, -1, -1}, 1, 3), {0, 8, 4, 12});
  expect_broken_by_rows("order", witnesses(16, 4, {0, -1}), {-1, 8, 4, 12});
}

TEST(Order, DroppingAnotherWitnessThanTheLastIsSeen) {
  expect_broken_by_rows("order", apply(16, 4, {0, -1, -1, -1}, 1, 2), {0, 4, 12, -1});
  expect_broken_by_rows("order", apply(16, 4, {0, -1, -1, -1}, 1, 2), {0, 8, 12, -1});
}

TEST(Padding, PaddingThatMarksASegmentIsSeen) {
  expect_broken_by_rows("padding", witnesses(16, 4, {5, -7}), {-1, -1, 8, 12});
  expect_broken_by_rows("padding", apply(16, 4, {5, -7, -1}, 0, 3), {8, 12, -1});
}

// What the witnesses are belongs to other properties.
TEST(Order, IsNotBlamedForWitnessesThatAreWrong) {
  expect_kept_by_rows("order", apply(16, 4, {0, 5, -1, -1}, 2, 2), {0, 5, 4, 12});    // of a segment with a token
  expect_kept_by_rows("order", apply(16, 4, {0, -1, -1, -1}, 1, 2), {0, 8, -1, -1});  // fewer than the budget allows
  expect_kept_by_rows("order", witnesses(16, 4, {0, -1}), {-1, 4, -1, 12});
}

TEST(Padding, IsNotBlamedForWhatPaddingCannotDo) {
  // Two witnesses are missing, and one padding value marks one segment at most.
  expect_kept_by_rows("padding", witnesses(16, 4, {5, -1}), {-1, -1, 8, -1});
  // A witness too many, of a segment that a token before all padding marks.
  expect_kept_by_rows("padding", witnesses(16, 4, {5, -1}), {0, 4, 8, 12});
  // The token behind the padding was not read.
  expect_broken_by_rows("padding", witnesses(16, 4, {-1, 5}), {0, 4, 8, 12});
  expect_broken_by_rows("padding", apply(16, 4, {-1, 5, -1, -1}, 2, 2), {-1, 5, 0, -1});
}

TEST(Padding, PaddingThatIsRewrittenIsSeen) {
  expect_broken_by_rows("padding", apply(16, 4, {0, 5, 9, -7}, 2, 1), {0, 5, 12, -1});
  expect_broken_by_rows("padding", apply(16, 4, {-7, 5, 9, 3}, 2, 1), {0, 5, 12, 3});
  expect_silent("padding", witnesses(16, 4, {5, 7}));
}

TEST(EmptyRow, AWitnessOfAnEmptyRowIsSeen) {
  expect_broken_by_rows("empty_row", witnesses(0, 2, {5}), {0, -1});
  expect_broken_by_rows("empty_row", with_row(scatter(16, 1, {5, 3}), -1, {4, 2}), {5, 3, 4, 0});
  expect_silent("empty_row", witnesses(1, 2, {5}));
}

TEST(ShortRow, ATokenThatTheRowLacksMustBeAWitness) {
  const Verdict verdict = expect_broken_by_rows("short_row", witnesses(3, 5, {1}), {0, -1, -1, -1, -1});
  EXPECT_EQ(verdict.difference, (Difference{.row = 0, .slot = 2, .expected = 2, .actual = -1}));
  expect_broken_by_rows("short_row", witnesses(3, 5, {1}), {0, -1, 2, 3, -1});
  expect_broken_by_rows("short_row", scatter(3, 5, {1, -1, -1}), {0, -1, -1});
  expect_silent("short_row", witnesses(5, 5, {1}));
}

TEST(OutOfRange, AnOutOfRangeTokenMarksTheLastSegmentWhereThereAreEnoughTokens) {
  expect_broken_by_rows("out_of_range", witnesses(16, 4, {16, 0}), {-1, 4, 8, 12});
  expect_broken_by_rows("out_of_range", apply(16, 4, {16, 0, -1}, 2, 4), {16, 0, 12});
  expect_silent("out_of_range", witnesses(16, 4, {15, 0}));
}

TEST(OutOfRange, AnOutOfRangeTokenMarksNothingInAShortRow) {
  expect_broken_by_rows("out_of_range", witnesses(3, 5, {7}), {0, 1, -1, -1, -1});
}

TEST(OutOfRange, AnOutOfRangeTokenStays) {
  expect_broken_by_rows("out_of_range", apply(16, 4, {99, 5, 9, -1}, 2, 2), {-1, 5, 0, -1});
  expect_broken_by_rows("out_of_range", apply(16, 4, {5, 9, 99, 0}, 1, 0), {5, 9, 15, 0});
}

Case two_rows() {
  return with_row(witnesses(16, 4, {0, 5, 9, -1}), 32, {1, -1, 20, 21});
}

TEST(RowIndependence, ARowThatFeelsItsNeighbourIsSeen) {
  const auto carried = [](const Case& value, const MemoryContext&, Outcome& outcome) {
    if (value.rows() == 2 && value.learned[0] == 0) {
      outcome.rows[4 + 3] = kHole;
    }
  };
  EXPECT_TRUE(expect_broken("row_independence", two_rows(), carried).compared_with.has_value());
  expect_silent("row_independence", witnesses(16, 4, {0}));
}

TEST(RowPermutation, ARowThatDependsOnItsPlaceIsSeen) {
  expect_broken("row_permutation", two_rows(),
                [](const Case&, const MemoryContext&, Outcome& outcome) { outcome.rows[3] = 3; });
}

// ---- Every row and every slot.

// The cases of a relation's further runs.
std::vector<Case> further_cases(const std::string& relation, const Case& value) {
  std::vector<Case> cases;
  Altered right([&](const Case& run, const MemoryContext&, Outcome&) { cases.push_back(run); });
  EXPECT_EQ(judge(relation, value, right).kind, Verdict::Kind::kHolds) << relation;
  cases.erase(cases.begin());
  return cases;
}

TEST(RowIndependence, GivesTheRowsOfOneParityOtherLengthsAndTokens) {
  Case value = witnesses(16, 4, {3, -1, 40, 15});
  value = with_row(std::move(value), 1, {0, -1, 7, 1});
  value = with_row(std::move(value), 0, {2, -1, 0, 0});
  value = with_row(std::move(value), 33, {32, 1, -1, 33});
  const std::vector<Case> others = further_cases("row_independence", value);
  ASSERT_EQ(others.size(), 2U);
  EXPECT_EQ(others[0].context_lens, (std::vector<std::int32_t>{9, 1, 5, 33}));
  EXPECT_EQ(others[0].learned, (std::vector<std::int32_t>{3, 0, -1, 0, 0, -1, 7, 1, -1, 0, -1, -1, 32, 1, -1, 33}));
  EXPECT_EQ(others[1].context_lens, (std::vector<std::int32_t>{16, 5, 0, 17}));
  EXPECT_EQ(others[1].learned, (std::vector<std::int32_t>{3, -1, 40, 15, 0, 0, -1, -1, 2, -1, 0, 0, 0, 14, 0, -1}));
}

// So that the case stays in the domain of contexts that it was drawn from.
TEST(RowIndependence, MakesNoRowLongerThanTheLongest) {
  const Case value = with_row(witnesses(3, 2, {0}), -7, {0});
  EXPECT_EQ(further_cases("row_independence", value)[1].context_lens, (std::vector<std::int32_t>{3, 3}));
  EXPECT_EQ(further_cases("row_independence", with_row(witnesses(0, 2, {0}), -7, {0}))[1].context_lens[1], 1);
}

TEST(RowIndependence, LeavesTwoTokensTwo) {
  const Case value = with_row(witnesses(2, 2, {1}), 9, {1});
  EXPECT_EQ(further_cases("row_independence", value)[0].context_lens, (std::vector<std::int32_t>{2, 9}));
}

TEST(RowIndependence, DropsATokenAtTheContextsEnd) {
  const Case value = with_row(witnesses(1, 2, {1}), 1, {1});
  EXPECT_EQ(further_cases("row_independence", value)[0].learned, (std::vector<std::int32_t>{-1, 1}));
}

TEST(RowPermutation, ReversesTheRows) {
  Case value = with_row(witnesses(16, 4, {1, 2}), 17, {3, 4});
  value = with_row(std::move(value), 18, {5, 6});
  const std::vector<Case> reversed = further_cases("row_permutation", value);
  ASSERT_EQ(reversed.size(), 1U);
  EXPECT_EQ(reversed[0].context_lens, (std::vector<std::int32_t>{18, 17, 16}));
  EXPECT_EQ(reversed[0].learned, (std::vector<std::int32_t>{5, 6, 3, 4, 1, 2}));
}

TEST(BatchSplit, CutsTheBatchInItsMiddle) {
  Case value = with_row(witnesses(16, 4, {1, 2}), 17, {3, 4});
  value = with_row(std::move(value), 18, {5, 6});
  const std::vector<Case> parts = further_cases("batch_split", value);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].context_lens, (std::vector<std::int32_t>{16}));
  EXPECT_EQ(parts[0].learned, (std::vector<std::int32_t>{1, 2}));
  EXPECT_EQ(parts[1].context_lens, (std::vector<std::int32_t>{17, 18}));
  EXPECT_EQ(parts[1].learned, (std::vector<std::int32_t>{3, 4, 5, 6}));
}

// Five rows, each with padding, a repeatable token and several witnesses, of which a budget drops one.
Case five_rows(Operation operation) {
  Case value = one_row(operation, 40, 5, {0, 9, -1, -1});
  value = with_row(std::move(value), 41, {17, 18, -1, -1});
  value = with_row(std::move(value), 42, {40, -1, 3, -1});
  value = with_row(std::move(value), 43, {20, 21, -1, -1});
  value = with_row(std::move(value), 44, {1, 43, -1, -1});
  value.learned_keep = 1;
  value.max_replacements = 1;
  return value;
}

// Whether the relation sees that its run of this number has another value in this element than the rule's: one that no
// run has or, where the relation is that something changes, the one of the first run.
bool sees_change(const Property& relation, const Case& value, int run, std::size_t element) {
  bool is_seen = false;
  for (const bool is_first_runs : {false, true}) {
    int runs = 0;
    std::vector<std::int32_t> first;
    Altered implementation([&](const Case&, const MemoryContext&, Outcome& outcome) {
      if (runs == 0) first = outcome.rows;
      if (runs++ != run || element >= outcome.rows.size()) return;
      outcome.rows[element] =
          is_first_runs && element < first.size() ? first[element] : outcome.rows[element] ^ (1 << 30);
    });
    const Outcome outcome = implementation.run(value);
    const Verdict verdict = relation.judge(value, outcome, implementation);
    is_seen = is_seen || verdict.kind == Verdict::Kind::kBroken;
  }
  return is_seen;
}

class RowsOfRelations : public testing::TestWithParam<Operation> {};
INSTANTIATE_TEST_SUITE_P(Relations, RowsOfRelations,
                         testing::Values(Operation::kWitnesses, Operation::kApply, Operation::kScatter));

// Each further run is compared in every slot of every row that it has; of independence the first one in the rows of odd
// number, the second in the others.
TEST_P(RowsOfRelations, AChangeInAnySlotOfAnyRowOfAFurtherRunIsSeen) {
  const Case value = five_rows(GetParam());
  for (const Property& relation : all_properties()) {
    if (!relation.is_metamorphic_relation || relation.needs.peers || !relation.concerns(value.operation)) continue;
    std::vector<std::size_t> sizes;  // of the runs' results
    Altered right([&](const Case&, const MemoryContext&, Outcome& outcome) { sizes.push_back(outcome.rows.size()); });
    const Outcome outcome = right.run(value);
    ASSERT_EQ(relation.judge(value, outcome, right).kind, Verdict::Kind::kHolds) << relation.name;
    const bool is_independence = relation.name == "row_independence";
    const bool has_two = is_independence || relation.name == "batch_split" || relation.name == "spare_poison";
    ASSERT_EQ(sizes.size(), has_two ? 3U : 2U) << relation.name;
    for (std::size_t run = 1; run < sizes.size(); ++run) {
      for (std::size_t element = 0; element < sizes[run]; ++element) {
        const std::size_t row = element / (sizes[run] / 5);
        const bool is_compared = !is_independence || row % 2 == run % 2;
        EXPECT_EQ(sees_change(relation, value, static_cast<int>(run), element), is_compared)
            << relation.name << ", run " << run << ", element " << element;
      }
    }
  }
}

// A further run that fails is what is broken, and is shown.
TEST_P(RowsOfRelations, AFurtherRunThatDoesNotReturnIsSeen) {
  const Case value = five_rows(GetParam());
  for (const Property& relation : all_properties()) {
    if (!relation.is_metamorphic_relation || relation.needs.peers || !relation.concerns(value.operation)) continue;
    const bool has_two =
        relation.name == "row_independence" || relation.name == "batch_split" || relation.name == "spare_poison";
    for (int failing = 1; failing <= (has_two ? 2 : 1); ++failing) {
      int runs = 0;
      Altered implementation([&](const Case&, const MemoryContext&, Outcome& outcome) {
        if (runs++ == failing) outcome = Outcome::ended(Ending::kCrashed, "in a test");
      });
      const Outcome outcome = implementation.run(value);
      const Verdict verdict = relation.judge(value, outcome, implementation);
      EXPECT_EQ(verdict.kind, Verdict::Kind::kBroken) << relation.name << ", run " << failing;
      EXPECT_TRUE(verdict.compared_with.has_value()) << relation.name;
    }
  }
}

// Of equal rows any may be the wrong one: the same invariants are broken, and a difference names the row.
TEST_P(RowsOfRelations, OneWrongRowIsAsWrongInAnyPlace) {
  constexpr std::int64_t kRows = 6;
  const Case row = apply(16, 4, {1, -1, 15, -1}, 1, 2);
  Case value = row;
  value.operation = GetParam();
  for (std::int64_t more = 1; more < kRows; ++more) {
    value = with_row(std::move(value), row.context_lens[0], row.learned);
  }
  const auto width = std::ssize(make_oracle()->run(value).rows) / kRows;
  for (std::int64_t slot = 0; slot < width; ++slot) {
    for (const std::int32_t wrong : {-7, -1, 0, 1, 3, 5, 8, 15, 16}) {
      std::vector<std::string_view> broken_in_first;
      for (std::int64_t at = 0; at < kRows; ++at) {
        Altered implementation([&](const Case&, const MemoryContext&, Outcome& outcome) {
          outcome.rows[static_cast<std::size_t>(at * width + slot)] = wrong;
        });
        const Outcome outcome = implementation.run(value);
        std::vector<std::string_view> broken;
        for (const Property& property : all_properties()) {
          if (property.is_metamorphic_relation) continue;
          const Verdict verdict = property.judge(value, outcome, implementation);
          if (verdict.kind != Verdict::Kind::kBroken) continue;
          broken.push_back(property.name);
          EXPECT_TRUE(!verdict.difference || verdict.difference->row == at) << property.name << ": " << verdict.what;
        }
        if (at == 0) broken_in_first = broken;
        EXPECT_EQ(broken, broken_in_first) << "row " << at << ", slot " << slot << ", " << wrong;
      }
    }
  }
}

TEST(BatchSplit, ARowThatDependsOnTheSizeOfTheBatchIsSeen) {
  const auto last_row = [](const Case& value, const MemoryContext&, Outcome& outcome) {
    outcome.rows[0] = value.rows() > 1 ? 3 : 4;
  };
  expect_broken("batch_split", two_rows(), last_row);
  const auto second_half = [](const Case& value, const MemoryContext&, Outcome& outcome) {
    if (value.rows() == 1 && value.context_lens[0] == 32) {
      outcome.rows[0] = 7;
    }
  };
  EXPECT_EQ(expect_broken("batch_split", two_rows(), second_half).difference->row, 1);
}

// Every run but the first of a test gives another answer.
Altered::Change after_the_first_run() {
  return [runs = 0](const Case&, const MemoryContext&, Outcome& outcome) mutable {
    outcome.rows.back() += runs++ > 0 ? 1 : 0;
  };
}

TEST(Determinism, ASecondAnswerThatDiffersIsSeen) {
  expect_broken("determinism", two_rows(), after_the_first_run());
  expect_broken("determinism", apply(16, 65, {1}, 0, 1),
                [runs = 0](const Case&, const MemoryContext&, Outcome& outcome) mutable { outcome.status += runs++; });
}

TEST(RepeatRun, ACallThatLeavesSomethingBehindIsSeen) {
  const auto remembers = [](const Case& value, const MemoryContext&, Outcome& outcome) {
    outcome.rows[0] += value.prior_calls.empty() ? 0 : 1;
  };
  const Verdict verdict = expect_broken("repeat_run", two_rows(), remembers);
  ASSERT_EQ(verdict.compared_with->prior_calls.size(), 1u);
}

TEST(SparePoison, AnAnswerThatDependsOnTheSurroundingsIsSeen) {
  expect_broken("spare_poison", two_rows(), [](const Case&, const MemoryContext& memory_context, Outcome& outcome) {
    outcome.rows[0] += memory_context.fill == MemoryContext::Fill::kPadding ? 1 : 0;
  });
  expect_broken("spare_poison", two_rows(), [](const Case&, const MemoryContext& memory_context, Outcome& outcome) {
    if (memory_context.guard_in_front) {
      outcome = Outcome::ended(Ending::kCrashed, "read before the rows");
    }
  });
}

TEST(StrideWidening, AnAnswerThatDependsOnTheStrideIsSeen) {
  expect_broken("stride_widening", two_rows(), [](const Case& value, const MemoryContext&, Outcome& outcome) {
    outcome.rows[4] += value.row_stride ? 1 : 0;
  });
}

TEST(RepeatedToken, DuplicatesThatCancelAreSeen) {
  const auto cancels = [](const Case& value, const MemoryContext&, Outcome& outcome) {
    if (std::ranges::count(value.learned, 0) == 2) {
      outcome.rows.front() = value.operation == Operation::kWitnesses ? 0 : outcome.rows.front() + 1;
    }
  };
  expect_broken("repeated_token", witnesses(16, 4, {0, 5, 9, -1}), cancels);
  expect_broken("repeated_token", witnesses(16, 4, {0, 5, 9}), cancels);
  expect_broken("repeated_token", apply(16, 4, {0, 5, 9, -1}, 2, 2), cancels);
  expect_broken("repeated_token", apply(16, 4, {0, 5, 9}, 1, 5), cancels);
  expect_silent("repeated_token", scatter(16, 4, {0, 5, 9}));
}

TEST(BudgetGrowth, MoreThanOneFurtherSlotOrNoneIsSeen) {
  const Case value = apply(16, 4, {0, -1, -1, -1}, 1, 1);
  const auto when_grown = [](std::size_t slot, std::int32_t token) {
    return [=](const Case& grown, const MemoryContext&, Outcome& outcome) {
      if (grown.max_replacements == 2) {
        outcome.rows[slot] = token;
      }
    };
  };
  expect_broken("budget_growth", value, when_grown(3, 12));
  expect_broken("budget_growth", value, when_grown(2, -1));
  expect_broken("budget_growth", value, when_grown(0, 1));
  expect_holds("budget_growth", apply(16, 4, {0, 5, 9, 13}, 1, 1));
}

TEST(AddedOccupant, ALostOrKeptWitnessIsSeen) {
  const Case value = witnesses(16, 4, {0, 5, -1});  // its witnesses are 8 and 12; token 15 is added
  const auto when_added = [](std::size_t entry, std::int32_t token) {
    return [=](const Case& added, const MemoryContext&, Outcome& outcome) {
      if (added.learned.back() == 15) {
        outcome.rows[entry] = token;
      }
    };
  };
  expect_broken("added_occupant", value, when_added(3, 12));
  expect_broken("added_occupant", value, when_added(2, -1));
  expect_holds("added_occupant", with_row(witnesses(16, 4, {0, 5, -1}), 16, {0, 5, -1}));
}

TEST(AddedOccupant, ATokenPastTheEndMustTakeTheLastWitness) {
  const Case value = with_row(witnesses(16, 4, {0, 5, 3}), 16, {0, 5, 3});
  expect_broken("added_occupant", value, [](const Case& added, const MemoryContext&, Outcome& outcome) {
    if (added.learned.back() == 16) {
      outcome.rows.back() = 12;
    }
  });
}

TEST(BackendEquality, ADifferenceFromAnyBackendIsSeen) {
  expect_broken_by_rows("backend_equality", witnesses(16, 4, {0, 5, 9, -1}), {-1, -1, -1, 13});
}

TEST(BackendEquality, SaysNothingOfAnImplementationOfSomebodyElse) {
  class Foreign final : public Implementation {
   public:
    std::string name() const override { return "foreign"; }
    Outcome run_in(const Case&, const MemoryContext&) override { return Outcome::ended(Ending::kCrashed, "in a test"); }
  };
  Foreign foreign;
  EXPECT_EQ(judge("backend_equality", witnesses(16, 4, {0, 5, 9, -1}), foreign).kind, Verdict::Kind::kSilent);
  EXPECT_EQ(find_property("backend_equality")->why_not_provided(foreign),
            "it is about the library's own implementations");
  EXPECT_EQ(find_property("backend_equality")->why_not_provided(*make_c_abi()), "");
}

TEST(Refusal, AnotherStatusIsSeen) {
  expect_broken("refusal", apply(16, 65, {1}, 0, 1),
                [](const Case&, const MemoryContext&, Outcome& outcome) { outcome.status = 0; });
  expect_broken("refusal", apply(16, 65, {1}, 3, 1),
                [](const Case&, const MemoryContext&, Outcome& outcome) { outcome.status = 3; });
  expect_broken("refusal", apply(16, 4, {1}, 0, 1),
                [](const Case&, const MemoryContext&, Outcome& outcome) { outcome.status = 2; });
}

TEST(RefusedWritesNothing, AWriteOfARefusedCallIsSeen) {
  const Case value = apply(16, 65, {1, 2}, 0, 1);
  const Verdict verdict =
      expect_broken("refused_writes_nothing", value,
                    [](const Case&, const MemoryContext&, Outcome& outcome) { outcome.rows[1] = 8; });
  EXPECT_EQ(verdict.difference->slot, 1);
  expect_broken("refused_writes_nothing", value, [](const Case&, const MemoryContext&, Outcome& outcome) {
    outcome.status = 0;
    outcome.rows[0] = 8;
  });
  expect_broken("refused_writes_nothing", value,
                [](const Case&, const MemoryContext&, Outcome& outcome) { outcome.stray = kStray; });
  expect_silent("refused_writes_nothing", apply(16, 4, {1, 2}, 0, 1));
}

TEST(Bounds, AStrayWriteIsSeenAlsoInACallBefore) {
  Case value = two_rows();
  value.prior_calls = {two_rows()};
  expect_broken("bounds", value, [](const Case&, const MemoryContext&, Outcome& outcome) { outcome.stray = kStray; });
  expect_broken("bounds", value,
                [](const Case&, const MemoryContext&, Outcome& outcome) { outcome.prior_calls[0].stray = kStray; });
}

}  // namespace
}  // namespace kvwitness::harness
