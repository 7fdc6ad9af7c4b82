// Shrinking by itself: it descends strictly, keeps what the fault needs, and changes together what a fault couples.
#include "properties/shrinking/shrinking.h"

#include <gtest/gtest.h>
#include <kvwitness/legality.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <vector>

#include "properties/case/status.h"
#include "properties/run/options.h"

namespace kvwitness::harness {
namespace {

TEST(Shrinking, FindsTheFewTokensThatMatterInARowOf2048WithinTheDefaultBudget) {
  Case value;
  value.operation = Operation::kScatter;
  value.topk = 2048;
  value.num_segments = 64;
  value.context_lens = {1 << 20, 1 << 21};
  for (int i = 0; i < 4096; ++i) value.learned.push_back(1000 + 37 * i);
  const auto holds = [](const Case& c, std::int32_t token) {
    return std::ranges::find(c.learned, token) != c.learned.end();
  };
  const std::int32_t first = value.learned[17], second = value.learned[1999];
  const Shrunk shrunk = shrink(value, kDefaultShrinkAttempts, [&](const Case& candidate) {
    return holds(candidate, first) && holds(candidate, second) ? Attempt::kFails : Attempt::kPasses;
  });
  EXPECT_FALSE(shrunk.exhausted);
  EXPECT_EQ(shrunk.minimal.learned, (std::vector<std::int32_t>{first, second}));
}

TEST(Shrinking, KeepsTheStatusAndDescendsStrictly) {
  Case value;
  value.operation = Operation::kApply;
  value.topk = 5;
  value.num_segments = 70;
  value.learned_keep = 9;
  value.context_lens = {100, 3};
  value.learned.assign(10, 2);
  value.row_stride = 9;
  for (const Case& candidate : shrink_candidates(value)) {
    EXPECT_EQ(expected_status(candidate, true), status::kSegmentsOutOfRange) << candidate;
    EXPECT_TRUE(simpler(candidate, value)) << candidate;
  }
  EXPECT_FALSE(simpler(value, value));
}

TEST(Shrinking, EndsWithinItsBudgetAndSaysSo) {
  Case value;
  value.operation = Operation::kScatter;
  value.topk = 64;
  value.num_segments = 8;
  value.context_lens = {1000};
  value.learned.assign(64, 900);
  const Shrunk shrunk = shrink(value, 5, [](const Case&) { return Attempt::kPasses; });
  EXPECT_TRUE(shrunk.exhausted);
  EXPECT_EQ(shrunk.attempts, 5);
  EXPECT_EQ(shrunk.minimal, value);
}

Shrunk shrink_while(const Case& value, const std::function<bool(const Case&)>& fails) {
  EXPECT_TRUE(fails(value));
  return shrink(value, kDefaultShrinkAttempts,
                [&](const Case& candidate) { return fails(candidate) ? Attempt::kFails : Attempt::kPasses; });
}

Case batch(std::int64_t rows, std::int64_t topk, std::int64_t segments, std::int32_t len) {
  Case value;
  value.operation = Operation::kScatter;
  value.topk = topk;
  value.num_segments = segments;
  value.context_lens.assign(static_cast<std::size_t>(rows), len);
  for (std::int64_t i = 0; i < rows * topk; ++i) {
    value.learned.push_back(static_cast<std::int32_t>(1 + (i % topk) * 2'097'143 % (len - 1)));
  }
  return value;
}
std::vector<std::int32_t> row_of(const Case& value, std::int64_t row) {
  const auto begin = value.learned.begin() + row * value.topk;
  return {begin, begin + value.topk};
}
bool two_rows(const Case& value) {
  return value.rows() >= 2 && std::ssize(value.learned) == value.rows() * value.topk;
}
std::int64_t largest_token(const Case& value) {
  return value.learned.empty() ? -1 : *std::ranges::max_element(value.learned);
}
std::size_t distinct_tokens(const Case& value) {
  return std::set<std::int32_t>(value.learned.begin(), value.learned.end()).size();
}

TEST(Shrinking, OfTheLargestNumbersEnds) {
  Case value = batch(1, 3, 3, 2'147'483'647);
  value.operation = Operation::kApply;
  value.learned_keep = 1;
  value.max_replacements = std::numeric_limits<std::int64_t>::max();
  value.row_stride = std::numeric_limits<std::int64_t>::max();
  const Shrunk shrunk =
      shrink_while(value, [](const Case& candidate) { return candidate.max_replacements > (std::int64_t{1} << 60); });
  EXPECT_LT(shrunk.minimal.max_replacements, std::int64_t{1} << 61);
}

// ---- Values that a fault couples. Each fault fails only while something is equal, or near, in several places.

TEST(CoupledShrinking, EqualRowsOfAWidthThatMattersLoseTheirTokens) {
  const Shrunk shrunk = shrink_while(batch(2, 512, 16, 1'000'000'000), [](const Case& value) {
    return two_rows(value) && value.topk == 512 && row_of(value, 0) == row_of(value, 1);
  });
  EXPECT_EQ(shrunk.minimal.learned, std::vector<std::int32_t>(1024, -1));
  EXPECT_FALSE(shrunk.exhausted);
}

TEST(CoupledShrinking, EqualRowsWithATokenKeepOneSmallToken) {
  const Shrunk shrunk = shrink_while(batch(2, 512, 16, 1'000'000'000), [](const Case& value) {
    return two_rows(value) && value.topk == 512 && row_of(value, 0) == row_of(value, 1) && largest_token(value) >= 0;
  });
  EXPECT_EQ(std::ranges::count(shrunk.minimal.learned, -1), 1022);
  EXPECT_EQ(shrunk.minimal.learned.front(), 0);
}

TEST(CoupledShrinking, EqualRowsOfAnyWidthBecomeOneSlot) {
  const Shrunk shrunk = shrink_while(batch(8, 64, 16, 1'000'000), [](const Case& value) {
    return two_rows(value) && value.topk > 0 && row_of(value, 0) == row_of(value, value.rows() - 1);
  });
  EXPECT_EQ(shrunk.minimal.rows(), 2);
  EXPECT_EQ(shrunk.minimal.topk, 1);
}

TEST(CoupledShrinking, ATokenThatEveryRowHoldsBecomesSmallInAllOfThem) {
  Case value = batch(4, 32, 8, 900'000'000);
  for (std::int64_t row = 0; row < 4; ++row)
    value.learned[static_cast<std::size_t>(row * 32 + 7 * row + 3)] = 876'543'210;
  const Shrunk shrunk = shrink_while(value, [](const Case& candidate) {
    if (candidate.rows() != 4 || candidate.topk < 1 || !two_rows(candidate)) return false;
    const std::vector<std::int32_t> first = row_of(candidate, 0);
    return std::ranges::any_of(first, [&](std::int32_t token) {
      if (token < 1) return false;
      for (std::int64_t row = 1; row < 4; ++row) {
        if (std::ranges::count(row_of(candidate, row), token) == 0) return false;
      }
      return true;
    });
  });
  EXPECT_EQ(largest_token(shrunk.minimal), 1) << shrunk.minimal;
  EXPECT_LE(shrunk.minimal.topk, 32);
}

TEST(CoupledShrinking, ARepeatedTokenBecomesSmallInBothPlaces) {
  Case value = batch(1, 200, 8, 900'000'000);
  value.learned[17] = value.learned[180] = 876'543'210;
  const Shrunk shrunk = shrink_while(value, [](const Case& candidate) {
    const std::multiset<std::int32_t> tokens(candidate.learned.begin(), candidate.learned.end());
    return std::ranges::any_of(tokens, [&](std::int32_t token) { return token > 0 && tokens.count(token) == 2; });
  });
  EXPECT_EQ(shrunk.minimal.learned, (std::vector<std::int32_t>{1, 1}));
}

TEST(CoupledShrinking, AscendingTokensBecomeTheirRanks) {
  const Shrunk shrunk = shrink_while(batch(1, 40, 8, 1'000'000'000), [](const Case& candidate) {
    return candidate.topk == 40 && distinct_tokens(candidate) == 40 && largest_token(candidate) > 0;
  });
  EXPECT_LE(largest_token(shrunk.minimal), 40);
}

TEST(CoupledShrinking, ATokenNextToTheEndFollowsTheLength) {
  Case value = batch(1, 16, 1, 987'654'321);
  value.learned[9] = 987'654'320;
  const Shrunk shrunk = shrink_while(value, [](const Case& candidate) {
    return candidate.rows() == 1 && candidate.context_lens[0] > 5 && candidate.num_segments == 1 &&
           std::ranges::find(candidate.learned, candidate.context_lens[0] - 1) != candidate.learned.end();
  });
  EXPECT_LE(shrunk.minimal.context_lens[0], 8) << shrunk.minimal;
  EXPECT_EQ(shrunk.minimal.learned.size(), 1U);
}

TEST(CoupledShrinking, TokensJustPastTheEndsOfAllRowsFollowTheirLengths) {
  Case value = batch(3, 4, 4, 500'000'000);
  for (std::int64_t row = 0; row < 3; ++row) value.learned[static_cast<std::size_t>(row * 4)] = 500'000'001;
  const Shrunk shrunk = shrink_while(value, [](const Case& candidate) {
    if (candidate.rows() != 3 || !two_rows(candidate) || candidate.topk < 1) return false;
    for (std::int64_t row = 0; row < 3; ++row) {
      const std::int32_t len = candidate.context_lens[static_cast<std::size_t>(row)];
      if (len < 4 || candidate.learned[static_cast<std::size_t>(row * candidate.topk)] != len + 1) return false;
    }
    return true;
  });
  EXPECT_EQ(shrunk.minimal.context_lens, (std::vector<std::int32_t>{4, 4, 4})) << shrunk.minimal;
  EXPECT_EQ(shrunk.minimal.topk, 1);
}

TEST(CoupledShrinking, LengthsThatAreHeldTogetherAreHalvedTogether) {
  Case value = batch(2, 1, 4, 8'751'774);
  value.context_lens = {8'751'774, 2 * 8'751'774};
  const Shrunk shrunk = shrink_while(value, [](const Case& candidate) {
    return candidate.rows() == 2 && candidate.context_lens[0] > 2'500'000 &&
           std::abs(candidate.context_lens[1] - 2 * std::int64_t{candidate.context_lens[0]}) <= 2;
  });
  EXPECT_LE(shrunk.minimal.context_lens[0], 2'900'000) << shrunk.minimal;
}

TEST(CoupledShrinking, RowsThatDoNotMatterBecomeEmpty) {
  Case value = batch(1500, 1, 4, 1'000'000);
  const Shrunk shrunk = shrink_while(value, [](const Case& candidate) {
    return candidate.rows() == 1500 && candidate.context_lens[1234] == 1'000'000;
  });
  EXPECT_EQ(std::ranges::count(shrunk.minimal.context_lens, 0), 1499);
}

TEST(CoupledShrinking, TokensMoveToTheFrontOfTheirRows) {
  Case value = batch(1, 512, 4, 1000);
  value.learned.assign(512, -1);
  value.learned[300] = 0;
  const Shrunk shrunk =
      shrink_while(value, [](const Case& candidate) { return candidate.topk == 512 && largest_token(candidate) == 0; });
  EXPECT_EQ(shrunk.minimal.learned.front(), 0);
  EXPECT_EQ(std::ranges::count(shrunk.minimal.learned, -1), 511);
}

}  // namespace
}  // namespace kvwitness::harness
