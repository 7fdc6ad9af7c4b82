// The runner: each planted fault is found within the default budget by the property that states what it breaks, with a
// small case that fails again by itself; and a run is repeatable, honest about what it did not judge, and keeps its
// failures.
#include "properties/run/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kvwitness/legality.h>
#include <kvwitness/oracle.h>

#include <filesystem>
#include <fstream>
#include <tuple>

#include "properties/generators/scenarios.h"
#include "properties/report/report.h"
#include "properties/run/counterexample_search.h"
#include "properties/run/failure_database.h"
#include "properties/run/judge_case.h"
#include "properties/run/recording.h"
#include "properties/sandbox/call.h"
#include "properties/shrinking/shrinking.h"
#include "tests/properties/faulty_rule.h"
#include "tests/properties/faulty_runs.h"

namespace kvwitness::harness {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::size_t size_of(const Case& value) {
  std::size_t size = value.learned.size() + value.context_lens.size();
  for (const Case& prior : value.prior_calls) size += size_of(prior);
  return size;
}

// ---- Planted faults.

struct Planted {
  const char* name;
  Faults faults;
  const char* property;
  std::size_t most_elements;  // of the minimal case, its prior calls included
};

class PlantedFaults : public testing::TestWithParam<Planted> {};

TEST_P(PlantedFaults, AreFoundByTheirPropertyWithASmallCaseThatFailsAgain) {
  const Planted& planted = GetParam();
  RunOptions options;
  options.properties = properties_named({planted.property});
  for (const std::size_t together : {1u, 32u}) {
    SCOPED_TRACE(testing::Message() << together << " runs together");
    const RunReport report = run_faulty(options, planted.faults, true, together);
    const PropertyResult& result = report.implementations.at(0).properties.at(0);
    ASSERT_EQ(result.kind, ResultKind::kFail);
    ASSERT_TRUE(result.counterexample.has_value());
    const Counterexample& found = *result.counterexample;
    EXPECT_EQ(found.reproduction, Reproduction::kFresh);
    EXPECT_LE(size_of(found.minimal), planted.most_elements) << found.minimal;
    EXPECT_FALSE(simpler(found.original, found.minimal));
    // In a process of its own.
    FaultyRule fresh("fresh", planted.faults);
    const auto judgements = judge_case(found.minimal, fresh, options.properties);
    EXPECT_EQ(judgements.at(0).verdict.kind, Verdict::Kind::kBroken) << found.minimal;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Runner, PlantedFaults,
    testing::Values(
        Planted{"edge_rounded_down", {.rule = rule::Fault::edge_rounded_down}, "round_trip", 3},
        Planted{"segment_in_32_bits", {.rule = rule::Fault::segment_in_32_bits}, "oracle_equality", 3},
        Planted{"mask_exclusive", {.rule = rule::Fault::mask_exclusive}, "oracle_equality", 4},
        Planted{"a_repeated_token_cancels", {.rule = rule::Fault::mask_exclusive}, "repeated_token", 4},
        Planted{"mask_shift_wraps", {.rule = rule::Fault::mask_shift_wraps}, "oracle_equality", 4},
        Planted{"past_end_clamped_to_effective", {.rule = rule::Fault::past_end_clamped_to_effective}, "short_row", 3},
        Planted{"only_minus_one_is_padding", {.rule = rule::Fault::only_minus_one_is_padding}, "padding", 3},
        Planted{"only_head_read", {.rule = rule::Fault::only_head_read}, "disjointness", 4},
        Planted{"mask_not_reset", {.rule = rule::Fault::mask_not_reset}, "row_independence", 6},
        Planted{"occupancy_survives_calls", {.occupancy_survives_calls = true}, "repeat_run", 8},
        Planted{"keep_one_late_when_dropped", {.rule = rule::Fault::keep_one_late_when_dropped}, "budget", 5},
        Planted{"accepts_65_segments", {.accepts_65_segments = true}, "refusal", 3},
        Planted{"misaligned_is_wrong", {.misaligned_is_wrong = 4}, "oracle_equality", 3}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST(Runner, FindsAFaultBeyond65535RowsInTheSharedCases) {
  RunOptions options;
  options.properties = properties_named({"oracle_equality"});
  const RunReport report = run_faulty(options, {.rule = rule::Fault::rows_of_16_bits});
  const auto& found = report.implementations.at(0).properties.at(0).counterexample;
  ASSERT_TRUE(found.has_value());
  EXPECT_GE(found->minimal.rows(), 65537);
  EXPECT_LE(found->minimal.topk, 1);
  EXPECT_LT(found->shrink_attempts, options.shrink_attempts);
}

TEST(Runner, PutsPriorCallsIntoTheCaseWhereAFaultCountsCalls) {
  RunOptions options;
  options.properties = properties_named({"oracle_equality"});
  const Faults faults{.every_nth_call_is_wrong = 97};
  for (const std::size_t together : {1u, 32u}) {
    const RunReport report = run_faulty(options, faults, true, together);
    const auto& found = report.implementations.at(0).properties.at(0).counterexample;
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->reproduction, Reproduction::kFresh);
    EXPECT_EQ(found->minimal.prior_calls.size(), 96u);
    EXPECT_LE(size_of(found->minimal), 2u * 97u);
    FaultyRule fresh("fresh", faults);
    EXPECT_EQ(judge_case(found->minimal, fresh, options.properties).at(0).verdict.kind, Verdict::Kind::kBroken);
  }
}

TEST(Runner, KeepsOnePriorCallWhereOneCallLeavesSomethingToTheNext) {
  RunOptions options;
  options.properties = properties_named({"oracle_equality"});
  const RunReport report = run_faulty(options, {.occupancy_survives_calls = true});
  const auto& found = report.implementations.at(0).properties.at(0).counterexample;
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->reproduction, Reproduction::kFresh);
  EXPECT_LE(found->minimal.prior_calls.size() + static_cast<std::size_t>(found->minimal.rows()), 2u) << found->minimal;
}

// Of hundreds of prior calls one matters, far back.
TEST(Runner, FindsTheOnePriorCallThatMatters) {
  class Poisoned final : public Implementation {
   public:
    std::string name() const override { return "poisoned"; }
    bool restart() override {
      is_poisoned_ = false;
      return true;
    }
    Outcome run_in(const Case& value, const MemoryContext& memory_context) override {
      return run_in_order(value, [&](const Case& call) {
        Outcome outcome = rule_.run_in(call, memory_context);
        is_poisoned_ = is_poisoned_ || call.topk == 7;
        if (is_poisoned_ && call.topk == 3 && !outcome.rows.empty()) outcome.rows.back() ^= 1;
        return outcome;
      });
    }

   private:
    FaultyRule rule_{"rule", {}};
    bool is_poisoned_ = false;
  };
  RunOptions options;
  options.properties = properties_named({"oracle_equality"});
  options.cases_per_property = 0;
  for (int i = 0; i < 500; ++i) {
    Case value;
    value.operation = Operation::kWitnesses;
    value.topk = i == 20 ? 7 : i == 499 ? 3 : 5;
    value.num_segments = 2;
    value.context_lens.assign(9, 100);
    value.learned.assign(static_cast<std::size_t>(9 * value.topk), i);
    options.pinned.push_back({"pinned", value});
  }
  const RunReport report = run(options, one(std::make_unique<Poisoned>()));
  const auto& found = report.implementations[0].properties[0].counterexample;
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->reproduction, Reproduction::kFresh);
  ASSERT_EQ(found->minimal.prior_calls.size(), 1u);
  EXPECT_EQ(found->minimal.prior_calls[0].topk, 7);
  EXPECT_LE(size_of(found->minimal), 12u) << found->minimal;
}

TEST(Runner, SaysWhenNothingProvesThatAReplayWouldFail) {
  RunOptions options;
  options.properties = properties_named({"oracle_equality"});
  const RunReport cannot_restart = run_faulty(options, {.rule = rule::Fault::edge_rounded_down}, false);
  EXPECT_EQ(cannot_restart.implementations[0].properties[0].counterexample->reproduction, Reproduction::kSameProcess);

  // Wrong once and never again, whatever is called.
  class WrongOnce final : public Implementation {
   public:
    std::string name() const override { return "wrong-once"; }
    bool restart() override { return true; }
    Outcome run_in(const Case& value, const MemoryContext& memory_context) override {
      Outcome outcome = rule_.run_in(value, memory_context);
      if (++calls_ >= 300 && !was_wrong_ && is_legal(value) && value.num_segments > 0 && !outcome.rows.empty()) {
        outcome.rows[0] ^= 1;
        was_wrong_ = true;
      }
      return outcome;
    }

   private:
    FaultyRule rule_{"rule", {}};
    int calls_ = 0;
    bool was_wrong_ = false;
  };
  const RunReport once = run(options, one(std::make_unique<WrongOnce>()));
  const auto& found = once.implementations[0].properties[0].counterexample;
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->reproduction, Reproduction::kNot);
  EXPECT_EQ(found->minimal, found->original);
}

