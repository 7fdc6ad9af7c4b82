// The 32-bit reciprocal: exact where it says so, for every segment count that the vector path takes.
#include <gtest/gtest.h>
#include <kvwitness/segments.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <random>

namespace kvwitness {
namespace {

constexpr std::uint32_t kLargestLength = 0x7FFFFFFF;

// Uniform in [low, high].
std::uint32_t draw_between(std::mt19937& random, std::uint32_t low, std::uint32_t high) {
  return std::uniform_int_distribution<std::uint32_t>(low, high)(random);
}

// Both sides of every edge, and the context's two ends: between two edges a monotone map that is right at both ends is
// right.
void expect_right_at_every_edge(std::uint32_t context_len, std::uint32_t segments) {
  const NarrowSegmentReciprocal reciprocal(context_len, segments);
  ASSERT_TRUE(reciprocal.exact()) << "L " << context_len << " S_eff " << segments;
  for (std::uint32_t segment = 0; segment < segments; ++segment) {
    const auto first = static_cast<std::uint32_t>(segment_edge(segment, context_len, segments));
    const auto last = static_cast<std::uint32_t>(segment_edge(segment + 1, context_len, segments)) - 1;
    ASSERT_EQ(reciprocal.segment_of(first), segment) << "L " << context_len << " S_eff " << segments;
    ASSERT_EQ(reciprocal.segment_of(last), segment) << "L " << context_len << " S_eff " << segments;
  }
}

TEST(NarrowSegmentReciprocal, IsRightOnBothSidesOfEveryEdgeForShortContexts) {
  for (std::uint32_t segments = 1; segments <= 64; ++segments) {
    for (std::uint32_t context_len = segments; context_len <= 3000; ++context_len) {
      expect_right_at_every_edge(context_len, segments);
    }
  }
}

TEST(NarrowSegmentReciprocal, IsExactWhereverSegmentsTimesLengthStaysWithin31Bits) {
  std::mt19937 random(20240607);
  for (std::uint32_t segments = 1; segments <= 64; ++segments) {
    const std::uint32_t limit = segments == 1 ? kLargestLength : (std::uint32_t{1} << 31) / segments;
    for (std::uint32_t below = 0; below < 40; ++below) {
      expect_right_at_every_edge(limit - below, segments);
    }
    for (std::uint32_t power = segments; std::uint64_t{power} * 2 <= limit; power *= 2) {
      expect_right_at_every_edge(power, segments);
      expect_right_at_every_edge(power + 1, segments);
      expect_right_at_every_edge(2 * power - 1, segments);
    }
    for (int draw = 0; draw < 40; ++draw) {
      expect_right_at_every_edge(draw_between(random, segments, limit), segments);
    }
  }
}

TEST(NarrowSegmentReciprocal, SaysThatItIsInexactFromTheFirstLengthBeyondItsRange) {
  EXPECT_TRUE(NarrowSegmentReciprocal(47458302, 64).exact());
  EXPECT_FALSE(NarrowSegmentReciprocal(47458303, 64).exact());
  // A length whose condition fails and whose segments are wrong for one token.
  const NarrowSegmentReciprocal wrong(47872575, 64);
  EXPECT_FALSE(wrong.exact());
  EXPECT_EQ(segment_of(47124566, 47872575, 64), 62u);
  EXPECT_EQ(wrong.segment_of(47124566), 63u);
}

TEST(NarrowSegmentReciprocal, IsRightBeyondTheGuaranteeWhereverItSaysExact) {
  std::mt19937 random(7);
  int exact_count = 0;
  int inexact_count = 0;
  for (int draw = 0; draw < 4000; ++draw) {
    const std::uint32_t context_len = draw_between(random, 1u << 25, kLargestLength);
    const std::uint32_t segments = draw_between(random, 33, 64);
    if (NarrowSegmentReciprocal(context_len, segments).exact()) {
      ++exact_count;
      expect_right_at_every_edge(context_len, segments);
    } else {
      ++inexact_count;
    }
  }
  EXPECT_GT(exact_count, 100);
  EXPECT_GT(inexact_count, 100);
}

TEST(NarrowSegmentReciprocal, NeverGivesATokenOutsideTheContextTheNumberOfASegment) {
  std::mt19937 random(11);
  for (int draw = 0; draw < 20000; ++draw) {
    const std::uint32_t segments = draw_between(random, 1, 64);
    const std::uint32_t context_len =
        draw_between(random, segments, std::max(segments, kLargestLength >> draw_between(random, 0, 30)));
    const NarrowSegmentReciprocal reciprocal(context_len, segments);
    for (const std::uint32_t token : std::initializer_list<std::uint32_t>{context_len, context_len + 1, kLargestLength,
                                                                          0x80000000u, 0xFFFFFFF9u, 0xFFFFFFFFu}) {
      ASSERT_GE(reciprocal.segment_of(token), segments) << "L " << context_len << " token " << token;
    }
  }
}

TEST(NarrowSegmentReciprocal, TakesTheSegmentFromTheHighWordUnlessEachTokenIsItsOwnSegment) {
  for (std::uint32_t segments = 1; segments <= 64; ++segments) {
    EXPECT_EQ(NarrowSegmentReciprocal(segments, segments).shift(), 31u);
    EXPECT_GE(NarrowSegmentReciprocal(segments + 1, segments).shift(), 32u);
    EXPECT_LE(NarrowSegmentReciprocal(kLargestLength, segments).shift(), 62u);
  }
}

static_assert(NarrowSegmentReciprocal(131072, 64).segment_of(131071) == 63, "usable in constant expressions");

}  // namespace
}  // namespace kvwitness
