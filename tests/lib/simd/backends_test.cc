// Every backend that this machine can run gives the scalar backend's bits. The rows are built to reach each path of the
// vector body: marked and hunted blocks, one to many missing runs, both ends missing, tokens past the context's end,
// partial blocks and vectors, and lengths on both sides of the narrow reciprocal's range.
#include <gtest/gtest.h>
#include <kvwitness/backend.h>
#include <kvwitness/segments.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace kvwitness {
namespace {

constexpr std::int32_t kUntouched = 0x5A5A5A5A;

std::vector<const Backend*> runnable_backends() {
  std::vector<const Backend*> runnable;
  std::ranges::copy_if(backends(), std::back_inserter(runnable), &Backend::runnable);
  return runnable;
}

std::string backend_name(const testing::TestParamInfo<const Backend*>& info) {
  return info.param->name;
}

class EveryBackend : public testing::TestWithParam<const Backend*> {
 protected:
  std::uint32_t draw(std::uint32_t low, std::uint32_t high) {
    return std::uniform_int_distribution<std::uint32_t>(low, high)(random_);
  }

  // The answers of the backend under test and of the scalar one, over rows that start `offset` elements into a buffer.
  void expect_scalar_answers(const std::vector<std::int32_t>& rows, std::size_t topk, std::size_t row_stride,
                             const std::vector<std::int32_t>& lens, std::size_t num_segments) {
    const RowBatch batch{rows.data(), row_stride, topk, lens.data(), lens.size()};
    const Backend& scalar = **find_backend("scalar");
    std::vector<std::int32_t> got(lens.size() * num_segments + 1, kUntouched);
    std::vector<std::int32_t> want(got);
    GetParam()->witness_indices(batch, num_segments, got.data());
    scalar.witness_indices(batch, num_segments, want.data());
    ASSERT_EQ(got, want) << describe(lens, topk, num_segments);
    if (topk == 0) {
      return;
    }
    const std::size_t keep = draw(0, static_cast<std::uint32_t>(topk - 1));
    const MergePlan plan{keep, num_segments, draw(1, static_cast<std::uint32_t>(topk - keep))};
    got.assign(rows.size() + 1, kUntouched);
    want = got;
    GetParam()->apply(batch, plan, got.data(), row_stride);
    scalar.apply(batch, plan, want.data(), row_stride);
    ASSERT_EQ(got, want) << describe(lens, topk, num_segments);
    std::copy(rows.begin(), rows.end(), got.begin());
    std::copy(rows.begin(), rows.end(), want.begin());
    GetParam()->apply({got.data(), row_stride, topk, lens.data(), lens.size()}, plan, got.data(), row_stride);
    scalar.apply({want.data(), row_stride, topk, lens.data(), lens.size()}, plan, want.data(), row_stride);
    ASSERT_EQ(got, want) << describe(lens, topk, num_segments);
  }

  std::string describe(const std::vector<std::int32_t>& lens, std::size_t topk, std::size_t num_segments) {
    return "topk " + std::to_string(topk) + " S " + std::to_string(num_segments) + " L " + std::to_string(lens.at(0));
  }

  std::int32_t draw_length(std::size_t num_segments) {
    switch (draw(0, 6)) {
      case 0:
        return static_cast<std::int32_t>(draw(0, 3)) - 1;
      case 1:
        return static_cast<std::int32_t>(num_segments + draw(0, 4)) - 2;
      case 2:
        return static_cast<std::int32_t>(draw(1, 70000));
      case 3:
        return static_cast<std::int32_t>(draw(47000000, 47900000));
      case 4:
        return static_cast<std::int32_t>(0x7FFFFFFF - draw(0, 2));
      default:
        return static_cast<std::int32_t>(std::uint32_t{1} << draw(1, 30)) + static_cast<std::int32_t>(draw(0, 2)) - 1;
    }
  }

