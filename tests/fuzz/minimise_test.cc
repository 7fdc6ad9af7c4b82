#include "fuzz/minimise.h"

#include <gtest/gtest.h>
#include <kvwitness/case.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "fuzz/finding.h"
#include "fuzz/inputs/case_forms.h"
#include "fuzz/inputs/scheduled_case.h"

namespace kvwitness::fuzz {
namespace {

using harness::Case;

Target target_of(int (*body)(const std::uint8_t*, std::size_t), const InputForm& form) {
  return {.name = "test", .judges = "", .body = body, .form = &form};
}

// A target with two faults: one in a row whose length is above 100 and whose first token is negative, another in any
// call of five rows.
int two_faults(const std::uint8_t* data, std::size_t size) {
  const Case value = harness::decode({data, size});
  if (value.rows() >= 5) {
    report_finding({"test", "five_rows", "here", "there are five rows"});
  }
  for (std::int64_t row = 0;
       row < value.rows() && value.topk > 0 && std::ssize(value.learned) == value.rows() * value.topk; ++row) {
    if (value.context_lens[static_cast<std::size_t>(row)] > 100 &&
        value.learned[static_cast<std::size_t>(row * value.topk)] < 0) {
      report_finding({"test", "long_row", "there", "a long row starts with padding"});
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
  const Target target = target_of(two_faults, kCaseForm);
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
  EXPECT_EQ(value.num_segments, 1);  // the least of a legal call
  EXPECT_EQ(value.operation, harness::Operation::kWitnesses);
}

TEST(MinimiseTest, StaysWithTheFaultThatTheInputShows) {
  const Target target = target_of(two_faults, kCaseForm);
  Case value = large_case();
  value.context_lens.push_back(5000);
  value.learned.insert(value.learned.end(), 12, -1);
  const Minimised smallest = minimise(target, encode(value), 3000);
  EXPECT_EQ(smallest.ending, "target=test invariant=five_rows subject=here");
  EXPECT_EQ(harness::decode(smallest.bytes).rows(), 5);
}

// Fails where the budget of replacements is 2^40 or more.
int large_budget(const std::uint8_t* data, std::size_t size) {
  if (harness::decode({data, size}).max_replacements >= std::int64_t{1} << 40) {
    report_finding({"test", "large_budget", "here", "the budget is large"});
  }
  return 0;
}

TEST(MinimiseTest, AHugeCountComesDownToTheLeastThatFailsInFewRuns) {
  const Target target = target_of(large_budget, kCaseForm);
  Case value = large_case();
  value.max_replacements = std::numeric_limits<std::int64_t>::max();
  const Minimised smallest = minimise(target, encode(value), 1000);
  EXPECT_EQ(harness::decode(smallest.bytes).max_replacements, std::int64_t{1} << 40);
  EXPECT_LT(smallest.attempts, 600);
}

// Fails for negative counts and lengths.
int negative_numbers(const std::uint8_t* data, std::size_t size) {
  const Case value = harness::decode({data, size});
  if (value.num_segments <= -5 && value.rows() == 1 && value.context_lens[0] <= -9) {
    report_finding({"test", "negative_numbers", "here", "numbers below zero"});
  }
  return 0;
}

TEST(MinimiseTest, TheLeastNumbersGrowTowardsZero) {
  const Target target = target_of(negative_numbers, kCaseForm);
  Case value;
  value.topk = 1;
  value.num_segments = INT64_MIN;
  value.context_lens = {INT32_MIN};
  value.learned = {INT32_MIN};
  const Case least = harness::decode(minimise(target, encode(value), 1000).bytes);
  EXPECT_EQ(least.num_segments, -5);
  EXPECT_EQ(least.context_lens, std::vector<std::int32_t>{-9});
}

// Fails where a prior call asks for 2^34 segments or more of a row.
int many_segments_before(const std::uint8_t* data, std::size_t size) {
  for (const Case& prior : harness::decode({data, size}).prior_calls) {
    const bool one_row = prior.rows() == 1 && prior.topk == std::ssize(prior.learned) && prior.topk > 0;
    if (prior.num_segments >= std::int64_t{1} << 34 && (one_row || prior.rows() == 4)) {
      report_finding({"test", "many_segments", "before", "a prior call has many segments"});
    }
  }
  return 0;
}

TEST(MinimiseTest, NoCaseIsTriedThatBytesCannotSay) {
  // A refused prior call may become a legal one, and then one of far too many witnesses: it stays an apply.
  const Target target = target_of(many_segments_before, kCaseForm);
  Case value = large_case();
  value.prior_calls[0].num_segments = std::int64_t{1} << 40;
  const Minimised smallest = minimise(target, encode(value), 1000);
  const Case least = harness::decode(smallest.bytes);
  EXPECT_TRUE(is_within_limits(least));
  ASSERT_EQ(least.prior_calls.size(), 1U);
  EXPECT_EQ(least.prior_calls[0].operation, harness::Operation::kApply);
  EXPECT_EQ(least.prior_calls[0].num_segments, std::int64_t{1} << 34);
}

// Fails where blocks take several rows of a call with a row.
int several_rows_a_block(const std::uint8_t* data, std::size_t size) {
  const ScheduledCase scheduled = decode_scheduled({data, size});
  if (scheduled.run.grid_divisor > 1 && scheduled.run.schedule >= 100 && scheduled.value.rows() > 0) {
    report_finding({"test", "several_rows", "here", "a block takes several rows"});
  }
  return 0;
}

TEST(MinimiseTest, AScheduledCaseKeepsOfItsRunWhatTheFaultNeeds) {
  const Target target = target_of(several_rows_a_block, kScheduledCaseForm);
  const ScheduledCase scheduled{{kernels::Variant::kBlock, 70000, 3}, 5, large_case()};
  const Minimised smallest = minimise(target, encode_scheduled(scheduled), 3000);
  const ScheduledCase least = decode_scheduled(smallest.bytes);
  EXPECT_EQ(least.run.schedule, 70000U >> 9);
  EXPECT_EQ(least.run.grid_divisor, 3U);
  EXPECT_EQ(least.lengths_choice, 0U);
  EXPECT_EQ(least.value.rows(), 1);
  EXPECT_TRUE(least.value.prior_calls.empty());
}

TEST(MinimiseTest, ACrashIsKeptAsTheSignalThatItWas) {
  const Target target = target_of(crashes_on_x, kCaseTextForm);
  const std::string text = "some text with an x in its middle";
  const Minimised smallest = minimise(target, Bytes(text.begin(), text.end()), 500);
  EXPECT_FALSE(smallest.ending.empty());
  EXPECT_EQ(smallest.bytes, Bytes{'x'});
}

TEST(MinimiseTest, ASanitizersEndingIsItsSummary) {
  const Target target = target_of(as_a_sanitizer_ends, kCaseTextForm);
  EXPECT_EQ(ending_of(target, Bytes{'x'}), "UndefinedBehaviorSanitizer: undefined-behavior a.cc:3:9");
}

TEST(MinimiseTest, AnInputThatPassesIsLeftAlone) {
  const Target target = target_of(crashes_on_x, kCaseTextForm);
  const Minimised same = minimise(target, Bytes{'y'}, 500);
  EXPECT_EQ(same.ending, "");
  EXPECT_EQ(same.bytes, Bytes{'y'});
  EXPECT_EQ(same.attempts, 0);
}

TEST(MinimiseTest, TheNumberOfRunsIsAnUpperBound) {
  const Target target = target_of(two_faults, kCaseForm);
  EXPECT_EQ(minimise(target, encode(large_case()), 4).attempts, 4);
}

constexpr std::size_t kLongText = 40;

int waits_for_ever_on_a_long_text(const std::uint8_t*, std::size_t size) {
  while (size >= kLongText) {
    pause();
  }
  return 0;
}

// Each of its bytes could be made plain, at the cost of a deadline.
TEST(MinimiseTest, AHangCostsFewDeadlines) {
  const Target target = target_of(waits_for_ever_on_a_long_text, kCaseTextForm);
  const Minimised smallest = minimise(target, Bytes(kLongText, 'y'), 3000, 1);
  EXPECT_EQ(smallest.ending, "no end within 1 s");
  EXPECT_EQ(std::ranges::count(smallest.bytes, '0'), kMostHangs);
}

}  // namespace
}  // namespace kvwitness::fuzz
