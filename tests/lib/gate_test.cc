#include "kvwitness/gate.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace kvwitness {
namespace {

using Lens = std::vector<std::int32_t>;

constexpr std::int32_t kMin = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();

static_assert(context_len_from_window(3, 10) == 7 && context_len_of_request(10, 2, 1) == 10);

TEST(Gate, AcceptsDecimalDigitsOfValue0To64) {
  for (std::size_t value = 0; value <= 64; ++value) {
    EXPECT_EQ(parse_segments(std::to_string(value)), value);
  }
  EXPECT_EQ(parse_segments("00064"), 64u);
  EXPECT_EQ(parse_segments(std::string(100, '0') + "7"), 7u);
}

TEST(Gate, RefusesAllElse) {
  for (const char* const text : {"", " ", "-1", "+1", "-0", " 4", "4 ", "4\n", "65", "064x", "0x10", "1e1", "4.0",
                                 "99999999999999999999999", "18446744073709551616", "four", "/", ":", "4:"}) {
    EXPECT_EQ(parse_segments(text), std::nullopt) << '"' << text << '"';
  }
}

TEST(Gate, ReadsTheVariableAtEveryCall) {
  ASSERT_EQ(setenv(kSegmentsVariable, "16", 1), 0);
  EXPECT_EQ(segments_from_environment(), 16u);
  ASSERT_EQ(setenv(kSegmentsVariable, "0", 1), 0);
  EXPECT_EQ(segments_from_environment(), 0u);
  ASSERT_EQ(setenv(kSegmentsVariable, "many", 1), 0);
  const auto refused = segments_from_environment();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().value, "many");
  ASSERT_EQ(unsetenv(kSegmentsVariable), 0);
  EXPECT_EQ(segments_from_environment(), 0u) << "unset is off";
}

TEST(ContextLens, OfWindowsAreTheirExtentsClampedToInt32) {
  const Lens starts{0, 5, 9, kMin, kMax, kMin, 0};
  const Lens ends{7, 5, 2, kMax, kMin, -1, kMin};
  Lens lens(starts.size() + 1, 77);
  ASSERT_TRUE(context_lens_from_windows(starts, ends, lens));
  EXPECT_EQ(lens, (Lens{7, 0, -7, kMax, kMin, kMax, kMin, 77}));
}

TEST(ContextLens, OfRequestsGrowByOneATokenWithinARequest) {
  Lens lens(7, 77);
  ASSERT_TRUE(context_lens_from_requests(Lens{10, 0}, 3, lens));
  EXPECT_EQ(lens, (Lens{8, 9, 10, -2, -1, 0, 77}));
  ASSERT_TRUE(context_lens_from_requests(Lens{10, 20}, 1, lens));
  EXPECT_EQ(Lens(lens.begin(), lens.begin() + 3), (Lens{10, 20, 10}));
}

TEST(ContextLens, OfRequestsAreClampedToInt32) {
  Lens lens(4);
  ASSERT_TRUE(context_lens_from_requests(Lens{kMin, kMax}, 2, lens));
  EXPECT_EQ(lens, (Lens{kMin, kMin, kMax - 1, kMax}));
  EXPECT_EQ(context_len_of_request(kMax, 1, 0), kMax);
  EXPECT_EQ(context_len_of_request(5, std::int64_t{1} << 40, 0), kMin);
#if !KVWITNESS_ASSERTIONS  // the request has no such token
  EXPECT_EQ(context_len_of_request(kMax, 2, std::int64_t{1} << 40), kMax);
#endif
}

TEST(ContextLens, OfRequestsWithoutTokensAreNone) {
  EXPECT_TRUE(context_lens_from_requests(Lens{10, 20}, 0, {}));
  EXPECT_TRUE(context_lens_from_requests({}, SIZE_MAX, {}));
}

TEST(ContextLens, AreRefusedWhereBuffersDoNotFitAndNothingIsWritten) {
  Lens out(4, 77);
  const Lens two(2), three(3);
  EXPECT_EQ(context_lens_from_windows(two, three, out).error(), Refusal(RowsMismatch{3, 1, 2}));
  EXPECT_EQ(context_lens_from_windows(three, three, std::span(out).first(2)).error(), Refusal(BufferTooSmall{2, 3}));
  EXPECT_EQ(context_lens_from_windows(std::span(out).first(2), two, std::span(out).subspan(1)).error(),
            Refusal(BufferOverlap{}));
  EXPECT_EQ(context_lens_from_windows(two, std::span(out).first(2), out).error(), Refusal(BufferOverlap{}));
  EXPECT_EQ(context_lens_from_requests(two, 3, out).error(), Refusal(BufferTooSmall{4, 6}));
  EXPECT_EQ(context_lens_from_requests(two, SIZE_MAX, out).error(), Refusal(BufferTooSmall{4, SIZE_MAX}));
  EXPECT_EQ(context_lens_from_requests(std::span(out).first(2), 2, out).error(), Refusal(BufferOverlap{}));
  EXPECT_EQ(out, Lens(4, 77));
}

}  // namespace
}  // namespace kvwitness
