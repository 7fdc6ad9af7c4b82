// Preconditions, in a program that switches assertions on for itself whatever the build is: each is broken in turn. The
// sources under test are compiled into it.
#include "kvwitness/assertions.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "kernels/src/arguments.h"
#include "kernels/src/plan.h"
#include "kvwitness/gate.h"
#include "kvwitness/segments.h"
#include "lib/src/row.h"
#include "lib/src/row_pass.h"
#include "lib/src/scalar.h"

static_assert(KVWITNESS_ASSERTIONS == 1);

namespace kvwitness {
namespace {

TEST(Assertions, NameFileLineConditionAndValues) {
  const std::int32_t below = -5;
  const std::uint64_t above = ~std::uint64_t{0};
  EXPECT_DEATH(KVWITNESS_ASSERT(below >= 0, below, above),
               "assertions_test.cc:[0-9]+: assertion failed: below >= 0, below, above: -5 18446744073709551615\n");
  EXPECT_DEATH(KVWITNESS_ASSERT(below >= 0), "assertions_test.cc:[0-9]+: assertion failed: below >= 0:\n");
  KVWITNESS_ASSERT(below < 0, below);
}

TEST(Assertions, HoldInConstantExpressions) {
  static_assert(SegmentCount(64).edges(1 << 20).edge(64) == 1 << 20);
  static_assert(SegmentReciprocal(16, 4).segment_of(15) == 3);
}

TEST(Assertions, GuardTheSegmentArithmetic) {
  EXPECT_DEATH(detail::divide({7, 0}, 7), "dividend.high < divisor");
  EXPECT_DEATH(SegmentReciprocal(0, 0), "is_int32_partition");
  EXPECT_DEATH(SegmentReciprocal(3, 4), "is_int32_partition");
  EXPECT_DEATH(SegmentReciprocal(kInt32Limit, 4), "is_int32_partition");
  EXPECT_DEATH(SegmentReciprocal(4, 4).segment_of(std::uint64_t{1} << 62), "token < ");
  EXPECT_DEATH(SegmentReciprocal::by_long_division(3, 4), "is_int32_partition");
  EXPECT_DEATH(detail::bit_width(0), "value >= 1");
  EXPECT_DEATH(NarrowSegmentReciprocal(100, 65), "is_masked_partition.*: 100 65");
  EXPECT_DEATH(NarrowSegmentReciprocal(0, 0), "is_masked_partition");
  EXPECT_DEATH(detail::reciprocal_below(0x7FFFFFFFu), "d >= kInt32Limit");
  EXPECT_DEATH(SegmentReciprocal52(64, 64), "covers");
  EXPECT_DEATH(NewtonSegmentReciprocal::covers(3, 4), "is_int32_partition");
  EXPECT_DEATH(NewtonSegmentReciprocal(4, 0), "value >= 1");
  EXPECT_DEATH(FixedDivisor(0), "divisor >= 1");
  EXPECT_DEATH(FixedDivisor(3).quotient(std::uint64_t{1} << 63), "x < ");
  EXPECT_DEATH(SegmentEdges(0, 0), "is_masked_partition");
  EXPECT_DEATH(SegmentEdges(100, 65), "is_masked_partition");
  EXPECT_DEATH(SegmentEdges(100, 64).edge(65), "segment <= kMaxMergeSegments, segment: 65");
  EXPECT_DEATH(SegmentCount(0), "num_segments >= 1");
  EXPECT_DEATH(SegmentCount(65), "num_segments <= kMaxMergeSegments");
  EXPECT_DEATH(SegmentCount(4).edges(0), "context_len >= 1");
  EXPECT_DEATH(context_len_of_request(1, 2, 2), "index < next_n");
  EXPECT_DEATH(detail::RowPartition(4, 65), "num_segments <= kMaxMergeSegments");
}

// A call of a backend that keeps to the contract; each test breaks it in one way.
struct BackendCall {
  std::array<std::int32_t, 16> rows{};
  std::array<std::int32_t, 2> lens{16, 16};
  std::array<std::int32_t, 16> out{};
  RowBatch batch{rows.data(), 8, 8, lens.data(), 2};
  MergePlan plan{4, 4, 4};
  std::size_t out_row_stride = 8;
  std::int32_t* to = out.data();

