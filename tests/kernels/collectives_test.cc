// The device collectives by themselves, on the CPU executor.
#include <gtest/gtest.h>
#include <kvwitness/simt.h>

#include <cstdint>
#include <kvwitness/witness.cuh>
#include <utility>
#include <vector>

#include "kernels/src/kernels.cuh"

namespace kvwitness {
namespace {

// Counts how often each slot is consumed as a thread's own with its number, and what other vectors hold that no slot
// has.
template <int kThreads, int kVectors>
__global__ void count_slots(const std::int32_t* row, std::int64_t topk, int* counts, int* foreign) {
  RowTokens<kThreads, kVectors> tokens(row, topk, static_cast<int>(threadIdx.x));
  const auto take = [&](std::int64_t slot, std::int32_t token) {
    atomicAdd(counts + slot, 1);
    if (token != static_cast<std::int32_t>(slot) + 1000) {
      atomicAdd(foreign, 1);
    }
  };
  tokens.consume(
      [&](std::int64_t slot, const device::TokenVector(&vectors)[kVectors], int own) {
        if (own < 0 || own > kVectors) {
          atomicAdd(foreign, 1);
        }
        for (int i = 0; i < kVectors; ++i) {
          for (int token = 0; token < 4; ++token) {
            const std::int32_t found = vectors[i].tokens[token];
            if (i < own) {
              take(slot + i * RowTokens<kThreads, kVectors>::kSlotStep + token, found);
            } else if (found < 1000 || found >= static_cast<std::int32_t>(topk) + 1000) {
              atomicAdd(foreign, 1);
            }
          }
        }
      },
      take);
}

template <int kThreads, int kVectors>
void expect_each_slot_once(std::int64_t topk, std::size_t offset_bytes) {
  SCOPED_TRACE(testing::Message() << kThreads << " threads, topk " << topk << ", " << offset_bytes
                                  << " bytes past a boundary");
  std::vector<std::int32_t> tokens;
  for (std::int64_t slot = 0; slot < topk; ++slot) {
    tokens.push_back(static_cast<std::int32_t>(slot) + 1000);
  }
  simt::GlobalBuffer<std::int32_t> row(tokens, 64, offset_bytes);
  simt::GlobalBuffer<int> counts(static_cast<std::size_t>(topk), 0);
  simt::GlobalBuffer<int> foreign(1, 0);
  simt::Config config;
  config.block = kThreads;
  const simt::Report report =
      simt::launch(config, count_slots<kThreads, kVectors>, row.data(), topk, counts.data(), foreign.data());
  ASSERT_TRUE(report.ok()) << report.to_string();
  EXPECT_EQ(counts.to_vector(), std::vector<int>(static_cast<std::size_t>(topk), 1));
  EXPECT_EQ(foreign[0], 0);
}

TEST(RowTokens, DeliverEachSlotOnceForEveryWidthAndAlignment) {
  for (const std::size_t offset_bytes : {0u, 4u, 8u, 12u}) {
    for (std::int64_t topk = 0; topk < 24; ++topk) {
      expect_each_slot_once<32, 4>(topk, offset_bytes);
    }
    for (const std::int64_t topk : {127, 128, 255, 511, 512, 513, 1024, 1029, 2048, 2051, 4100}) {
      expect_each_slot_once<32, 8>(topk, offset_bytes);
      expect_each_slot_once<64, 8>(topk, offset_bytes);
      expect_each_slot_once<96, 3>(topk, offset_bytes);
      expect_each_slot_once<64, 2>(topk, offset_bytes);
      expect_each_slot_once<32, 1>(topk, offset_bytes);
    }
  }
}

// Adds the row's tokens one by one, each by the thread that the stride gives it.
template <class Witness>
__global__ void add_one_by_one(const std::int32_t* row, int topk, int stride, std::int32_t context_len,
                               SegmentCount segments, std::uint64_t* missing, int* witnesses) {
  __shared__ typename Witness::TempStorage storage;
  Witness witness(storage, context_len, segments);
  for (int slot = 0; slot < topk; ++slot) {
    if (slot * stride % static_cast<int>(blockDim.x) == static_cast<int>(threadIdx.x)) {
      witness.add(row[slot]);
    }
  }
  witness.combine();
  missing[threadIdx.x] = witness.missing_segments();
  witness.emit_segments([witnesses](int segment, std::int32_t token) { witnesses[segment] = token; });
}

template <class Witness>
void expect_stream_to_match(unsigned int threads) {
  SCOPED_TRACE(threads);
  // L = 1,000, S = 40: segments of 25 tokens. Occupied: 0, 3 (twice), 39 (by a token past the end too), 7.
  simt::GlobalBuffer<std::int32_t> row(std::vector<std::int32_t>{24, 75, -1, 99, 5000, 175, INT32_MIN});
  for (int stride = 1; stride < 8; stride += 3) {
    simt::GlobalBuffer<std::uint64_t> missing(threads, 0);
    simt::GlobalBuffer<int> witnesses(40, -77);
    simt::Config config;
    config.block = threads;
    config.schedule = simt::random_schedule(threads);
    const simt::Report report = simt::launch(config, add_one_by_one<Witness>, row.data(), 7, stride, 1000,
                                             SegmentCount(40), missing.data(), witnesses.data());
    ASSERT_TRUE(report.ok()) << report.to_string();
    const std::uint64_t occupied = (1ull << 0) | (1ull << 3) | (1ull << 7) | (1ull << 39);
    for (const std::uint64_t mask : missing) {
      EXPECT_EQ(mask, ((1ull << 40) - 1) & ~occupied);
    }
    for (int segment = 0; segment < 40; ++segment) {
      EXPECT_EQ(witnesses[static_cast<std::size_t>(segment)], (occupied >> segment & 1) != 0 ? -1 : segment * 25);
    }
  }
}

TEST(Collectives, TakeTokensInAnyDistributionOverTheirThreads) {
  expect_stream_to_match<WarpWitness>(32);
  expect_stream_to_match<BlockWitness<32>>(32);
  expect_stream_to_match<BlockWitness<64>>(64);
  expect_stream_to_match<BlockWitness<96>>(96);
  expect_stream_to_match<BlockWitness<1024>>(1024);
}

__global__ void mark(const std::int32_t* tokens, int count, std::int32_t context_len, std::uint64_t num_segments,
                     std::uint32_t* marked, int* narrow) {
  const device::SegmentMarker marker(context_len, num_segments);
  for (int i = 0; i < count; ++i) {
    marked[i] = marker.segment_of(tokens[i]);
  }
  *narrow = marker.is_narrow() ? 1 : 0;
}

struct Marks {
  std::vector<std::uint32_t> segments;
  bool narrow;
};

Marks marks_of(const std::vector<std::int32_t>& tokens, std::int32_t context_len, std::uint64_t num_segments) {
  simt::GlobalBuffer<std::int32_t> on_device(tokens);
  simt::GlobalBuffer<std::uint32_t> marked(tokens.size(), 0);
  simt::GlobalBuffer<int> narrow(1, 0);
  const simt::Report report = simt::launch({}, mark, on_device.data(), static_cast<int>(tokens.size()), context_len,
                                           num_segments, marked.data(), narrow.data());
  EXPECT_TRUE(report.ok()) << report.to_string();
  return {marked.to_vector(), narrow[0] == 1};
}

TEST(SegmentMarker, PutsTokensPastTheEndIntoTheLastSegmentAndPaddingNowhere) {
  // A narrow row, one too long for the narrow reciprocal, and one with as many tokens as segments.
  for (const auto& [context_len, is_narrow] :
       {std::pair{1000, true}, {0x7FFFFFFF, false}, {64, false}, {65, false}, {128, true}}) {
    const Marks marks = marks_of(
        {0, context_len - 1, context_len == 0x7FFFFFFF ? context_len : context_len + 1, 0x7FFFFFFF, -1, -7, INT32_MIN},
        context_len, 64);
    EXPECT_EQ(marks.narrow, is_narrow) << context_len;
    EXPECT_EQ(marks.segments[0], 0u) << context_len;
    EXPECT_EQ(marks.segments[1], 63u) << context_len;
    EXPECT_EQ(marks.segments[2], 63u) << context_len;
    EXPECT_EQ(marks.segments[3], 63u) << context_len;
    for (int i = 4; i < 7; ++i) {
      EXPECT_GE(marks.segments[static_cast<std::size_t>(i)], 64u) << context_len;
    }
  }
}

TEST(SegmentMarker, LeavesTokensPastAShortRowOutsideThePartition) {
  const Marks marks = marks_of({0, 4, 5, 63, 64, -1}, 5, 64);
  EXPECT_EQ(marks.segments[0], 0u);
  EXPECT_EQ(marks.segments[1], 4u);
  for (int i = 2; i < 6; ++i) {
    EXPECT_GE(marks.segments[static_cast<std::size_t>(i)], 5u);
  }
}

TEST(SegmentMarker, IsExactAroundTheLimitOfTheNarrowReciprocal) {
  // 2,796,202 is the last length that it covers at 64 segments.
  for (const std::int32_t context_len : {2796202, 2796203}) {
    std::vector<std::int32_t> tokens;
    for (std::int64_t segment = 1; segment < 64; ++segment) {
      const auto edge = static_cast<std::int32_t>((segment * context_len + 63) / 64);
      tokens.push_back(edge - 1);
      tokens.push_back(edge);
    }
    const Marks marks = marks_of(tokens, context_len, 64);
    EXPECT_EQ(marks.narrow, context_len == 2796202);
    for (std::uint32_t i = 0; i < tokens.size(); ++i) {
      EXPECT_EQ(marks.segments[i], (i + 1) / 2) << context_len;
    }
  }
}

__global__ void write_row(const std::int32_t* row, std::int64_t topk, std::int32_t context_len, FixedDivisor segments,
                          std::int32_t* witnesses) {
  RowTokens<64, 2> tokens(row, topk, static_cast<int>(threadIdx.x));
  write_witness_indices(tokens, context_len, segments, witnesses);
}

// Padding is read without sign, and near the largest length it lies at the partition's very end: segment S, behind the
// row's witnesses, where the executor sees a write.
TEST(WriteWitnessIndices, TakesPaddingNextToTheLargestLengthForNoSegment) {
  constexpr std::int32_t kLongest = 0x7FFFFFFF;
  for (const std::uint64_t num_segments : {65u, 100u, 4096u}) {
    for (const std::int32_t padding : {INT32_MIN, INT32_MIN + 1, -1}) {
      simt::GlobalBuffer<std::int32_t> row(std::vector<std::int32_t>{padding, 0});
      simt::GlobalBuffer<std::int32_t> witnesses(num_segments, 0);
      simt::Config config;
      config.block = 64;
      const simt::Report report = simt::launch(config, write_row, row.data(), std::int64_t{2}, kLongest,
                                               FixedDivisor(num_segments), witnesses.data());
      ASSERT_TRUE(report.ok()) << num_segments << ' ' << padding << report.to_string();
      EXPECT_EQ(witnesses[0], -1);
      for (std::uint64_t segment = 1; segment < num_segments; ++segment) {
        ASSERT_EQ(witnesses[segment],
                  static_cast<std::int32_t>((segment * kLongest + num_segments - 1) / num_segments));
      }
    }
  }
}

template <class Witness>
void expect_copies_of_any_alignment(int topk, unsigned int threads) {
  const auto width = static_cast<std::size_t>(topk);
  std::vector<std::int32_t> tokens(width);
  for (std::size_t slot = 0; slot < width; ++slot) {
    tokens[slot] = static_cast<std::int32_t>(slot % 25);  // segment 0 of 4 over 100 tokens
  }
  std::vector<std::int32_t> expected(tokens);
  expected[width - 3] = 25;
  expected[width - 2] = 50;
  expected[width - 1] = 75;
  const simt::GlobalBuffer<std::int32_t> lens(std::vector<std::int32_t>{100});
  for (const std::size_t in_bytes : {0u, 4u, 12u}) {
    for (const std::size_t out_bytes : {0u, 4u, 8u}) {
      simt::GlobalBuffer<std::int32_t> learned(tokens, 64, in_bytes);
      simt::GlobalBuffer<std::int32_t> out(std::vector<std::int32_t>(width, -77), 64, out_bytes);
      const kernels::MergeArguments call{
          learned.data(),  topk,       topk, kernels::RowLengths(lens.data(), nullptr, 1, 1, 1), 1, topk - 3, 3,
          SegmentCount(4), out.data(), topk};
      simt::Config config;
      config.block = threads;
      const simt::Report report = simt::launch(config, kernels::merge_rows<Witness, true>, call);
      ASSERT_TRUE(report.ok()) << report.to_string();
      EXPECT_EQ(out.to_vector(), expected)
          << topk << " slots, " << in_bytes << " and " << out_bytes << " bytes past a boundary";
    }
  }
}

// Vectors of four tokens go out one by one where the copy's rows are aligned in another way than the learned ones.
TEST(MergeRows, CopyToRowsOfAnyAlignment) {
  for (const int topk : {203, 1024, 1100, 2048, 2500}) {
    expect_copies_of_any_alignment<kernels::Warp>(topk, 32);
    expect_copies_of_any_alignment<kernels::Block>(topk, 64);
  }
}

}  // namespace
}  // namespace kvwitness
