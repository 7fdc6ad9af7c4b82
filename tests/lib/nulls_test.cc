#include "kvwitness/nulls.h"

#include <gtest/gtest.h>

#include <limits>

#include "kvwitness/kvwitness.h"
#include "kvwitness/select.h"
#include "tests/lib/null_rows.h"

namespace kvwitness {
namespace {

using Offsets = std::vector<std::int32_t>;

TEST(GoldenNullRows, AreAll120ThroughTheCppInterface) {
  const std::vector<NullRow> rows = golden_null_rows();
  ASSERT_EQ(rows.size(), 120u);
  for (const NullRow& row : rows) {
    EXPECT_EQ(random_null(row.context_len, row.budget, row.seed), row.random)
        << "L=" << row.context_len << " seed=" << row.seed;
    EXPECT_EQ(locality_null(row.context_len, row.budget), row.locality) << "L=" << row.context_len;
    EXPECT_EQ(null_count(row.context_len, row.budget), row.random.size());
  }
}

TEST(GoldenNullRows, AreAll120ThroughTheCAbi) {
  const std::vector<NullRow> rows = golden_null_rows();
  ASSERT_EQ(rows.size(), 120u);
  for (const NullRow& row : rows) {
    Offsets offsets(row.random.size() + 1, -5);
    std::int64_t count = -1;
    const auto capacity = static_cast<std::int64_t>(offsets.size());
    const auto budget = static_cast<std::int64_t>(row.budget);
    ASSERT_EQ(kvw_random_null(row.context_len, budget, row.seed, offsets.data(), capacity, &count), KVW_OK);
    ASSERT_EQ(count, capacity - 1);
    EXPECT_EQ(offsets.back(), -5);
    offsets.pop_back();
    EXPECT_EQ(offsets, row.random) << "L=" << row.context_len << " seed=" << row.seed;
    count = -1;
    offsets.assign(row.locality.size(), -5);
    ASSERT_EQ(kvw_locality_null(row.context_len, budget, offsets.data(), capacity - 1, &count), KVW_OK);
    ASSERT_EQ(count, capacity - 1);
    EXPECT_EQ(offsets, row.locality) << "L=" << row.context_len;
  }
}

TEST(Nulls, IntoASpanEqualTheVectorForms) {
  Offsets offsets(6, -5);
  ASSERT_TRUE(random_null_into(100, 5, 9, offsets));
  EXPECT_EQ(offsets.back(), -5);
  EXPECT_EQ(Offsets(offsets.begin(), offsets.end() - 1), random_null(100, 5, 9));
  ASSERT_TRUE(locality_null_into(100, 5, offsets));
  EXPECT_EQ(offsets, (Offsets{95, 96, 97, 98, 99, -5}));
}

TEST(Nulls, RefuseARoomThatIsTooSmallAndWriteNothing) {
  Offsets offsets(4, -5);
  EXPECT_EQ(random_null_into(100, 5, 9, offsets).error(), (BufferTooSmall{4, 5}));
  EXPECT_EQ(locality_null_into(100, 5, offsets).error(), (BufferTooSmall{4, 5}));
  EXPECT_EQ(offsets, Offsets(4, -5));
}

TEST(Nulls, OfANegativeContextSelectNothing) {
  EXPECT_TRUE(random_null(std::numeric_limits<std::int32_t>::min(), 5, 1).empty());
  EXPECT_TRUE(locality_null(-1, 5).empty());
  EXPECT_EQ(null_count(-1, 5), 0u);
}

TEST(Nulls, OfABudgetAboveTheContextHoldAllOfIt) {
  const Offsets all{0, 1, 2, 3};
  EXPECT_EQ(random_null(4, std::numeric_limits<std::size_t>::max(), 5), all);
  EXPECT_EQ(locality_null(4, std::numeric_limits<std::size_t>::max()), all);
}

}  // namespace
}  // namespace kvwitness