TEST(Runner, NamesTheFirstDifferingSlotAndTheFieldsThatDoNotMatter) {
  RunOptions options;
  options.properties = properties_named({"oracle_equality"});
  const RunReport report = run_faulty(options, {.every_nth_call_is_wrong = 1});  // every result's last element is wrong
  const auto& found = report.implementations[0].properties[0].counterexample;
  ASSERT_TRUE(found.has_value());
  ASSERT_TRUE(found->verdict.difference.has_value());
  EXPECT_EQ(found->verdict.difference->expected ^ 1, found->verdict.difference->actual);
  EXPECT_THAT(found->irrelevant_fields, testing::Contains("context_lens"));
}

// ---- What a right implementation gives.

RunOptions small_run() {
  RunOptions options;
  for (const Property& property : all_properties()) options.properties.push_back(&property);
  options.cases_per_property = 30;
  return options;
}

TEST(Runner, PassesARightImplementationWithEveryProperty) {
  RunOptions options = small_run();
  options.cases_per_property = kDefaultCasesPerProperty;
  const RunReport report = run_faulty(options, {});
  EXPECT_THAT(report.missed_floors, IsEmpty());
  for (const PropertyResult& result : report.implementations.at(0).properties) {
    if (find_property(result.property)->needs.peers) continue;
    EXPECT_EQ(result.kind, ResultKind::kPass) << result.property << ": " << result.reason;
    EXPECT_GE(result.cases, 100) << result.property;
  }
}

