// The host checks of the CUDA interface and what a call comes to, without a GPU.
#include "kernels/src/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace kvwitness::kernels {
namespace {

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

// The arguments of a call that passes every check; each test spoils some.
struct WitnessCall {
  std::array<std::int32_t, 64> tokens{};
  std::array<std::int32_t, 16> lens{};
  std::array<std::int32_t, 16> starts{};
  std::array<std::int32_t, 256> output{};
  kvw_cuda_lengths lengths{lens.data(), starts.data(), 4, 1, 1};
  const kvw_cuda_lengths* lengths_argument = &lengths;
  const std::int32_t* learned = tokens.data();
  std::int64_t learned_len = 32;
  std::int64_t row_stride = 8;
  std::int64_t topk = 8;
  std::int64_t rows = 4;
  std::int64_t num_segments = 16;
  std::int32_t* out = output.data();
  std::int64_t out_len = 64;
  IndicesPlan plan;

  WitnessCall() = default;
  WitnessCall(const WitnessCall&) = delete;
  WitnessCall& operator=(const WitnessCall&) = delete;

  kvw_status run() {
    return plan_witness_indices(learned, learned_len, row_stride, topk, lengths_argument, rows, num_segments, out,
                                out_len, plan);
  }
  bool launches() const { return plan.few.has_value() || plan.many.has_value(); }
};

struct ApplyCall : WitnessCall {
  std::int64_t learned_keep = 4;
  std::int64_t max_replacements = 16;
  std::int64_t out_row_stride = 8;
  MergePlan merge;

  kvw_status run() {
    return plan_apply(learned, learned_len, row_stride, topk, lengths_argument, rows, learned_keep, num_segments,
                      max_replacements, out, out_len, out_row_stride, merge);
  }
  bool launches() const { return merge.has_value(); }
};

struct ScatterCall : WitnessCall {
  MergePlan merge;

  kvw_status run() {
    return plan_scatter(const_cast<std::int32_t*>(learned), learned_len, row_stride, topk, lengths_argument, rows,
                        num_segments, merge);
  }
  bool launches() const { return merge.has_value(); }
};

template <class Call>
class EveryCall : public testing::Test {
 protected:
  Call call_;

