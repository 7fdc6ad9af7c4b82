#include "properties/case/status.h"

#include <gtest/gtest.h>
#include <kvwitness/kvwitness.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

namespace kvwitness::harness {
namespace {

TEST(StatusTest, EveryNumberHasItsOwnNameAndTheNameLeadsBack) {
  std::set<std::string_view> names;
  for (std::int32_t number = 0; number < status::kCount; ++number) {
    EXPECT_TRUE(names.insert(status_name(number)).second) << number;
    EXPECT_EQ(status_number(status_name(number)), number);
  }
}

TEST(StatusTest, ARefusalIsNamedByTheWordsOfItsCode) {
  EXPECT_EQ(status_name(status::kOk), "ok");
  EXPECT_EQ(status_name(status::kRowsMismatch), "rows mismatch");
  EXPECT_EQ(status_name(status::kSegmentsOutOfRange), "segments out of range");
  EXPECT_EQ(status_name(status::kLearnedKeepOutOfRange), "learned keep out of range");
  EXPECT_EQ(status_name(status::kNegativeCount), "negative count");
  EXPECT_EQ(status_name(status::kNullPointer), "null pointer");
  EXPECT_EQ(status_name(status::kRowStride), "row stride");
  EXPECT_EQ(status_name(status::kBufferOverlap), "buffer overlap");
  EXPECT_EQ(status_name(status::kBufferTooSmall), "buffer too small");
  EXPECT_EQ(status_name(status::kContextLenOutOfRange), "context length out of range");
  EXPECT_EQ(status_name(status::kUnknownBackend), "unknown backend");
  EXPECT_EQ(status_name(status::kEnvironment), "environment");
  EXPECT_EQ(status_name(status::kCuda), "cuda");
  EXPECT_EQ(status_name(status::kOutOfMemory), "out of memory");
}

TEST(StatusTest, TheTableIsTheOneOfTheCInterface) {
  for (std::int32_t number = 0; number <= status::kCount; ++number) {
    EXPECT_EQ(status_name(number), std::string_view(kvw_status_name(static_cast<kvw_status>(number)))) << number;
  }
  const std::vector<std::pair<std::int32_t, kvw_status>> pairs = {
      {status::kOk, KVW_OK},
      {status::kRowsMismatch, KVW_ROWS_MISMATCH},
      {status::kSegmentsOutOfRange, KVW_SEGMENTS_OUT_OF_RANGE},
      {status::kLearnedKeepOutOfRange, KVW_LEARNED_KEEP_OUT_OF_RANGE},
      {status::kNegativeCount, KVW_NEGATIVE_COUNT},
      {status::kNullPointer, KVW_NULL_POINTER},
      {status::kRowStride, KVW_ROW_STRIDE},
      {status::kBufferOverlap, KVW_BUFFER_OVERLAP},
      {status::kBufferTooSmall, KVW_BUFFER_TOO_SMALL},
      {status::kContextLenOutOfRange, KVW_CONTEXT_LEN_OUT_OF_RANGE},
      {status::kUnknownBackend, KVW_UNKNOWN_BACKEND},
      {status::kEnvironment, KVW_ENVIRONMENT},
      {status::kCuda, KVW_CUDA},
      {status::kOutOfMemory, KVW_OUT_OF_MEMORY},
  };
  EXPECT_EQ(pairs.size(), static_cast<std::size_t>(status::kCount));
  for (const auto& [ours, theirs] : pairs) {
    EXPECT_EQ(ours, static_cast<std::int32_t>(theirs));
  }
}

TEST(StatusTest, ANumberOutsideTheTableIsUnknownAndHasNoNumberBack) {
  for (const std::int32_t number :
       {-1, 14, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()}) {
    EXPECT_EQ(status_name(number), "unknown status");
  }
  EXPECT_EQ(status_number("unknown status"), std::nullopt);
  EXPECT_EQ(status_number("Rows mismatch"), std::nullopt);
  EXPECT_EQ(status_number("KVW_ROWS_MISMATCH"), std::nullopt);
  EXPECT_EQ(status_number(""), std::nullopt);
}

}  // namespace
}  // namespace kvwitness::harness