TEST(Runner, SaysThatBackendEqualityIsNotAboutSomebodyElsesImplementation) {
  RunOptions options = small_run();
  options.properties = properties_named({"backend_equality", "determinism"});
  const RunReport report = run_faulty(options, {});
  const ImplementationResult& result = report.implementations.at(0);
  EXPECT_EQ(result.properties[0].kind, ResultKind::kNotProvided);
  EXPECT_EQ(result.properties[0].reason, "it is about the library's own implementations");
  EXPECT_EQ(result.properties[0].cases, 0);
  EXPECT_EQ(result.generated, options.cases_per_property) << "no case is drawn for it";
  EXPECT_EQ(result.kind, ResultKind::kPass);
}

void expect_equal(const RunReport& a, const RunReport& b) {
  ASSERT_EQ(a.implementations.size(), b.implementations.size());
  EXPECT_EQ(a.generated_cases, b.generated_cases);
  for (std::size_t i = 0; i < a.implementations.size(); ++i) {
    EXPECT_EQ(a.implementations[i].runs, b.implementations[i].runs);
    for (std::size_t p = 0; p < a.implementations[i].properties.size(); ++p) {
      const PropertyResult &left = a.implementations[i].properties[p], &right = b.implementations[i].properties[p];
      EXPECT_EQ(left.kind, right.kind);
      EXPECT_EQ(left.cases, right.cases);
      EXPECT_EQ(left.classes, right.classes);
      ASSERT_EQ(left.counterexample.has_value(), right.counterexample.has_value());
      if (!left.counterexample) continue;
      EXPECT_EQ(left.counterexample->original, right.counterexample->original);
      EXPECT_EQ(left.counterexample->minimal, right.counterexample->minimal);
      EXPECT_EQ(left.counterexample->shrink_attempts, right.counterexample->shrink_attempts);
      EXPECT_EQ(left.counterexample->irrelevant_fields, right.counterexample->irrelevant_fields);
    }
  }
}

TEST(Runner, GivesTheSameReportForTheSameOptions) {
  for (const Faults& faults :
       {Faults{}, Faults{.rule = rule::Fault::edge_rounded_down}, Faults{.every_nth_call_is_wrong = 97}}) {
    expect_equal(run_faulty(small_run(), faults), run_faulty(small_run(), faults));
  }
}

TEST(Runner, JudgesTheSameTogetherAsOneByOne) {
  const RunReport alone = run_faulty(small_run(), {}), together = run_faulty(small_run(), {}, true, 32);
  EXPECT_EQ(alone.judged_cases, together.judged_cases);
  expect_equal(alone, together);
}

TEST(Runner, PutsEqualShapesNextToEachOtherAndAsksForFurtherRunsTogether) {
  auto rule = std::make_unique<FaultyRule>("rule", Faults{});
  rule->run_several(32);
  const FaultyRule& watched = *rule;
  RunOptions options = small_run();
  options.properties = properties_named({"batch_split"});  // two further runs a case, but for single rows
  options.cases_per_property = 64;
  auto implementations = one(std::move(rule));
  ASSERT_TRUE(run_properties(options, implementations, nullptr).has_value());
  const auto shape = [](const Case& value) { return std::tuple(value.operation, value.rows(), value.topk); };
  // Twice: the runs of 32 cases, then the first further ones, then the second.
  ASSERT_EQ(watched.batches().size(), 6u);
  for (const std::size_t first : {0u, 3u}) {
    const auto& batches = watched.batches();
    EXPECT_EQ(batches[first].size(), 32u);
    EXPECT_TRUE(std::ranges::is_sorted(batches[first], {}, shape));
    EXPECT_GT(batches[first + 1].size(), 10u);
    EXPECT_EQ(batches[first + 1].size(), batches[first + 2].size());
  }
}

