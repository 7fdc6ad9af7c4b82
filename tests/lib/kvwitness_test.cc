#include "kvwitness/kvwitness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include "kvwitness/backend.h"
#include "tests/lib/allocator.h"
#include "tests/rule/rule.h"

namespace {

using kvwitness::allocation_count;
using kvwitness::refused_bytes;
using kvwitness::rule::scattered_row;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

using Tokens = std::vector<std::int32_t>;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMaxElements = std::numeric_limits<std::ptrdiff_t>::max() / 4;
constexpr std::int32_t kPoison = 0x5A5A5A5A;

// Memory that every refused call gets as each of its buffers, so that a written byte shows.
struct Memory {
  alignas(64) std::int32_t learned[16];
  alignas(64) std::int32_t lens[16];
  alignas(64) std::int32_t out[64];
  alignas(64) std::uint8_t mask[64];
  alignas(64) double attention[8];
  alignas(64) double value;
  alignas(64) std::int64_t count;

  Memory() { std::memset(static_cast<void*>(this), 0x5A, sizeof *this); }
  bool untouched() const {
    const auto* const bytes = reinterpret_cast<const unsigned char*>(this);
    return std::all_of(bytes, bytes + sizeof *this, [](unsigned char byte) { return byte == 0x5A; });
  }
};

struct RefusedCall {
  const char* sentence;
  kvw_status status;
  std::vector<const char*> message;  // parts that the message must hold: argument, value, limit
  std::function<kvw_status(Memory&)> call;
};

class Refused : public testing::TestWithParam<RefusedCall> {};

TEST_P(Refused, ReturnsItsStatusNamesTheArgumentAndWritesNothing) {
  Memory memory;
  EXPECT_EQ(GetParam().call(memory), GetParam().status) << kvw_last_error();
  for (const char* const part : GetParam().message) {
    EXPECT_THAT(kvw_last_error(), HasSubstr(part));
  }
  EXPECT_TRUE(memory.untouched());
}

std::string sentence_name(const testing::TestParamInfo<RefusedCall>& info) {
  std::string name;
  bool capital = true;
  for (const char letter : std::string_view(info.param.sentence)) {
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) {
      capital = true;
      continue;
    }
    name += capital ? static_cast<char>(std::toupper(static_cast<unsigned char>(letter))) : letter;
    capital = false;
  }
  return name;
}

const std::vector<RefusedCall> kNegativeCounts{
    {"witness indices learned_len",
     KVW_NEGATIVE_COUNT,
     {"learned_len is -1", "at least 0"},
     [](Memory&) { return kvw_witness_indices(nullptr, -1, -2, nullptr, -3, -4, nullptr); }},
    {"witness indices topk",
     KVW_NEGATIVE_COUNT,
     {"topk is -2"},
     [](Memory&) { return kvw_witness_indices(nullptr, 9, -2, nullptr, -3, -4, nullptr); }},
    {"witness indices rows",
     KVW_NEGATIVE_COUNT,
     {"rows is -3"},
     [](Memory&) { return kvw_witness_indices(nullptr, 9, 2, nullptr, -3, -4, nullptr); }},
    {"witness indices num_segments",
     KVW_NEGATIVE_COUNT,
     {"num_segments is -4"},
     [](Memory&) { return kvw_witness_indices(nullptr, 9, 2, nullptr, 3, -4, nullptr); }},
    {"apply learned_len",
     KVW_NEGATIVE_COUNT,
     {"learned_len is -1"},
     [](Memory&) { return kvw_apply(nullptr, -1, -2, nullptr, -3, -4, -5, -6, nullptr); }},
    {"apply topk",
     KVW_NEGATIVE_COUNT,
     {"topk is -2"},
     [](Memory&) { return kvw_apply(nullptr, 9, -2, nullptr, -3, -4, -5, -6, nullptr); }},
    {"apply rows",
     KVW_NEGATIVE_COUNT,
     {"rows is -3"},
     [](Memory&) { return kvw_apply(nullptr, 9, 2, nullptr, -3, -4, -5, -6, nullptr); }},
    {"apply learned_keep",
     KVW_NEGATIVE_COUNT,
     {"learned_keep is -4"},
     [](Memory&) { return kvw_apply(nullptr, 9, 2, nullptr, 3, -4, -5, -6, nullptr); }},
    {"apply num_segments",
     KVW_NEGATIVE_COUNT,
     {"num_segments is -5"},
     [](Memory&) { return kvw_apply(nullptr, 9, 2, nullptr, 3, 4, -5, -6, nullptr); }},
    {"apply max_replacements",
     KVW_NEGATIVE_COUNT,
     {"max_replacements is -6"},
     [](Memory&) { return kvw_apply(nullptr, 9, 2, nullptr, 3, 4, 65, -6, nullptr); }},
    {"scatter topk_indices_len",
     KVW_NEGATIVE_COUNT,
     {"topk_indices_len is -1"},
     [](Memory&) { return kvw_scatter(nullptr, -1, -2, nullptr, -3, -4); }},
    {"scatter topk",
     KVW_NEGATIVE_COUNT,
     {"topk is -2"},
     [](Memory&) { return kvw_scatter(nullptr, 9, -2, nullptr, -3, -4); }},
    {"scatter rows",
     KVW_NEGATIVE_COUNT,
     {"rows is -3"},
     [](Memory&) { return kvw_scatter(nullptr, 9, 2, nullptr, -3, -4); }},
    {"scatter num_segments",
     KVW_NEGATIVE_COUNT,
     {"num_segments is -4"},
     [](Memory&) { return kvw_scatter(nullptr, 9, 2, nullptr, 3, -4); }},
    {"scatter_strided row_stride, also of one row",
     KVW_NEGATIVE_COUNT,
     {"row_stride is -1"},
     [](Memory& memory) { return kvw_scatter_strided(memory.learned, -1, 4, memory.lens, 1, 4); }},
    {"scatter_strided row_stride before the others",
     KVW_NEGATIVE_COUNT,
     {"row_stride is -1"},
     [](Memory&) { return kvw_scatter_strided(nullptr, -1, -2, nullptr, -3, -4); }},
    {"scatter_strided topk",
     KVW_NEGATIVE_COUNT,
     {"topk is -2"},
     [](Memory&) { return kvw_scatter_strided(nullptr, 1, -2, nullptr, -3, -4); }},
    {"scatter_strided rows",
     KVW_NEGATIVE_COUNT,
     {"rows is -3"},
     [](Memory&) { return kvw_scatter_strided(nullptr, 1, 2, nullptr, -3, -4); }},
    {"scatter_strided num_segments",
     KVW_NEGATIVE_COUNT,
     {"num_segments is -4"},
     [](Memory&) { return kvw_scatter_strided(nullptr, 1, 2, nullptr, 3, -4); }},
    {"windows rows",
     KVW_NEGATIVE_COUNT,
     {"rows is -1"},
     [](Memory&) { return kvw_context_lens_from_windows(nullptr, nullptr, -1, nullptr); }},
    {"requests requests",
     KVW_NEGATIVE_COUNT,
     {"requests is -1"},
     [](Memory&) { return kvw_context_lens_from_requests(nullptr, -1, 0, nullptr); }},
    {"requests next_n of zero",
     KVW_NEGATIVE_COUNT,
     {"next_n is 0", "at least 1"},
     [](Memory&) { return kvw_context_lens_from_requests(nullptr, 2, 0, nullptr); }},
    {"requests next_n of zero without requests",
     KVW_NEGATIVE_COUNT,
     {"next_n is 0"},
     [](Memory&) { return kvw_context_lens_from_requests(nullptr, 0, 0, nullptr); }},
    {"random null context_len",
     KVW_NEGATIVE_COUNT,
     {"context_len is -1"},
     [](Memory&) { return kvw_random_null(-1, -2, 0, nullptr, -3, nullptr); }},
    {"random null budget",
     KVW_NEGATIVE_COUNT,
     {"budget is -2"},
     [](Memory&) { return kvw_random_null(kMax, -2, 0, nullptr, -3, nullptr); }},
    {"random null capacity",
     KVW_NEGATIVE_COUNT,
     {"capacity is -3"},
     [](Memory&) { return kvw_random_null(kMax, 2, 0, nullptr, -3, nullptr); }},
    {"locality null context_len",
     KVW_NEGATIVE_COUNT,
     {"context_len is -1"},
     [](Memory&) { return kvw_locality_null(-1, -2, nullptr, -3, nullptr); }},
    {"locality null budget",
     KVW_NEGATIVE_COUNT,
     {"budget is -2"},
     [](Memory&) { return kvw_locality_null(kMax, -2, nullptr, -3, nullptr); }},
    {"locality null capacity",
     KVW_NEGATIVE_COUNT,
     {"capacity is -3"},
     [](Memory&) { return kvw_locality_null(kMax, 2, nullptr, -3, nullptr); }},
    {"random mask seq",
     KVW_NEGATIVE_COUNT,
     {"seq is -1"},
     [](Memory&) { return kvw_select_mask_random(-1, -2, 0, nullptr, -3); }},
    {"random mask budget",
     KVW_NEGATIVE_COUNT,
     {"budget is -2"},
     [](Memory&) { return kvw_select_mask_random(kMax, -2, 0, nullptr, -3); }},
    {"random mask mask_len",
     KVW_NEGATIVE_COUNT,
     {"mask_len is -3"},
     [](Memory&) { return kvw_select_mask_random(kMax, 2, 0, nullptr, -3); }},
    {"local mask seq",
     KVW_NEGATIVE_COUNT,
     {"seq is -1"},
     [](Memory&) { return kvw_select_mask_local(-1, -2, nullptr, -3); }},
    {"local mask window",
     KVW_NEGATIVE_COUNT,
     {"window is -2"},
     [](Memory&) { return kvw_select_mask_local(kMax, -2, nullptr, -3); }},
    {"local mask mask_len",
     KVW_NEGATIVE_COUNT,
     {"mask_len is -3"},
     [](Memory&) { return kvw_select_mask_local(kMax, 2, nullptr, -3); }},
    {"coverage candidates_len",
     KVW_NEGATIVE_COUNT,
     {"candidates_len is -1"},
     [](Memory&) { return kvw_segment_coverage(nullptr, -1, -2, -3, nullptr); }},
    {"coverage context_len",
     KVW_NEGATIVE_COUNT,
     {"context_len is -2"},
     [](Memory&) { return kvw_segment_coverage(nullptr, kMax, -2, -3, nullptr); }},
    {"coverage num_segments",
     KVW_NEGATIVE_COUNT,
     {"num_segments is -3"},
     [](Memory&) { return kvw_segment_coverage(nullptr, kMax, kMax, -3, nullptr); }},
    {"recall candidates_len",
     KVW_NEGATIVE_COUNT,
     {"candidates_len is -1"},
     [](Memory&) { return kvw_attention_mass_recall(nullptr, -1, nullptr, -2, nullptr); }},
    {"recall context_len",
     KVW_NEGATIVE_COUNT,
     {"context_len is -2"},
     [](Memory&) { return kvw_attention_mass_recall(nullptr, kMax, nullptr, -2, nullptr); }},
};
INSTANTIATE_TEST_SUITE_P(NegativeCount, Refused, testing::ValuesIn(kNegativeCounts), sentence_name);