  // A row whose tokens lie in a few segments, in all but a few, or anywhere; with padding and tokens out of range now
  // and then.
  void fill_row(std::int32_t* row, std::size_t topk, std::int32_t length, std::size_t num_segments) {
    const auto len = static_cast<std::uint32_t>(std::max(length, 1));
    const std::uint32_t allowed_percent = draw(0, 2) == 0 ? 100 : draw(0, 100);
    std::vector<bool> allowed(num_segments);
    for (std::size_t segment = 0; segment < num_segments; ++segment) {
      allowed[segment] = draw(0, 99) < allowed_percent;
    }
    if (draw(0, 3) == 0) {  // one run of allowed segments
      const std::size_t start = draw(0, static_cast<std::uint32_t>(num_segments - 1));
      const std::size_t end = start + draw(0, static_cast<std::uint32_t>(num_segments - start));
      for (std::size_t segment = 0; segment < num_segments; ++segment) {
        allowed[segment] = segment >= start && segment < end;
      }
    }
    const bool strange = draw(0, 3) == 0;
    const std::uint32_t rare = draw(0, 3) == 0 ? draw(0, static_cast<std::uint32_t>(topk)) : 0;
    std::int32_t fallback = -1;
    for (std::size_t slot = 0; slot < topk; ++slot) {
      std::int32_t token = static_cast<std::int32_t>(draw(0, len - 1));
      const std::uint64_t segment = segment_of(static_cast<std::uint64_t>(token), len, num_segments);
      if (draw(0, 9) == 0) {  // an edge of that segment
        const std::uint64_t next = segment_edge(segment + 1, len, num_segments);
        token = static_cast<std::int32_t>(draw(0, 1) == 0 ? segment_edge(segment, len, num_segments) : next - 1);
      }
      if (!allowed[segment] && slot + 1 != rare) {
        token = fallback;
      } else {
        fallback = token;
      }
      if (strange && draw(0, 200) == 0) {
        constexpr std::int32_t kStrange[] = {-1, -7, INT32_MIN, INT32_MAX};
        token = kStrange[draw(0, 3)];
      } else if (strange && draw(0, 200) == 0) {
        token = length;
      }
      row[slot] = token;
    }
  }