TEST(Runner, DrawsOtherCasesForAnotherSeed) {
  RunOptions first = small_run(), second = small_run();
  second.seed = 1;
  const RunReport a = run_faulty(first, {.rule = rule::Fault::edge_rounded_down}),
                  b = run_faulty(second, {.rule = rule::Fault::edge_rounded_down});
  EXPECT_NE(a.implementations[0].properties[0].counterexample->original,
            b.implementations[0].properties[0].counterexample->original);
}

TEST(Runner, RefusesToJudgeNothing) {
  auto implementations = one(std::make_unique<FaultyRule>("rule", Faults{}));
  RunOptions none = small_run();
  none.cases_per_property = 0;
  EXPECT_THAT(run_properties(none, implementations, nullptr).error(), HasSubstr("no case"));
  EXPECT_THAT(run_properties(RunOptions{}, implementations, nullptr).error(), HasSubstr("no property"));
  std::vector<std::unique_ptr<Implementation>> nobody;
  EXPECT_THAT(run_properties(small_run(), nobody, nullptr).error(), HasSubstr("no implementation"));
}

TEST(Runner, FailsAnImplementationThatServesNoShape) {
  auto rule = std::make_unique<FaultyRule>("rule", Faults{});
  rule->serve_only([](const Case&) { return false; });
  const RunReport report = run(small_run(), one(std::move(rule)));
  EXPECT_EQ(report.implementations[0].kind, ResultKind::kFail);
  EXPECT_THAT(report.implementations[0].reason, HasSubstr("none of the shapes"));
  EXPECT_EQ(report.judged_cases, 0);
}

TEST(Runner, JudgesANarrowImplementationMostlyOnShapesThatItServes) {
  auto rule = std::make_unique<FaultyRule>("rule", Faults{.rule = rule::Fault::keep_one_late_when_dropped});
  rule->make_only_legal_calls();
  rule->serve_only([](const Case& value) {
    return (value.topk == 512 || value.topk == 2048) && value.base_offset % 4 == 0 && value.num_segments == 64;
  });
  RunOptions options;
  options.properties = properties_named({"budget", "refusal", "oracle_equality"});
  const RunReport report = run(options, one(std::move(rule)));
  const auto& properties = report.implementations[0].properties;
  ASSERT_EQ(properties[0].kind, ResultKind::kFail);
  EXPECT_EQ(properties[0].counterexample->minimal.topk, 512);
  EXPECT_EQ(properties[0].counterexample->minimal.rows(), 1);
  EXPECT_THAT(report.missed_floors, IsEmpty());
}

// Answers as the rule does, and declines by its answer: what is odd, and every operation but scatter.
class Declining final : public ForwardingImplementation {
 public:
  explicit Declining(Implementation& inner) : ForwardingImplementation(inner) {}
  bool checks_arguments() const override { return false; }
  Outcome run_in(const Case& value, const MemoryContext& memory_context) override {
    const bool declines = value.operation != Operation::kScatter || value.topk % 2 == 1;
    if (!declines) return ForwardingImplementation::run_in(value, memory_context);
    ++asked_[call_shape_of(value, value.row_stride.has_value())];
    return Outcome::ended(Ending::kUnsupported, "declined");
  }
  std::vector<Outcome> run_together(std::span<const RunRequest> requests) override {
    return Implementation::run_together(requests);
  }
  const std::map<CallShape, int>& asked() const { return asked_; }

 private:
  std::map<CallShape, int> asked_;
};

TEST(Runner, AsksNoMoreForWhatIsDeclinedAnOperationAsWellAsAShape) {
  FaultyRule rule("rule", {}, false);
  auto declining = std::make_unique<Declining>(rule);
  const Declining* const declined = declining.get();
  RunOptions options = small_run();
  options.cases_per_property = 60;
  options.properties = properties_named({"oracle_equality", "coverage", "added_occupant", "budget"});
  std::vector<std::unique_ptr<Implementation>> implementations;
  implementations.push_back(std::move(declining));
  const auto report = run_properties(options, implementations, {});
  ASSERT_TRUE(report.has_value());
  int others = 0;
  for (const auto& [shape, times] : declined->asked()) {
    EXPECT_EQ(times, 1) << name_of(shape.operation) << ", topk " << shape.topk;
    if (shape.operation != Operation::kScatter) ++others;
  }
  EXPECT_LT(others, 1500);  // the probe's
  const auto& properties = report->implementations[0].properties;
  EXPECT_EQ(properties[0].kind, ResultKind::kPass);
  EXPECT_GT(properties[0].cases, 60);
  EXPECT_EQ(properties[2].kind, ResultKind::kUnsupported);  // of witness indices, which are declined
  EXPECT_GT(report->generated_cases, 150);                  // three streams of 60, of shapes that it serves
}