  void refuses(kvw_status status, const std::string& message) {
    EXPECT_EQ(call_.run(), status) << last_error();
    EXPECT_THAT(last_error(), testing::HasSubstr(message));
    EXPECT_FALSE(call_.launches());
  }
  void launches() {
    EXPECT_EQ(call_.run(), KVW_OK) << last_error();
    EXPECT_TRUE(call_.launches());
  }
  void passes_without_a_launch() {
    EXPECT_EQ(call_.run(), KVW_OK) << last_error();
    EXPECT_FALSE(call_.launches());
  }
};
using Calls = testing::Types<WitnessCall, ApplyCall, ScatterCall>;
TYPED_TEST_SUITE(EveryCall, Calls);

TYPED_TEST(EveryCall, LaunchesWhereEveryArgumentIsRight) {
  this->launches();
}

TYPED_TEST(EveryCall, RefusesEachNegativeCountByName) {
  const auto refuses = [this](std::int64_t& count, std::int64_t value, const char* message) {
    const std::int64_t kept = count;
    count = value;
    this->refuses(KVW_NEGATIVE_COUNT, message);
    count = kept;
  };
  refuses(this->call_.learned_len, -1, "_len is -1; it must be at least 0");
  refuses(this->call_.row_stride, -8, "row_stride is -8; it must be at least 0");
  refuses(this->call_.topk, -2, "topk is -2; it must be at least 0");
  refuses(this->call_.lengths.count, -1, "lengths->count is -1; it must be at least 0");
  refuses(this->call_.lengths.stride, 0, "lengths->stride is 0; it must be at least 1");
  refuses(this->call_.lengths.next_n, 0, "lengths->next_n is 0; it must be at least 1");
  refuses(this->call_.rows, -4, "rows is -4; it must be at least 0");
  refuses(this->call_.num_segments, -1, "num_segments is -1; it must be at least 0");
}

TYPED_TEST(EveryCall, ReportsTheFirstNegativeCountInTheOrderOfTheArguments) {
  this->call_.num_segments = -1;
  this->refuses(KVW_NEGATIVE_COUNT, "num_segments is -1");
  this->call_.rows = -1;
  this->refuses(KVW_NEGATIVE_COUNT, "rows is -1");
  this->call_.lengths.next_n = -1;
  this->refuses(KVW_NEGATIVE_COUNT, "lengths->next_n is -1");
  this->call_.topk = -1;
  this->refuses(KVW_NEGATIVE_COUNT, "topk is -1");
  this->call_.learned_len = -1;
  this->refuses(KVW_NEGATIVE_COUNT, "_len is -1");
}

TYPED_TEST(EveryCall, NeedsAsManyTokensAsTheRowsSpanAndTakesMore) {
  this->call_.learned_len = 31;
  this->refuses(KVW_ROWS_MISMATCH, "_len is 31; 4 rows of topk 8 at a stride of 8 need 32 elements");
  this->call_.learned_len = 33;
  this->launches();
  this->call_.row_stride = 10;
  this->call_.learned_len = 37;
  this->refuses(KVW_ROWS_MISMATCH, "need 38 elements");
  this->call_.learned_len = 38;
  this->launches();
}

TYPED_TEST(EveryCall, NeedsALengthForEachRequest) {
  this->call_.lengths.count = 3;
  this->refuses(KVW_ROWS_MISMATCH, "lengths->count is 3; 4 rows at next_n 1 need 4");
  this->call_.lengths.next_n = 3;
  this->call_.lengths.count = 1;
  this->refuses(KVW_ROWS_MISMATCH, "lengths->count is 1; 4 rows at next_n 3 need 2");
  this->call_.lengths.count = 2;
  this->launches();
  this->call_.lengths.next_n = kHuge;
  this->call_.lengths.count = 1;
  this->launches();
}

TYPED_TEST(EveryCall, RefusesLengthsThatNoMemoryHolds) {
  this->call_.lengths.stride = kHuge / 4;
  this->refuses(KVW_ROWS_MISMATCH,
                "lengths->stride is 2305843009213693951; 4 lengths then span more than PTRDIFF_MAX bytes");
}

TYPED_TEST(EveryCall, PutsTheMissingTokensBeforeTheMissingLengths) {
  this->call_.lengths.count = 0;
  this->call_.learned_len = 0;
  this->refuses(KVW_ROWS_MISMATCH, "_len is 0");
}

TYPED_TEST(EveryCall, PutsTheRowsBeforeTheSegments) {
  this->call_.num_segments = std::is_same_v<TypeParam, ScatterCall> ? 65 : 0;
  this->refuses(KVW_SEGMENTS_OUT_OF_RANGE, "num_segments is");
  this->call_.lengths.count = 0;
  this->refuses(KVW_ROWS_MISMATCH, "lengths->count is 0");
}

TYPED_TEST(EveryCall, RefusesNullPointersInTheOrderOfTheArguments) {
  this->call_.row_stride = 7;  // checked later
  this->call_.lengths.lens = nullptr;
  this->refuses(KVW_NULL_POINTER, "lengths->lens is null");
  this->call_.lengths_argument = nullptr;
  this->refuses(KVW_NULL_POINTER, "lengths is null");
  this->call_.learned = nullptr;
  this->refuses(KVW_NULL_POINTER, std::is_same_v<TypeParam, ScatterCall> ? "topk_indices is null" : "learned is null");
}

TYPED_TEST(EveryCall, TakesLengthsWithoutStarts) {
  this->call_.lengths.starts = nullptr;
  this->launches();
}

TYPED_TEST(EveryCall, RefusesRowsThatWouldOverlap) {
  this->call_.row_stride = 7;
  this->refuses(KVW_ROW_STRIDE, "row_stride is 7; with 4 rows it must be at least topk, which is 8");
  this->call_.rows = 1;
  this->launches();
}

TYPED_TEST(EveryCall, BlamesTheStrideForASpanThatNoMemoryHolds) {
  this->call_.learned_len = kHuge;
  this->call_.row_stride = kHuge / 4;
  this->refuses(KVW_ROW_STRIDE, "then span more than PTRDIFF_MAX bytes");
}

TYPED_TEST(EveryCall, BlamesTheRowsForPackedTokensThatNoMemoryHolds) {
  this->call_.learned_len = kHuge;
  this->call_.topk = this->call_.row_stride = kHuge / 4;
  this->refuses(KVW_ROWS_MISMATCH, "need 9223372036854775804 elements");
  this->call_.rows = 1;
  this->call_.row_stride = 0;
  this->call_.topk += 1;
  this->refuses(KVW_ROWS_MISMATCH, "need 2305843009213693952 elements");
}

TYPED_TEST(EveryCall, LaunchesNothingWithoutRowsAndNeedsNoBuffers) {
  this->call_.rows = 0;
  this->call_.learned = nullptr;
  this->call_.lengths_argument = nullptr;
  this->call_.out = nullptr;
  this->call_.learned_len = this->call_.out_len = 0;
  this->passes_without_a_launch();
}

TYPED_TEST(EveryCall, RefusesWithoutRowsToo) {
  this->call_.rows = 0;
  this->call_.num_segments = std::is_same_v<TypeParam, ScatterCall> ? 65 : 0;
  this->refuses(KVW_SEGMENTS_OUT_OF_RANGE, "num_segments is");
}

TYPED_TEST(EveryCall, LeavesTheMessageAloneWhenItSucceeds) {
  this->call_.topk = -5;
  this->refuses(KVW_NEGATIVE_COUNT, "topk is -5");
  this->call_.topk = 8;
  this->launches();
  EXPECT_THAT(last_error(), testing::HasSubstr("topk is -5"));
}

class WitnessPlan : public EveryCall<WitnessCall> {};

TEST_F(WitnessPlan, TakesTheKernelForManySegmentsAbove64) {
  call_.num_segments = 64;
  call_.out_len = 256;
  launches();
  EXPECT_TRUE(call_.plan.few.has_value());
  call_.num_segments = 65;
  call_.rows = 3;
  launches();
  ASSERT_TRUE(call_.plan.many.has_value());
  EXPECT_EQ(call_.plan.many->segments.divisor(), 65u);
}

TEST_F(WitnessPlan, RefusesAnOutputThatNoMemoryHolds) {
  call_.num_segments = kHuge / 8;
  refuses(KVW_SEGMENTS_OUT_OF_RANGE, "rows * num_segments int32 elements must fit PTRDIFF_MAX bytes, and rows is 4");
}

TEST_F(WitnessPlan, NeedsRoomForEveryEntry) {
  call_.out_len = 63;
  refuses(KVW_BUFFER_TOO_SMALL, "witnesses_len is 63; it must be at least 64");
  call_.out_len = -1;
  refuses(KVW_NEGATIVE_COUNT, "witnesses_len is -1");
}

TEST_F(WitnessPlan, WritesTheEdgesOfRowsWithoutTokens) {
  call_.topk = 0;
  call_.learned = nullptr;
  call_.learned_len = 0;
  launches();
  call_.out = nullptr;
  refuses(KVW_NULL_POINTER, "witnesses is null");
}

TEST_F(WitnessPlan, MayShareNoByteWithItsInputs) {
  call_.out = call_.tokens.data() + 31;
  refuses(KVW_BUFFER_OVERLAP, "shares bytes with learned at");
  call_.out = call_.lens.data() + 3;
  refuses(KVW_BUFFER_OVERLAP, "shares bytes with lengths->lens at");
  call_.lengths.starts = call_.output.data() + 63;
  call_.out = call_.output.data();
  refuses(KVW_BUFFER_OVERLAP, "shares bytes with lengths->starts at");
  call_.lengths.starts = call_.output.data() + 64;
  launches();
  call_.out_len = 0;
  call_.out = call_.tokens.data();
  refuses(KVW_BUFFER_OVERLAP, "witnesses at");  // before the capacity
}

class ApplyPlan : public EveryCall<ApplyCall> {};

TEST_F(ApplyPlan, RefusesMoreThan64SegmentsAndNone) {
  call_.num_segments = 65;
  refuses(KVW_SEGMENTS_OUT_OF_RANGE, "num_segments is 65; it must be 1 to 64");
  call_.num_segments = 0;
  call_.max_replacements = 0;
  refuses(KVW_SEGMENTS_OUT_OF_RANGE, "num_segments is 0; it must be 1 to 64");
}

TEST_F(ApplyPlan, RefusesToKeepMoreThanTheRowHas) {
  call_.learned_keep = 9;
  refuses(KVW_LEARNED_KEEP_OUT_OF_RANGE, "learned_keep is 9; it must be at most topk, which is 8");
  call_.learned_keep = 8;
  launches();
  EXPECT_EQ(call_.merge->budget, 0);
}

TEST_F(ApplyPlan, ChecksItsOwnCountsInTheirPlaces) {
  call_.out_row_stride = -1;
  refuses(KVW_NEGATIVE_COUNT, "out_row_stride is -1");
  call_.out_len = -1;
  refuses(KVW_NEGATIVE_COUNT, "out_len is -1");
  call_.max_replacements = -1;
  refuses(KVW_NEGATIVE_COUNT, "max_replacements is -1");
  call_.num_segments = -1;
  refuses(KVW_NEGATIVE_COUNT, "num_segments is -1");
  call_.learned_keep = -1;
  refuses(KVW_NEGATIVE_COUNT, "learned_keep is -1");
}

TEST_F(ApplyPlan, BoundsTheBudgetByTheRowTheArgumentAndTheSegments) {
  launches();
  EXPECT_EQ(call_.merge->budget, 4);
  call_.max_replacements = 3;
  launches();
  EXPECT_EQ(call_.merge->budget, 3);
  call_.rows = 1;
  call_.topk = call_.row_stride = call_.learned_len = call_.out_len = call_.out_row_stride = 1000;
  std::vector<std::int32_t> wide(2000);
  call_.learned = wide.data();
  call_.out = wide.data() + 1000;
  call_.max_replacements = kHuge;
  launches();
  EXPECT_EQ(call_.merge->budget, 64);
}

TEST_F(ApplyPlan, WorksInPlaceAtTheSameStrideAlone) {
  call_.out = call_.tokens.data();
  launches();
  call_.out_row_stride = 9;
  call_.out_len = 64;
  refuses(KVW_BUFFER_OVERLAP, "out at");
  call_.rows = 1;
  launches();
  call_.rows = 4;
  call_.out_row_stride = 8;
  call_.out = call_.tokens.data() + 1;
  refuses(KVW_BUFFER_OVERLAP, "shares bytes with learned at");
}

TEST_F(ApplyPlan, CopiesWithoutABudgetAndLeavesRowsInPlaceAlone) {
  call_.max_replacements = 0;
  launches();
  call_.out = call_.tokens.data();
  passes_without_a_launch();
}

TEST_F(ApplyPlan, LaunchesNothingForRowsWithoutSlots) {
  call_.topk = call_.row_stride = call_.learned_keep = 0;
  call_.learned_len = call_.out_len = 0;
  call_.learned = nullptr;
  call_.out = nullptr;
  passes_without_a_launch();
}

TEST_F(ApplyPlan, NeedsRoomForItsRows) {
  call_.out_len = 31;
  refuses(KVW_BUFFER_TOO_SMALL, "out_len is 31; it must be at least 32");
  call_.out_row_stride = 9;
  call_.out_len = 34;
  refuses(KVW_BUFFER_TOO_SMALL, "out_len is 34; it must be at least 35");
  call_.out_row_stride = 7;
  refuses(KVW_ROW_STRIDE, "out_row_stride is 7; with 4 rows it must be at least topk, which is 8");
  call_.out = nullptr;
  refuses(KVW_NULL_POINTER, "out is null");
  // 2^62 elements, whose bytes are 2^64: not a span of none.
  call_.rows = 5;
  call_.learned_len = 40;
  call_.lengths.count = 5;
  call_.out_row_stride = (INT64_C(1) << 60) - 2;
  refuses(KVW_NULL_POINTER, "out is null");
}

class ScatterPlan : public EveryCall<ScatterCall> {};

TEST_F(ScatterPlan, IsSwitchedOffByNoSegmentsWhateverElseIsPassed) {
  call_.num_segments = 0;
  call_.topk = -1;
  call_.rows = -9;
  call_.lengths_argument = nullptr;
  passes_without_a_launch();
}

TEST_F(ScatterPlan, IsAnApplyOfTheTail) {
  call_.num_segments = 3;
  launches();
  EXPECT_EQ(call_.merge->learned_keep, 5);
  EXPECT_EQ(call_.merge->budget, 3);
  EXPECT_EQ(call_.merge->out, call_.learned);
  call_.num_segments = 64;
  launches();
  EXPECT_EQ(call_.merge->learned_keep, 0);
  EXPECT_EQ(call_.merge->budget, 8);
}

TEST_F(ScatterPlan, LaunchesNothingForRowsWithoutSlots) {
  call_.topk = 0;
  call_.learned = nullptr;
  passes_without_a_launch();
}

TEST_F(ScatterPlan, MayShareNoByteWithTheLengths) {
  call_.lengths.lens = call_.tokens.data() + 31;
  refuses(KVW_BUFFER_OVERLAP, "topk_indices at");
  call_.lengths.lens = call_.tokens.data() + 32;
  launches();
}

TEST(Variant, IsAWarpForManyRowsAndSoonerForShortOnes) {
  EXPECT_EQ(choose_variant(1, 2048), Variant::kBlock);
  EXPECT_EQ(choose_variant(2048, 2048), Variant::kBlock);
  EXPECT_EQ(choose_variant(2049, 2048), Variant::kWarp);
  EXPECT_EQ(choose_variant(2048, 1025), Variant::kBlock);
  EXPECT_EQ(choose_variant(257, 1024), Variant::kWarp);
  EXPECT_EQ(choose_variant(256, 1024), Variant::kBlock);
  EXPECT_EQ(choose_variant(1, 0), Variant::kBlock);
}

TEST(Grid, HasABlockForEveryRowUpToWhatALaunchTakes) {
  EXPECT_EQ(grid_blocks(1, 8), 1u);
  EXPECT_EQ(grid_blocks(8, 8), 1u);
  EXPECT_EQ(grid_blocks(9, 8), 2u);
  EXPECT_EQ(grid_blocks(65536, 1), 65536u);
  EXPECT_EQ(grid_blocks(kHuge, 1), 0x7FFFFFFFu);
}

// The definition, in arithmetic that cannot wrap.
std::int32_t defined_length(std::int32_t end, std::int32_t start, std::int64_t next_n, std::int64_t row) {
  const __int128 length = static_cast<__int128>(end) - start - next_n + row % next_n + 1;
  return static_cast<std::int32_t>(length < INT32_MIN ? INT32_MIN : length > INT32_MAX ? INT32_MAX : length);
}

TEST(RowLengths, FollowTheirDefinitionForEveryForm) {
  const std::vector<std::int32_t> ends = {100, 7, INT32_MAX, INT32_MIN, 0, -5, 1 << 20, 3, 90, 12};
  const std::vector<std::int32_t> starts = {3, 7, INT32_MIN, INT32_MAX, 0, 8, -1, 2, -40, 11};
  for (const std::int64_t stride : {1, 2}) {
    for (const std::int64_t next_n :
         {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, std::int64_t{7}, std::int64_t{1} << 31, kHuge}) {
      const std::int64_t requests = 10 / stride;
      const std::int64_t rows = next_n < 100 ? requests * next_n - (next_n > 1 ? 1 : 0) : 50;
      const RowLengths windows(ends.data(), starts.data(), stride, next_n, rows);
      const RowLengths lengths(ends.data(), nullptr, stride, next_n, rows);
      for (std::int64_t row = 0; row < rows; ++row) {
        const auto at = static_cast<std::size_t>(row / next_n * stride);
        EXPECT_EQ(windows.context_len(row), defined_length(ends[at], starts[at], next_n, row)) << next_n << " " << row;
        EXPECT_EQ(lengths.context_len(row), defined_length(ends[at], 0, next_n, row)) << next_n << " " << row;
      }
    }
  }
}

TEST(RowLengths, FindTheRequestOfARowBeyond2To32) {
  const std::vector<std::int32_t> ends = {10, 20, 30};
  const std::int64_t next_n = (std::int64_t{1} << 40) + 3;
  const RowLengths lengths(ends.data(), nullptr, 1, next_n, 3 * next_n);
  EXPECT_EQ(lengths.context_len(next_n - 1), 10);
  EXPECT_EQ(lengths.context_len(2 * next_n - 1), 20);
  EXPECT_EQ(lengths.context_len(3 * next_n - 2), 29);
  EXPECT_EQ(lengths.context_len(next_n), INT32_MIN);
}

}  // namespace
}  // namespace kvwitness::kernels
