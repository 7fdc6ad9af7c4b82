#include <gtest/gtest.h>
#include <kvwitness/case.h>
#include <kvwitness/legality.h>
#include <kvwitness/oracle.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <variant>
#include <vector>

#include "properties/case/status.h"

namespace kvwitness::harness {
namespace {

namespace fs = std::filesystem;

const fs::path kCorpus = KVWITNESS_CORPUS_FOLDER;

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  EXPECT_TRUE(stream.is_open()) << file;
  return {std::istreambuf_iterator<char>(stream), {}};
}

// A file's name as a README's table writes it.
std::string quoted(const fs::path& file) {
  std::string name = file.filename().string();
  name.insert(name.begin(), '`');
  name.push_back('`');
  return name;
}

// The case files of a folder in the order of their names; nulls.jsonl is none.
std::vector<fs::path> case_files(const char* folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(kCorpus / folder)) {
    if (entry.path().extension() == ".jsonl" && entry.path().filename() != "nulls.jsonl") {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  return files;
}

std::vector<Case> cases_of(const fs::path& file) {
  auto cases = read_cases(file.string());
  if (!cases) {
    ADD_FAILURE() << cases.error().message();
    return {};
  }
  return *std::move(cases);
}

void expect_the_oracle_agrees(const Case& value, const std::string& where) {
  ASSERT_TRUE(value.expect.has_value()) << where << " has no `expect`";
  if (const auto* refusal = std::get_if<std::int32_t>(&*value.expect)) {
    EXPECT_EQ(expected_status(value, true), *refusal) << where << ": " << value.note;
    return;
  }
  EXPECT_EQ(expected_status(value, true), status::kOk) << where << ": " << value.note;
  EXPECT_TRUE(expected_rows(value) == std::get<std::vector<std::int32_t>>(*value.expect))
      << where << ": " << value.note;
}

// Every case of the folder's files, earlier calls included; returns how many.
std::size_t judge_folder(const char* folder) {
  std::size_t judged = 0;
  for (const fs::path& file : case_files(folder)) {
    std::size_t number = 0;
    for (const Case& value : cases_of(file)) {
      std::string where = file.filename().string();
      where.append("#").append(std::to_string(++number));
      expect_the_oracle_agrees(value, where);
      for (const Case& earlier : value.prior_calls) {
        expect_the_oracle_agrees(earlier, where + ", a call before it");
      }
      ++judged;
    }
  }
  return judged;
}

TEST(CorpusTest, TheOracleGivesWhatEveryRegressionExpects) {
  EXPECT_GE(judge_folder("regressions"), 180U);
}

TEST(CorpusTest, TheOracleGivesTheGoldenAnswers) {
  EXPECT_EQ(judge_folder("golden"), 600U);
}

TEST(CorpusTest, TheOracleGivesTheExpectedRowsOfTheRealModel) {
  EXPECT_EQ(judge_folder("real"), 160U);
}

TEST(CorpusTest, EveryRegressionSaysHowItsAnswerFollowsFromTheRule) {
  for (const fs::path& file : case_files("regressions")) {
    for (const Case& value : cases_of(file)) {
      EXPECT_FALSE(value.note.empty()) << file.filename() << ": " << to_json(value).substr(0, 200);
    }
  }
}

TEST(CorpusTest, TheTableOfRegressionsNamesEveryFileAndNoOther) {
  const std::vector<fs::path> files = case_files("regressions");
  ASSERT_FALSE(files.empty());
  const std::string table = text_of(kCorpus / "regressions" / "README.md");
  std::size_t named = 0;
  for (std::size_t at = table.find(".jsonl`"); at != std::string::npos; at = table.find(".jsonl`", at + 1)) {
    ++named;
  }
  EXPECT_EQ(named, files.size());
  for (const fs::path& file : files) {
    EXPECT_NE(table.find(quoted(file)), std::string::npos) << file.filename();
  }
}

TEST(CorpusTest, EveryKindOfFaultHasSeveralCases) {
  for (const fs::path& file : case_files("regressions")) {
    if (file.filename().string().starts_with("found_")) {
      continue;  // what a fuzz target found is one case
    }
    if (file.filename() == "more_than_65535_rows.jsonl") {
      EXPECT_GT(cases_of(file).front().rows(), 65'536);  // one large case is enough
      continue;
    }
    EXPECT_GE(cases_of(file).size(), 3U) << file.filename();
  }
}

TEST(CorpusTest, EveryCaseSurvivesItsTwoForms) {
  std::size_t count = 0;
  for (const char* folder : {"regressions", "golden", "real"}) {
    for (const fs::path& file : case_files(folder)) {
      for (const Case& value : cases_of(file)) {
        const auto again = parse_cases(to_json(value), "again");
        ASSERT_TRUE(again.has_value()) << again.error().message();
        ASSERT_EQ(again->size(), 1U);
        EXPECT_TRUE(again->front() == value) << file << ": " << value.note;
        EXPECT_TRUE(decode(encode(value)) == call_only(value)) << file << ": " << value.note;
        ++count;
      }
    }
  }
  EXPECT_GE(count, 940U);
}

TEST(CorpusTest, NullRowsAreOneHundredAndTwentyLinesAndNoCaseFile) {
  const std::string text = text_of(kCorpus / "golden" / "nulls.jsonl");
  EXPECT_EQ(std::ranges::count(text, '\n'), 120);
  EXPECT_FALSE(parse_cases(text, "nulls.jsonl").has_value());
}

TEST(CorpusTest, EveryFolderSaysWhatItHolds) {
  for (const char* folder : {".", "regressions", "golden", "real", "seeds"}) {
    EXPECT_GT(text_of(kCorpus / folder / "README.md").size(), 200U) << folder;
  }
}

TEST(CorpusTest, TheCorpusStaysBelowFiveMegabytes) {
  std::uintmax_t bytes = 0;
  for (const auto& entry : fs::recursive_directory_iterator(kCorpus)) {
    bytes += entry.is_regular_file() ? entry.file_size() : 0;
  }
  EXPECT_GT(bytes, 2'000'000U);
  EXPECT_LT(bytes, 5'000'000U);
}

}  // namespace
}  // namespace kvwitness::harness
