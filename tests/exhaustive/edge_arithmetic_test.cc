// What the tests of the segment arithmetic sample, in full. `./run exhaustive` goes on to every length below 2^31.
#include "tests/exhaustive/edge_arithmetic.h"

#include <gtest/gtest.h>
#include <kvwitness/segments.h>

#include <cstdint>

namespace kvwitness {
namespace {

// One test a range of segment counts, so that they run beside each other.
class EdgesOfEveryLengthTo2To20 : public testing::TestWithParam<std::uint32_t> {};

TEST_P(EdgesOfEveryLengthTo2To20, AreExactOnBothSidesByEveryReplacementOfADivision) {
  for (std::uint32_t segments = GetParam(); segments <= 64; segments += 4) {
    const SegmentCount count(segments);
    const FixedDivisor divisor(segments);
    for (std::uint32_t len = 1; len <= std::uint32_t{1} << 20; ++len) {
      const auto fault = find_edge_fault<EdgeChecks::kReciprocalsAndDivisions>(len, count, divisor);
      ASSERT_FALSE(fault) << fault->message();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(SegmentCounts, EdgesOfEveryLengthTo2To20, testing::Values(1u, 2u, 3u, 4u));

TEST(ReciprocalBelow, StaysWithinFiveBelowTheExactReciprocalOfEveryDivisor) {
  for (std::uint64_t divisor = std::uint64_t{1} << 31; divisor < std::uint64_t{1} << 32; ++divisor) {
    const std::uint64_t product =
        std::uint64_t{detail::reciprocal_below(static_cast<std::uint32_t>(divisor))} * divisor;
    ASSERT_LT(product, std::uint64_t{1} << 63) << divisor;
    ASSERT_LT((std::uint64_t{1} << 63) - product, 5 * divisor) << divisor;
  }
}

// The lengths that the Newton reciprocal covers end at a few millions.
TEST(NewtonSegmentReciprocal, AgreesWithTheDivisionAtEveryEdgeOfEveryCoveredContext) {
  for (const std::uint32_t segments : {61u, 64u}) {
    const SegmentCount count(segments);
    const FixedDivisor divisor(segments);
    for (std::uint32_t len = segments; len <= (std::uint32_t{1} << 31) / 6 / segments; ++len) {
      const auto fault = find_edge_fault<EdgeChecks::kReciprocals>(len, count, divisor);
      ASSERT_FALSE(fault) << fault->message();
    }
  }
}

}  // namespace
}  // namespace kvwitness
