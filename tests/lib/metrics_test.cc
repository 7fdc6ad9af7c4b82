#include "kvwitness/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <vector>

#include "kvwitness/segments.h"
#include "tests/rule/rule.h"

namespace kvwitness {
namespace {

using Tokens = std::vector<std::int32_t>;

TEST(SegmentCoverage, EqualsTheShareOfSegmentsThatHoldACandidate) {
  std::mt19937_64 random(21);
  for (int i = 0; i < 2'000; ++i) {
    const auto len = static_cast<std::int32_t>(1 + random() % 300);
    const std::uint64_t num_segments = 1 + random() % 400;
    Tokens candidates(random() % 50);
    std::set<std::uint64_t> covered;
    for (std::int32_t& candidate : candidates) {
      candidate = static_cast<std::int32_t>(random() % 500) - 50;
      if (candidate >= 0 && candidate < len) {
        covered.insert(
            rule::sigma(static_cast<std::uint64_t>(candidate), static_cast<std::uint64_t>(len), num_segments));
      }
    }
    const auto segments = static_cast<double>(std::min<std::uint64_t>(num_segments, static_cast<std::uint64_t>(len)));
    ASSERT_EQ(segment_coverage(candidates, len, num_segments), static_cast<double>(covered.size()) / segments);
  }
}

// Up to 64 segments are counted in a register, more in memory.
TEST(SegmentCoverage, CountsOnBothSidesOf64Segments) {
  for (const std::size_t segments : {1u, 63u, 64u, 65u, 128u, 129u}) {
    std::vector<std::int32_t> candidates;
    for (std::size_t segment = 0; segment < segments; ++segment) {
      candidates.push_back(static_cast<std::int32_t>(segment_edge(segment, 1000, segments)));
      EXPECT_EQ(segment_coverage(candidates, 1000, segments),
                static_cast<double>(segment + 1) / static_cast<double>(segments));
    }
  }
}

TEST(SegmentCoverage, IsOneWithoutContextOrSegments) {
  EXPECT_EQ(segment_coverage(Tokens{}, 0, 4), 1.0);
  EXPECT_EQ(segment_coverage(Tokens{}, -3, 4), 1.0);
  EXPECT_EQ(segment_coverage(Tokens{}, 8, 0), 1.0);
  EXPECT_EQ(segment_coverage(Tokens{}, 8, 4), 0.0);
}

TEST(SegmentCoverage, CountsNeitherTheContextsEndNorPadding) {
  EXPECT_EQ(
      segment_coverage(
          Tokens{8, -1, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()}, 8, 4),
      0.0);
  EXPECT_EQ(segment_coverage(Tokens{7}, 8, 4), 0.25);
}

TEST(SegmentCoverage, ReachesTheLongestContext) {
  constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(segment_coverage(Tokens{0, kMax - 1, kMax}, kMax, 64), 2.0 / 64);
}

TEST(AttentionMassRecall, CountsEachDistinctTokenInRangeOnce) {
  const std::vector<double> attention{1, 2, 4, 8};
  EXPECT_EQ(attention_mass_recall(Tokens{2, 2, 2, 0, -1, 4, 99}, attention), 5.0 / 15);
  EXPECT_EQ(attention_mass_recall(Tokens{0, 1, 2, 3}, attention), 1.0);
  EXPECT_EQ(attention_mass_recall(Tokens{}, attention), 0.0);
}

// Values are added up in several sums side by side: each must be in one of them, and in only one.
TEST(AttentionMassRecall, CountsEachTokenWhateverItsPlace) {
  for (const std::size_t count : {1u, 7u, 8u, 17u, 128u, 129u, 1100u}) {
    for (std::size_t token = 0; token < count; ++token) {
      std::vector<double> attention(count);
      attention[token] = 1;
      ASSERT_EQ(attention_mass_recall(Tokens{static_cast<std::int32_t>(token)}, attention), 1.0) << token;
      attention[count - 1 - token] += 3;  // another one, or the same
      const double expected = 2 * token + 1 == count ? 1.0 : 0.25;
      ASSERT_EQ(attention_mass_recall(Tokens{static_cast<std::int32_t>(token)}, attention), expected) << token;
    }
  }
}

TEST(AttentionMassRecall, IsNotANumberWhereTheTotalIsZero) {
  EXPECT_TRUE(std::isnan(attention_mass_recall(Tokens{0}, std::vector<double>{})));
  EXPECT_TRUE(std::isnan(attention_mass_recall(Tokens{0}, std::vector<double>{0, 0})));
  EXPECT_TRUE(std::isnan(attention_mass_recall(Tokens{0}, std::vector<double>{1, -1}))) << "not an infinity";
}

TEST(AttentionMassRecall, IsNotANumberWhereAnyValueIsNot) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_TRUE(std::isnan(attention_mass_recall(Tokens{0}, std::vector<double>{nan, 1})));
  EXPECT_TRUE(std::isnan(attention_mass_recall(Tokens{0}, std::vector<double>{1, nan})));
}

TEST(AttentionMassRecall, IsTheShareOfSumsAboveTheLargestDouble) {
  const double largest = std::numeric_limits<double>::max();
  EXPECT_EQ(attention_mass_recall(Tokens{0}, std::vector<double>{1e308, 1e308}), 0.5);
  EXPECT_EQ(attention_mass_recall(Tokens{0, 1}, std::vector<double>{1e308, 1e308}), 1.0);
  EXPECT_EQ(attention_mass_recall(Tokens{1, 2}, std::vector<double>(4, largest)), 0.5);
  EXPECT_EQ(attention_mass_recall(Tokens{1}, std::vector<double>{largest, 1.0, largest}), 1.0 / largest / 2);
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(std::isnan(attention_mass_recall(Tokens{0}, std::vector<double>{infinity, 1})));
  EXPECT_TRUE(std::isnan(attention_mass_recall(Tokens{1}, std::vector<double>{infinity, 1})));
}

TEST(AttentionMassRecall, StaysWithin1e12OfTheExactRatioOnALongRow) {
  // Most mass far ahead of a long tail of small values: a running sum in double drops bits of every one of them.
  std::vector<double> attention(3'000'000, 0.1);
  attention[0] = 1e6;
  Tokens candidates(attention.size() - 1);
  std::iota(candidates.begin(), candidates.end(), 1);
  const long double tail = static_cast<long double>(0.1) * static_cast<long double>(candidates.size());
  const long double expected = tail / (tail + 1e6L);
  EXPECT_NEAR(attention_mass_recall(candidates, attention) / static_cast<double>(expected), 1.0, 1e-12);
}

TEST(AttentionMassRecall, IsNoNumberForATotalOfZeroAlone) {
  const std::vector<std::int32_t> candidates{1};
  EXPECT_TRUE(std::isnan(attention_mass_recall(candidates, std::vector<double>{1.0, -1.0})));
  EXPECT_EQ(attention_mass_recall(candidates, std::vector<double>{-1.0, -3.0}), 0.75);
}

}  // namespace
}  // namespace kvwitness
