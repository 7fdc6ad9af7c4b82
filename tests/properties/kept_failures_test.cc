// Kept failures: each failing case in a file of its own, replayed first, and moved away once it is mended.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "properties/report/report.h"
#include "properties/run/failure_database.h"
#include "tests/properties/faulty_runs.h"

namespace kvwitness::harness {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class KeptFailures : public testing::Test {
 protected:
  void SetUp() override {
    const auto* const test = testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / (std::string("kept-") + test->name());
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  RunOptions options(std::int64_t cases) const {
    RunOptions made;
    made.properties = properties_named({"round_trip"});
    made.cases_per_property = cases;
    made.failures_folder = folder_.string();
    return made;
  }
  std::vector<std::string> files(const std::filesystem::path& folder) const {
    std::vector<std::string> names;
    if (!std::filesystem::exists(folder)) return names;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      if (entry.is_regular_file()) names.push_back(entry.path().filename().string());
    }
    return names;
  }

  std::filesystem::path folder_;
};

TEST_F(KeptFailures, AreCaseFilesReplayedFirstAndMovedOnceThePairPasses) {
  const RunReport first = run_faulty(options(300), {.rule = rule::Fault::edge_rounded_down});
  ASSERT_EQ(files(folder_).size(), 1u);
  const auto entries = read_failures(folder_.string()).value();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].implementation, "faulty");
  EXPECT_EQ(entries[0].property, "round_trip");
  const Counterexample& found = *first.implementations[0].properties[0].counterexample;
  EXPECT_EQ(entries[0].cases.front(), found.minimal);
  EXPECT_EQ(entries[0].cases.back(), found.original);
  EXPECT_EQ(found.failure_file, entries[0].path);

  // Still broken: the kept case fails at once, and no second file appears.
  const RunReport second = run_faulty(options(1), {.rule = rule::Fault::edge_rounded_down});
  EXPECT_EQ(second.implementations[0].properties[0].counterexample->original_source, entries[0].path);
  EXPECT_EQ(second.implementations[0].properties[0].counterexample->original, found.minimal);
  EXPECT_EQ(files(folder_).size(), 1u);
  EXPECT_THAT(second.fixed_failures, IsEmpty());

  // Mended: it passes and moves.
  const RunReport third = run_faulty(options(1), {});
  EXPECT_EQ(third.fixed_failures, std::vector<std::string>{entries[0].path});
  EXPECT_EQ(files(folder_).size(), 0u);
  EXPECT_EQ(files(folder_ / "fixed").size(), 1u);
}

TEST_F(KeptFailures, OfOtherImplementationsStayWhereTheyAre) {
  run_faulty(options(300), {.rule = rule::Fault::edge_rounded_down});
  const RunReport other = run(options(1), one(std::make_unique<FaultyRule>("another", Faults{})));
  EXPECT_THAT(other.fixed_failures, IsEmpty());
  EXPECT_EQ(files(folder_).size(), 1u);
}

TEST_F(KeptFailures, ThatCameOnceAreNotFixedBecauseTheyPass) {
  FailureEntry once{.path = failure_path(folder_.string(), "faulty", "round_trip", Case{}),
                    .implementation = "faulty",
                    .property = "round_trip",
                    .cases = {Case{}},
                    .failed_again = false};
  once.cases[0].operation = Operation::kWitnesses;
  once.cases[0].num_segments = 2;
  once.cases[0].context_lens = {3};
  ASSERT_TRUE(write_failure(once).has_value());
  EXPECT_FALSE(read_failures(folder_.string()).value().at(0).failed_again);
  const RunReport report = run_faulty(options(1), {});
  EXPECT_THAT(report.fixed_failures, IsEmpty());
  EXPECT_EQ(report.unseen_failures, std::vector<std::string>{once.path});
  EXPECT_EQ(files(folder_).size(), 1u);
}

