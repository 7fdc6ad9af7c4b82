// The 52-bit reciprocal: exact in all of its range, for every segment count that the vector path takes, and not beyond
// it.
#include <gtest/gtest.h>
#include <kvwitness/segments.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <random>

namespace kvwitness {
namespace {

constexpr std::uint32_t kLimit = SegmentReciprocal52::kContextLimit;

std::uint32_t draw_between(std::mt19937& random, std::uint32_t low, std::uint32_t high) {
  return std::uniform_int_distribution<std::uint32_t>(low, high)(random);
}

// Both sides of every edge: between two edges a monotone map that is right at both ends is right.
void expect_right_at_every_edge(std::uint32_t context_len, std::uint32_t segments) {
  ASSERT_TRUE(SegmentReciprocal52::covers(context_len, segments)) << "L " << context_len << " S_eff " << segments;
  const SegmentReciprocal52 reciprocal(context_len, segments);
  for (std::uint32_t segment = 0; segment < segments; ++segment) {
    const auto first = static_cast<std::uint32_t>(segment_edge(segment, context_len, segments));
    const auto last = static_cast<std::uint32_t>(segment_edge(segment + 1, context_len, segments)) - 1;
    ASSERT_EQ(reciprocal.segment_of(first), segment) << "L " << context_len << " S_eff " << segments;
    ASSERT_EQ(reciprocal.segment_of(last), segment) << "L " << context_len << " S_eff " << segments;
  }
}

TEST(SegmentReciprocal52, CoversContextsUpToItsLimitThatAreLongerThanTheirSegments) {
  EXPECT_TRUE(SegmentReciprocal52::covers(1 << 26, 64));
  EXPECT_FALSE(SegmentReciprocal52::covers((1 << 26) + 1, 64));
  EXPECT_TRUE(SegmentReciprocal52::covers(65, 64));
  EXPECT_FALSE(SegmentReciprocal52::covers(64, 64));
}

TEST(SegmentReciprocal52, IsRightOnBothSidesOfEveryEdgeForShortContexts) {
  for (std::uint32_t segments = 1; segments <= 64; ++segments) {
    for (std::uint32_t context_len = segments + 1; context_len <= 3000; ++context_len) {
      expect_right_at_every_edge(context_len, segments);
    }
  }
}

TEST(SegmentReciprocal52, IsRightUpToTheLastLengthOfItsRange) {
  std::mt19937 random(20250301);
  for (std::uint32_t segments = 1; segments <= 64; ++segments) {
    for (std::uint32_t below = 0; below < 40; ++below) {
      expect_right_at_every_edge(kLimit - below, segments);
    }
    for (std::uint32_t power = 128; power < kLimit; power *= 2) {
      expect_right_at_every_edge(power, segments);
      expect_right_at_every_edge(power + 1, segments);
      expect_right_at_every_edge(2 * power - 1, segments);
    }
    for (int draw = 0; draw < 40; ++draw) {
      expect_right_at_every_edge(draw_between(random, segments + 1, kLimit), segments);
    }
  }
}

TEST(SegmentReciprocal52, LeavesOutWhatIsBeyondItsRange) {
  EXPECT_TRUE(SegmentReciprocal52::covers(kLimit, 64));
  EXPECT_FALSE(SegmentReciprocal52::covers(kLimit + 1, 64));
  EXPECT_TRUE(SegmentReciprocal52::covers(65, 64));
  EXPECT_FALSE(SegmentReciprocal52::covers(64, 64)) << "the multiplier would take 53 bits";
  for (std::uint32_t segments = 1; segments <= 64; ++segments) {
    EXPECT_LT(SegmentReciprocal52(segments + 1, segments).multiplier(), std::uint64_t{1} << 52);
  }
}

// Far beyond the range some token does get a wrong segment, so the bound is no mere caution.
TEST(SegmentReciprocal52, IsWrongForSomeTokenOfALongContext) {
#if KVWITNESS_ASSERTIONS
  EXPECT_DEATH(SegmentReciprocal52(0x7FFFFFFF, 63), "covers.*: 2147483647 63");
#else
  bool wrong = false;
  for (std::uint32_t context_len = 0x7FFFFFFF; context_len > 0x7FFFFFFF - 2000 && !wrong; --context_len) {
    const SegmentReciprocal52 reciprocal(context_len, 63);
    for (std::uint32_t segment = 1; segment <= 63; ++segment) {
      const auto last = static_cast<std::uint32_t>(segment_edge(segment, context_len, 63)) - 1;
      wrong |= reciprocal.segment_of(last) != segment - 1;
    }
  }
  EXPECT_TRUE(wrong);
#endif
}

TEST(SegmentReciprocal52, NeverGivesATokenOutsideTheContextTheNumberOfASegment) {
  std::mt19937 random(13);
  for (int draw = 0; draw < 20000; ++draw) {
    const std::uint32_t segments = draw_between(random, 1, 64);
    const std::uint32_t context_len =
        draw_between(random, segments + 1, std::max(segments + 1, kLimit >> draw_between(random, 0, 25)));
    const SegmentReciprocal52 reciprocal(context_len, segments);
    for (const std::uint32_t token : std::initializer_list<std::uint32_t>{context_len, context_len + 1, 0x7FFFFFFFu,
                                                                          0x80000000u, 0xFFFFFFF9u, 0xFFFFFFFFu}) {
      ASSERT_GE(reciprocal.segment_of(token), segments) << "L " << context_len << " token " << token;
      ASSERT_LT(reciprocal.segment_of(token), std::uint64_t{1} << 32) << "L " << context_len << " token " << token;
    }
  }
}

static_assert(SegmentReciprocal52(131072, 64).segment_of(131071) == 63, "usable in constant expressions");

}  // namespace
}  // namespace kvwitness
