// The fifteen subjects that the tests of the source (vllm-project/vllm#47942 and its Rust port) cover, each stated and
// checked anew.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>

#include "kvwitness/metrics.h"
#include "kvwitness/nulls.h"
#include "kvwitness/segments.h"
#include "kvwitness/select.h"
#include "kvwitness/witness.h"

namespace kvwitness {
namespace {

using Tokens = std::vector<std::int32_t>;

Tokens random_row(std::mt19937_64& random, std::size_t topk, std::int32_t context_len) {
  Tokens row(topk);
  for (std::int32_t& token : row) {
    token = random() % 5 == 0 ? -1 : static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(context_len));
  }
  return row;
}

Tokens witnesses_of(const Tokens& row, std::int32_t context_len, std::size_t num_segments) {
  Tokens witnesses = *witness_indices(row, row.size(), Tokens{context_len}, num_segments);
  std::erase(witnesses, -1);
  return witnesses;
}

TEST(Source, AHandWorkedRowHasTheOneWitnessOfItsEmptySegment) {
  EXPECT_EQ(*witness_indices(Tokens{0, 5, 9, -1}, 4, Tokens{16}, 4), (Tokens{-1, -1, -1, 12}));
}

TEST(Source, AHandWorkedRowTakesItsWitnessBehindTheKeptPrefix) {
  EXPECT_EQ(*apply(Tokens{0, 5, 9, -1}, 4, Tokens{16}, 2, 4, 2), (Tokens{0, 5, 12, -1}));
}

TEST(Source, ADisabledPolicyIsTheIdentityByEachOfItsThreeRoutes) {
  const Tokens rows{0, 5, 9, -1, 3, -1, -1, -1};
  const Tokens lens{16, 16};
  EXPECT_EQ(*apply(rows, 4, lens, 0, 4, 0), rows) << "no budget";
  EXPECT_EQ(*apply(rows, 4, lens, 4, 4, 4), rows) << "every slot kept";
  Tokens scattered = rows;
  EXPECT_TRUE(scatter(scattered, 4, lens, 0));
  EXPECT_EQ(scattered, rows) << "no segments";
}

TEST(Source, AShortRowIsItsOwnSegmentsAndAnEmptyRowHasNone) {
  EXPECT_EQ(*witness_indices(Tokens{1, -1}, 2, Tokens{3}, 8), (Tokens{0, -1, 2, -1, -1, -1, -1, -1}));
  for (const std::int32_t empty : {0, -1, std::numeric_limits<std::int32_t>::min()}) {
    EXPECT_EQ(*witness_indices(Tokens{1, -1}, 2, Tokens{empty}, 3), (Tokens{-1, -1, -1}));
    EXPECT_EQ(*apply(Tokens{1, -1}, 2, Tokens{empty}, 0, 3, 2), (Tokens{1, -1}));
  }
}

TEST(Source, AnIndexPastTheContextIsClampedIntoTheLastSegmentAndNotRefused) {
  EXPECT_EQ(*witness_indices(Tokens{99, 0}, 2, Tokens{16}, 4), (Tokens{-1, 4, 8, -1}));
  EXPECT_EQ(*apply(Tokens{99, 0}, 2, Tokens{16}, 1, 4, 1), (Tokens{99, 4}));
  EXPECT_EQ(witnesses_of({99}, 3, 8), (Tokens{0, 1, 2})) << "a short row's last segment is no clamp's target";
}

TEST(Source, AMalformedCallIsRefusedWithItsNumbersAndWritesNothing) {
  Tokens rows{0, 5, 9, -1, 3, -1, -1};
  const Tokens before = rows;
  EXPECT_EQ(scatter(rows, 4, Tokens{16, 16}, 4).error(), Refusal(RowsMismatch{7, 4, 2}));
  EXPECT_EQ(scatter(rows, 7, Tokens{16}, 65).error(), Refusal(SegmentsOutOfRange{65}));
  EXPECT_EQ(apply_in_place(rows, 7, Tokens{16}, 0, 0, 1).error(), Refusal(SegmentsOutOfRange{0}));
  EXPECT_EQ(apply_in_place(rows, 7, Tokens{16}, 8, 4, 1).error(), Refusal(LearnedKeepOutOfRange{8, 7}));
  EXPECT_EQ(rows, before);
}

TEST(Source, EveryWitnessLandsInItsOwnSegmentForEveryLengthTo200) {
  for (std::int32_t len = 1; len <= 200; ++len) {
    for (std::size_t num_segments = 1; num_segments <= 64; ++num_segments) {
      const Tokens witnesses = *witness_indices(Tokens{-1}, 1, Tokens{len}, num_segments);
      const std::uint64_t segments = effective_segments(static_cast<std::uint64_t>(len), num_segments);
      for (std::size_t segment = 0; segment < num_segments; ++segment) {
        if (segment >= segments) {
          ASSERT_EQ(witnesses[segment], -1);
          continue;
        }
        ASSERT_GE(witnesses[segment], 0);
        ASSERT_EQ(
            segment_of(static_cast<std::uint64_t>(witnesses[segment]), static_cast<std::uint64_t>(len), num_segments),
            segment)
            << "L=" << len << " S=" << num_segments;
      }
    }
  }
}

TEST(Source, WitnessesAreCausalDistinctDisjointFromTheRowAndCompleteItsCoverage) {
  std::mt19937_64 random(31);
  for (int i = 0; i < 2'000; ++i) {
    const auto len = static_cast<std::int32_t>(1 + random() % 5'000);
    const std::size_t num_segments = 1 + random() % 100;
    Tokens row = random_row(random, random() % 80, len);
    const Tokens witnesses = witnesses_of(row, len, num_segments);
    const std::set<std::int32_t> learned(row.begin(), row.end());
    ASSERT_EQ(std::set<std::int32_t>(witnesses.begin(), witnesses.end()).size(), witnesses.size());
    for (const std::int32_t witness : witnesses) {
      ASSERT_TRUE(witness >= 0 && witness < len && !learned.contains(witness));
    }
    row.insert(row.end(), witnesses.begin(), witnesses.end());
    ASSERT_EQ(segment_coverage(row, len, num_segments), 1.0);
  }
}

TEST(Source, TheServingRowIsCausalDistinctInSegmentOrderAndWithinItsBudget) {
  std::mt19937_64 random(32);
  for (int i = 0; i < 2'000; ++i) {
    const auto len = static_cast<std::int32_t>(200 + random() % 5'000);
    const std::size_t num_segments = 1 + random() % 64, topk = 100, keep = topk - num_segments;
    Tokens row(static_cast<std::size_t>(len));  // a distinct learned row, as a top-k kernel gives it
    std::iota(row.begin(), row.end(), 0);
    std::ranges::shuffle(row, random);
    row.resize(topk);
    Tokens served = row;
    ASSERT_TRUE(scatter(served, topk, Tokens{len}, num_segments));
    const Tokens witnesses = witnesses_of(row, len, num_segments);
    ASSERT_TRUE(std::equal(row.begin(), row.begin() + static_cast<std::ptrdiff_t>(keep), served.begin()))
        << "the kept prefix";
    ASSERT_TRUE(std::equal(witnesses.begin(), witnesses.end(), served.begin() + static_cast<std::ptrdiff_t>(keep)));
    ASSERT_TRUE(std::equal(row.begin() + static_cast<std::ptrdiff_t>(keep + witnesses.size()), row.end(),
                           served.begin() + static_cast<std::ptrdiff_t>(keep + witnesses.size())));
    ASSERT_TRUE(std::ranges::is_sorted(witnesses));
    ASSERT_EQ(std::set<std::int32_t>(served.begin(), served.end()).size(), topk);
    ASSERT_TRUE(std::ranges::all_of(served, [len](std::int32_t token) { return token >= 0 && token < len; }));
  }
}

TEST(Source, CoverageIsFullWhereTheReservedTailIsPadding) {
  std::mt19937_64 random(33);
  for (int i = 0; i < 2'000; ++i) {
    const auto len = static_cast<std::int32_t>(1 + random() % 5'000);
    const std::size_t num_segments = 1 + random() % 64;
    Tokens row = random_row(random, 30, len);
    row.resize(30 + num_segments, -1);
    ASSERT_TRUE(scatter(row, row.size(), Tokens{len}, num_segments));
    ASSERT_EQ(segment_coverage(row, len, num_segments), 1.0);
  }
}

TEST(Source, ASegmentWhoseOnlyTokenSatInAnOverwrittenSlotEndsUncovered) {
  const Tokens merged = *apply(Tokens{0, 1, 2, 3, 12, -1, -1, -1}, 8, Tokens{16}, 4, 4, 4);
  EXPECT_EQ(merged, (Tokens{0, 1, 2, 3, 4, 8, -1, -1}));
  EXPECT_EQ(segment_coverage(merged, 16, 4), 0.75);
}

TEST(Source, PermutingTheRowKeepsItsWitnessesButTheMergedRowOnlyWithinTheKeptPrefix) {
  std::mt19937_64 random(34);
  bool whole_row_differed = false;
  for (int i = 0; i < 500; ++i) {
    const Tokens row = random_row(random, 20, 1'000);
    Tokens permuted = row;
    std::ranges::shuffle(permuted, random);
    ASSERT_EQ(witnesses_of(permuted, 1'000, 16), witnesses_of(row, 1'000, 16));
    const auto served_set = [](Tokens served) {
      EXPECT_TRUE(scatter(served, served.size(), Tokens{1'000}, 16));
      std::ranges::sort(served);
      return served;
    };
    whole_row_differed |= served_set(permuted) != served_set(row);
    Tokens prefix_permuted = row;
    std::ranges::shuffle(std::span(prefix_permuted).first(4), random);
    ASSERT_EQ(served_set(prefix_permuted), served_set(row));
  }
  EXPECT_TRUE(whole_row_differed) << "the merge is positional";
}

TEST(Source, BothNullsAreTheirSelectorsLastRowsDeterministicAndOfTheRightSize) {
  for (const std::int32_t len : {1, 2, 17, 64}) {
    for (const std::size_t budget : {1u, 5u, 64u, 100u}) {
      const auto last_row = [len](const Selector& selector) {
        const std::vector<std::uint8_t> mask = select_mask(selector, len);
        Tokens offsets;
        for (std::int32_t token = 0; token < len; ++token) {
          if (mask[static_cast<std::size_t>(std::int64_t{len - 1} * len + token)] != 0) {
            offsets.push_back(token);
          }
        }
        return offsets;
      };
      EXPECT_EQ(random_null(len, budget, 7), last_row(Random{budget, 7}));
      EXPECT_EQ(locality_null(len, budget), last_row(Local{budget}));
      EXPECT_EQ(random_null(len, budget, 7), random_null(len, budget, 7));
      EXPECT_EQ(random_null(len, budget, 7).size(), std::min(budget, static_cast<std::size_t>(len)));
      EXPECT_EQ(locality_null(len, budget).size(), std::min(budget, static_cast<std::size_t>(len)));
    }
  }
}

TEST(Source, NullsOfNoBudgetOrNoLengthSelectNothing) {
  EXPECT_TRUE(random_null(9, 0, 1).empty());
  EXPECT_TRUE(random_null(0, 9, 1).empty());
  EXPECT_TRUE(locality_null(9, 0).empty());
  EXPECT_TRUE(locality_null(0, 9).empty());
}

TEST(Source, TheMetricsHandExamplesHold) {
  const std::vector<double> attention{0.5, 0, 0.25, 0, 0, 0.125, 0.0625, 0.0625};
  const Tokens candidates{0, 5, 5, -1, 9};
  EXPECT_EQ(segment_coverage(candidates, 8, 4), 0.5);
  EXPECT_EQ(attention_mass_recall(candidates, attention), 0.625);
  Tokens policy{0, 5, -1, -1, -1, -1};
  ASSERT_TRUE(scatter(policy, 6, Tokens{8}, 4));
  EXPECT_EQ(policy, (Tokens{0, 5, 2, 6, -1, -1}));
  EXPECT_EQ(segment_coverage(policy, 8, 4), 1.0);
  EXPECT_EQ(attention_mass_recall(policy, attention), 0.9375);
  EXPECT_EQ(segment_coverage(locality_null(8, 4), 8, 4), 0.5);
  EXPECT_EQ(attention_mass_recall(locality_null(8, 4), attention), 0.25);
}

}  // namespace
}  // namespace kvwitness