// A run in which a class of cases never came ends with exit status 2, whatever else held.
// One row of a model's width, S = 64: a domain that pairs of rows, and other widths, do not meet.
TEST(Runner, JudgesAnImplementationOfSingleRowsOnThose) {
  auto rule = std::make_unique<FaultyRule>("rule", Faults{});
  rule->make_only_legal_calls();
  rule->serve_only([](const Case& value) {
    return value.rows() == 1 && value.topk == 2048 && value.num_segments == 64 && value.base_offset == 0;
  });
  RunOptions options = small_run();
  const RunReport report = run(options, one(std::move(rule)));
  EXPECT_EQ(report.implementations[0].kind, ResultKind::kPass);
  EXPECT_GT(report.generated_cases, 700);
}

TEST(Runner, FindsAWidthAndASegmentCountThatNobodyElseHas) {
  auto rule = std::make_unique<FaultyRule>("rule", Faults{});
  rule->make_only_legal_calls();
  rule->serve_only([](const Case& value) { return value.topk == 112 && value.num_segments == 47; });
  RunOptions options = small_run();
  EXPECT_GT(run(options, one(std::move(rule))).generated_cases, 700);
}

TEST(Runner, MissesAFloorWhereNextToNothingIsServed) {
  auto rule = std::make_unique<FaultyRule>("rule", Faults{});
  rule->make_only_legal_calls();
  // Of pairs of rows one in some forty: those by which shapes are tried, and few others.
  rule->serve_only([](const Case& value) {
    return value.rows() == 2 && (std::int64_t{value.context_lens[0]} + value.context_lens[1]) % 40 == (128 + 4096) % 40;
  });
  RunOptions options;
  options.properties = properties_named({"oracle_equality"});
  const RunReport report = run(options, one(std::move(rule)));
  ASSERT_EQ(report.missed_floors.size(), 1u);
  EXPECT_TRUE(report.missed_floors[0].enforced);
  EXPECT_THAT(report.missed_floors[0].case_class, HasSubstr("serves"));
  EXPECT_GT(report.missed_floors[0].hits, 0);
  EXPECT_LT(report.missed_floors[0].hits, 5);
}

TEST(Runner, SaysOfRefusalsThatAreNotPromisedThatTheyAreNotProvided) {
  auto rule = std::make_unique<FaultyRule>("rule", Faults{});
  rule->make_only_legal_calls();
  const RunReport report = run(small_run(), one(std::move(rule)));
  for (const PropertyResult& result : report.implementations[0].properties) {
    if (result.property != "refused_writes_nothing") continue;
    EXPECT_EQ(result.kind, ResultKind::kNotProvided);
    EXPECT_THAT(result.reason, HasSubstr("does not promise"));
  }
}

TEST(Runner, MissesTheFloorOfAClassThatNeverComes) {
  const auto scenario = [](std::string_view name) {
    return &*std::ranges::find(all_scenarios(), name, &Scenario::name);
  };
  const std::vector<CoverageClass> classes = {
      {{"everything", "each case", 900, [](const CaseTraits&) { return true; }}, scenario("anything small")},
      {{"a class that never comes", "no case", 1, [](const CaseTraits&) { return false; }}, scenario("anything small")},
      {{"a shared class that never comes", "no case", 0, [](const CaseTraits&) { return false; }},
       scenario("a serving batch")}};
  RunOptions options;
  options.properties = properties_named({"oracle_equality"});
  options.coverage_classes = &classes;
  const RunReport report = run(options, one(std::make_unique<FaultyRule>("rule", Faults{})));
  ASSERT_EQ(report.missed_floors.size(), 2U);
  EXPECT_EQ(report.missed_floors[0].case_class, "a shared class that never comes");
  EXPECT_EQ(report.missed_floors[1].case_class, "a class that never comes");
  EXPECT_EQ(report.missed_floors[1].floor, 1);
  const Conclusion conclusion = conclude(report, {}, {});
  EXPECT_EQ(conclusion.exit_status, 2);
  EXPECT_THAT(conclusion.message, HasSubstr("a class that never comes"));

  options.cases_per_property = kDefaultCasesPerProperty - 1;
  const RunReport below = run(options, one(std::make_unique<FaultyRule>("rule", Faults{})));
  EXPECT_EQ(below.missed_floors.size(), 2U);
  EXPECT_EQ(conclude(below, {}, {}).exit_status, 0);
}

TEST(Runner, StaysWithinTheTimeAndSaysSo) {
  RunOptions options = small_run();
  options.time_limit_seconds = 0.0;
  const RunReport report = run_faulty(options, {});
  EXPECT_TRUE(report.cut_by_clock);
  EXPECT_EQ(report.judged_cases, 0);
  EXPECT_EQ(report.implementations[0].kind, ResultKind::kSkipped);
}

