#include "kvwitness/segments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

#include "tests/rule/rule.h"

namespace kvwitness {
namespace {

constexpr std::uint64_t kMax64 = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kMaxLen = std::numeric_limits<std::int32_t>::max();

// The arithmetic is usable in constant expressions.
static_assert(effective_segments(16, 4) == 4 && effective_segments(3, 64) == 3 && effective_segments(0, 64) == 1);
static_assert(segment_of(12, 16, 4) == 3 && segment_edge(3, 16, 4) == 12);
static_assert(segment_edge(1, 10, 4) == 3 && segment_of(3, 10, 4) == 1 && segment_of(2, 10, 4) == 0);
static_assert(SegmentReciprocal(10, 4).segment_of(3) == 1);
static_assert(SegmentEdges(10, 4).edge(1) == 3);
static_assert(kMaxMergeSegments == 64);
// The range of the reciprocal's proof is a promise to callers.
static_assert(SegmentReciprocal::kTokenLimit == std::uint64_t{1} << 31);
static_assert(SegmentReciprocal::kContextLimit == std::uint64_t{1} << 31);

TEST(Segments, RoundingTheEdgeUpMakesTheSegmentMapItsInverse) {
  for (std::uint64_t len = 1; len <= 3000; ++len) {
    for (std::uint64_t num_segments = 1; num_segments <= 64; ++num_segments) {
      for (std::uint64_t segment = 0; segment < effective_segments(len, num_segments); ++segment) {
        const std::uint64_t edge = segment_edge(segment, len, num_segments);
        ASSERT_EQ(segment_of(edge, len, num_segments), segment) << "L=" << len << " S=" << num_segments;
        ASSERT_TRUE(edge == 0 || segment_of(edge - 1, len, num_segments) == segment - 1)
            << "L=" << len << " S=" << num_segments;
      }
    }
  }
}

TEST(Segments, SegmentOfAndEdgesEqualExactDivisionForEverySmallContext) {
  for (std::uint64_t len = 1; len <= 400; ++len) {
    for (std::uint64_t num_segments = 1; num_segments <= 70; ++num_segments) {
      for (std::uint64_t token = 0; token <= len + 3; ++token) {
        ASSERT_EQ(segment_of(token, len, num_segments), rule::sigma(token, len, num_segments));
      }
      const std::uint64_t segments = effective_segments(len, num_segments);
      for (std::uint64_t segment = 0; segment <= segments; ++segment) {
        ASSERT_EQ(segment_edge(segment, len, num_segments), rule::edge(segment, len, num_segments));
      }
    }
  }
}

TEST(Segments, SegmentOfIsExactOverAll64Bits) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 200'000; ++i) {
    // Shifts spread the magnitudes over the whole range.
    const std::uint64_t token = random() >> (random() % 64);
    const std::uint64_t len = std::max<std::uint64_t>(random() >> (random() % 64), 1);
    const std::uint64_t num_segments = std::max<std::uint64_t>(random() >> (random() % 64), 1);
    ASSERT_EQ(segment_of(token, len, num_segments), rule::sigma(token, len, num_segments))
        << "x=" << token << " L=" << len << " S=" << num_segments;
    const std::uint64_t segment = token % effective_segments(len, num_segments);
    ASSERT_EQ(segment_edge(segment, len, num_segments), rule::edge(segment, len, num_segments))
        << "s=" << segment << " L=" << len << " S=" << num_segments;
  }
}

TEST(Segments, SegmentOfIsExactAtTheCornersOf64Bits) {
  EXPECT_EQ(segment_of(kMax64, kMax64, kMax64), kMax64);
  EXPECT_EQ(segment_of(kMax64 - 1, kMax64, kMax64 - 1), kMax64 - 2);
  EXPECT_EQ(segment_of(kMax64, kMax64, 64), 64u);
  EXPECT_EQ(segment_of(kMax64 - 1, kMax64, 64), 63u);
  EXPECT_EQ(segment_of(kMax64, 1, 64), kMax64);
  EXPECT_EQ(segment_of(kMax64, std::uint64_t{1} << 63, 3), 5u);
  EXPECT_EQ(segment_edge(63, kMax64, 64), rule::edge(63, kMax64, 64));
  EXPECT_EQ(segment_edge(kMax64 - 2, kMax64, kMax64 - 1), rule::edge(kMax64 - 2, kMax64, kMax64 - 1));
}

TEST(Segments, AnEmptyContextIsReadAsOneTokenLong) {
  EXPECT_EQ(effective_segments(0, 5), 1u);
  EXPECT_EQ(segment_of(7, 0, 5), 7u);
  EXPECT_EQ(segment_of(7, 0, 5), segment_of(7, 1, 5));
  EXPECT_EQ(segment_edge(0, 0, 5), 0u);
  EXPECT_EQ(segment_edge(1, 0, 5), 1u);
}

TEST(Segments, NoSegmentsMeansSegmentZeroAndEdgeZero) {
  EXPECT_EQ(effective_segments(9, 0), 0u);
  EXPECT_EQ(segment_of(7, 9, 0), 0u);
  EXPECT_EQ(segment_edge(1, 9, 0), 0u);
}

TEST(Segments, TheEdgeAtOrPastTheLastSegmentIsTheContextsEnd) {
  EXPECT_EQ(segment_edge(4, 10, 4), 10u);
  EXPECT_EQ(segment_edge(kMax64, 10, 4), 10u);
}