const std::vector<RefusedCall> kTheThreeOfTheRule{
    {"a rows mismatch comes before a bad segment count and null pointers",
     KVW_ROWS_MISMATCH,
     {"learned_len is 7", "rows is 2", "topk 4"},
     [](Memory&) { return kvw_witness_indices(nullptr, 7, 4, nullptr, 2, 0, nullptr); }},
    {"apply with too many elements",
     KVW_ROWS_MISMATCH,
     {"learned_len is 9"},
     [](Memory&) { return kvw_apply(nullptr, 9, 4, nullptr, 2, 5, 0, 0, nullptr); }},
    {"apply with elements but no rows",
     KVW_ROWS_MISMATCH,
     {"learned_len is 4", "rows is 0"},
     [](Memory&) { return kvw_apply(nullptr, 4, 4, nullptr, 0, 0, 4, 0, nullptr); }},
    {"scatter of a mismatch",
     KVW_ROWS_MISMATCH,
     {"topk_indices_len is 7"},
     [](Memory&) { return kvw_scatter(nullptr, 7, 4, nullptr, 2, 65); }},
    {"rows times topk that wraps to the length",
     KVW_ROWS_MISMATCH,
     {"rows is 4294967296"},
     [](Memory&) { return kvw_scatter(nullptr, 0, std::int64_t{1} << 32, nullptr, std::int64_t{1} << 32, 4); }},
    {"rows times topk that wraps past the sign",
     KVW_ROWS_MISMATCH,
     {"topk 9223372036854775807"},
     [](Memory&) { return kvw_witness_indices(nullptr, kMax - 2, kMax, nullptr, 3, 4, nullptr); }},
    {"a contiguous span above PTRDIFF_MAX bytes",
     KVW_ROWS_MISMATCH,
     {"learned_len is 2305843009213693952", "PTRDIFF_MAX"},
     [](Memory&) { return kvw_apply(nullptr, kMaxElements + 1, kMaxElements + 1, nullptr, 1, 0, 0, 0, nullptr); }},
    {"lengths above PTRDIFF_MAX bytes",
     KVW_ROWS_MISMATCH,
     {"rows is 2305843009213693952", "PTRDIFF_MAX"},
     [](Memory&) { return kvw_scatter(nullptr, 0, 0, nullptr, kMaxElements + 1, 65); }},
    {"one strided row above PTRDIFF_MAX bytes",
     KVW_ROWS_MISMATCH,
     {"topk is 2305843009213693952", "PTRDIFF_MAX"},
     [](Memory&) { return kvw_scatter_strided(nullptr, 0, kMaxElements + 1, nullptr, 1, 65); }},
    {"strided lengths above PTRDIFF_MAX bytes",
     KVW_ROWS_MISMATCH,
     {"rows is 2305843009213693952"},
     [](Memory&) { return kvw_scatter_strided(nullptr, 0, 0, nullptr, kMaxElements + 1, 65); }},
    {"windows above PTRDIFF_MAX bytes",
     KVW_ROWS_MISMATCH,
     {"rows is 2305843009213693952"},
     [](Memory&) { return kvw_context_lens_from_windows(nullptr, nullptr, kMaxElements + 1, nullptr); }},
    {"request rows above PTRDIFF_MAX bytes",
     KVW_ROWS_MISMATCH,
     {"requests is 2", "next_n 1152921504606846976"},
     [](Memory&) { return kvw_context_lens_from_requests(nullptr, 2, std::int64_t{1} << 60, nullptr); }},
    {"request rows that wrap",
     KVW_ROWS_MISMATCH,
     {"next_n 4611686018427387904"},
     [](Memory&) { return kvw_context_lens_from_requests(nullptr, 4, std::int64_t{1} << 62, nullptr); }},
    {"coverage candidates above PTRDIFF_MAX bytes come before the length",
     KVW_ROWS_MISMATCH,
     {"candidates_len is 2305843009213693952"},
     [](Memory&) { return kvw_segment_coverage(nullptr, kMaxElements + 1, kMax, 4, nullptr); }},
    {"recall candidates above PTRDIFF_MAX bytes come before the length",
     KVW_ROWS_MISMATCH,
     {"candidates_len is 2305843009213693952"},
     [](Memory&) { return kvw_attention_mass_recall(nullptr, kMaxElements + 1, nullptr, kMax, nullptr); }},
    {"witness indices without segments",
     KVW_SEGMENTS_OUT_OF_RANGE,
     {"num_segments is 0", "at least 1"},
     [](Memory&) { return kvw_witness_indices(nullptr, 8, 4, nullptr, 2, 0, nullptr); }},
    {"witness indices without segments or rows",
     KVW_SEGMENTS_OUT_OF_RANGE,
     {"num_segments is 0"},
     [](Memory&) { return kvw_witness_indices(nullptr, 0, 4, nullptr, 0, 0, nullptr); }},
    {"witnesses above PTRDIFF_MAX bytes",
     KVW_SEGMENTS_OUT_OF_RANGE,
     {"num_segments is 1152921504606846976", "rows is 2", "PTRDIFF_MAX"},
     [](Memory&) { return kvw_witness_indices(nullptr, 8, 4, nullptr, 2, std::int64_t{1} << 60, nullptr); }},
    {"rows times segments that wraps",
     KVW_SEGMENTS_OUT_OF_RANGE,
     {"num_segments is 4611686018427387904"},
     [](Memory&) { return kvw_witness_indices(nullptr, 0, 0, nullptr, 4, std::int64_t{1} << 62, nullptr); }},
    {"apply without segments comes before the keep",
     KVW_SEGMENTS_OUT_OF_RANGE,
     {"num_segments is 0", "1 to 64"},
     [](Memory&) { return kvw_apply(nullptr, 8, 4, nullptr, 2, 5, 0, 0, nullptr); }},
    {"apply with 65 segments, no budget and no rows",
     KVW_SEGMENTS_OUT_OF_RANGE,
     {"num_segments is 65", "1 to 64"},
     [](Memory&) { return kvw_apply(nullptr, 0, 4, nullptr, 0, 0, 65, 0, nullptr); }},
    {"scatter with 65 segments before null pointers",
     KVW_SEGMENTS_OUT_OF_RANGE,
     {"num_segments is 65", "64"},
     [](Memory&) { return kvw_scatter(nullptr, 8, 4, nullptr, 2, 65); }},
    {"scatter with 65 segments and no rows",
     KVW_SEGMENTS_OUT_OF_RANGE,
     {"num_segments is 65"},
     [](Memory&) { return kvw_scatter(nullptr, 0, 4, nullptr, 0, 65); }},
    {"scatter_strided with 65 segments before the stride",
     KVW_SEGMENTS_OUT_OF_RANGE,
     {"num_segments is 65"},
     [](Memory& memory) { return kvw_scatter_strided(memory.learned, 3, 4, memory.lens, 2, 65); }},
    {"a keep above topk before null pointers",
     KVW_LEARNED_KEEP_OUT_OF_RANGE,
     {"learned_keep is 5", "topk", "4"},
     [](Memory&) { return kvw_apply(nullptr, 8, 4, nullptr, 2, 5, 4, 4, nullptr); }},
    {"a keep above topk without budget or rows",
     KVW_LEARNED_KEEP_OUT_OF_RANGE,
     {"learned_keep is 1", "topk", "0"},
     [](Memory&) { return kvw_apply(nullptr, 0, 0, nullptr, 0, 1, 4, 0, nullptr); }},
};
INSTANTIATE_TEST_SUITE_P(TheRule, Refused, testing::ValuesIn(kTheThreeOfTheRule), sentence_name);