// What is left of the time is not spent on making a case smaller.
TEST(Runner, LeavesACaseAsItIsWhenTheTimeIsUp) {
  const Property& property = *find_property("oracle_equality");
  FaultyRule rule("rule", {.rule = rule::Fault::edge_rounded_down});
  Ration ration;
  Recording recording(rule, ration);
  Case value;
  value.operation = Operation::kWitnesses;
  value.topk = 3;
  value.num_segments = 5;
  value.context_lens = {99, 1234};
  value.learned = {1, 2, 3, 4, 5, 6};
  const Outcome outcome = recording.run(value);
  const Failure failure{&property, value, "here", outcome, property.judge(value, outcome, recording), {}};
  std::int64_t fresh_attempts = 100;
  const auto everything = [](const Case&) { return true; };
  const auto minimal = [&](bool is_over) {
    return find_counterexample(
        failure, recording, {},
        {.attempts = 2000, .fresh_attempts = fresh_attempts, .admits = everything, .is_over = [is_over] {
           return is_over;
         }});
  };
  EXPECT_EQ(minimal(true).minimal, value);
  EXPECT_EQ(minimal(true).reproduction, Reproduction::kFresh);
  EXPECT_LE(size_of(minimal(false).minimal), 3u);
}

// A fault that needs prior calls needs a restart for each attempt to make its case smaller.
TEST(Runner, MakesFewFreshAttemptsWhereNoneIsLeft) {
  const Property& property = *find_property("oracle_equality");
  FaultyRule rule("rule", {.every_nth_call_is_wrong = 20});
  Ration ration;
  Recording recording(rule, ration);
  Case value;
  value.operation = Operation::kWitnesses;
  value.topk = 40;
  value.num_segments = 50;
  value.context_lens = {9999, 12345, 5432};
  value.learned.assign(120, 77);
  Failure failure{&property, value, "here", {}, {}, {}};
  for (int i = 0; i < 20; ++i) failure.outcome = recording.run(value);
  failure.verdict = property.judge(value, failure.outcome, recording);
  ASSERT_EQ(failure.verdict.kind, Verdict::Kind::kBroken);
  failure.prior_calls.assign(19, value);
  const auto attempts_with = [&](std::int64_t& fresh_attempts) {
    return find_counterexample(failure, recording, {},
                               {.attempts = 2000,
                                .fresh_attempts = fresh_attempts,
                                .admits = [](const Case&) { return true; },
                                .is_over = [] { return false; }})
        .shrink_attempts;
  };
  std::int64_t fresh_attempts = 500;
  const std::int64_t used = attempts_with(fresh_attempts);
  EXPECT_GT(used, 45);
  EXPECT_EQ(fresh_attempts, 500 - used);
  fresh_attempts = 0;
  EXPECT_LE(attempts_with(fresh_attempts), 40);
}

// Where a failure needs prior calls, what another property was shown by is tried first.
TEST(Runner, TakesOverTheCaseOfAnotherPropertyWithItsPriorCalls) {
  const Property& property = *find_property("oracle_equality");
  FaultyRule rule("rule", {.every_nth_call_is_wrong = 20});
  Ration ration;
  Recording recording(rule, ration);
  Case known;
  known.operation = Operation::kWitnesses;
  known.topk = 1;
  known.num_segments = 2;
  known.context_lens = {2};
  known.learned = {0};
  Case large = known;
  large.topk = 40;
  large.learned.assign(40, 0);
  known.prior_calls.assign(19, known);
  Failure failure{&property, large, "here", {}, {}, {}};
  for (int i = 0; i < 20; ++i) failure.outcome = recording.run(large);
  failure.verdict = property.judge(large, failure.outcome, recording);
  ASSERT_EQ(failure.verdict.kind, Verdict::Kind::kBroken);
  failure.prior_calls.assign(19, large);
  const KnownCase cases[] = {{known, false}};
  std::int64_t fresh_attempts = 500;
  const Counterexample found = find_counterexample(failure, recording, cases,
                                                   {.attempts = 2000,
                                                    .fresh_attempts = fresh_attempts,
                                                    .admits = [](const Case&) { return true; },
                                                    .is_over = [] { return false; }});
  EXPECT_EQ(found.minimal, known);
  EXPECT_EQ(found.reproduction, Reproduction::kFresh);
  EXPECT_EQ(found.shrink_attempts, 0);
}

// So that what is kept of the calls is all that the process has seen.
TEST(Runner, StartsAFreshProcessWhereTheCallsBecomeTooMany) {
  auto rule = std::make_unique<FaultyRule>("rule", Faults{});
  const FaultyRule& watched = *rule;
  RunOptions options;
  options.properties = properties_named({"oracle_equality"});
  options.cases_per_property = 1200;
  auto implementations = one(std::move(rule));
  ASSERT_TRUE(run_properties(options, implementations, nullptr).has_value());
  EXPECT_GE(watched.restarts(), 1);
}

