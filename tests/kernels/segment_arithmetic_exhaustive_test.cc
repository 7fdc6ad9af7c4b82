// What segment_arithmetic_test samples, in full.
#include <gtest/gtest.h>
#include <kvwitness/segments.h>

#include <cstdint>

namespace kvwitness {
namespace {

TEST(ReciprocalBelow, StaysWithinFiveBelowTheExactReciprocalOfEveryDivisor) {
  for (std::uint64_t divisor = std::uint64_t{1} << 31; divisor < std::uint64_t{1} << 32; ++divisor) {
    const std::uint64_t product =
        std::uint64_t{detail::reciprocal_below(static_cast<std::uint32_t>(divisor))} * divisor;
    ASSERT_LT(product, std::uint64_t{1} << 63) << divisor;
    ASSERT_LT((std::uint64_t{1} << 63) - product, 5 * divisor) << divisor;
  }
}

TEST(NewtonSegmentReciprocal, AgreesWithTheDivisionAtEveryEdgeOfEveryCoveredContext) {
  for (const std::uint32_t segments : {61u, 64u}) {
    for (std::uint32_t len = segments; len <= (std::uint32_t{1} << 31) / 6 / segments; ++len) {
      if (!NewtonSegmentReciprocal::covers(len, segments)) {
        continue;
      }
      const NewtonSegmentReciprocal reciprocal(len, segments);
      for (std::uint32_t s = 1; s < segments; ++s) {
        const auto edge = static_cast<std::uint32_t>((std::uint64_t{s} * len + segments - 1) / segments);
        ASSERT_EQ(reciprocal.segment_of(edge), s) << "L " << len;
        ASSERT_EQ(reciprocal.segment_of(edge - 1), s - 1) << "L " << len;
      }
      ASSERT_EQ(reciprocal.segment_of(len - 1), segments - 1) << "L " << len;
    }
  }
}

}  // namespace
}  // namespace kvwitness