const std::vector<RefusedCall> kContextLens{
    {"random null before null pointers",
     KVW_CONTEXT_LEN_OUT_OF_RANGE,
     {"context_len is 2147483648", "at most 2147483647"},
     [](Memory&) { return kvw_random_null(2147483648, 4, 0, nullptr, 4, nullptr); }},
    {"locality null",
     KVW_CONTEXT_LEN_OUT_OF_RANGE,
     {"context_len is 9223372036854775807"},
     [](Memory&) { return kvw_locality_null(kMax, 0, nullptr, 0, nullptr); }},
    {"random mask",
     KVW_CONTEXT_LEN_OUT_OF_RANGE,
     {"seq is 2147483648"},
     [](Memory&) { return kvw_select_mask_random(2147483648, 4, 0, nullptr, kMax); }},
    {"local mask",
     KVW_CONTEXT_LEN_OUT_OF_RANGE,
     {"seq is 2147483648"},
     [](Memory&) { return kvw_select_mask_local(2147483648, 4, nullptr, 0); }},
    {"coverage",
     KVW_CONTEXT_LEN_OUT_OF_RANGE,
     {"context_len is 2147483648"},
     [](Memory&) { return kvw_segment_coverage(nullptr, 4, 2147483648, 4, nullptr); }},
    {"recall",
     KVW_CONTEXT_LEN_OUT_OF_RANGE,
     {"context_len is 2147483648"},
     [](Memory&) { return kvw_attention_mass_recall(nullptr, 4, nullptr, 2147483648, nullptr); }},
};
INSTANTIATE_TEST_SUITE_P(ContextLength, Refused, testing::ValuesIn(kContextLens), sentence_name);

const std::vector<RefusedCall> kNullPointers{
    {"witness indices learned before the others",
     KVW_NULL_POINTER,
     {"learned is null"},
     [](Memory&) { return kvw_witness_indices(nullptr, 8, 4, nullptr, 2, 4, nullptr); }},
    {"witness indices context_lens",
     KVW_NULL_POINTER,
     {"context_lens is null"},
     [](Memory& memory) { return kvw_witness_indices(memory.learned, 8, 4, nullptr, 2, 4, nullptr); }},
    {"witness indices context_lens at topk 0",
     KVW_NULL_POINTER,
     {"context_lens is null"},
     [](Memory& memory) { return kvw_witness_indices(nullptr, 0, 0, nullptr, 2, 4, memory.out); }},
    {"witness indices witnesses",
     KVW_NULL_POINTER,
     {"witnesses is null"},
     [](Memory& memory) { return kvw_witness_indices(memory.learned, 8, 4, memory.lens, 2, 4, nullptr); }},
    {"witness indices witnesses at topk 0",
     KVW_NULL_POINTER,
     {"witnesses is null"},
     [](Memory& memory) { return kvw_witness_indices(nullptr, 0, 0, memory.lens, 2, 4, nullptr); }},
    {"apply learned",
     KVW_NULL_POINTER,
     {"learned is null"},
     [](Memory&) { return kvw_apply(nullptr, 8, 4, nullptr, 2, 0, 4, 4, nullptr); }},
    {"apply context_lens",
     KVW_NULL_POINTER,
     {"context_lens is null"},
     [](Memory& memory) { return kvw_apply(memory.learned, 8, 4, nullptr, 2, 0, 4, 4, nullptr); }},
    {"apply context_lens at topk 0 and a zero budget",
     KVW_NULL_POINTER,
     {"context_lens is null"},
     [](Memory&) { return kvw_apply(nullptr, 0, 0, nullptr, 2, 0, 4, 0, nullptr); }},
    {"apply out",
     KVW_NULL_POINTER,
     {"out is null"},
     [](Memory& memory) { return kvw_apply(memory.learned, 8, 4, memory.lens, 2, 0, 4, 4, nullptr); }},
    {"apply out at a zero budget",
     KVW_NULL_POINTER,
     {"out is null"},
     [](Memory& memory) { return kvw_apply(memory.learned, 8, 4, memory.lens, 2, 0, 4, 0, nullptr); }},
    {"scatter topk_indices",
     KVW_NULL_POINTER,
     {"topk_indices is null"},
     [](Memory&) { return kvw_scatter(nullptr, 8, 4, nullptr, 2, 4); }},
    {"scatter context_lens",
     KVW_NULL_POINTER,
     {"context_lens is null"},
     [](Memory& memory) { return kvw_scatter(memory.learned, 8, 4, nullptr, 2, 4); }},
    {"scatter context_lens at topk 0",
     KVW_NULL_POINTER,
     {"context_lens is null"},
     [](Memory&) { return kvw_scatter(nullptr, 0, 0, nullptr, 2, 4); }},
    {"scatter_strided topk_indices before the stride",
     KVW_NULL_POINTER,
     {"topk_indices is null"},
     [](Memory& memory) { return kvw_scatter_strided(nullptr, 3, 4, memory.lens, 2, 4); }},
    {"scatter_strided context_lens before the stride",
     KVW_NULL_POINTER,
     {"context_lens is null"},
     [](Memory& memory) { return kvw_scatter_strided(memory.learned, 3, 4, nullptr, 2, 4); }},
    {"windows window_starts",
     KVW_NULL_POINTER,
     {"window_starts is null"},
     [](Memory&) { return kvw_context_lens_from_windows(nullptr, nullptr, 2, nullptr); }},
    {"windows window_ends",
     KVW_NULL_POINTER,
     {"window_ends is null"},
     [](Memory& memory) { return kvw_context_lens_from_windows(memory.lens, nullptr, 2, nullptr); }},
    {"windows context_lens",
     KVW_NULL_POINTER,
     {"context_lens is null"},
     [](Memory& memory) { return kvw_context_lens_from_windows(memory.lens, memory.lens, 2, nullptr); }},
    {"requests seq_lens",
     KVW_NULL_POINTER,
     {"seq_lens is null"},
     [](Memory&) { return kvw_context_lens_from_requests(nullptr, 2, 2, nullptr); }},
    {"requests context_lens",
     KVW_NULL_POINTER,
     {"context_lens is null"},
     [](Memory& memory) { return kvw_context_lens_from_requests(memory.lens, 2, 2, nullptr); }},
    {"gate",
     KVW_NULL_POINTER,
     {"num_segments is null"},
     [](Memory&) { return kvw_segments_from_environment(nullptr); }},
    {"random null offsets before count",
     KVW_NULL_POINTER,
     {"offsets is null"},
     [](Memory&) { return kvw_random_null(8, 4, 0, nullptr, 4, nullptr); }},
    {"random null offsets although the capacity is too small",
     KVW_NULL_POINTER,
     {"offsets is null"},
     [](Memory& memory) { return kvw_random_null(8, 4, 0, nullptr, 1, &memory.count); }},
    {"random null count",
     KVW_NULL_POINTER,
     {"count is null"},
     [](Memory& memory) { return kvw_random_null(8, 4, 0, memory.out, 4, nullptr); }},
    {"random null count although nothing is needed",
     KVW_NULL_POINTER,
     {"count is null"},
     [](Memory&) { return kvw_random_null(0, 0, 0, nullptr, 0, nullptr); }},
    {"locality null offsets",
     KVW_NULL_POINTER,
     {"offsets is null"},
     [](Memory&) { return kvw_locality_null(8, 4, nullptr, 4, nullptr); }},
    {"locality null count",
     KVW_NULL_POINTER,
     {"count is null"},
     [](Memory& memory) { return kvw_locality_null(8, 4, memory.out, 4, nullptr); }},
    {"random mask",
     KVW_NULL_POINTER,
     {"mask is null"},
     [](Memory&) { return kvw_select_mask_random(4, 4, 0, nullptr, 16); }},
    {"local mask",
     KVW_NULL_POINTER,
     {"mask is null"},
     [](Memory&) { return kvw_select_mask_local(4, 4, nullptr, 17); }},
    {"coverage candidates",
     KVW_NULL_POINTER,
     {"candidates is null"},
     [](Memory&) { return kvw_segment_coverage(nullptr, 4, 8, 4, nullptr); }},
    {"coverage coverage",
     KVW_NULL_POINTER,
     {"coverage is null"},
     [](Memory&) { return kvw_segment_coverage(nullptr, 0, 0, 0, nullptr); }},
    {"recall candidates",
     KVW_NULL_POINTER,
     {"candidates is null"},
     [](Memory&) { return kvw_attention_mass_recall(nullptr, 4, nullptr, 8, nullptr); }},
    {"recall attention",
     KVW_NULL_POINTER,
     {"attention is null"},
     [](Memory& memory) { return kvw_attention_mass_recall(memory.learned, 4, nullptr, 8, nullptr); }},
    {"recall recall",
     KVW_NULL_POINTER,
     {"recall is null"},
     [](Memory&) { return kvw_attention_mass_recall(nullptr, 0, nullptr, 0, nullptr); }},
};
INSTANTIATE_TEST_SUITE_P(NullPointer, Refused, testing::ValuesIn(kNullPointers), sentence_name);

