// The segment arithmetic that only device code uses, against the exact functions of segments.h.
#include <gtest/gtest.h>
#include <kvwitness/segments.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

namespace kvwitness {
namespace {

std::vector<std::uint32_t> sampled_context_lens(std::uint32_t first_ones, int random_ones) {
  std::vector<std::uint32_t> lens;
  for (std::uint32_t len = 1; len <= first_ones; ++len) {
    lens.push_back(len);
  }
  for (int bit = 10; bit < 31; ++bit) {
    for (const int step : {-1, 0, 1}) {
      lens.push_back(static_cast<std::uint32_t>((std::int64_t{1} << bit) + step));
    }
  }
  std::mt19937_64 random(7);
  for (int i = 0; i < random_ones; ++i) {
    lens.push_back(1 + static_cast<std::uint32_t>(random() >> 33) % (0x7FFFFFFFu >> (i % 28)));
  }
  lens.push_back(0x7FFFFFFFu);
  return lens;
}

TEST(ReciprocalBelow, StaysWithinFiveBelowTheExactReciprocal) {
  // In full for every divisor that a context of less than 2^20 tokens gives; the slow test has the others.
  for (std::uint64_t len = 1; len < (1u << 20); ++len) {
    const auto divisor = static_cast<std::uint32_t>(len << (32 - detail::bit_width(static_cast<std::uint32_t>(len))));
    const std::uint64_t product = std::uint64_t{detail::reciprocal_below(divisor)} * divisor;
    ASSERT_LT(product, std::uint64_t{1} << 63) << divisor;
    ASSERT_LT((std::uint64_t{1} << 63) - product, std::uint64_t{5} * divisor) << divisor;
  }
}

TEST(NewtonSegmentReciprocal, AgreesWithTheDivisionOnBothSidesOfEveryEdge) {
  std::uint64_t covered = 0;
  for (const std::uint32_t len : sampled_context_lens(3000, 3000)) {
    for (const std::uint32_t segments : {1u, 2u, 3u, 7u, 31u, 32u, 33u, 63u, 64u, 65u, 1000u}) {
      if (segments > len || !NewtonSegmentReciprocal::covers(len, segments)) {
        continue;
      }
      ++covered;
      const NewtonSegmentReciprocal reciprocal(len, segments);
      for (std::uint32_t s = 0; s < segments; ++s) {
        const auto edge = static_cast<std::uint32_t>(segment_edge(s, len, segments));
        ASSERT_EQ(reciprocal.segment_of(edge), s) << "L " << len << " S " << segments;
        ASSERT_EQ(reciprocal.segment_of(edge - (edge > 0 ? 1 : 0)), s == 0 ? 0 : s - 1)
            << "L " << len << " S " << segments;
      }
      ASSERT_EQ(reciprocal.segment_of(len - 1), segments - 1);
    }
  }
  EXPECT_GT(covered, 10000u);
}

TEST(NewtonSegmentReciprocal, TakesEverythingPastTheContextPastThePartition) {
  for (const std::uint32_t len : sampled_context_lens(600, 2000)) {
    for (const std::uint32_t segments : {1u, 5u, 64u}) {
      if (segments > len || !NewtonSegmentReciprocal::covers(len, segments)) {
        continue;
      }
      const NewtonSegmentReciprocal reciprocal(len, segments);
      for (const std::uint32_t token : {len, len + 1, 2 * len, 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFF9u, 0xFFFFFFFFu}) {
        ASSERT_GE(reciprocal.segment_of(token), segments) << "L " << len << " S " << segments << " token " << token;
      }
    }
  }
}

TEST(NewtonSegmentReciprocal, CoversTheContextsOfServing) {
  for (const std::uint32_t len : {128u, 2048u, 131072u, 1u << 20, 2500000u}) {
    EXPECT_TRUE(NewtonSegmentReciprocal::covers(len, 64)) << len;
  }
  EXPECT_FALSE(NewtonSegmentReciprocal::covers(64, 64));
  EXPECT_FALSE(NewtonSegmentReciprocal::covers(0x7FFFFFFFu, 64));
}

// The lower bound that the multiplier is made from lies more than 5 below here, and the token is an edge without a
// remainder.
TEST(NewtonSegmentReciprocal, IsExactWhereItsBoundIsFarthestOff) {
  EXPECT_EQ(NewtonSegmentReciprocal(524853, 15).segment_of(174951), 5u);
  EXPECT_EQ(NewtonSegmentReciprocal(524853, 15).segment_of(174950), 4u);
}

TEST(NewtonSegmentReciprocal, CoversExactlyTheContextsOfItsProof) {
  for (std::uint32_t segments = 1; segments <= 64; ++segments) {
    const std::uint32_t bits = detail::bit_width(segments);
    const std::uint32_t shortest = std::uint32_t{1} << bits;  // one bit more than the segment count
    const std::uint32_t longest = 357913941u >> bits;         // floor(2^31 / 6) / 2^bits
    EXPECT_TRUE(NewtonSegmentReciprocal::covers(shortest, segments));
    EXPECT_FALSE(NewtonSegmentReciprocal::covers(shortest - 1, segments));
    EXPECT_TRUE(NewtonSegmentReciprocal::covers(longest, segments));
    EXPECT_FALSE(NewtonSegmentReciprocal::covers(longest + 1, segments));
  }
}

TEST(SegmentReciprocal, IsTheSameByLongDivision) {
  for (const std::uint32_t len : sampled_context_lens(300, 3000)) {
    for (const std::uint32_t segments : {1u, 2u, 63u, 64u, 1000u, len / 2, len - 1, len}) {
      if (segments >= 1 && segments <= len) {
        ASSERT_EQ(SegmentReciprocal::by_long_division(len, segments).multiplier(),
                  SegmentReciprocal(len, segments).multiplier())
            << "L " << len << " n " << segments;
      }
    }
  }
}

TEST(FixedDivisor, DividesAsTheProcessorDoes) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 200000; ++i) {
    const std::uint64_t divisor = std::max<std::uint64_t>(1, random() >> (i % 64));
    const std::uint64_t dividend = random() >> (1 + i / 64 % 63);
    ASSERT_EQ(FixedDivisor(divisor).quotient(dividend), dividend / divisor) << dividend << " / " << divisor;
    const std::uint64_t multiple = dividend - dividend % divisor;
    ASSERT_EQ(FixedDivisor(divisor).quotient(multiple), multiple / divisor) << multiple << " / " << divisor;
    if (multiple > 0) {
      ASSERT_EQ(FixedDivisor(divisor).quotient(multiple - 1), (multiple - 1) / divisor) << multiple << " / " << divisor;
    }
  }
}

TEST(SegmentCount, GivesTheEdgesOfEveryRow) {
  std::vector<std::uint32_t> lens = sampled_context_lens(200, 200);
  // Long ones of every remainder: of these the estimated quotient is one short.
  for (std::uint32_t len = 1u << 30; len < (1u << 30) + 130; ++len) {
    lens.push_back(len);
  }
  for (std::uint32_t segments = 1; segments <= 64; ++segments) {
    const SegmentCount count(segments);
    for (const std::uint32_t len : lens) {
      const SegmentEdges edges = count.edges(len);
      for (std::uint32_t s = 0; s <= std::min(segments, len); ++s) {
        ASSERT_EQ(edges.edge(s), segment_edge(s, len, segments)) << "L " << len << " S " << segments << " s " << s;
      }
    }
  }
}

}  // namespace
}  // namespace kvwitness