// ---- Pinned cases.

PinnedCase pinned(const std::string& json) {
  return {"pinned.json:1", parse_cases(json, "pinned.json").value().at(0)};
}

TEST(Runner, JudgesPinnedCasesFirstAndTheirExpectations) {
  RunOptions options = small_run();
  options.cases_per_property = 0;
  options.pinned = {pinned(R"({"kvwitness_case":1,"operation":"apply","topk":4,"num_segments":4,"learned_keep":2,
      "max_replacements":2,"context_lens":[16],"learned":[[0,5,9,-1]],"expect":{"rows":[[0,5,12,-1]]}})"),
                    pinned(R"({"kvwitness_case":1,"operation":"apply","topk":4,"num_segments":4,"learned_keep":2,
      "max_replacements":2,"context_lens":[16],"learned":[[0,5,9,-1]],"expect":{"rows":[[0,5,12,7]]}})")};
  const RunReport report = run_faulty(options, {});
  EXPECT_EQ(report.pinned_cases, 2);
  const PropertyResult& expectation = report.implementations[0].properties.back();
  EXPECT_EQ(expectation.property, kExpectation);
  EXPECT_EQ(expectation.cases, 2);
  ASSERT_EQ(expectation.kind, ResultKind::kFail);
  EXPECT_EQ(expectation.counterexample->original, options.pinned[1].value);
  EXPECT_EQ(expectation.counterexample->original_source, "pinned.json:1");
  EXPECT_EQ(report.implementations[0].properties.front().kind, ResultKind::kPass);
}

// Wrong for very many rows, which the large cases at the beginning find, and for S = 7, which comes later.
class WrongInTwoWays final : public Implementation {
 public:
  std::string name() const override { return "wrong"; }
  bool restart() override { return true; }
  Outcome run_in(const Case& value, const MemoryContext& memory_context) override {
    Outcome outcome = rule_.run_in(value, memory_context);
    const bool wrong = value.rows() > 5000 || value.num_segments == 7;
    if (wrong && outcome.status == 0 && !outcome.rows.empty()) outcome.rows.back() ^= 1;
    return outcome;
  }

 private:
  FaultyRule rule_{"rule", Faults{}};
};

TEST(Runner, PrefersACounterexampleThatAPersonCanCheckOverTheFirstOne) {
  RunOptions options;
  options.properties = properties_named({"oracle_equality"});
  const RunReport report = run(options, one(std::make_unique<WrongInTwoWays>()));
  const PropertyResult& result = report.implementations[0].properties[0];
  ASSERT_EQ(result.kind, ResultKind::kFail);
  EXPECT_EQ(result.counterexample->minimal.num_segments, 7);
  EXPECT_LE(size_of(result.counterexample->minimal), 4U) << result.counterexample->minimal;
}

// Where what a case expects is the rule's answer, the case is made smaller and expects the rule's answer to what is
// left.
TEST(Runner, MakesACaseSmallerWithItsExpectation) {
  RunOptions options = small_run();
  options.cases_per_property = 0;
  options.properties = properties_named({"bounds"});
  options.pinned = {
      pinned(R"({"kvwitness_case":1,"operation":"scatter","topk":6,"num_segments":4,"context_lens":[10,16],
      "learned":[[0,1,9,-1,-1,-1],[0,5,9,13,2,2]],"expect":{"rows":[[0,1,3,5,-1,-1],[0,5,9,13,2,2]]}})")};
  const RunReport report = run_faulty(options, {.rule = rule::Fault::edge_rounded_down});
  const PropertyResult& expectation = report.implementations[0].properties.back();
  ASSERT_EQ(expectation.kind, ResultKind::kFail);
  const Case& minimal = expectation.counterexample->minimal;
  EXPECT_LE(size_of(minimal), 3U) << minimal;
  ASSERT_TRUE(minimal.expect);
  EXPECT_EQ(*minimal.expect, Expectation(expected_rows(minimal)));
  EXPECT_EQ(expectation.counterexample->reproduction, Reproduction::kFresh);
}

// A call before the case that lies outside the domain is not made, so nothing is expected of it.
TEST(Runner, ExpectsNothingOfAPriorCallThatIsDeclined) {
  auto rule = std::make_unique<FaultyRule>("rule", Faults{});
  rule->serve_only([](const Case& value) { return value.topk >= value.num_segments; });
  RunOptions options = small_run();
  options.cases_per_property = 0;
  options.pinned = {pinned(R"({"kvwitness_case":1,"operation":"witnesses","topk":2,"num_segments":2,"context_lens":[8],
      "learned":[[1,-1]],"expect":{"rows":[[-1,4]]},"after":[{"kvwitness_case":1,"operation":"witnesses","topk":1,
      "num_segments":2,"context_lens":[8],"learned":[[-1]],"expect":{"rows":[[0,4]]}}]})")};
  const PropertyResult expectation = run(options, one(std::move(rule))).implementations[0].properties.back();
  EXPECT_EQ(expectation.property, kExpectation);
  EXPECT_EQ(expectation.kind, ResultKind::kPass);
}