TEST(Segments, ThePortable128BitProductEqualsTheCompilers) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 100'000; ++i) {
    const std::uint64_t a = i == 0 ? kMax64 : random() >> (random() % 64);
    const std::uint64_t b = i == 0 ? kMax64 : random() >> (random() % 64);
    const rule::Wide product = rule::Wide{a} * b;
    const detail::Product128 portable = detail::multiply(a, b);
    ASSERT_EQ(portable.high, static_cast<std::uint64_t>(product >> 64));
    ASSERT_EQ(portable.low, static_cast<std::uint64_t>(product));
  }
}

TEST(SegmentReciprocal, EqualsDivisionForEveryTokenOfEverySmallContext) {
  for (std::uint64_t len = 1; len <= 2'000; ++len) {
    for (std::uint64_t num_segments = 1; num_segments <= 64; ++num_segments) {
      const std::uint64_t segments = effective_segments(len, num_segments);
      const SegmentReciprocal reciprocal(len, segments);
      for (std::uint64_t token = 0; token < len; token += 1 + token / 64) {
        ASSERT_EQ(reciprocal.segment_of(token), token * segments / len)
            << "x=" << token << " L=" << len << " n=" << segments;
      }
      for (std::uint64_t segment = 1; segment < segments; ++segment) {
        const std::uint64_t edge = (segment * len + segments - 1) / segments;
        ASSERT_EQ(reciprocal.segment_of(edge), segment) << "L=" << len << " n=" << segments;
        ASSERT_EQ(reciprocal.segment_of(edge - 1), segment - 1) << "L=" << len << " n=" << segments;
      }
    }
  }
}

TEST(SegmentReciprocal, IsExactOnBothSidesOfEveryEdgeUpToTheEndOfItsRange) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 20'000; ++i) {
    // The last lengths of the range first, then lengths of every magnitude.
    const std::uint64_t len =
        i < 200 ? kMaxLen - static_cast<std::uint64_t>(i) : 1 + (random() % kMaxLen >> (random() % 31));
    const std::uint64_t num_segments = 1 + random() % (i % 2 == 0 ? 64 : kMaxLen);
    const std::uint64_t segments = effective_segments(len, num_segments);
    const SegmentReciprocal reciprocal(len, segments);
    for (int draw = 0; draw < 8; ++draw) {
      const std::uint64_t edge = rule::edge(random() % segments, len, segments);
      for (const std::uint64_t token : {edge, edge == 0 ? 0 : edge - 1, len - 1, len, kMaxLen}) {
        ASSERT_EQ(reciprocal.segment_of(token), rule::sigma(token, len, segments))
            << "x=" << token << " L=" << len << " n=" << segments;
      }
    }
  }
}

TEST(SegmentReciprocal, IsExactForTheLastTokenOfTheLongestContext) {
  for (std::uint64_t segments = 1; segments <= 64; ++segments) {
    const SegmentReciprocal reciprocal(kMaxLen, segments);
    EXPECT_EQ(reciprocal.segment_of(kMaxLen - 1), segments - 1);
    EXPECT_EQ(reciprocal.segment_of(kMaxLen), segments);
  }
}

TEST(SegmentReciprocal, IsWrongBeyondTheRangeThatItsProofGives) {
  constexpr std::uint64_t kLen = 2628965051;
  constexpr std::uint64_t kToken = 2094956525;
  static_assert(kLen >= SegmentReciprocal::kContextLimit && kToken < SegmentReciprocal::kTokenLimit);
  EXPECT_EQ(segment_of(kToken, kLen, 64), 50u);
#if KVWITNESS_ASSERTIONS
  EXPECT_DEATH(SegmentReciprocal(kLen, 64), "assertion failed: .*: 2628965051 64");
#else
  EXPECT_EQ(SegmentReciprocal(kLen, 64).segment_of(kToken), 51u);
#endif
}

TEST(SegmentReciprocal, GivesATokenPastTheContextNoSegmentOfIt) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t len = 1 + (random() % kMaxLen >> (random() % 31));
    const std::uint64_t segments = effective_segments(len, 1 + random() % 64);
    const std::uint64_t token =
        len + (random() % (0x100000000u - len));  // a negative token read as unsigned is one of these
    ASSERT_GE(SegmentReciprocal(len, segments).segment_of(token), segments) << "x=" << token << " L=" << len;
  }
}

TEST(SegmentEdges, EqualsDivisionForEverySegmentOfEverySmallContext) {
  for (std::uint32_t len = 1; len <= 3'000; ++len) {
    for (std::uint32_t segments = 1; segments <= std::min<std::uint32_t>(64, len); ++segments) {
      const SegmentEdges edges(len, segments);
      for (std::uint32_t segment = 0; segment <= segments; ++segment) {
        ASSERT_EQ(edges.edge(segment), (segment * len + segments - 1) / segments)
            << "s=" << segment << " L=" << len << " n=" << segments;
      }
    }
  }
}

TEST(SegmentEdges, EqualsDivisionForEveryRemainderAtTheLongestContexts) {
  for (std::uint32_t segments = 1; segments <= 64; ++segments) {
    for (std::uint32_t back = 0; back < 64; ++back) {
      const auto len = static_cast<std::uint32_t>(kMaxLen) - back;
      const SegmentEdges edges(len, segments);
      for (std::uint32_t segment = 0; segment <= segments; ++segment) {
        ASSERT_EQ(edges.edge(segment), rule::edge(segment, len, segments))
            << "s=" << segment << " L=" << len << " n=" << segments;
      }
    }
  }
}

}  // namespace
}  // namespace kvwitness