// Passing is no proof where none of the entry's cases was judged by its property.
class KeptFailuresThatAreNotJudged : public KeptFailures {
 protected:
  // Keeps a case that failed round_trip, and twice; the run must leave it where it is, and pass.
  void expect_to_stay(const Case& kept, const RunOptions& options, std::unique_ptr<FaultyRule> rule) {
    const FailureEntry entry{.path = failure_path(folder_.string(), "faulty", "round_trip", kept),
                             .implementation = "faulty",
                             .property = "round_trip",
                             .cases = {kept},
                             .failed_again = true};
    ASSERT_TRUE(write_failure(entry).has_value());
    const RunReport report = run(options, one(std::move(rule)));
    EXPECT_EQ(report.implementations.at(0).properties.at(0).kind, ResultKind::kPass);
    EXPECT_THAT(report.fixed_failures, IsEmpty());
    EXPECT_EQ(files(folder_).size(), 1U);
    EXPECT_THAT(files(folder_ / "fixed"), IsEmpty());
  }
  static Case witnesses_of_two_segments() {
    Case value;
    value.operation = Operation::kWitnesses;
    value.num_segments = 2;
    value.context_lens = {3};
    return value;
  }
  static std::unique_ptr<FaultyRule> right() { return std::make_unique<FaultyRule>("faulty", Faults{}); }
};

TEST_F(KeptFailuresThatAreNotJudged, BecauseTheCaseIsDeclinedStay) {
  auto rule = right();
  rule->serve_only([](const Case& value) { return value.topk > 0; });
  expect_to_stay(witnesses_of_two_segments(), options(30), std::move(rule));
}

TEST_F(KeptFailuresThatAreNotJudged, BecauseTheCaseLiesOutsideTheDomainStay) {
  RunOptions narrow = options(30);
  narrow.domain.num_segments = {3};
  expect_to_stay(witnesses_of_two_segments(), narrow, right());
}

TEST_F(KeptFailuresThatAreNotJudged, BecauseThePropertyIsSilentOnTheCaseStay) {
  Case refused = witnesses_of_two_segments();
  refused.operation = Operation::kApply;
  refused.num_segments = 65;
  expect_to_stay(refused, options(30), right());
}

TEST_F(KeptFailures, AreNotReadableWithoutThePairThatFailed) {
  std::filesystem::create_directories(folder_);
  std::ofstream(folder_ / "stray.json")
      << R"({"kvwitness_case":1,"operation":"scatter","topk":1,"num_segments":1,"context_lens":[1],"learned":[[0]]})";
  auto implementations = one(std::make_unique<FaultyRule>("rule", Faults{}));
  EXPECT_THAT(run_properties(options(1), implementations, nullptr).error(), HasSubstr("stray.json"));
  std::ofstream(folder_ / "stray.json") << "{";
  EXPECT_THAT(read_failures(folder_.string()).error(), HasSubstr("stray.json"));
}

TEST_F(KeptFailures, AreWhereLongCasesGoThatNobodyCouldPaste) {
  RunOptions options;
  options.properties = properties_named({"oracle_equality", "coverage"});
  RunReport report = run_faulty(options, {.rule = rule::Fault::rows_of_16_bits});
  keep_long_cases(report, folder_.string());
  const auto& found = report.implementations[0].properties[0].counterexample;
  ASSERT_TRUE(found.has_value());
  ASSERT_FALSE(found->failure_file.empty());
  std::ifstream file(found->failure_file);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  Case kept = parse_cases(text, found->failure_file).value().at(0);
  kept.note.clear();
  EXPECT_EQ(kept, found->minimal);
  const ReplayCommands replays{.program = "kvwitness", .selectors = {}, .variables = {}};
  EXPECT_LT(replays.command("faulty", "oracle_equality", *found).size(), 300u);

  RunReport small = run_faulty(options, {.rule = rule::Fault::edge_rounded_down});
  keep_long_cases(small, folder_.string());
  EXPECT_EQ(small.implementations[0].properties[0].counterexample->failure_file, "");
}

TEST_F(KeptFailures, NoteWhatCannotBeWritten) {
  std::ofstream(folder_) << "a file, not a folder";
  const FailureEntry entry{.path = failure_path(folder_.string(), "a", "b", Case{}),
                           .implementation = "a",
                           .property = "b",
                           .cases = {Case{}}};
  EXPECT_THAT(write_failure(entry).error(), HasSubstr(folder_.string()));
}

}  // namespace
}  // namespace kvwitness::harness