const std::vector<RefusedCall> kStridesAndOverlaps{
    {"a stride below topk before an overlap",
     KVW_ROW_STRIDE,
     {"row_stride is 3", "2 rows", "topk, which is 4"},
     [](Memory& memory) { return kvw_scatter_strided(memory.learned, 3, 4, memory.learned + 4, 2, 4); }},
    {"a strided span above PTRDIFF_MAX bytes",
     KVW_ROW_STRIDE,
     {"row_stride is 2305843009213693951", "2 rows", "PTRDIFF_MAX"},
     [](Memory& memory) { return kvw_scatter_strided(memory.learned, kMaxElements, 4, memory.lens, 2, 4); }},
    {"a strided span that wraps",
     KVW_ROW_STRIDE,
     {"row_stride is 4611686018427387904", "5 rows"},
     [](Memory& memory) { return kvw_scatter_strided(memory.learned, std::int64_t{1} << 62, 1, memory.lens, 5, 4); }},
    {"wide strided rows, two of them",
     KVW_ROW_STRIDE,
     {"row_stride is 4", "2 rows"},
     [](Memory& memory) { return kvw_scatter_strided(memory.learned, 4, kMaxElements + 1, memory.lens, 2, 4); }},
    {"witnesses over the rows",
     KVW_BUFFER_OVERLAP,
     {"witnesses at ", "learned at ", "(32 bytes)"},
     [](Memory& memory) { return kvw_witness_indices(memory.learned, 8, 4, memory.lens, 2, 4, memory.learned + 7); }},
    {"witnesses over the rows from before",
     KVW_BUFFER_OVERLAP,
     {"witnesses at ", "learned at "},
     [](Memory& memory) { return kvw_witness_indices(memory.learned + 7, 8, 4, memory.lens, 2, 4, memory.learned); }},
    {"witnesses exactly at the rows",
     KVW_BUFFER_OVERLAP,
     {"witnesses at ", "learned at "},
     [](Memory& memory) { return kvw_witness_indices(memory.learned, 8, 4, memory.lens, 2, 4, memory.learned); }},
    {"witnesses over the lengths at topk 0",
     KVW_BUFFER_OVERLAP,
     {"witnesses at ", "context_lens at "},
     [](Memory& memory) { return kvw_witness_indices(nullptr, 0, 0, memory.out + 1, 2, 1, memory.out); }},
    {"apply shifted by an element",
     KVW_BUFFER_OVERLAP,
     {"out at ", "learned at "},
     [](Memory& memory) { return kvw_apply(memory.learned, 8, 4, memory.lens, 2, 0, 4, 0, memory.learned + 1); }},
    {"apply shifted by an element the other way",
     KVW_BUFFER_OVERLAP,
     {"out at ", "learned at "},
     [](Memory& memory) { return kvw_apply(memory.learned + 1, 8, 4, memory.lens, 2, 0, 4, 4, memory.learned); }},
    {"apply over the lengths",
     KVW_BUFFER_OVERLAP,
     {"out at ", "context_lens at "},
     [](Memory& memory) { return kvw_apply(memory.learned, 8, 4, memory.out + 7, 2, 0, 4, 4, memory.out); }},
    {"apply in place over the lengths",
     KVW_BUFFER_OVERLAP,
     {"out at ", "context_lens at "},
     [](Memory& memory) { return kvw_apply(memory.learned, 8, 4, memory.learned, 2, 0, 4, 4, memory.learned); }},
    {"scatter over the lengths",
     KVW_BUFFER_OVERLAP,
     {"topk_indices at ", "context_lens at "},
     [](Memory& memory) { return kvw_scatter(memory.learned, 8, 4, memory.learned + 7, 2, 4); }},
    {"lengths in a spare column",
     KVW_BUFFER_OVERLAP,
     {"topk_indices at ", "context_lens at "},
     [](Memory& memory) { return kvw_scatter_strided(memory.learned, 8, 4, memory.learned + 5, 2, 4); }},
    {"windows in place of the starts",
     KVW_BUFFER_OVERLAP,
     {"context_lens at ", "window_starts at "},
     [](Memory& memory) { return kvw_context_lens_from_windows(memory.lens, memory.learned, 4, memory.lens); }},
    {"windows over the ends",
     KVW_BUFFER_OVERLAP,
     {"context_lens at ", "window_ends at "},
     [](Memory& memory) { return kvw_context_lens_from_windows(memory.lens, memory.learned, 4, memory.learned + 3); }},
    {"requests over their lengths",
     KVW_BUFFER_OVERLAP,
     {"context_lens at ", "seq_lens at "},
     [](Memory& memory) { return kvw_context_lens_from_requests(memory.lens + 5, 3, 2, memory.lens); }},
    {"random null over its count before the capacity",
     KVW_BUFFER_OVERLAP,
     {"offsets at ", "count at "},
     [](Memory& memory) {
       return kvw_random_null(8, 4, 0, memory.out, 3, reinterpret_cast<std::int64_t*>(memory.out + 2));
     }},
    {"locality null over its count",
     KVW_BUFFER_OVERLAP,
     {"offsets at ", "count at "},
     [](Memory& memory) {
       return kvw_locality_null(8, 4, memory.out + 1, 4, reinterpret_cast<std::int64_t*>(memory.out));
     }},
    {"coverage over its candidates",
     KVW_BUFFER_OVERLAP,
     {"coverage at ", "candidates at "},
     [](Memory& memory) {
       return kvw_segment_coverage(memory.learned, 3, 8, 4, reinterpret_cast<double*>(memory.learned + 2));
     }},
    {"recall over its candidates",
     KVW_BUFFER_OVERLAP,
     {"recall at ", "candidates at "},
     [](Memory& memory) {
       return kvw_attention_mass_recall(memory.learned, 3, memory.attention, 8,
                                        reinterpret_cast<double*>(memory.learned));
     }},
    {"recall over its attention",
     KVW_BUFFER_OVERLAP,
     {"recall at ", "attention at "},
     [](Memory& memory) {
       return kvw_attention_mass_recall(memory.learned, 3, memory.attention, 8, memory.attention + 7);
     }},
    {"a random mask too small, its pointer null",
     KVW_BUFFER_TOO_SMALL,
     {"mask_len is 15", "at least 16"},
     [](Memory&) { return kvw_select_mask_random(4, 4, 0, nullptr, 15); }},
    {"a local mask too small",
     KVW_BUFFER_TOO_SMALL,
     {"mask_len is 15", "at least 16"},
     [](Memory& memory) { return kvw_select_mask_local(4, 4, memory.mask, 15); }},
    {"a mask of the longest sequence",
     KVW_BUFFER_TOO_SMALL,
     {"at least 4611686014132420609"},
     [](Memory& memory) { return kvw_select_mask_local(2147483647, 4, memory.mask, 64); }},
};
INSTANTIATE_TEST_SUITE_P(StrideOverlapCapacity, Refused, testing::ValuesIn(kStridesAndOverlaps), sentence_name);