  std::mt19937 random_{20241130};
};

TEST_P(EveryBackend, GivesTheScalarAnswersOnRowsOfEveryWidth) {
  for (std::size_t topk = 0; topk <= 700; topk += topk < 300 ? 1 : 37) {
    for (int repeat = 0; repeat < 6; ++repeat) {
      const std::size_t num_segments = draw(0, 2) == 0 ? 64 : draw(1, 64);
      const std::size_t row_stride = topk + draw(0, 5);
      const std::vector<std::int32_t> lens{draw_length(num_segments), draw_length(num_segments)};
      std::vector<std::int32_t> rows(row_stride + topk, kUntouched);
      for (std::size_t row = 0; row < 2; ++row) {
        fill_row(rows.data() + row * row_stride, topk, lens[row], num_segments);
      }
      ASSERT_NO_FATAL_FAILURE(expect_scalar_answers(rows, topk, row_stride, lens, num_segments));
    }
  }
}

TEST_P(EveryBackend, GivesTheScalarAnswersOnWideRows) {
  for (int repeat = 0; repeat < 600; ++repeat) {
    const std::size_t topk = 1024 + 128 * draw(0, 8) + (draw(0, 1) == 0 ? 0 : draw(0, 127));
    const std::size_t num_segments = draw(0, 1) == 0 ? 64 : draw(1, 64);
    const std::vector<std::int32_t> lens{draw_length(num_segments)};
    std::vector<std::int32_t> row(topk);
    fill_row(row.data(), topk, lens[0], num_segments);
    ASSERT_NO_FATAL_FAILURE(expect_scalar_answers(row, topk, topk, lens, num_segments));
  }
}

// On both sides of where each reciprocal's range ends, every segment but one by its first and last token in turn: 2^26
// is the last length of the 52-bit one, 2^25 the last that the 32-bit one holds for whatever the remainder (S = 64),
// 47458303 the first that it fails for.
TEST_P(EveryBackend, GivesTheScalarAnswersWhereAReciprocalsRangeEnds) {
  constexpr std::size_t kTopk = 2 * 64 * 4;
  for (const std::int32_t length : {1 << 25, (1 << 25) + 1, 47458302, 47458303, 47872575, (1 << 26) - 1, 1 << 26,
                                    (1 << 26) + 1, (1 << 27) - 1, INT32_MAX - 1, INT32_MAX}) {
    for (const std::size_t num_segments : {64u, 63u, 33u, 7u}) {
      for (std::size_t missing = 0; missing < num_segments; missing += 5) {
        std::vector<std::int32_t> row(kTopk, -1);
        for (std::size_t slot = 0; slot < 2 * num_segments; ++slot) {
          const std::size_t segment = slot / 2 == missing ? (missing + 1) % num_segments : slot / 2;
          const auto len = static_cast<std::uint64_t>(length);
          row[kTopk - 1 - slot] =
              static_cast<std::int32_t>(slot % 2 == 0 ? segment_edge(segment, len, num_segments)
                                                      : segment_edge(segment + 1, len, num_segments) - 1);
        }
        ASSERT_NO_FATAL_FAILURE(expect_scalar_answers(row, kTopk, kTopk, {length}, num_segments));
      }
    }
  }
}

// Of such a batch the next row is fetched while this one is read; the last row has none.
TEST_P(EveryBackend, GivesTheScalarAnswersOnBatchesBeyondTheNearCaches) {
  for (const std::size_t rows_count : {std::size_t{33}, std::size_t{70}}) {
    const std::size_t topk = 2048 + draw(0, 3);
    const std::size_t row_stride = topk + draw(0, 5);
    std::vector<std::int32_t> lens;
    std::vector<std::int32_t> rows((rows_count - 1) * row_stride + topk, kUntouched);
    for (std::size_t row = 0; row < rows_count; ++row) {
      lens.push_back(draw_length(64));
      fill_row(rows.data() + row * row_stride, topk, lens.back(), 64);
    }
    ASSERT_NO_FATAL_FAILURE(expect_scalar_answers(rows, topk, row_stride, lens, 64));
  }
}

// One token of an otherwise missing segment, in each slot in turn: no block, vector or lane may be passed over.
TEST_P(EveryBackend, SeesASegmentsOnlyTokenWhateverItsSlot) {
  constexpr std::size_t kTopk = 128 * 6 + 13;
  constexpr std::int32_t kLength = 100000;
  for (const std::uint64_t only : {0u, 1u, 30u, 62u, 63u}) {
    std::vector<std::int32_t> row(kTopk);
    for (std::size_t slot = 0; slot < kTopk; ++slot) {
      const std::uint64_t segment = slot % 64 == only ? (only + 1) % 64 : slot % 64;
      row[slot] = static_cast<std::int32_t>(segment_edge(segment, kLength, 64));
    }
    for (std::size_t slot = 0; slot < kTopk; ++slot) {
      std::vector<std::int32_t> with_it(row);
      with_it[slot] = static_cast<std::int32_t>(segment_edge(only + 1, kLength, 64) - 1);
      std::vector<std::int32_t> witnesses(64, kUntouched);
      GetParam()->witness_indices({with_it.data(), kTopk, kTopk, &kLength, 1}, 64, witnesses.data());
      ASSERT_EQ(std::ranges::count(witnesses, -1), 64) << "segment " << only << " slot " << slot;
    }
  }
}

// One token of each segment in turn, in a row that shows only three others from one end to the other: the many missing
// ones are looked up in a table then, in which each has its own bit, and which a token of the three must not seem to be
// in, or it would never be relied on.
TEST_P(EveryBackend, SeesEachOfManyMissingSegmentsByItsOnlyToken) {
  constexpr std::size_t kTopk = 128 * 24;
  for (const std::int32_t length : {100000, 1000, 40000000}) {
    for (int repeat = 0; repeat < 16; ++repeat) {
      const std::uint64_t shown[] = {draw(1, 20), draw(22, 40), draw(42, 62)};
      std::vector<std::int32_t> row(kTopk);
      for (std::size_t slot = 0; slot < kTopk; ++slot) {
        row[slot] = static_cast<std::int32_t>(segment_edge(shown[slot % 3], static_cast<std::uint64_t>(length), 64));
      }
      for (std::uint64_t only = 0; only < 64; ++only) {
        std::vector<std::int32_t> with_it(row);
        with_it[draw(1000, 2600)] =
            static_cast<std::int32_t>(segment_edge(only + 1, static_cast<std::uint64_t>(length), 64) - 1);
        ASSERT_NO_FATAL_FAILURE(expect_scalar_answers(with_it, kTopk, kTopk, {length}, 64)) << "segment " << only;
      }
    }
  }
}

TEST_P(EveryBackend, SeesATokenPastTheEndWhateverItsSlot) {
  constexpr std::size_t kTopk = 128 * 4 + 9;
  constexpr std::int32_t kLength = 5000;
  for (std::size_t slot = 0; slot < kTopk; ++slot) {
    std::vector<std::int32_t> row(kTopk, 17);
    row[slot] = slot % 2 == 0 ? kLength : INT32_MAX;
    std::vector<std::int32_t> witnesses(8, kUntouched);
    GetParam()->witness_indices({row.data(), kTopk, kTopk, &kLength, 1}, 8, witnesses.data());
    const std::vector<std::int32_t> want{-1, 625, 1250, 1875, 2500, 3125, 3750, -1};
    ASSERT_EQ(witnesses, want) << "slot " << slot;
  }
}

// Every other segment stays empty but for one token far from both ends of the row: too many runs to hunt for one by
// one. It is the first or the last token of its segment, or one at or past the context's end, which counts for the last
// segment where all of S exist. The other tokens are all first ones or all last ones, so that a reciprocal which is off
// either way cannot take one of them for a token of a missing segment.
TEST_P(EveryBackend, SeesALoneTokenAmongManyMissingSegments) {
  constexpr std::size_t kTopk = 1500;
  // The last two of these are where a number of 32 bits takes a segment's last token for one of the next, but barely.
  for (const std::int32_t length : {200, 1000, 4099, 131072, 131071, 1000003, (1 << 20) - 1, 1 << 20, 3000017, 5000011,
                                    16777213, 33554393, 40000003, 1715018, 7159288}) {
    for (const std::uint64_t num_segments : {64u, 63u, 50u, 33u, 16u}) {
      const auto len = static_cast<std::uint64_t>(length);
      std::vector<std::int32_t> lone_tokens{length, length + 1, length + length / 3, 2 * length, INT32_MAX};
      for (std::uint64_t segment = 1 - num_segments % 2; segment < num_segments; segment += 2) {
        lone_tokens.push_back(static_cast<std::int32_t>(segment_edge(segment, len, num_segments)));
        lone_tokens.push_back(static_cast<std::int32_t>(segment_edge(segment + 1, len, num_segments) - 1));
      }
      for (const bool last_ones : {false, true}) {
        std::vector<std::int32_t> row(kTopk);
        for (std::size_t slot = 0; slot < kTopk; ++slot) {
          const std::uint64_t segment = 2 * (slot % (num_segments / 2)) + (num_segments % 2);
          row[slot] = static_cast<std::int32_t>(last_ones ? segment_edge(segment + 1, len, num_segments) - 1
                                                          : segment_edge(segment, len, num_segments));
        }
        for (const std::int32_t token : lone_tokens) {
          std::vector<std::int32_t> with_it(row);
          with_it[draw(200, 1000)] = token;
          ASSERT_NO_FATAL_FAILURE(expect_scalar_answers(with_it, kTopk, kTopk, {length}, num_segments));
        }
      }
    }
  }
}

// The same in a stretch that holds nothing else: tokens past the context's end have numbers of S_eff and above, which
// belong to no segment that is searched for by itself.
TEST_P(EveryBackend, SeesTokensPastTheEndWhereNothingElseIs) {
  constexpr std::size_t kTopk = 128 * 20;
  for (const std::int32_t length : {1000, 131072, 1000003}) {
    for (const std::uint64_t num_segments : {64u, 50u, 33u, 16u}) {
      const auto len = static_cast<std::uint64_t>(length);
      std::vector<std::int32_t> row(kTopk);
      for (std::size_t slot = 0; slot < kTopk; ++slot) {
        const std::uint64_t segment = 2 * (slot % (num_segments / 2)) + (num_segments % 2);
        row[slot] = static_cast<std::int32_t>(segment_edge(segment, len, num_segments));
      }
      for (const std::int32_t past : {length, length + length / 60, length + length / 5, 3 * length, INT32_MAX}) {
        for (std::size_t begin = 256; begin < 1024; begin += 128) {  // one of them is where a stretch begins
          std::vector<std::int32_t> with_it(row);
          std::fill_n(with_it.begin() + static_cast<std::ptrdiff_t>(begin), 256, past);
          ASSERT_NO_FATAL_FAILURE(expect_scalar_answers(with_it, kTopk, kTopk, {length}, num_segments))
              << "token " << past << " from slot " << begin;
        }
      }
    }
  }
}

// A few runs of neighbouring segments stay empty but for one token in the middle of the row: the first or the last of
// its run, or the one next to those. Runs are searched for by the interval of their tokens, with those at both ends of
// the context as one. The other tokens are all first ones or all last ones of their segments, so that an interval which
// is off either way is not taken for one that holds some of them.
TEST_P(EveryBackend, SeesTheOutermostTokensOfEachMissingRun) {
  constexpr std::size_t kTopk = 128 * 12;
  using Runs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // [first, last] segments
  const Runs kRuns[] = {{{10, 12}},         {{10, 12}, {40, 43}},         {{0, 1}},
                        {{0, 0}, {30, 32}}, {{30, 32}, {60, 63}},         {{0, 1}, {62, 63}},
                        {{63, 63}},         {{0, 2}, {20, 20}, {60, 63}}, {{0, 0}, {33, 34}, {63, 63}}};
  for (const std::uint64_t length : {1000u, 100000u, 40000000u, 0x7FFFFFFFu}) {
    for (const Runs& runs : kRuns) {
      for (const bool last_ones : {false, true}) {
        std::vector<std::int32_t> row;
        while (row.size() < kTopk) {
          for (std::uint64_t segment = 0; segment < 64; ++segment) {
            const auto is_in = [&](const auto& run) { return run.first <= segment && segment <= run.second; };
            if (std::ranges::any_of(runs, is_in)) continue;
            row.push_back(static_cast<std::int32_t>(last_ones ? segment_edge(segment + 1, length, 64) - 1
                                                              : segment_edge(segment, length, 64)));
          }
        }
        row.resize(kTopk);
        for (const auto& [first, last] : runs) {
          const auto begin = static_cast<std::int32_t>(segment_edge(first, length, 64));
          const auto back = static_cast<std::int32_t>(segment_edge(last + 1, length, 64) - 1);
          for (const std::int32_t token : {begin, begin + 1, back - 1, back}) {
            std::vector<std::int32_t> with_it(row);
            with_it[draw(400, 1100)] = token;
            ASSERT_NO_FATAL_FAILURE(
                expect_scalar_answers(with_it, kTopk, kTopk, {static_cast<std::int32_t>(length)}, 64))
                << "token " << token;
          }
        }
      }
    }
  }
}

#if KVWITNESS_ASSERTIONS
TEST_P(EveryBackend, AbortsAtACallOutsideItsContract) {
  std::vector<std::int32_t> row(64), out(65);
  const std::int32_t context_len = 64;
  const RowBatch batch{row.data(), 64, 64, &context_len, 1};
  EXPECT_DEATH(GetParam()->witness_indices(batch, 65, out.data()), "num_segments <= kMaxMergeSegments.*: 65");
  EXPECT_DEATH(GetParam()->apply(batch, {60, 64, 5}, out.data(), 64), "plan.budget <= .*: 60 5 64");
}
#endif

INSTANTIATE_TEST_SUITE_P(Backends, EveryBackend, testing::ValuesIn(runnable_backends()), backend_name);

TEST(Backends, VectorBackendsAreAmongThoseThatCanRunHere) {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("ssse3")) {
    GTEST_SKIP() << "this processor has no SSSE3";
  }
  EXPECT_TRUE(find_backend("ssse3").has_value());
#elif !defined(__aarch64__)
  GTEST_SKIP() << "no vector backend for this architecture";
#endif
  EXPECT_GE(runnable_backends().size(), 2u);
}

}  // namespace
}  // namespace kvwitness
