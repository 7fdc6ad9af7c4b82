#include <gtest/gtest.h>
#include <kvwitness/case.h>
#include <kvwitness/legality.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <span>
#include <vector>

namespace kvwitness::harness {
namespace {

using Bytes = std::vector<std::uint8_t>;

Case scatter_case() {
  Case value;
  value.operation = Operation::kScatter;
  value.topk = 3;
  value.num_segments = 2;
  value.context_lens = {8, -1};
  value.learned = {0, 1, 2, -1, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()};
  return value;
}

Case apply_case() {
  Case value = scatter_case();
  value.operation = Operation::kApply;
  value.learned_keep = 1;
  value.max_replacements = std::numeric_limits<std::int64_t>::max();
  value.in_place = true;
  value.base_offset = 15;
  value.row_stride = 1000;
  return value;
}

TEST(CaseLimitsTest, ACaseKeepsToThemOnlyIfItsEarlierCallsDo) {
  Case witnesses = scatter_case();
  witnesses.operation = Operation::kWitnesses;
  witnesses.num_segments = kMaxTouchedElements / 2;
  EXPECT_TRUE(is_within_limits(witnesses));
  witnesses.num_segments += 1;
  EXPECT_FALSE(is_within_limits(witnesses));
  Case strided = scatter_case();
  strided.row_stride = kMaxSpannedElements - 3;
  EXPECT_TRUE(is_within_limits(strided));
  strided.row_stride = kMaxSpannedElements - 2;
  EXPECT_FALSE(is_within_limits(strided));
  Case last = scatter_case();
  last.prior_calls = {scatter_case(), witnesses};
  EXPECT_FALSE(is_within_limits(last));
}

TEST(CaseBytesTest, EveryFieldOfACallSurvives) {
  Case refused = apply_case();
  refused.topk = std::numeric_limits<std::int64_t>::min();
  refused.num_segments = -1;
  refused.learned_keep = 256;
  refused.max_replacements = 255;
  refused.row_stride = -1;
  Case wrapping = scatter_case();
  wrapping.topk = std::int64_t{1} << 62;
  wrapping.context_lens.assign(4, 5);
  wrapping.learned.clear();
  Case flat = scatter_case();
  flat.form = Form::kFlat;
  Case mismatch = scatter_case();
  mismatch.learned.push_back(7);
  Case no_slots;
  no_slots.context_lens = {1, 2};
  Case no_slots_flat = no_slots;
  no_slots_flat.form = Form::kFlat;
  Case with_after = scatter_case();
  with_after.prior_calls = {apply_case(), refused, no_slots_flat};
  for (const Case& value :
       {Case{}, scatter_case(), apply_case(), refused, wrapping, flat, mismatch, no_slots, no_slots_flat, with_after}) {
    EXPECT_EQ(decode(encode(value)), value) << value;
  }
}

TEST(CaseBytesTest, ExpectationsNotesAndAttentionAreNoPartOfACall) {
  Case value = scatter_case();
  value.note = "note";
  value.expect = Expectation(1);
  value.attention.emplace();
  value.prior_calls = {value};
  Case call = scatter_case();
  call.prior_calls = {scatter_case()};
  EXPECT_EQ(call_only(value), call);
  EXPECT_EQ(decode(encode(value)), call);
}

TEST(CaseBytesTest, MillionsOfWitnessesFromOneRowSurviveByPayingWithPadding) {
  Case value;
  value.operation = Operation::kWitnesses;
  value.topk = 1;
  value.num_segments = 5'000'000;
  value.context_lens = {std::numeric_limits<std::int32_t>::max()};
  value.learned = {3};
  const Bytes bytes = encode(value);
  EXPECT_EQ(decode(bytes), value);
  EXPECT_GE(bytes.size(), 5'000'000U / 64);
  value.prior_calls = {value};
  EXPECT_EQ(decode(encode(value)), value);

  // Without what it pays, the same header asks for less.
  const Case reduced = decode(std::span(bytes).first(64));
  EXPECT_GT(reduced.num_segments, 0);
  EXPECT_LE(reduced.num_segments, 1024 + 64 * 64);
}

TEST(CaseBytesTest, LargeBatchesAndStridesSurvive) {
  Case value;
  value.topk = 2;
  value.num_segments = 2;
  value.context_lens.assign(70'000, 9);
  value.learned.assign(140'000, 4);
  EXPECT_EQ(decode(encode(value)), value);
  value.context_lens.assign(3, 9);
  value.learned.assign(6, 4);
  for (const std::int64_t stride : {std::int64_t{1} << 30, (std::int64_t{1} << 35) - 1, std::int64_t{1} << 61}) {
    value.row_stride = stride;  // legal, legal at the limit, refused for its span
    EXPECT_EQ(decode(encode(value)), value);
  }
}

// What a decoded case may hold and touch, for an input of so many bytes.
void expect_within_bounds(const Case& value, std::size_t bytes) {
  const auto size = static_cast<std::int64_t>(bytes);
  ASSERT_LE(value.rows(), 16 + size / 4);
  ASSERT_LE(static_cast<std::int64_t>(value.learned.size()), 64 + size);
  const Extent extent = extent_of(value);
  ASSERT_LE(extent.touched, 1024 + 64 * size);
  ASSERT_LE(extent.spanned, kMaxSpannedElements);
  ASSERT_GE(value.base_offset, 0);
  ASSERT_LE(value.base_offset, 15);
  ASSERT_LE(value.prior_calls.size(), bytes);
  if (value.operation != Operation::kApply) {
    ASSERT_EQ(value.learned_keep, 0);
    ASSERT_EQ(value.max_replacements, 0);
    ASSERT_FALSE(value.in_place);
  }
  for (const Case& earlier : value.prior_calls) {
    ASSERT_TRUE(earlier.prior_calls.empty());
    expect_within_bounds(earlier, bytes);
  }
}

void expect_total(std::span<const std::uint8_t> bytes) {
  const Case value = decode(bytes);
  expect_within_bounds(value, bytes.size());
  ASSERT_EQ(decode(encode(value)), value);
  const auto again = parse_cases(to_json(value), "decoded");
  ASSERT_TRUE(again.has_value()) << again.error().message();
  ASSERT_EQ(again->front(), value);
}

TEST(CaseBytesTest, AnyBytesGiveACaseWithinBoundsThatEncodesToItself) {
  std::mt19937_64 random(20240607);
  std::set<std::int32_t> statuses;
  std::set<Operation> operations;
  for (int round = 0; round < 20'000; ++round) {
    Bytes bytes(random() % 200);
    // Some inputs of small bytes, which give small counts, and some of all bytes.
    const std::uint64_t mask = round % 3 == 0 ? 0xFF : round % 3 == 1 ? 0x07 : 0x3F;
    std::ranges::generate(bytes, [&] { return static_cast<std::uint8_t>(random() & mask); });
    if (round % 2 == 0 && bytes.size() > 12) {
      std::fill(bytes.begin() + 5, bytes.begin() + 8, std::uint8_t{0});  // a modest number of rows
    }
    expect_total(bytes);
    if (HasFatalFailure()) {
      FAIL() << "round " << round;
    }
    statuses.insert(expected_status(decode(bytes), true));
    operations.insert(decode(bytes).operation);
  }
  EXPECT_EQ(operations.size(), 3U);
  EXPECT_EQ(statuses, (std::set<std::int32_t>{0, 1, 2, 3, 4, 6}));  // every status that a case can provoke
}

TEST(CaseBytesTest, AnEncodedCaseCutOrChangedAtAnyByteStillGivesACase) {
  Case value = apply_case();
  value.prior_calls = {scatter_case()};
  const Bytes bytes = encode(value);
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    expect_total(std::span(bytes).first(at));
    for (const int change : {0x00, 0x01, 0x7F, 0x80, 0xFF}) {
      Bytes changed = bytes;
      changed[at] = static_cast<std::uint8_t>(change);
      expect_total(changed);
    }
    ASSERT_FALSE(HasFatalFailure()) << at;
  }
}

TEST(CaseBytesTest, TenBytesMakeNoLargeCase) {
  for (int letter = 0; letter < 256; ++letter) {
    const Case value = decode(Bytes(10, static_cast<std::uint8_t>(letter)));
    expect_within_bounds(value, 10);
  }
  Bytes full(300, 0xFF);
  full[1] = 0;  // witnesses
  expect_total(full);
}

TEST(CaseBytesTest, EveryVersionGivesACase) {
  Bytes bytes = encode(scatter_case());
  for (int version = 0; version < 256; ++version) {
    bytes[0] = static_cast<std::uint8_t>(version);
    EXPECT_EQ(decode(bytes), scatter_case());
  }
}

TEST(CaseBytesTest, ASmallEditOfANumberOrATokenIsASmallChangeOfTheCase) {
  const Case value = scatter_case();
  Bytes bytes = encode(value);
  bytes[24] = 3;  // num_segments
  Case expected = value;
  expected.num_segments = 3;
  EXPECT_EQ(decode(bytes), expected);
  bytes[56] = 9;  // the first length
  expected.context_lens[0] = 9;
  EXPECT_EQ(decode(bytes), expected);
  bytes[64] = 5;  // the first token, behind two lengths
  expected.learned[0] = 5;
  EXPECT_EQ(decode(bytes), expected);
}

}  // namespace
}  // namespace kvwitness::harness
