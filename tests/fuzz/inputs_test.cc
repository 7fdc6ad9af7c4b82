// The inputs' forms: scheduled cases, raw calls, seeds, files.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "fuzz/c_functions/c_function.h"
#include "fuzz/engine/replay_files.h"
#include "fuzz/inputs/json_numbers.h"
#include "fuzz/inputs/scheduled_case.h"
#include "fuzz/seeds.h"
#include "fuzz/target.h"

namespace kvwitness::fuzz {
namespace {

namespace fs = std::filesystem;

TEST(ScheduledCaseTest, ComesBackFromItsBytes) {
  harness::Case value;
  value.topk = 2;
  value.num_segments = 3;
  value.context_lens = {9};
  value.learned = {4, -1};
  const ScheduledCase scheduled{{kernels::Variant::kWarp, 0x0123456789ABCDEFU, 3}, 200, value, 7};
  const ScheduledCase again = decode_scheduled(encode_scheduled(scheduled));
  EXPECT_EQ(again.run.schedule, scheduled.run.schedule);
  EXPECT_EQ(again.run.variant, scheduled.run.variant);
  EXPECT_EQ(again.run.grid_divisor, scheduled.run.grid_divisor);
  EXPECT_EQ(again.lengths_choice, scheduled.lengths_choice);
  EXPECT_EQ(again.value, scheduled.value);
  EXPECT_EQ(again.row_count, scheduled.row_count);
}

TEST(ScheduledCaseTest, RepeatsTheRowsOfALegalCaseInTurn) {
  harness::Case value;
  value.operation = harness::Operation::kWitnesses;
  value.topk = 1;
  value.num_segments = 2;
  value.context_lens = {9, 5, 7};
  value.learned = {4, -1, 6};
  for (std::size_t count = 1; count < ScheduledCase::kRowCounts.size(); ++count) {
    const harness::Case many = ScheduledCase{.run = {}, .value = value, .row_count = count}.repeated();
    ASSERT_EQ(many.rows(), ScheduledCase::kRowCounts[count]);
    for (std::size_t row = 0; row < many.context_lens.size(); ++row) {
      ASSERT_EQ(many.context_lens[row], value.context_lens[row % 3]);
      ASSERT_EQ(many.learned[row], value.learned[row % 3]);
    }
  }
  EXPECT_EQ((ScheduledCase{.run = {}, .value = value}.repeated()), value);
  value.learned.push_back(1);
  EXPECT_EQ((ScheduledCase{.run = {}, .value = value, .row_count = 1}.repeated()), value) << "its rows do not fill it";
  value.operation = harness::Operation::kScatter;
  value.num_segments = 0;  // legal, and touches nothing, whatever its rows are
  for (const std::int64_t topk : {std::int64_t{5}, std::int64_t{-1}, std::int64_t{1} << 62}) {
    value.topk = topk;
    EXPECT_EQ((ScheduledCase{.run = {}, .value = value, .row_count = 1}.repeated()), value) << topk;
  }
}

TEST(JsonNumbersTest, AreThoseOfTheirCaseAndKey) {
  const std::string_view text = R"([{"topk": 2, "note": "7, \"topk\": 8", "learned":[[-1,20]],
      "expect":{"rows":[[3, 4e2]]}, "after":[{"topk":9,"expect" :{"refused":"x 5"},"attention":[[0.5]]}],
      "row_stride":6}] {"topk":11})";
  const JsonNumbers found = json_numbers(text);
  using Found = std::tuple<std::size_t, std::string, std::string>;
  std::vector<Found> numbers;
  for (const JsonNumber& number : found.numbers) {
    numbers.emplace_back(number.case_index, number.key, number.text);
  }
  EXPECT_EQ(numbers, (std::vector<Found>{{0, "topk", "2"},
                                         {0, "learned", "-1"},
                                         {0, "learned", "20"},
                                         {0, "expect", "3"},
                                         {0, "expect", "4e2"},
                                         {1, "topk", "9"},
                                         {1, "attention", "0.5"},
                                         {0, "row_stride", "6"},
                                         {2, "topk", "11"}}));
  EXPECT_FALSE(found.has_escaped_key);
  EXPECT_TRUE(json_numbers(R"({"to\u0070k":1})").has_escaped_key);
}