// Each hang costs a deadline: the whole run may have some dozens of them, not hundreds.
class HangingImplementation : public testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(Runner, HangingImplementation, testing::Values(1u, 32u));

TEST_P(HangingImplementation, EndsSoon) {
  auto rule = std::make_unique<FaultyRule>("rule", Faults{.hangs_on_segments = 3});
  rule->run_several(GetParam());
  const FaultyRule& hanging = *rule;
  RunOptions options;
  for (const Property& property : all_properties()) options.properties.push_back(&property);
  auto implementations = one(std::move(rule));
  const auto report = run_properties(options, implementations, nullptr);
  ASSERT_TRUE(report.has_value());
  EXPECT_LE(hanging.hangs(), 120);
  const auto& properties = report->implementations[0].properties;
  EXPECT_EQ(report->implementations[0].kind, ResultKind::kFail);
  EXPECT_GT(std::ranges::count(properties, ResultKind::kFail, &PropertyResult::kind), 10);
  for (const PropertyResult& result : properties) {
    if (result.kind == ResultKind::kSkipped) {
      EXPECT_TRUE(result.property == "backend_equality" || result.reason.starts_with("not judged to the end"))
          << result.property << ": " << result.reason;
    }
    if (result.kind != ResultKind::kFail) continue;
    EXPECT_EQ(result.counterexample->minimal.num_segments, 3) << result.property;
    EXPECT_LE(size_of(result.counterexample->minimal), 4U) << result.property << result.counterexample->minimal;
  }
}

// It is given up after a few calls, and those few are judged.
TEST_P(HangingImplementation, FailsWhereItNeverAnswers) {
  class Silent final : public Implementation {
   public:
    explicit Silent(std::size_t together) : together_(together) {}
    std::string name() const override { return "silent"; }
    bool restart() override { return true; }
    std::size_t runs_together() const override { return together_; }
    Outcome run_in(const Case&, const MemoryContext&) override {
      ++calls;
      return Outcome::ended(Ending::kHung, "no answer");
    }
    int calls = 0;

   private:
    std::size_t together_;
  };
  auto silent = std::make_unique<Silent>(GetParam());
  const Silent& watched = *silent;
  RunOptions options = small_run();
  options.pinned.assign(40, pinned(R"({"kvwitness_case":1,"operation":"witnesses","topk":2,"num_segments":2,
      "context_lens":[8],"learned":[[1,-1]]})"));
  auto implementations = one(std::move(silent));
  const auto report = run_properties(options, implementations, nullptr);
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(report->implementations[0].kind, ResultKind::kFail);
  EXPECT_LE(watched.calls, 20);
}

// Five cases without an answer, as the README says, and not one more: here of cases on which the property is silent, so
// that only the hangs end the run.
TEST_P(HangingImplementation, IsGivenUpAfterFiveCasesWithoutAnAnswer) {
  auto rule = std::make_unique<FaultyRule>("rule", Faults{.hangs_on_segments = 65});
  rule->run_several(GetParam());
  const FaultyRule& watched = *rule;
  RunOptions options;
  options.properties = properties_named({"round_trip"});
  options.cases_per_property = 0;
  options.pinned.assign(40, pinned(R"({"kvwitness_case":1,"operation":"apply","topk":2,"num_segments":65,
      "learned_keep":0,"max_replacements":1,"context_lens":[8],"learned":[[1,-1]]})"));
  auto implementations = one(std::move(rule));
  const auto report = run_properties(options, implementations, nullptr);
  ASSERT_TRUE(report.has_value());
  EXPECT_EQ(watched.hangs(), 5);
  EXPECT_THAT(report->implementations.at(0).properties.at(0).reason, HasSubstr("5 cases got no answer"));
}

TEST(Runner, LeavesOutPinnedCasesBeyondTheNarrowedDomain) {
  RunOptions options = small_run();
  options.cases_per_property = 0;
  options.domain.topk = {8};
  options.pinned = {
      pinned(
          R"({"kvwitness_case":1,"operation":"scatter","topk":1,"num_segments":2,"context_lens":[16],"learned":[[0]]})"),
      pinned(R"({"kvwitness_case":1,"operation":"scatter","topk":8,"num_segments":2,"context_lens":[16],
                      "learned":[[0,1,2,3,4,5,6,7]]})")};
  EXPECT_EQ(run_faulty(options, {}).pinned_cases, 1);
}

// ---- Kept failures.

}  // namespace
}  // namespace kvwitness::harness