// Spans of exactly PTRDIFF_MAX bytes, rounded down to an element, pass the checks of their size and fail at the next
// one.
const std::vector<RefusedCall> kLargestSpans{
    {"packed rows",
     KVW_NULL_POINTER,
     {"learned is null"},
     [](Memory&) { return kvw_apply(nullptr, kMaxElements, kMaxElements, nullptr, 1, 0, 4, 0, nullptr); }},
    {"lengths",
     KVW_NULL_POINTER,
     {"context_lens is null"},
     [](Memory&) { return kvw_scatter(nullptr, 0, 0, nullptr, kMaxElements, 4); }},
    {"witnesses",
     KVW_NULL_POINTER,
     {"learned is null"},
     [](Memory&) { return kvw_witness_indices(nullptr, 4, 4, nullptr, 1, kMaxElements, nullptr); }},
    {"one strided row",
     KVW_NULL_POINTER,
     {"topk_indices is null"},
     [](Memory&) { return kvw_scatter_strided(nullptr, 0, kMaxElements, nullptr, 1, 4); }},
    {"strided rows",
     KVW_BUFFER_OVERLAP,
     {"topk_indices at ", "context_lens at "},
     [](Memory& memory) { return kvw_scatter_strided(memory.learned, kMaxElements - 4, 4, memory.learned + 8, 2, 4); }},
    {"request rows",
     KVW_NULL_POINTER,
     {"seq_lens is null"},
     [](Memory&) { return kvw_context_lens_from_requests(nullptr, 1, kMaxElements, nullptr); }},
    {"the longest context",
     KVW_NULL_POINTER,
     {"recall is null"},
     [](Memory& memory) { return kvw_attention_mass_recall(nullptr, 0, memory.attention, INT32_MAX, nullptr); }},
};
INSTANTIATE_TEST_SUITE_P(LargestSpan, Refused, testing::ValuesIn(kLargestSpans), sentence_name);

TEST(StatusNumbers, NeverChange) {
  const kvw_status in_order[] = {KVW_OK,
                                 KVW_ROWS_MISMATCH,
                                 KVW_SEGMENTS_OUT_OF_RANGE,
                                 KVW_LEARNED_KEEP_OUT_OF_RANGE,
                                 KVW_NEGATIVE_COUNT,
                                 KVW_NULL_POINTER,
                                 KVW_ROW_STRIDE,
                                 KVW_BUFFER_OVERLAP,
                                 KVW_BUFFER_TOO_SMALL,
                                 KVW_CONTEXT_LEN_OUT_OF_RANGE,
                                 KVW_UNKNOWN_BACKEND,
                                 KVW_ENVIRONMENT,
                                 KVW_CUDA,
                                 KVW_OUT_OF_MEMORY};
  const char* const names[] = {"ok",
                               "rows mismatch",
                               "segments out of range",
                               "learned keep out of range",
                               "negative count",
                               "null pointer",
                               "row stride",
                               "buffer overlap",
                               "buffer too small",
                               "context length out of range",
                               "unknown backend",
                               "environment",
                               "cuda",
                               "out of memory"};
  for (int number = 0; number < 14; ++number) {
    EXPECT_EQ(in_order[number], number);
    EXPECT_STREQ(kvw_status_name(in_order[number]), names[number]);
  }
  for (const int number : {14, 15, 1000, -1, std::numeric_limits<int>::min(), std::numeric_limits<int>::max()}) {
    EXPECT_STREQ(kvw_status_name(static_cast<kvw_status>(number)), "unknown status") << number;
  }
}

TEST(Versions, AreOneAndTheProjects) {
  EXPECT_EQ(kvw_abi_version(), 1);
  EXPECT_STREQ(kvw_version(), "0.1.0");
}

TEST(Operations, GiveTheHandExamples) {
  const Tokens learned{0, 5, 9, -1}, lens{16};
  Tokens out(4);
  ASSERT_EQ(kvw_witness_indices(learned.data(), 4, 4, lens.data(), 1, 4, out.data()), KVW_OK);
  EXPECT_EQ(out, (Tokens{-1, -1, -1, 12}));
  ASSERT_EQ(kvw_apply(learned.data(), 4, 4, lens.data(), 1, 2, 4, 2, out.data()), KVW_OK);
  EXPECT_EQ(out, (Tokens{0, 5, 12, -1}));
  ASSERT_EQ(kvw_apply(learned.data(), 4, 4, lens.data(), 1, 2, 4, 0, out.data()), KVW_OK);
  EXPECT_EQ(out, learned);
  Tokens in_place = learned;
  ASSERT_EQ(kvw_apply(in_place.data(), 4, 4, lens.data(), 1, 2, 4, 2, in_place.data()), KVW_OK);
  EXPECT_EQ(in_place, (Tokens{0, 5, 12, -1}));
  Tokens served{0, 1, 2, 3, 12, -1, -1, -1};
  ASSERT_EQ(kvw_scatter(served.data(), 8, 8, lens.data(), 1, 4), KVW_OK);
  EXPECT_EQ(served, (Tokens{0, 1, 2, 3, 4, 8, -1, -1}));
  ASSERT_EQ(kvw_scatter(served.data(), 8, 8, lens.data(), 1, 4), KVW_OK);
  EXPECT_EQ(served, (Tokens{0, 1, 2, 3, 12, 8, -1, -1})) << "a second scatter is another pass";
}

