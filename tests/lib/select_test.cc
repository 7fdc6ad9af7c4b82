#include "kvwitness/select.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace kvwitness {
namespace {

using Offsets = std::vector<std::int32_t>;

constexpr std::uint64_t kGamma = 0x9E3779B97F4A7C15u;

std::uint64_t splitmix64(std::uint64_t z) {
  z += kGamma;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// Random{budget, seed} as it is defined: the whole pool, shuffled in place.
Offsets shuffled_row(std::size_t budget, std::uint64_t seed, std::int32_t row) {
  Offsets pool(static_cast<std::size_t>(row) + 1);
  std::iota(pool.begin(), pool.end(), 0);
  const auto i = static_cast<std::uint64_t>(row);
  std::uint64_t state = splitmix64(seed ^ (i * kGamma));
  const std::size_t count = std::min(budget, pool.size());
  for (std::size_t slot = 0; slot < count; ++slot) {
    state = splitmix64(state);
    std::swap(pool[slot], pool[slot + state % (i + 1 - slot)]);
  }
  pool.resize(count);
  std::ranges::sort(pool);
  return pool;
}

TEST(RandomSelector, DrawsTheRowOfAShuffleOfTheWholePool) {
  for (const std::int32_t row : {0, 1, 2, 5, 63, 255, 256, 257, 1000, 65'535, 65'536, 70'000}) {
    for (const std::size_t budget : {0u, 1u, 2u, 3u, 7u, 60u, 128u, 255u, 999u, 1000u, 1001u, 40'000u, 80'000u}) {
      for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0xFFFFFFFFFFFFFFFF}}) {
        ASSERT_EQ(select_row(Random{budget, seed}, row), shuffled_row(budget, seed, row))
            << "row=" << row << " budget=" << budget;
      }
    }
  }
}

// A pool of up to 16 * budget + 15 tokens is written out, of a longer one only what moved.
TEST(RandomSelector, DrawsTheSameOnBothSidesOfTheLongestPoolThatIsWrittenOut) {
  for (const std::size_t budget : {1u, 2u, 5u, 60u, 511u}) {
    const auto longest = static_cast<std::int32_t>(16 * budget + 15);
    for (std::int32_t tokens = longest - 2; tokens <= longest + 2; ++tokens) {
      for (const std::uint64_t seed : {std::uint64_t{0}, std::uint64_t{77}}) {
        ASSERT_EQ(select_row(Random{budget, seed}, tokens - 1), shuffled_row(budget, seed, tokens - 1))
            << "tokens=" << tokens << " budget=" << budget;
      }
    }
  }
}

TEST(RandomSelector, DrawsFromTheLongestContextWithoutItsPool) {
  constexpr std::int32_t kLastRow = std::numeric_limits<std::int32_t>::max() - 1;
  const Offsets offsets = select_row(Random{1000, 42}, kLastRow);
  ASSERT_EQ(offsets.size(), 1000u);
  EXPECT_TRUE(std::ranges::adjacent_find(offsets, std::greater_equal()) == offsets.end()) << "not strictly ascending";
  EXPECT_GE(offsets.front(), 0);
  EXPECT_LE(offsets.back(), kLastRow);
  EXPECT_GT(offsets.back(), 1 << 30) << "1,000 uniform draws reach the upper half";
  EXPECT_EQ(select_row(Random{1000, 42}, kLastRow), offsets);
  EXPECT_NE(select_row(Random{1000, 43}, kLastRow), offsets);
}

TEST(LocalSelector, TakesTheLastTokensOfTheRow) {
  EXPECT_EQ(select_row(Local{3}, 9), (Offsets{7, 8, 9}));
  EXPECT_EQ(select_row(Local{3}, 1), (Offsets{0, 1}));
  EXPECT_EQ(select_row(Local{std::numeric_limits<std::size_t>::max()}, 2), (Offsets{0, 1, 2}));
}

TEST(LocalSelector, TakesOneTokenWhereTheWindowIsZero) {
  EXPECT_EQ(select_row(Local{0}, 5), (Offsets{5}));
}

TEST(Selectors, SelectNothingInANegativeRow) {
  for (const Selector& selector : {Selector{Random{4, 1}}, Selector{Local{4}}}) {
    EXPECT_EQ(selected_count(selector, -1), 0u);
    EXPECT_TRUE(select_row(selector, -1).empty());
    EXPECT_TRUE(select_row(selector, std::numeric_limits<std::int32_t>::min()).empty());
  }
}

TEST(Selectors, RefuseARoomThatIsTooSmallAndWriteNothing) {
  for (const Selector& selector : {Selector{Random{4, 1}}, Selector{Local{4}}}) {
    Offsets offsets(3, -5);
    const auto refused = select_row_into(selector, 9, offsets);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), (BufferTooSmall{3, 4}));
    EXPECT_EQ(offsets, Offsets(3, -5));
    std::vector<std::uint8_t> mask(99, 7);
    const auto refused_mask = select_mask_into(selector, 10, mask);
    ASSERT_FALSE(refused_mask);
    EXPECT_EQ(refused_mask.error(), (BufferTooSmall{99, 100}));
    EXPECT_EQ(mask, std::vector<std::uint8_t>(99, 7));
  }
}

TEST(Selectors, LeaveTheRestOfALargerRoomAlone) {
  for (const Selector& selector : {Selector{Random{4, 1}}, Selector{Local{4}}}) {
    Offsets offsets(5, -5);
    ASSERT_TRUE(select_row_into(selector, 9, offsets));
    EXPECT_EQ(offsets[4], -5);
    offsets.pop_back();
    EXPECT_EQ(offsets, select_row(selector, 9));
    std::vector<std::uint8_t> mask(5, 7);
    ASSERT_TRUE(select_mask_into(selector, 2, mask));
    EXPECT_EQ(mask[4], 7);
    mask.pop_back();
    EXPECT_EQ(mask, select_mask(selector, 2));
  }
}

TEST(SelectMask, HoldsTheSelectedRowInEachRow) {
  for (const Selector& selector : {Selector{Random{0, 3}}, Selector{Random{5, 3}}, Selector{Random{500, 3}},
                                   Selector{Local{0}}, Selector{Local{6}}}) {
    for (const std::int32_t seq : {0, 1, 2, 40, 95, 96, 150}) {
      std::vector<std::uint8_t> expected(static_cast<std::size_t>(seq) * static_cast<std::size_t>(seq), 0);
      for (std::int32_t row = 0; row < seq; ++row) {
        const auto* const random = std::get_if<Random>(&selector);
        const Offsets offsets =
            random != nullptr ? shuffled_row(random->budget, random->seed, row) : select_row(selector, row);
        for (const std::int32_t offset : offsets) {
          expected[static_cast<std::size_t>(std::int64_t{row} * seq + offset)] = 1;
        }
      }
      std::vector<std::uint8_t> mask(expected.size(), 9);  // zeros must be written too
      ASSERT_TRUE(select_mask_into(selector, seq, mask));
      EXPECT_EQ(mask, expected);
    }
  }
}

TEST(SelectMask, OfANegativeSequenceIsEmpty) {
  EXPECT_TRUE(select_mask(Local{3}, -1).empty());
  EXPECT_TRUE(select_mask(Random{3, 0}, std::numeric_limits<std::int32_t>::min()).empty());
}

}  // namespace
}  // namespace kvwitness