  void indices(std::size_t num_segments) { detail::kScalarBackend.witness_indices(batch, num_segments, to); }
  void apply() { detail::kScalarBackend.apply(batch, plan, to, out_row_stride); }
};

TEST(Assertions, PassTheBackendsCallsThatKeepToTheContract) {
  BackendCall call;
  call.indices(8);
  call.apply();
  call.to = call.rows.data();
  call.apply();
  call.batch.rows = 1;
  call.out_row_stride = 0;
  call.apply();
}

template <class Break>
void expect_death_of_apply(Break break_contract, const char* condition) {
  BackendCall call;
  break_contract(call);
  EXPECT_DEATH(call.apply(), condition);
}

TEST(Assertions, GuardTheBackends) {
  EXPECT_DEATH(BackendCall().indices(0), "num_segments >= 1");
  EXPECT_DEATH(BackendCall().indices(65), "num_segments <= kMaxMergeSegments");
  expect_death_of_apply([](BackendCall& call) { call.batch.rows = 0; }, "batch.rows >= 1");
  expect_death_of_apply([](BackendCall& call) { call.batch.context_lens = nullptr; }, "context_lens != nullptr");
  expect_death_of_apply([](BackendCall& call) { call.batch.learned = nullptr; }, "learned != nullptr");
  expect_death_of_apply([](BackendCall& call) { call.batch.row_stride = 7; }, "row_stride >= batch.topk.*: 8 7");
  expect_death_of_apply([](BackendCall& call) { call.plan.num_segments = 0; }, "plan.num_segments >= 1");
  expect_death_of_apply([](BackendCall& call) { call.plan.num_segments = 65; },
                        "plan.num_segments <= kMaxMergeSegments");
  expect_death_of_apply([](BackendCall& call) { call.plan.budget = 0; }, "plan.budget >= 1");
  expect_death_of_apply([](BackendCall& call) { call.plan.budget = 5; },
                        "plan.budget <= batch.topk - plan.learned_keep");
  expect_death_of_apply([](BackendCall& call) { call.plan.learned_keep = 9; }, "plan.learned_keep <= batch.topk");
  expect_death_of_apply([](BackendCall& call) { call.out_row_stride = 7; }, "out_row_stride >= batch.topk");
  expect_death_of_apply([](BackendCall& call) { call.to = nullptr; }, "output != nullptr");
  expect_death_of_apply([](BackendCall& call) { call.to = call.rows.data() + 1; }, "overlap.*batch.learned");
  expect_death_of_apply([](BackendCall& call) { call.batch.context_lens = call.out.data() + 14; },
                        "overlap.*batch.context_lens");
  expect_death_of_apply(
      [](BackendCall& call) {
        call.to = call.rows.data();
        call.out_row_stride = 9;
      },
      "out_row_stride == batch.row_stride");
}

TEST(Assertions, GuardThePasses) {
  BackendCall call;
  EXPECT_DEATH(detail::pass_witness_indices(detail::kScalarBackend, call.batch, 0, call.to), "num_segments >= 1");
  EXPECT_DEATH(detail::pass_apply(detail::kScalarBackend, call.batch, 9, 4, 4, call.to, 8), "learned_keep <= ");
  EXPECT_DEATH(detail::pass_apply(detail::kScalarBackend, call.batch, 4, 65, 4, call.to, 8), "num_segments >= 1 &&");
}

TEST(Assertions, GuardThePlansOfKernels) {
  const std::int32_t len = 1;
  EXPECT_DEATH(kernels::RowLengths(&len, nullptr, 1, 0, 1), "next_n >= 1.*: 1 0 1");
  EXPECT_DEATH(kernels::RowLengths(&len, nullptr, 0, 1, 1), "stride >= 1");
  EXPECT_DEATH(kernels::RowLengths(&len, nullptr, 1, 1, 0), "rows >= 1");
  EXPECT_DEATH(kernels::RowLengths(&len, nullptr, 1, 1, 1).context_len(-1), "row >= 0");
  EXPECT_DEATH(kernels::grid_blocks(0, 1), "rows >= 1");
}

}  // namespace
}  // namespace kvwitness