// The calls that serving makes take a short way; each of these is one of them but for one argument.
TEST(Operations, RefuseACallThatIsPlainButForOneArgument) {
  ASSERT_EQ(kvw_set_backend(nullptr), KVW_OK);  // the short way needs a backend at hand
  Memory memory;
  std::int32_t* const learned = memory.learned;
  std::int32_t* const lens = memory.lens;
  std::int32_t* const out = memory.out;

  EXPECT_EQ(kvw_scatter(learned, 16, 4, lens, 4, 65), KVW_SEGMENTS_OUT_OF_RANGE);
  EXPECT_EQ(kvw_scatter(learned, 15, 4, lens, 4, 4), KVW_ROWS_MISMATCH);
  EXPECT_EQ(kvw_scatter(learned, 16, 4, learned + 15, 4, 4), KVW_BUFFER_OVERLAP);
  EXPECT_EQ(kvw_scatter(out + 3, 16, 4, out, 4, 4), KVW_BUFFER_OVERLAP);  // the last of the lengths is the first token

  EXPECT_EQ(kvw_apply(learned, 15, 4, lens, 4, 2, 4, 2, out), KVW_ROWS_MISMATCH);
  EXPECT_EQ(kvw_apply(learned, 16, 4, lens, 4, -1, 4, 2, out), KVW_NEGATIVE_COUNT);
  EXPECT_EQ(kvw_apply(learned, 16, 4, lens, 4, 5, 4, 2, out), KVW_LEARNED_KEEP_OUT_OF_RANGE);
  EXPECT_EQ(kvw_apply(learned, 16, 4, lens, 4, 2, 0, 2, out), KVW_SEGMENTS_OUT_OF_RANGE);
  EXPECT_EQ(kvw_apply(learned, 16, 4, lens, 4, 2, 65, 2, out), KVW_SEGMENTS_OUT_OF_RANGE);
  EXPECT_EQ(kvw_apply(learned, 16, 4, lens, 4, 2, 4, -1, out), KVW_NEGATIVE_COUNT);
  EXPECT_EQ(kvw_apply(learned, 16, 4, lens, 4, 2, 4, 2, nullptr), KVW_NULL_POINTER);
  EXPECT_EQ(kvw_apply(learned, 16, 4, lens, 4, 2, 4, 2, learned + 1), KVW_BUFFER_OVERLAP);
  EXPECT_EQ(kvw_apply(learned, 16, 4, out + 15, 4, 2, 4, 2, out), KVW_BUFFER_OVERLAP);
  EXPECT_EQ(kvw_apply(learned, 16, 4, out, 4, 2, 4, 2, out + 3), KVW_BUFFER_OVERLAP);
  EXPECT_EQ(kvw_apply(out, 16, 4, lens, 4, 2, 4, 2, out + 15), KVW_BUFFER_OVERLAP);

  EXPECT_EQ(kvw_witness_indices(learned, 15, 4, lens, 4, 8, out), KVW_ROWS_MISMATCH);
  EXPECT_EQ(kvw_witness_indices(learned, 16, 4, lens, 4, 0, out), KVW_SEGMENTS_OUT_OF_RANGE);
  EXPECT_EQ(kvw_witness_indices(learned, 16, 4, lens, 4, 8, nullptr), KVW_NULL_POINTER);
  EXPECT_EQ(kvw_witness_indices(out, 16, 4, lens, 4, 8, out + 15), KVW_BUFFER_OVERLAP);
  EXPECT_EQ(kvw_witness_indices(learned, 16, 4, out + 31, 4, 8, out), KVW_BUFFER_OVERLAP);
  EXPECT_EQ(kvw_witness_indices(learned, 16, 4, out, 4, 8, out + 3), KVW_BUFFER_OVERLAP);
  EXPECT_TRUE(memory.untouched());
}

TEST(Operations, WitnessIndicesAcceptMoreThan64Segments) {
  Tokens out(100);
  const Tokens learned{0, 5}, lens{70};
  ASSERT_EQ(kvw_witness_indices(learned.data(), 2, 2, lens.data(), 1, 100, out.data()), KVW_OK);
  EXPECT_EQ(out, kvwitness::rule::witness_row(learned, 70, 100));
}

TEST(Operations, NeedNoBufferWithoutRows) {
  EXPECT_EQ(kvw_witness_indices(nullptr, 0, 4, nullptr, 0, 4, nullptr), KVW_OK);
  EXPECT_EQ(kvw_apply(nullptr, 0, 4, nullptr, 0, 4, 64, 9, nullptr), KVW_OK);
  EXPECT_EQ(kvw_scatter(nullptr, 0, kMax, nullptr, 0, 64), KVW_OK);
  EXPECT_EQ(kvw_scatter_strided(nullptr, 0, kMax, nullptr, 0, 64), KVW_OK);
  EXPECT_EQ(kvw_context_lens_from_windows(nullptr, nullptr, 0, nullptr), KVW_OK);
  EXPECT_EQ(kvw_context_lens_from_requests(nullptr, 0, kMax, nullptr), KVW_OK);
}

TEST(Operations, NeedTheLengthsAloneAtTopkZero) {
  Memory memory;
  const Tokens lens{10, 0};
  EXPECT_EQ(kvw_apply(nullptr, 0, 0, lens.data(), 2, 0, 4, 4, nullptr), KVW_OK);
  EXPECT_EQ(kvw_scatter(nullptr, 0, 0, lens.data(), 2, 4), KVW_OK);
  EXPECT_EQ(kvw_scatter_strided(nullptr, 7, 0, lens.data(), 2, 4), KVW_OK);
  EXPECT_EQ(kvw_scatter_strided(nullptr, kMax, 0, lens.data(), 2, 4), KVW_OK)
      << "a span without topk is empty, whatever the stride";
  EXPECT_TRUE(memory.untouched());
  ASSERT_EQ(kvw_witness_indices(nullptr, 0, 0, lens.data(), 2, 4, memory.out), KVW_OK);
  EXPECT_EQ(Tokens(memory.out, memory.out + 9), (Tokens{0, 3, 5, 8, -1, -1, -1, -1, kPoison}));
}

TEST(Operations, OverlapNothingWithAnEmptySpan) {
  Tokens lens{10, 10};
  EXPECT_EQ(kvw_apply(lens.data(), 0, 0, lens.data(), 2, 0, 4, 4, lens.data() + 1), KVW_OK);
  EXPECT_EQ(kvw_scatter(lens.data(), 0, 0, lens.data(), 2, 4), KVW_OK);
  EXPECT_EQ(kvw_scatter_strided(lens.data() + 1, 1, 0, lens.data(), 2, 4), KVW_OK);
  EXPECT_EQ(kvw_apply(lens.data(), 0, 4, lens.data(), 0, 0, 4, 4, lens.data() + 1), KVW_OK);
  EXPECT_EQ(lens, (Tokens{10, 10}));
}

TEST(Operations, AcceptBuffersThatTouch) {
  Tokens memory{0, 5, 9, -1, 16, kPoison, kPoison, kPoison, kPoison};
  EXPECT_EQ(kvw_witness_indices(memory.data(), 4, 4, memory.data() + 4, 1, 4, memory.data() + 5), KVW_OK);
  EXPECT_EQ(memory, (Tokens{0, 5, 9, -1, 16, -1, -1, -1, 12}));
  EXPECT_EQ(kvw_scatter(memory.data(), 4, 4, memory.data() + 4, 1, 2), KVW_OK);
}

TEST(Operations, TurnScatterOffWithNoSegmentsWhateverElseIsPassed) {
  Memory memory;
  EXPECT_EQ(kvw_scatter(nullptr, -1, -1, nullptr, -1, 0), KVW_OK);
  EXPECT_EQ(kvw_scatter(memory.learned, 3, 4, nullptr, 7, 0), KVW_OK);
  EXPECT_EQ(kvw_scatter_strided(memory.learned, -5, 4, memory.learned, 7, 0), KVW_OK);
  EXPECT_TRUE(memory.untouched());
}

TEST(ScatterStrided, IgnoresTheStrideOfOneRow) {
  Tokens row{0, 1, 2, 3, 12, -1, -1, -1};
  const std::int32_t len = 16;
  ASSERT_EQ(kvw_scatter_strided(row.data(), 0, 8, &len, 1, 4), KVW_OK);
  EXPECT_EQ(row, (Tokens{0, 1, 2, 3, 4, 8, -1, -1}));
  ASSERT_EQ(kvw_scatter_strided(row.data(), kMax, 8, &len, 1, 4), KVW_OK);
}

