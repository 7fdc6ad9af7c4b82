// The contract's order of checks, by examples worked out by hand.
#include "fuzz/c_functions/refusal_rule.h"

#include <gtest/gtest.h>

#include <array>
#include <string_view>

#include "properties/case/status.h"

namespace kvwitness::fuzz {
namespace {

namespace status = harness::status;

// 2 rows of 4 slots, 4 segments, every buffer apart from the others.
RawCall legal(std::string_view function) {
  RawCall call;
  call.function = function_number(function);
  call.counts = {4, 2, 8, 4, 2, 4, 4, 4, 8, 2, 1, 1};
  call.pointers = {0, 512, 1024, 2048, 0};
  call.text = '7';
  return call;
}

Ruling rule(const RawCall& call) {
  constexpr std::array<std::string_view, 2> kBackends = {"scalar", "avx2"};
  return ruling_of(call, kBackends);
}

TEST(RefusalRuleTest, LegalCallsReachExactlyTheirBuffers) {
  const Ruling ruling = rule(legal("kvw_apply"));
  EXPECT_EQ(ruling.status, status::kOk);
  ASSERT_EQ(ruling.reads.size(), 2U);
  EXPECT_EQ(ruling.reads[0].bytes, 32U);
  EXPECT_EQ(ruling.reads[1].bytes, 8U);
  ASSERT_EQ(ruling.writes.size(), 1U);
  EXPECT_EQ(ruling.writes[0].pointer, 2048);
}

TEST(RefusalRuleTest, ANegativeCountComesBeforeEverythingElse) {
  RawCall call = legal("kvw_apply");
  call.counts[kSegments] = -1;
  call.counts[kLen] = 7;
  call.pointers[kLearned] = RawCall::kNull;
  EXPECT_EQ(rule(call).status, status::kNegativeCount);
  EXPECT_EQ(rule(call).argument, "num_segments");
  call.counts[kLen] = -7;
  EXPECT_EQ(rule(call).argument, "learned_len");
}

TEST(RefusalRuleTest, AMessageSaysTheArgumentItsValueAndTheLimit) {
  RawCall call = legal("kvw_apply");
  call.counts[kReplacements] = -3;
  EXPECT_EQ(rule(call).says, Says{"max_replacements is -3; it must be at least 0"});
  call = legal("kvw_apply");
  call.counts[kLen] = 9;
  EXPECT_EQ(rule(call).says, (Says{"learned_len is 9;", "rows is 2 and topk 4"}));
  call = legal("kvw_apply");
  call.pointers[kOut] = call.pointers[kLearned] + 1;
  EXPECT_EQ(rule(call).says, (Says{"out at 0x", "(32 bytes) shares bytes with learned", "(32 bytes)"}));
}

TEST(RefusalRuleTest, AnOverlapIsSeenAtEveryDistance) {
  RawCall call = legal("kvw_witness_indices");  // learned and witnesses of 32 bytes
  call.pointers[kLearned] = 256;
  for (std::int32_t distance = -40; distance <= 40; ++distance) {
    call.pointers[kOut] = 256 + distance;
    EXPECT_EQ(rule(call).status == status::kBufferOverlap, distance > -32 && distance < 32) << distance;
  }
}

TEST(RefusalRuleTest, RowsThenSegmentsThenKeepThenPointers) {
  RawCall call = legal("kvw_apply");
  call.counts[kLen] = 9;
  call.counts[kSegments] = 65;
  call.counts[kKeep] = 5;
  call.pointers[kOut] = RawCall::kNull;
  EXPECT_EQ(rule(call).status, status::kRowsMismatch);
  call.counts[kLen] = 8;
  EXPECT_EQ(rule(call).status, status::kSegmentsOutOfRange);
  call.counts[kSegments] = 64;
  EXPECT_EQ(rule(call).status, status::kLearnedKeepOutOfRange);
  call.counts[kKeep] = 4;
  EXPECT_EQ(rule(call).status, status::kNullPointer);
  EXPECT_EQ(rule(call).argument, "out");
}

TEST(RefusalRuleTest, ScatterOfNoSegmentsIsNeverRefused) {
  RawCall call = legal("kvw_scatter");
  call.counts = {-4, -2, -8, 0, 0, 0, 0, 0, 0, 0, 0, 0};
  call.pointers.fill(RawCall::kNull);
  EXPECT_EQ(rule(call).status, status::kOk);
  call.function = function_number("kvw_cuda_scatter");
  EXPECT_EQ(rule(call).status, status::kOk);
  EXPECT_FALSE(rule(call).launches);
}

TEST(RefusalRuleTest, AnOutputMayShareNoByteButAppliesMayBeItsInput) {
  RawCall call = legal("kvw_apply");
  call.pointers[kOut] = call.pointers[kLearned];
  EXPECT_EQ(rule(call).status, status::kOk);
  call.pointers[kOut] = call.pointers[kLearned] + 24;
  EXPECT_EQ(rule(call).status, status::kBufferOverlap);
  call.pointers[kOut] = call.pointers[kLearned] + 32;
  EXPECT_EQ(rule(call).status, status::kOk);
  call.pointers[kOut] = call.pointers[kLens];
  EXPECT_EQ(rule(call).status, status::kBufferOverlap);
}

TEST(RefusalRuleTest, OneRowHasNoStrideAndTwoHave) {
  RawCall call = legal("kvw_scatter_strided");
  call.counts[kStride] = 3;
  EXPECT_EQ(rule(call).status, status::kRowStride);
  call.counts[kRows] = 1;
  EXPECT_EQ(rule(call).status, status::kOk);
  call.counts[kStride] = -1;
  EXPECT_EQ(rule(call).status, status::kNegativeCount);
}

TEST(RefusalRuleTest, AProductThatWrapsIsAMismatch) {
  RawCall call = legal("kvw_scatter");
  call.counts[kTopk] = std::int64_t{1} << 32;
  call.counts[kRows] = std::int64_t{1} << 32;
  call.counts[kLen] = 0;
  EXPECT_EQ(rule(call).status, status::kRowsMismatch);
}

TEST(RefusalRuleTest, ATooSmallNullBufferSaysHowManyItNeeds) {
  RawCall call = legal("kvw_random_null");
  call.counts[kTopk] = 100;
  call.counts[kRows] = 9;
  call.counts[kLen] = 8;
  EXPECT_EQ(rule(call).status, status::kBufferTooSmall);
  EXPECT_EQ(rule(call).count, 9);
  call.counts[kTopk] = std::int64_t{1} << 31;
  EXPECT_EQ(rule(call).status, status::kContextLenOutOfRange);
}

TEST(RefusalRuleTest, TheGateTakesDigitsUpTo64) {
  RawCall call = legal("kvw_segments_from_environment");
  for (const std::string_view text : {"0", "64", "007", "0000000000000000000000064"}) {
    call.text = text;
    EXPECT_EQ(rule(call).status, status::kOk) << text;
  }
  for (const std::string_view text : {"", "65", "-1", "+1", " 1", "1 ", "0x4", "9999999999999999999999"}) {
    call.text = text;
    EXPECT_EQ(rule(call).status, status::kEnvironment) << text;
  }
  call.pointers[kLearned] = RawCall::kNull;
  EXPECT_EQ(rule(call).status, status::kNullPointer);
}

TEST(RefusalRuleTest, CudaCallsCountTheirLengths) {
  RawCall call = legal("kvw_cuda_scatter");
  EXPECT_EQ(rule(call).status, status::kOk);
  EXPECT_TRUE(rule(call).launches);
  call.counts[kRows] = 3;
  call.counts[kLen] = 12;
  call.counts[kLengthsNextN] = 2;
  EXPECT_EQ(rule(call).status, status::kOk);  // two requests of two rows hold three
  call.counts[kLengthsCount] = 1;
  EXPECT_EQ(rule(call).status, status::kRowsMismatch);
  EXPECT_EQ(rule(call).argument, "lengths->count");
  call.counts[kLengthsNextN] = 0;
  EXPECT_EQ(rule(call).status, status::kNegativeCount);
  call.pointers[kLengthsStruct] = RawCall::kNull;
  EXPECT_EQ(rule(call).status, status::kNullPointer);
  EXPECT_EQ(rule(call).argument, "lengths");
}

TEST(RefusalRuleTest, ABackendIsOneThatRunsHere) {
  RawCall call = legal("kvw_set_backend");
  for (const std::string_view text : {"", "scalar", "avx2"}) {
    call.text = text;
    EXPECT_EQ(rule(call).status, status::kOk) << text;
  }
  call.text = "avx3";
  EXPECT_EQ(rule(call).status, status::kUnknownBackend);
}

}  // namespace
}  // namespace kvwitness::fuzz
