#include "fuzz/minimise.h"

#include <gtest/gtest.h>
#include <kvwitness/case.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "fuzz/case_simplifier.h"
#include "fuzz/finding.h"

namespace kvwitness::fuzz {
namespace {

using harness::Case;

// A target with two faults: one in a row whose length is above 100 and whose first token is negative, another in any
// call of five rows.
int two_faults(const std::uint8_t* data, std::size_t size) {
  const Case value = harness::decode({data, size});
  if (value.rows() >= 5) {
    report({"test", "five_rows", "here", "there are five rows"});
  }
  for (std::int64_t row = 0;
       row < value.rows() && value.topk > 0 && std::ssize(value.learned) == value.rows() * value.topk; ++row) {
    if (value.context_lens[static_cast<std::size_t>(row)] > 100 &&
        value.learned[static_cast<std::size_t>(row * value.topk)] < 0) {
      report({"test", "long_row", "there", "a long row starts with padding"});
    }
  }
  return 0;
}

// Ends as UndefinedBehaviorSanitizer ends a run, with a blank at the end of its summary.
int as_a_sanitizer_ends(const std::uint8_t*, std::size_t) {
  std::fputs("SUMMARY: UndefinedBehaviorSanitizer: undefined-behavior a.cc:3:9 \n", stderr);
  std::abort();
}

// Crashes on a text that holds an x.
int crashes_on_x(const std::uint8_t* data, std::size_t size) {
  if (std::find(data, data + size, 'x') != data + size) {
    std::signal(SIGSEGV, SIG_DFL);
    std::raise(SIGSEGV);
  }
  return 0;
}

Case large_case() {
  Case value;
  value.operation = harness::Operation::kApply;
  value.topk = 12;
  value.num_segments = 8;
  value.learned_keep = 3;
  value.max_replacements = 5;
  value.row_stride = 20;
  value.base_offset = 3;
  value.context_lens = {50, 5000, 90, 7};
  value.learned.assign(48, 6);
  value.learned[12] = -7;
  value.prior_calls = {value};
  value.prior_calls[0].context_lens = {1, 2, 3, 4};
  return value;
}

TEST(MinimiseTest, LeavesTheLeastCaseThatFailsInTheSameWay) {
  const Target target{"test", two_faults, InputForm::kCase};
  const Minimised smallest = minimise(target, encode(large_case()), 3000);
  EXPECT_EQ(smallest.ending, "target=test invariant=long_row subject=there");
  EXPECT_EQ(ending_of(target, smallest.bytes), smallest.ending);
  const Case value = harness::decode(smallest.bytes);
  EXPECT_EQ(value.context_lens, std::vector<std::int32_t>{101});
  EXPECT_EQ(value.learned.size(), 1U);
  EXPECT_LT(value.learned[0], 0);
  EXPECT_TRUE(value.prior_calls.empty());
  EXPECT_FALSE(value.row_stride.has_value());
  EXPECT_EQ(value.base_offset, 0);
  EXPECT_EQ(value.num_segments, 0);
}

TEST(MinimiseTest, StaysWithTheFaultThatTheInputShows) {
  const Target target{"test", two_faults, InputForm::kCase};
  Case value = large_case();
  value.context_lens.push_back(5000);
  value.learned.insert(value.learned.end(), 12, -1);
  const Minimised smallest = minimise(target, encode(value), 3000);
  EXPECT_EQ(smallest.ending, "target=test invariant=five_rows subject=here");
  EXPECT_EQ(harness::decode(smallest.bytes).rows(), 5);
}

// Fails where the rows lie 2^40 elements apart or more.
int far_rows(const std::uint8_t* data, std::size_t size) {
  if (harness::decode({data, size}).row_stride.value_or(0) >= std::int64_t{1} << 40) {
    report({"test", "far_rows", "here", "the rows lie far apart"});
  }
  return 0;
}

TEST(MinimiseTest, AHugeCountComesDownToTheLeastThatFailsInFewRuns) {
  const Target target{"test", far_rows, InputForm::kCase};
  Case value = large_case();
  value.row_stride = std::numeric_limits<std::int64_t>::max();
  const Minimised smallest = minimise(target, encode(value), 1000);
  EXPECT_EQ(harness::decode(smallest.bytes).row_stride, std::int64_t{1} << 40);
  EXPECT_LT(smallest.attempts, 600);
}

TEST(MinimiseTest, ACrashIsKeptAsTheSignalThatItWas) {
  const Target target{"test", crashes_on_x, InputForm::kText};
  const std::string text = "some text with an x in its middle";
  const Minimised smallest = minimise(target, Bytes(text.begin(), text.end()), 500);
  EXPECT_FALSE(smallest.ending.empty());
  EXPECT_EQ(smallest.bytes, Bytes{'x'});
}

TEST(MinimiseTest, ASanitizersEndingIsItsSummary) {
  const Target target{"test", as_a_sanitizer_ends, InputForm::kText};
  EXPECT_EQ(ending_of(target, Bytes{'x'}), "UndefinedBehaviorSanitizer: undefined-behavior a.cc:3:9");
}

TEST(MinimiseTest, AnInputThatPassesIsLeftAlone) {
  const Target target{"test", crashes_on_x, InputForm::kText};
  const Minimised same = minimise(target, Bytes{'y'}, 500);
  EXPECT_EQ(same.ending, "");
  EXPECT_EQ(same.bytes, Bytes{'y'});
  EXPECT_EQ(same.attempts, 0);
}

TEST(MinimiseTest, TheNumberOfRunsIsAnUpperBound) {
  const Target target{"test", two_faults, InputForm::kCase};
  EXPECT_EQ(minimise(target, encode(large_case()), 4).attempts, 4);
}

TEST(CaseSimplifierTest, TheLeastNumbersGrowTowardsZero) {
  Case value;
  value.topk = 1;
  value.num_segments = INT64_MIN;
  value.context_lens = {INT32_MIN};
  value.learned = {INT32_MIN};
  bool halved_count = false;
  bool halved_length = false;
  for (const Case& candidate : simpler(value)) {
    halved_count = halved_count || candidate.num_segments == INT64_MIN / 2;
    halved_length = halved_length || (candidate.rows() == 1 && candidate.context_lens[0] == INT32_MIN / 2);
    EXPECT_GE(candidate.num_segments, INT64_MIN);
    EXPECT_LE(candidate.num_segments, 0);
  }
  EXPECT_TRUE(halved_count);
  EXPECT_TRUE(halved_length);
}

TEST(CaseSimplifierTest, NoStepLeadsToMoreElementsThanACaseMayTouch) {
  Case value;
  value.operation = harness::Operation::kWitnesses;
  value.topk = 1;
  value.num_segments = INT64_MAX;
  value.context_lens = {9};
  value.learned = {3};
  // Refused as it is; half as many segments and fewer are a legal call of far too many witnesses.
  bool halved_again = false;
  for (const Case& candidate : simpler(value)) {
    ASSERT_TRUE(is_within_limits(candidate)) << candidate;
    ASSERT_EQ(harness::decode(encode(candidate)), candidate);
    for (const Case& next : simpler(candidate)) {
      halved_again = true;
      ASSERT_TRUE(is_within_limits(next)) << next;
    }
  }
  EXPECT_TRUE(halved_again);
}

TEST(CaseSimplifierTest, EveryStepIsAnotherCaseAndEveryPathEnds) {
  Case value = large_case();
  int steps = 0;
  for (std::vector<Case> next = simpler(value); !next.empty(); next = simpler(value)) {
    for (const Case& candidate : next) {
      ASSERT_NE(candidate, value);
    }
    value = next[static_cast<std::size_t>(steps) % next.size()];
    ASSERT_LT(++steps, 5000);
  }
  EXPECT_EQ(value.rows(), 0);
}

}  // namespace
}  // namespace kvwitness::fuzz