TEST(ScatterStrided, NeitherReadsNorWritesColumnsPastTopk) {
  // Spare columns hold tokens that would occupy segments.
  Tokens rows{0, -1, 4, 8, 5, -1, 4, 8};
  const Tokens lens{16, 16};
  ASSERT_EQ(kvw_scatter_strided(rows.data(), 4, 2, lens.data(), 2, 2), KVW_OK);
  EXPECT_EQ(rows, (Tokens{8, -1, 4, 8, 8, -1, 4, 8}));
}

TEST(ScatterStrided, ReachesRowsWhoseDistanceOverflows32Bits) {
  constexpr std::int64_t kStride = std::int64_t{1} << 30;
  constexpr std::int64_t kRows = 3, kTopk = 4;
  constexpr std::size_t kPage = 1 << 16;
  const std::size_t reserved_bytes = static_cast<std::size_t>((kRows - 1) * kStride * 4) + kPage;
  void* const reserved = mmap(nullptr, reserved_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(reserved, MAP_FAILED) << "no address space for " << reserved_bytes << " bytes";
  auto* const base = static_cast<std::int32_t*>(reserved);
  const Tokens lens{16, 16, 16};
  for (std::int64_t row = 0; row < kRows; ++row) {
    ASSERT_EQ(mprotect(base + row * kStride, kPage, PROT_READ | PROT_WRITE), 0);
    std::copy_n(Tokens{static_cast<std::int32_t>(row), 5, 9, -1}.begin(), kTopk, base + row * kStride);
  }
  for (const kvwitness::Backend* const backend : kvwitness::backends()) {
    if (backend->runnable()) {
      ASSERT_EQ(kvw_set_backend(backend->name), KVW_OK);
      for (std::int64_t row = 0; row < kRows; ++row) {
        base[row * kStride + 3] = -1;
      }
      ASSERT_EQ(kvw_scatter_strided(base, kStride, kTopk, lens.data(), kRows, 1), KVW_OK);
      for (std::int64_t row = 0; row < kRows; ++row) {
        EXPECT_EQ(Tokens(base + row * kStride, base + row * kStride + 4),
                  (Tokens{static_cast<std::int32_t>(row), 5, 9, -1}))
            << row;
      }
      ASSERT_EQ(kvw_scatter_strided(base, kStride, 3, lens.data(), kRows, 2), KVW_OK);
      for (std::int64_t row = 0; row < kRows; ++row) {
        EXPECT_EQ(base[row * kStride + 1], 5) << "both segments hold a token";
      }
      base[2 * kStride + 2] = -1;
      ASSERT_EQ(kvw_scatter_strided(base, kStride, 3, lens.data(), kRows, 2), KVW_OK);
      EXPECT_EQ(base[2 * kStride + 1], 8) << "the last row's second segment lost its token";
      base[2 * kStride + 1] = 5;
      base[2 * kStride + 2] = 9;
    }
  }
  ASSERT_EQ(kvw_set_backend(""), KVW_OK);
  ASSERT_EQ(munmap(reserved, reserved_bytes), 0);
}

TEST(Scatter, ServesMoreThan65535Rows) {
  constexpr std::size_t kRows = 70'001, kTopk = 3;
  Tokens rows(kRows * kTopk), lens(kRows), expected;
  for (std::size_t row = 0; row < kRows; ++row) {
    lens[row] = static_cast<std::int32_t>(row % 97);
    const auto token = static_cast<std::int32_t>(row % 89);
    std::copy_n(Tokens{token, -1, token / 2}.begin(), kTopk, rows.begin() + static_cast<std::ptrdiff_t>(row * kTopk));
    std::ranges::copy(scattered_row(std::span(rows).subspan(row * kTopk, kTopk), lens[row], 2),
                      std::back_inserter(expected));
  }
  ASSERT_EQ(kvw_scatter(rows.data(), static_cast<std::int64_t>(rows.size()), kTopk, lens.data(), kRows, 2), KVW_OK);
  EXPECT_EQ(rows, expected);
}

TEST(Scatter, ServesABaseThatIsAlignedTo4BytesAlone) {
  alignas(64) std::int32_t memory[256];
  const Tokens lens{1000, 77};
  for (std::size_t base = 0; base < 16; ++base) {
    for (const std::int64_t topk : {1, 3, 51, 100}) {
      Tokens expected;
      std::fill(std::begin(memory), std::end(memory), kPoison);
      for (std::int64_t slot = 0; slot < 2 * topk; ++slot) {
        memory[base + static_cast<std::size_t>(slot)] = static_cast<std::int32_t>(slot * 7 % 500);
      }
      for (std::size_t row = 0; row < 2; ++row) {
        const std::span<const std::int32_t> learned(memory + base + row * static_cast<std::size_t>(topk),
                                                    static_cast<std::size_t>(topk));
        std::ranges::copy(scattered_row(learned, lens[row], 64), std::back_inserter(expected));
      }
      ASSERT_EQ(kvw_scatter(memory + base, 2 * topk, topk, lens.data(), 2, 64), KVW_OK);
      EXPECT_EQ(Tokens(memory + base, memory + base + 2 * topk), expected);
      EXPECT_EQ(memory[base + 2 * static_cast<std::size_t>(topk)], kPoison);
    }
  }
}

TEST(SegmentOf, IsExactAndNotClamped) {
  EXPECT_EQ(kvw_segment_of(12, 16, 4), 3u);
  EXPECT_EQ(kvw_segment_of(16, 16, 4), 4u);
  EXPECT_EQ(kvw_segment_of(5, 0, 4), 5u);
  EXPECT_EQ(kvw_segment_of(5, 16, 0), 0u);
  EXPECT_EQ(kvw_segment_of(UINT64_MAX - 1, UINT64_MAX, 64), 63u);
}

TEST(ContextLens, AreWrittenAsTheLengthsOfWindowsAndRequests) {
  const Tokens starts{0, 5, INT32_MIN}, ends{7, 5, INT32_MAX};
  Tokens lens(4, kPoison);
  ASSERT_EQ(kvw_context_lens_from_windows(starts.data(), ends.data(), 3, lens.data()), KVW_OK);
  EXPECT_EQ(lens, (Tokens{7, 0, INT32_MAX, kPoison}));
  const Tokens seq_lens{10, INT32_MIN};
  ASSERT_EQ(kvw_context_lens_from_requests(seq_lens.data(), 2, 2, lens.data()), KVW_OK);
  EXPECT_EQ(lens, (Tokens{9, 10, INT32_MIN, INT32_MIN}));
}

TEST(Gate, GivesTheSegmentCountOrNamesTheVariableAndItsValue) {
  constexpr const char* kVariable = "VLLM_SPARSE_MLA_TOPOLOGY_SEGMENTS";
  std::int64_t num_segments = -9;
  ASSERT_EQ(unsetenv(kVariable), 0);
  EXPECT_EQ(kvw_segments_from_environment(&num_segments), KVW_OK);
  EXPECT_EQ(num_segments, 0);
  ASSERT_EQ(setenv(kVariable, "64", 1), 0);
  EXPECT_EQ(kvw_segments_from_environment(&num_segments), KVW_OK);
  EXPECT_EQ(num_segments, 64);
  for (const char* const value : {"65", "-1", "", " 8"}) {
    ASSERT_EQ(setenv(kVariable, value, 1), 0);
    EXPECT_EQ(kvw_segments_from_environment(&num_segments), KVW_ENVIRONMENT);
    EXPECT_THAT(kvw_last_error(),
                AllOf(StartsWith(std::string(kVariable) + " is \"" + value + "\""), HasSubstr("0 to 64")));
    EXPECT_EQ(num_segments, 64);
  }
  EXPECT_EQ(kvw_segments_from_environment(nullptr), KVW_NULL_POINTER) << "before the environment is read";
  ASSERT_EQ(unsetenv(kVariable), 0);
}

TEST(Nulls, TellTheNumberNeededWhereTheCapacityIsTooSmall) {
  Memory memory;
  EXPECT_EQ(kvw_random_null(100, 5, 0, memory.out, 4, &memory.count), KVW_BUFFER_TOO_SMALL);
  EXPECT_EQ(memory.count, 5);
  EXPECT_THAT(kvw_last_error(), AllOf(HasSubstr("capacity is 4"), HasSubstr("at least 5")));
  EXPECT_EQ(kvw_locality_null(3, 5, memory.out, 2, &memory.count), KVW_BUFFER_TOO_SMALL);
  EXPECT_EQ(memory.count, 3);
  EXPECT_EQ(kvw_random_null(100, 5, 0, nullptr, 0, &memory.count), KVW_BUFFER_TOO_SMALL)
      << "a question only for the size";
  EXPECT_EQ(memory.count, 5);
  EXPECT_EQ(memory.out[0], kPoison);
}

TEST(Nulls, NeedNoOffsetsWhereNoneAreSelected) {
  Memory memory;
  EXPECT_EQ(kvw_random_null(0, 5, 0, nullptr, 9, &memory.count), KVW_OK);
  EXPECT_EQ(memory.count, 0);
  EXPECT_EQ(kvw_locality_null(5, 0, nullptr, 9, &memory.count), KVW_OK);
  EXPECT_EQ(memory.count, 0);
}

TEST(Nulls, SpanTheSmallerOfCapacityAndNeedForAnOverlap) {
  // The count lies in the capacity, and past the offsets that are needed.
  std::int64_t memory[4] = {};
  auto* const offsets = reinterpret_cast<std::int32_t*>(memory);
  EXPECT_EQ(kvw_locality_null(9, 2, offsets, 8, &memory[1]), KVW_OK);
  EXPECT_EQ(offsets[0], 7);
  EXPECT_EQ(offsets[1], 8);
  EXPECT_EQ(memory[1], 2);
}

TEST(Nulls, DrawFromTheLongestContextWithinTheirBudget) {
  Tokens offsets(1000);
  std::int64_t count = 0;
  allocation_count = 0;
  refused_bytes = 1 << 20;  // an array of the context's length would need 8 GiB
  EXPECT_EQ(kvw_random_null(INT32_MAX, 1000, 7, offsets.data(), 1000, &count), KVW_OK);
  refused_bytes = SIZE_MAX;
  EXPECT_EQ(count, 1000);
  EXPECT_TRUE(std::ranges::is_sorted(offsets));
}

TEST(Masks, AreCausalAndLeaveTheRestAlone) {
  std::vector<std::uint8_t> mask(10, 9);
  ASSERT_EQ(kvw_select_mask_local(3, 2, mask.data(), 10), KVW_OK);
  EXPECT_EQ(mask, (std::vector<std::uint8_t>{1, 0, 0, 1, 1, 0, 0, 1, 1, 9}));
  mask.assign(10, 9);
  ASSERT_EQ(kvw_select_mask_random(3, 3, 5, mask.data(), 10), KVW_OK);
  EXPECT_EQ(mask, (std::vector<std::uint8_t>{1, 0, 0, 1, 1, 0, 1, 1, 1, 9})) << "a budget of the whole row selects it";
  EXPECT_EQ(kvw_select_mask_random(0, 3, 5, nullptr, 0), KVW_OK);
  EXPECT_EQ(kvw_select_mask_local(0, 3, nullptr, 4), KVW_OK);
}

TEST(Metrics, GiveTheHandExamples) {
  const Tokens candidates{0, 5, 5, -1, 9};
  const std::vector<double> attention{0.5, 0, 0.25, 0, 0, 0.125, 0.0625, 0.0625};
  double value = 0;
  ASSERT_EQ(kvw_segment_coverage(candidates.data(), 5, 8, 4, &value), KVW_OK);
  EXPECT_EQ(value, 0.5);
  ASSERT_EQ(kvw_attention_mass_recall(candidates.data(), 5, attention.data(), 8, &value), KVW_OK);
  EXPECT_EQ(value, 0.625);
  ASSERT_EQ(kvw_segment_coverage(nullptr, 0, 0, 4, &value), KVW_OK);
  EXPECT_EQ(value, 1.0);
  ASSERT_EQ(kvw_attention_mass_recall(nullptr, 0, nullptr, 0, &value), KVW_OK);
  EXPECT_TRUE(std::isnan(value));
}

TEST(LastError, IsEmptyBeforeAThreadsFirstRefusalAndItsOwn) {
  ASSERT_EQ(kvw_context_lens_from_windows(nullptr, nullptr, -7, nullptr), KVW_NEGATIVE_COUNT);
  std::string before = "unset", after;
  std::thread other([&] {
    before = kvw_last_error();
    kvw_context_lens_from_windows(nullptr, nullptr, -8, nullptr);
    after = kvw_last_error();
  });
  other.join();
  EXPECT_EQ(before, "");
  EXPECT_THAT(after, HasSubstr("rows is -8"));
  EXPECT_THAT(kvw_last_error(), HasSubstr("rows is -7"));
}

TEST(LastError, IsLeftAloneByASuccess) {
  ASSERT_EQ(kvw_context_lens_from_windows(nullptr, nullptr, -7, nullptr), KVW_NEGATIVE_COUNT);
  ASSERT_EQ(kvw_context_lens_from_windows(nullptr, nullptr, 0, nullptr), KVW_OK);
  ASSERT_EQ(kvw_scatter(nullptr, 0, 0, nullptr, 0, 0), KVW_OK);
  EXPECT_THAT(kvw_last_error(), HasSubstr("rows is -7"));
}

TEST(Allocation, IsNoneInOperationsAndLengthHelpersRefusedOrNot) {
  Tokens rows(400, 3), lens{500, 90, 4, 0}, out(400), wide(400);
  std::int64_t num_segments = 0;
  ASSERT_EQ(kvw_scatter(rows.data(), 400, 100, lens.data(), 4, 64), KVW_OK);  // the backend is chosen
  allocation_count = 0;
  kvw_status worst = KVW_OK;
  const auto ran = [&worst](kvw_status status) { worst = std::max(worst, status); };
  ran(kvw_witness_indices(rows.data(), 400, 100, lens.data(), 4, 64, out.data()));
  ran(kvw_witness_indices(rows.data(), 400, 100, lens.data(), 4, 100, wide.data()));
  ran(kvw_apply(rows.data(), 400, 100, lens.data(), 4, 9, 64, 64, out.data()));
  ran(kvw_apply(rows.data(), 400, 100, lens.data(), 4, 9, 64, 64, rows.data()));
  ran(kvw_scatter(rows.data(), 400, 100, lens.data(), 4, 64));
  ran(kvw_scatter_strided(rows.data(), 100, 99, lens.data(), 4, 64));
  ran(kvw_context_lens_from_windows(rows.data(), rows.data(), 4, lens.data()));
  ran(kvw_context_lens_from_requests(rows.data(), 2, 2, lens.data()));
  ran(kvw_segments_from_environment(&num_segments));
  const kvw_status refusal = kvw_scatter(rows.data(), 399, 100, lens.data(), 4, 64);
  const std::size_t allocated = allocation_count;
  EXPECT_EQ(worst, KVW_OK);
  EXPECT_EQ(refusal, KVW_ROWS_MISMATCH);
  EXPECT_EQ(allocated, 0u);
}

TEST(OutOfMemory, IsAStatusAndWritesNothing) {
  Memory memory;
  kvw_status statuses[4];
  refused_bytes = 1;
  statuses[0] = kvw_random_null(100, 5, 0, memory.out, 5, &memory.count);
  statuses[1] = kvw_select_mask_random(4, 5, 0, memory.mask, 16);
  statuses[2] = kvw_segment_coverage(memory.learned, 4, 100, 65, &memory.value);  // up to 64 take no memory
  statuses[3] = kvw_attention_mass_recall(memory.learned, 4, memory.attention, 8, &memory.value);
  refused_bytes = SIZE_MAX;
  EXPECT_THAT(statuses, testing::Each(KVW_OUT_OF_MEMORY));
  EXPECT_THAT(kvw_last_error(), HasSubstr("out of memory; context_len is 8"));
  EXPECT_TRUE(memory.untouched());
}

}  // namespace
