#include "kvwitness/witness.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <random>

#include "kvwitness/backend.h"
#include "tests/rule/rule.h"

namespace kvwitness {
namespace {

using Tokens = std::vector<std::int32_t>;

constexpr std::int32_t kPoison = 0x5A5A5A5A;
constexpr std::int32_t kMinToken = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t kMaxToken = std::numeric_limits<std::int32_t>::max();

// A batch with rows of every kind: padding, holes, duplicates, tokens past the end, lengths around S and topk, empty
// rows.
struct Batch {
  std::size_t topk;
  Tokens learned;
  Tokens context_lens;

  std::span<const std::int32_t> row(std::size_t index) const { return std::span(learned).subspan(index * topk, topk); }
};

Batch random_batch(std::mt19937_64& random, std::size_t topk, std::size_t rows) {
  constexpr std::int32_t kLens[] = {1,   2,    3,       7,       16,        63, 64, 65,
                                    200, 4096, 100'003, 1 << 30, kMaxToken, 0,  -1, kMinToken};
  Batch batch{topk, Tokens(rows * topk), Tokens(rows)};
  for (std::size_t row = 0; row < rows; ++row) {
    const std::int32_t len = kLens[random() % std::size(kLens)];
    batch.context_lens[row] = len;
    const auto range = static_cast<std::uint64_t>(std::max(len, 1));
    const std::uint64_t stretch = random() % 3 == 0 ? std::max<std::uint64_t>(range / 8, 1) : range;
    for (std::size_t slot = 0; slot < topk; ++slot) {
      const std::uint64_t kind = random() % 16;
      const auto inside = static_cast<std::int32_t>(random() % stretch);
      batch.learned[row * topk + slot] = kind == 0   ? -1
                                         : kind == 1 ? -7
                                         : kind == 2 ? kMinToken
                                         : kind == 3 ? kMaxToken - static_cast<std::int32_t>(random() % 3)
                                                     : inside;
    }
  }
  return batch;
}

// Every width below three looks at a full mask, every segment count that a mask holds and a few that it does not.
TEST(WitnessIndices, EqualTheRuleForRowsOfEveryKind) {
  std::mt19937_64 random(11);
  for (const std::size_t topk : {0u, 1u, 3u, 17u, 63u, 64u, 65u, 129u, 200u}) {
    for (const std::size_t num_segments : {1u, 2u, 3u, 4u, 31u, 32u, 33u, 63u, 64u, 65u, 66u, 128u, 1000u}) {
      const Batch batch = random_batch(random, topk, 40);
      const auto witnesses = witness_indices(batch.learned, topk, batch.context_lens, num_segments);
      ASSERT_TRUE(witnesses);
      for (std::size_t row = 0; row < batch.context_lens.size(); ++row) {
        const Tokens expected = rule::witness_row(batch.row(row), batch.context_lens[row], num_segments);
        const Tokens actual(witnesses->begin() + static_cast<std::ptrdiff_t>(row * num_segments),
                            witnesses->begin() + static_cast<std::ptrdiff_t>((row + 1) * num_segments));
        ASSERT_EQ(actual, expected) << "topk=" << topk << " S=" << num_segments << " L=" << batch.context_lens[row];
      }
    }
  }
}

TEST(Apply, EqualsTheRuleForRowsOfEveryKind) {
  std::mt19937_64 random(12);
  for (const std::size_t topk : {0u, 1u, 3u, 17u, 64u, 129u}) {
    for (const std::size_t num_segments : {1u, 2u, 5u, 63u, 64u}) {
      for (const std::size_t learned_keep : {std::size_t{0}, topk / 2, topk}) {
        for (const std::size_t max_replacements :
             {std::size_t{0}, std::size_t{1}, std::size_t{7}, std::numeric_limits<std::size_t>::max()}) {
          const Batch batch = random_batch(random, topk, 12);
          const auto merged =
              apply(batch.learned, topk, batch.context_lens, learned_keep, num_segments, max_replacements);
          ASSERT_TRUE(merged);
          Tokens expected;
          for (std::size_t row = 0; row < batch.context_lens.size(); ++row) {
            std::ranges::copy(rule::applied_row(batch.row(row), batch.context_lens[row], learned_keep, num_segments,
                                                max_replacements),
                              std::back_inserter(expected));
          }
          ASSERT_EQ(*merged, expected) << "topk=" << topk << " S=" << num_segments << " keep=" << learned_keep;
          Tokens into(batch.learned.size() + 2, kPoison);
          ASSERT_TRUE(
              apply_into(batch.learned, topk, batch.context_lens, learned_keep, num_segments, max_replacements, into));
          expected.insert(expected.end(), 2, kPoison);
          ASSERT_EQ(into, expected);
        }
      }
    }
  }
}

TEST(Scatter, EqualsTheRuleForRowsOfEveryKind) {
  std::mt19937_64 random(13);
  for (const std::size_t topk : {0u, 1u, 3u, 63u, 64u, 65u, 129u}) {
    for (const std::size_t num_segments : {1u, 4u, 33u, 64u}) {
      Batch batch = random_batch(random, topk, 40);
      Tokens expected;
      for (std::size_t row = 0; row < batch.context_lens.size(); ++row) {
        std::ranges::copy(rule::scattered_row(batch.row(row), batch.context_lens[row], num_segments),
                          std::back_inserter(expected));
      }
      ASSERT_TRUE(scatter(batch.learned, topk, batch.context_lens, num_segments));
      ASSERT_EQ(batch.learned, expected) << "topk=" << topk << " S=" << num_segments;
    }
  }
}

TEST(Scatter, WithNoSegmentsDoesNothingWhateverElseIsPassed) {
  Tokens rows{1, 2, 3};
  const Tokens before = rows;
  EXPECT_TRUE(scatter(rows, 100, Tokens{9, 9, 9, 9}, 0));
  EXPECT_TRUE(scatter(StridedRows<std::int32_t>{rows, 1}, 100, Tokens{9, 9}, 0));
  EXPECT_TRUE(scatter(*backends().back(), rows, 100, Tokens{9, 9}, 0));
  EXPECT_TRUE(scatter(*backends().back(), StridedRows<std::int32_t>{rows, 1}, 100, Tokens{9, 9}, 0));
  EXPECT_EQ(rows, before);
}

// Rows 5 apart in a buffer whose spare columns, and what lies behind the last row, must keep their poison.
TEST(StridedRows, AreReadAndWrittenInTheirColumnsAlone) {
  std::mt19937_64 random(14);
  constexpr std::size_t kTopk = 3, kStride = 5, kRows = 30, kSegments = 4;
  const Batch batch = random_batch(random, kTopk, kRows);
  const auto spread = [&](const Tokens& packed) {
    Tokens strided((kRows - 1) * kStride + kTopk + 1, kPoison);
    for (std::size_t row = 0; row < kRows; ++row) {
      std::copy_n(packed.begin() + static_cast<std::ptrdiff_t>(row * kTopk), kTopk,
                  strided.begin() + static_cast<std::ptrdiff_t>(row * kStride));
    }
    return strided;
  };
  const Tokens strided = spread(batch.learned);
  const StridedRows<const std::int32_t> learned{strided, kStride};

  for (const std::size_t num_segments : {kSegments, std::size_t{100}}) {
    Tokens witnesses(kRows * num_segments);
    ASSERT_TRUE(witness_indices_into(learned, kTopk, batch.context_lens, num_segments, witnesses));
    EXPECT_EQ(witnesses, *witness_indices(batch.learned, kTopk, batch.context_lens, num_segments));
  }
  for (const std::size_t budget : {0u, 2u}) {
    const Tokens merged = *apply(batch.learned, kTopk, batch.context_lens, 1, kSegments, budget);
    Tokens out((kRows - 1) * kStride + kTopk + 1, kPoison);
    ASSERT_TRUE(
        apply_into(learned, kTopk, batch.context_lens, 1, kSegments, budget, StridedRows<std::int32_t>{out, kStride}));
    EXPECT_EQ(out, spread(merged));
    Tokens in_place = strided;
    ASSERT_TRUE(
        apply_in_place(StridedRows<std::int32_t>{in_place, kStride}, kTopk, batch.context_lens, 1, kSegments, budget));
    EXPECT_EQ(in_place, spread(merged));
  }
  Tokens scattered = strided;
  Tokens packed = batch.learned;
  ASSERT_TRUE(scatter(packed, kTopk, batch.context_lens, kSegments));
  ASSERT_TRUE(scatter(StridedRows<std::int32_t>{scattered, kStride}, kTopk, batch.context_lens, kSegments));
  EXPECT_EQ(scattered, spread(packed));
}

TEST(StridedRows, MayGoFromOneStrideToAnother) {
  const Tokens learned{0, 1, kPoison, 8, 9};
  Tokens out(6, kPoison);
  ASSERT_TRUE(apply_into(StridedRows<const std::int32_t>{learned, 3}, 2, Tokens{16, 16}, 1, 2, 1,
                         StridedRows<std::int32_t>{out, 4}));
  EXPECT_EQ(out, (Tokens{0, 8, kPoison, kPoison, 8, 0}));
}

TEST(StridedRows, NeedNoStrideWithOneRow) {
  const Tokens row{0, -1};
  Tokens padding{-1, -1};
  EXPECT_TRUE(scatter(StridedRows<std::int32_t>{padding, 0}, 2, Tokens{16}, 1));
  EXPECT_EQ(padding, (Tokens{-1, 0}));
  Tokens out(2);
  EXPECT_TRUE(
      apply_into(StridedRows<const std::int32_t>{row, 0}, 2, Tokens{16}, 1, 2, 1, StridedRows<std::int32_t>{out, 7}));
  EXPECT_EQ(out, (Tokens{0, 8}));
}

TEST(Apply, InPlaceWritesOverwrittenSlotsAlone) {
  Tokens rows{0, 5, 9, -1, 1, 2, 3, 4};
  ASSERT_TRUE(apply_in_place(rows, 4, Tokens{16, 0}, 2, 4, 2));
  EXPECT_EQ(rows, (Tokens{0, 5, 12, -1, 1, 2, 3, 4}));
}

TEST(WitnessIndices, OfRowsWithoutSlotsAreEveryEdge) {
  EXPECT_EQ(*witness_indices({}, 0, Tokens{10, 2, 0}, 4), (Tokens{0, 3, 5, 8, 0, 1, -1, -1, -1, -1, -1, -1}));
  Tokens witnesses(4);
  EXPECT_TRUE(witness_indices_into(StridedRows<const std::int32_t>{{}, 9}, 0, Tokens{10, 10}, 2, witnesses));
  EXPECT_EQ(witnesses, (Tokens{0, 5, 0, 5}));
}

TEST(WitnessIndices, ReachTheLongestContextWithManySegments) {
  constexpr std::size_t kSegments = 100'000;
  const Tokens row{kMaxToken, kMaxToken - 1, 0, 1 << 30, -1};
  const auto witnesses = witness_indices(row, row.size(), Tokens{kMaxToken}, kSegments);
  ASSERT_TRUE(witnesses);
  EXPECT_EQ(*witnesses, rule::witness_row(row, kMaxToken, kSegments));
}

TEST(WitnessIndices, LeaveTheRestOfALargerOutputAlone) {
  Tokens out(6, kPoison);
  ASSERT_TRUE(witness_indices_into(Tokens{0, 5}, 2, Tokens{16}, 4, out));
  EXPECT_EQ(out, (Tokens{-1, -1, 8, 12, kPoison, kPoison}));
}

// One refused call of each form, and what it must say.
template <typename Call>
void expect_refused(const Refusal& refusal, const Call& call) {
  Tokens buffer(64, kPoison);
  const auto result = call(std::span(buffer));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error(), refusal);
  EXPECT_EQ(buffer, Tokens(64, kPoison));
}

TEST(Refusals, RowsThatDoNotFillTheirBufferCarryTheThreeNumbers) {
  const Tokens learned(7), lens(2);
  const Refusal expected = RowsMismatch{7, 4, 2};
  expect_refused(expected, [&](auto) { return witness_indices(learned, 4, lens, 0); });
  expect_refused(expected, [&](auto out) { return witness_indices_into(learned, 4, lens, 0, out); });
  expect_refused(expected, [&](auto) { return apply(learned, 4, lens, 9, 0, 1); });
  expect_refused(expected, [&](auto out) { return apply_into(learned, 4, lens, 9, 0, 1, out); });
  expect_refused(expected, [&](auto out) { return apply_in_place(out.first(7), 4, lens, 9, 0, 1); });
  expect_refused(expected, [&](auto out) { return scatter(out.first(7), 4, lens, 65); });
}

TEST(Refusals, RowsTimesTopkIsTakenWithoutOverflow) {
  // 2^32 rows of 2^32 slots would be 0 elements in 64 bits. The lengths are never read.
  const std::int32_t lens = 1;
  const std::span<const std::int32_t> many(&lens, std::size_t{1} << 32);
  const Refusal expected = RowsMismatch{0, std::size_t{1} << 32, std::size_t{1} << 32};
  expect_refused(expected, [&](auto) { return witness_indices({}, std::size_t{1} << 32, many, 4); });
  expect_refused(expected, [&](auto out) { return scatter(out.first(0), std::size_t{1} << 32, many, 4); });
}

TEST(Refusals, StridedRowsMustReachTheirLastSlot) {
  const Tokens learned(8), lens(2);
  const Refusal expected = RowsMismatch{8, 4, 2};
  const StridedRows<const std::int32_t> rows{learned, 5};
  expect_refused(expected, [&](auto out) { return witness_indices_into(rows, 4, lens, 0, out); });
  expect_refused(expected,
                 [&](auto out) { return apply_into(rows, 4, lens, 9, 0, 1, StridedRows<std::int32_t>{out, 4}); });
  expect_refused(
      expected, [&](auto out) { return apply_in_place(StridedRows<std::int32_t>{out.first(8), 5}, 4, lens, 9, 0, 1); });
  expect_refused(expected, [&](auto out) { return scatter(StridedRows<std::int32_t>{out.first(8), 5}, 4, lens, 65); });
}

TEST(Refusals, ASpanOfStridedRowsIsTakenWithoutOverflow) {
  constexpr std::size_t kHuge = std::size_t{1} << 63;
  const Tokens lens(3);
  // 2 * 2^63 wraps to 0; with a topk of SIZE_MAX the last row's slots wrap.
  expect_refused(RowsMismatch{64, 1, 3},
                 [&](auto out) { return scatter(StridedRows<std::int32_t>{out, kHuge}, 1, lens, 4); });
  expect_refused(RowsMismatch{64, SIZE_MAX, 3},
                 [&](auto out) { return scatter(StridedRows<std::int32_t>{out, 1}, SIZE_MAX, lens, 4); });
}

TEST(Refusals, SegmentCountsOutOfRangeCarryTheCount) {
  const Tokens learned(8), lens(2);
  expect_refused(SegmentsOutOfRange{0}, [&](auto) { return witness_indices(learned, 4, lens, 0); });
  expect_refused(SegmentsOutOfRange{0}, [&](auto out) { return witness_indices_into(learned, 4, lens, 0, out); });
  for (const std::size_t num_segments : {std::size_t{0}, std::size_t{65}, SIZE_MAX}) {
    expect_refused(SegmentsOutOfRange{num_segments}, [&](auto) { return apply(learned, 4, lens, 9, num_segments, 0); });
    expect_refused(SegmentsOutOfRange{num_segments},
                   [&](auto out) { return apply_into(learned, 4, lens, 9, num_segments, 0, out); });
  }
  expect_refused(SegmentsOutOfRange{65}, [&](auto out) { return scatter(out.first(8), 4, lens, 65); });
  expect_refused(SegmentsOutOfRange{65}, [&](auto out) { return scatter(out.first(0), 4, Tokens{}, 65); });
}

TEST(Refusals, AWitnessBufferWithoutAnAddressIsASegmentCountOutOfRange) {
  const Tokens learned(8), lens(2);
  for (const std::size_t num_segments : {SIZE_MAX, std::size_t{1} << 60}) {
    expect_refused(SegmentsOutOfRange{num_segments},
                   [&](auto) { return witness_indices(learned, 4, lens, num_segments); });
  }
}

TEST(Refusals, AKeepAboveTheRowCarriesBothNumbers) {
  const Tokens learned(8), lens(2);
  expect_refused(LearnedKeepOutOfRange{5, 4}, [&](auto) { return apply(learned, 4, lens, 5, 4, 0); });
  expect_refused(LearnedKeepOutOfRange{5, 4}, [&](auto out) { return apply_into({}, 4, {}, 5, 4, 0, out); });
  expect_refused(LearnedKeepOutOfRange{5, 4}, [&](auto out) { return apply_in_place(out.first(8), 4, lens, 5, 4, 0); });
}

TEST(Refusals, RowsThatOverlapEachOtherCarryTheStride) {
  const Tokens learned(8), lens(2);
  const StridedRows<const std::int32_t> rows{learned, 3};
  const Refusal expected = RowStrideOutOfRange{3, 4};
  expect_refused(expected, [&](auto out) { return witness_indices_into(rows, 4, lens, 4, out); });
  expect_refused(expected,
                 [&](auto out) { return apply_into(rows, 4, lens, 0, 4, 0, StridedRows<std::int32_t>{out, 4}); });
  expect_refused(expected, [&](auto out) {
    return apply_into(StridedRows<const std::int32_t>{learned, 4}, 4, lens, 0, 4, 0, StridedRows<std::int32_t>{out, 3});
  });
  expect_refused(expected, [&](auto out) { return scatter(StridedRows<std::int32_t>{out, 3}, 4, lens, 4); });
}

TEST(Refusals, AnOutputSmallerThanTheResultCarriesBothSizes) {
  const Tokens learned(8), lens(2);
  expect_refused(BufferTooSmall{7, 8},
                 [&](auto out) { return witness_indices_into(learned, 4, lens, 4, out.first(7)); });
  expect_refused(BufferTooSmall{7, 8}, [&](auto out) { return apply_into(learned, 4, lens, 0, 4, 4, out.first(7)); });
  expect_refused(BufferTooSmall{8, 9}, [&](auto out) {
    return apply_into(StridedRows<const std::int32_t>{learned, 4}, 4, lens, 0, 4, 4,
                      StridedRows<std::int32_t>{out.first(8), 5});
  });
}

TEST(Refusals, AnOutputMayShareNoByteWithAnInput) {
  const Tokens learned(8), lens(2);
  const Refusal expected = BufferOverlap{};
  expect_refused(expected, [&](auto out) { return witness_indices_into(out.first(8), 4, lens, 4, out.subspan(7)); });
  expect_refused(expected, [&](auto out) { return witness_indices_into(learned, 4, out.subspan(7, 2), 4, out); });
  expect_refused(expected, [&](auto out) { return apply_into(out.first(8), 4, lens, 0, 4, 4, out.subspan(1)); });
  expect_refused(expected, [&](auto out) { return apply_into(out.subspan(1, 8), 4, lens, 0, 4, 4, out); });
  expect_refused(expected, [&](auto out) { return apply_into(learned, 4, out.subspan(7, 2), 0, 4, 4, out); });
  expect_refused(expected, [&](auto out) { return apply_in_place(out.first(8), 4, out.subspan(7, 2), 0, 4, 4); });
  expect_refused(expected, [&](auto out) { return scatter(out.first(8), 4, out.subspan(7, 2), 4); });
  // The same address with another stride is not in place; a spare column counts.
  expect_refused(expected, [&](auto out) {
    return apply_into(StridedRows<const std::int32_t>{out, 5}, 4, lens, 0, 4, 4, StridedRows<std::int32_t>{out, 6});
  });
  expect_refused(expected,
                 [&](auto out) { return scatter(StridedRows<std::int32_t>{out, 9}, 4, out.subspan(5, 2), 4); });
}

TEST(Refusals, BuffersThatTouchDoNotOverlap) {
  Tokens memory(16, 0);
  const std::span all(memory);
  EXPECT_TRUE(witness_indices_into(all.first(4), 4, Tokens{16}, 4, all.subspan(4, 4)));
  EXPECT_TRUE(witness_indices_into(all.subspan(4, 4), 4, Tokens{16}, 4, all.first(4)));
  EXPECT_TRUE(scatter(all.first(0), 0, all.first(2), 4));
}

TEST(Backends, AllGiveTheBitsOfTheRule) {
  std::mt19937_64 random(15);
  for (const Backend* const backend : backends()) {
    if (!backend->runnable()) {
      continue;
    }
    const Batch batch = random_batch(random, 100, 50);
    Tokens witnesses(50 * 64), merged(50 * 100);
    ASSERT_TRUE(witness_indices_into(*backend, batch.learned, 100, batch.context_lens, 64, witnesses));
    EXPECT_EQ(witnesses, *witness_indices(batch.learned, 100, batch.context_lens, 64)) << backend->name;
    ASSERT_TRUE(apply_into(*backend, batch.learned, 100, batch.context_lens, 30, 64, 70, merged));
    EXPECT_EQ(merged, *apply(batch.learned, 100, batch.context_lens, 30, 64, 70)) << backend->name;
    Tokens scattered = batch.learned, expected = batch.learned;
    ASSERT_TRUE(scatter(*backend, scattered, 100, batch.context_lens, 64));
    ASSERT_TRUE(scatter(expected, 100, batch.context_lens, 64));
    EXPECT_EQ(scattered, expected) << backend->name;
    for (std::size_t row = 0; row < 50; ++row) {
      const Tokens by_rule = rule::applied_row(batch.row(row), batch.context_lens[row], 30, 64, 70);
      EXPECT_TRUE(std::ranges::equal(by_rule, std::span(merged).subspan(row * 100, 100))) << backend->name;
    }
  }
}

TEST(Refusals, AreEqualWhereEveryFieldIs) {
  EXPECT_EQ((RowsMismatch{5, 2, 3}), (RowsMismatch{5, 2, 3}));
  EXPECT_NE((RowsMismatch{5, 2, 3}), (RowsMismatch{4, 2, 3}));
  EXPECT_NE((RowsMismatch{5, 2, 3}), (RowsMismatch{5, 1, 3}));
  EXPECT_NE((RowsMismatch{5, 2, 3}), (RowsMismatch{5, 2, 4}));
  EXPECT_NE((SegmentsOutOfRange{65}), (SegmentsOutOfRange{66}));
  EXPECT_NE((LearnedKeepOutOfRange{5, 4}), (LearnedKeepOutOfRange{6, 4}));
  EXPECT_NE((LearnedKeepOutOfRange{5, 4}), (LearnedKeepOutOfRange{5, 3}));
  EXPECT_NE((RowStrideOutOfRange{3, 4}), (RowStrideOutOfRange{2, 4}));
  EXPECT_NE((RowStrideOutOfRange{3, 4}), (RowStrideOutOfRange{3, 5}));
  EXPECT_NE((BufferTooSmall{3, 4}), (BufferTooSmall{2, 4}));
  EXPECT_NE((BufferTooSmall{3, 4}), (BufferTooSmall{3, 5}));
}

}  // namespace
}  // namespace kvwitness