TEST(JsonNumbersTest, AnyTextIsScanned) {
  const std::string_view text = R"({"a":[1,{"expect":{"rows":[2]}},"\)";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    EXPECT_LE(json_numbers(text.substr(0, size)).numbers.size(), 2U);
    json_numbers(text.substr(size));
  }
  EXPECT_EQ(json_numbers("]}-1").numbers.size(), 1U);
}

TEST(ScheduledCaseTest, NoBytesAreAScheduleInOrderAndACase) {
  const ScheduledCase scheduled = decode_scheduled({});
  EXPECT_EQ(scheduled.run.schedule, simt::in_order);
  EXPECT_EQ(scheduled.run.grid_divisor, 1U);
  EXPECT_EQ(scheduled.value.rows(), 0);
}

TEST(RawCallTest, ComesBackFromItsBytes) {
  RawCall call;
  call.function = function_number("kvw_cuda_apply");
  call.counts = {4,
                 2,
                 8,
                 INT64_MAX,
                 -1,
                 INT64_MIN,
                 INT32_MAX,
                 INT64_MAX / 4 + 1,
                 1000,
                 std::int64_t{1} << 40,
                 INT64_MAX / 8 - 1,
                 -123456789012345};
  call.pointers = {RawCall::kNull, 0, 9, 4095, 515};
  call.seed = 0xFEDCBA9876543210U;
  call.text = "avx2";
  call.fill = {1, 2, 3};
  EXPECT_EQ(decode_raw_call(encode_raw_call(call)), call);
}

TEST(RawCallTest, EveryPointerLiesInTheArenaOrIsNull) {
  std::vector<std::uint8_t> bytes(200);
  for (int step = 0; step < 500; ++step) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<std::uint8_t>(bytes[i] * std::size_t{5} + i + static_cast<std::size_t>(step));
    }
    for (const std::int32_t pointer : decode_raw_call(bytes).pointers) {
      EXPECT_TRUE(pointer == RawCall::kNull || (pointer >= 0 && pointer < static_cast<std::int32_t>(kArenaBytes)));
    }
  }
}

TEST(SeedsTest, EveryTargetStartsFromManyInputsOfItsSize) {
  for (const Target& target : all_targets()) {
    const auto seeds = seeds_of(target, KVWITNESS_CORPUS_FOLDER);
    ASSERT_TRUE(seeds.has_value()) << seeds.error();
    EXPECT_GT(seeds->size(), 200U) << target.name;
    std::set<std::string> names;
    for (const Seed& seed : *seeds) {
      EXPECT_LE(seed.bytes.size(), target.form->most_seed_bytes);
      EXPECT_TRUE(names.insert(seed.name).second) << seed.name;
    }
  }
}

TEST(SeedsTest, AMissingCorpusIsAnError) {
  EXPECT_FALSE(seeds_of(all_targets().front(), "/no/such/corpus").has_value());
}

TEST(ReplayFilesTest, AnEmptyFolderAMissingFileAndNothingAtAllAreErrors) {
  const fs::path folder = fs::path(testing::TempDir()) / "kvwitness-empty-folder";
  fs::remove_all(folder);
  fs::create_directory(folder);
  EXPECT_NE(files_of({folder.string()}).error().find("holds no file"), std::string::npos);
  EXPECT_NE(files_of({"/no/such/file"}).error().find("no such file"), std::string::npos);
  EXPECT_FALSE(files_of({}).has_value());
  std::ofstream(folder / "b") << "2";
  std::ofstream(folder / "a") << "1";
  EXPECT_EQ(files_of({folder.string()}).value(),
            (std::vector<std::string>{(folder / "a").string(), (folder / "b").string()}));
  fs::remove_all(folder);
}

}  // namespace
}  // namespace kvwitness::fuzz
