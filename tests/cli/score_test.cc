#include "properties/report/score.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace kvwitness::harness {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

// The hand example of the metrics: L = 8, S = 4.
Case hand_example() {
  Case value;
  value.operation = Operation::kApply;
  value.topk = 6;
  value.num_segments = 4;
  value.learned_keep = 2;
  value.max_replacements = 4;
  value.context_lens = {8};
  value.learned = {0, 5, -1, -1, -1, -1};
  value.attention = {{0.5, 0, 0.25, 0, 0, 0.125, 0.0625, 0.0625}};
  return value;
}

TEST(Score, GivesTheHandExample) {
  const auto rows = score_case(hand_example(), 0);
  ASSERT_TRUE(rows) << rows.error();
  ASSERT_EQ(rows->size(), 1U);
  const RowScore& row = rows->front();
  EXPECT_EQ(row.context_len, 8);
  EXPECT_EQ(row.k, 4);  // the policy's row is [0, 5, 2, 6, -1, -1]
  EXPECT_EQ(row.of(Candidate::kLearned).coverage, 0.5);
  EXPECT_EQ(row.of(Candidate::kLearned).recall, 0.625);
  EXPECT_EQ(row.of(Candidate::kPolicy).coverage, 1.0);
  EXPECT_EQ(row.of(Candidate::kPolicy).recall, 0.9375);
  EXPECT_EQ(row.of(Candidate::kLocality).coverage, 0.5);
  EXPECT_EQ(row.of(Candidate::kLocality).recall, 0.25);
}

TEST(Score, TheRandomRowDependsOnTheSeedAlone) {
  const auto scores = [](std::uint64_t seed) {
    Case value = hand_example();
    value.context_lens = {100000};
    value.attention = {std::vector<double>(100000)};
    for (std::size_t i = 0; i < 100000; ++i) (*value.attention)[0][i] = static_cast<double>(i);
    return *score_case(value, seed)->front().of(Candidate::kRandom).recall;
  };
  EXPECT_EQ(scores(3), scores(3));
  EXPECT_NE(scores(3), scores(4));
}

TEST(Score, RecallIsAbsentWithoutAttentionAndWhereItSumsToZero) {
  Case value = hand_example();
  value.attention = {std::vector<double>(8, 0.0)};
  EXPECT_FALSE(score_case(value, 0)->front().of(Candidate::kPolicy).recall);
  value.attention.reset();
  const auto rows = score_case(value, 0);
  EXPECT_FALSE(rows->front().of(Candidate::kPolicy).recall);
  const json report = json::parse(render_score_json(*rows, 0));
  EXPECT_TRUE(report["rows"][0]["policy"]["recall"].is_null());
  EXPECT_TRUE(report["summary"]["policy"]["recall"]["median"].is_null());
  EXPECT_EQ(report["summary"]["policy"]["coverage"]["median"], 1.0);
}

TEST(Score, AnEmptyRowIsCoveredAndHasNoTokens) {
  Case value = hand_example();
  value.operation = Operation::kScatter;
  value.learned_keep = value.max_replacements = 0;
  value.context_lens = {-7};
  value.attention.emplace(1);
  const RowScore row = score_case(value, 0)->front();
  EXPECT_EQ(row.context_len, -7);
  EXPECT_EQ(row.k, 0);
  EXPECT_EQ(row.of(Candidate::kLearned).coverage, 1.0);
  EXPECT_FALSE(row.of(Candidate::kLearned).recall);
}

TEST(Score, DuplicatesCountInTheBudget) {
  Case value = hand_example();
  value.learned = {0, 0, 5, 5, 9, -1};
  value.max_replacements = 0;
  EXPECT_EQ(score_case(value, 0)->front().k, 4);
}

TEST(Score, RefusesWhatLeavesNoRows) {
  Case witnesses = hand_example();
  witnesses.operation = Operation::kWitnesses;
  EXPECT_THAT(score_case(witnesses, 0).error(), HasSubstr("operation is witnesses"));
  Case refused = hand_example();
  refused.num_segments = 65;
  EXPECT_THAT(score_case(refused, 0).error(), HasSubstr("segments out of range"));
  Case ragged = hand_example();
  ragged.operation = Operation::kScatter;
  ragged.num_segments = 0;
  ragged.learned.pop_back();
  EXPECT_THAT(score_case(ragged, 0).error(), HasSubstr("topk tokens a row"));
}

TEST(Score, TheMedianOfAnEvenNumberIsTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(range_of({4, 1, 3, 2})->median, 2.5);
  EXPECT_EQ(range_of({5, 1, 3})->median, 3);
  EXPECT_EQ(range_of({5, 1, 3})->min, 1);
  EXPECT_EQ(range_of({5, 1, 3})->max, 5);
  EXPECT_FALSE(range_of({}));
}

TEST(Score, TheReportHasTheDocumentedKeysAlone) {
  const json report = json::parse(render_score_json(*score_case(hand_example(), 9), 9));
  EXPECT_EQ(report["kvwitness_score"], 1);
  EXPECT_EQ(report["seed"], 9);
  EXPECT_EQ(report.size(), 4U);
  const json row = report["rows"][0];
  EXPECT_EQ(row.size(), 6U);
  EXPECT_EQ(row["context_len"], 8);
  EXPECT_EQ(row["k"], 4);
  for (const char* const model : {"learned", "policy", "random", "locality"}) {
    EXPECT_EQ(row[model].size(), 2U) << model;
    EXPECT_TRUE(row[model]["coverage"].is_number()) << model;
    EXPECT_TRUE(row[model]["recall"].is_number()) << model;
    for (const char* const metric : {"coverage", "recall"}) {
      for (const char* const statistic : {"median", "min", "max"}) {
        EXPECT_EQ(report["summary"][model][metric][statistic], row[model][metric]);
      }
    }
  }
}

TEST(Score, TheTextSaysWhatTheNumbersAreAndWarnsOfManySegments) {
  Case value = hand_example();
  EXPECT_THAT(render_score_text(*score_case(value, 0), 0),
              HasSubstr("do not say whether a model answers better or worse"));
  EXPECT_THAT(render_score_text(*score_case(value, 0), 0), HasSubstr("num_segments above topk / 4"));
  value.num_segments = 1;
  EXPECT_THAT(render_score_text(*score_case(value, 0), 0), Not(HasSubstr("num_segments above topk / 4")));
}

struct Cost {
  double sum = 0, worst = 0;
  int rows = 0, changed = 0;
};

// Points of recall that the policy costs on the shipped rows whose S / topk lies in (above, up_to].
Cost cost_of(double above, double up_to) {
  Cost cost;
  const auto cases = read_cases(KVWITNESS_ATTENTION_ROWS);
  for (const Case& value : cases.value()) {
    const double share = static_cast<double>(value.num_segments) / static_cast<double>(value.topk);
    if (share <= above || share > up_to) continue;
    const std::vector<RowScore> rows = score_case(value, 0).value();
    for (const RowScore& row : rows) {
      const double points =
          100 * (row.of(Candidate::kLearned).recall.value() - row.of(Candidate::kPolicy).recall.value());
      cost.sum += points;
      cost.worst = std::max(cost.worst, points);
      cost.rows += 1;
      cost.changed += points == 0 ? 0 : 1;
    }
  }
  return cost;
}

// The figures that the help and the text of `score` give.
TEST(Score, SegmentsUpToAQuarterOfTopkCostLittleOnTheShippedRowsAndAsManyAsTopkCostMost) {
  const Cost few = cost_of(0, 0.25);
  EXPECT_NEAR(few.sum / few.rows, 0.4, 0.05);
  EXPECT_NEAR(few.sum / few.changed, 0.7, 0.05);
  EXPECT_NEAR(few.worst, 2.4, 0.05);
  const Cost all = cost_of(0.999, 1);
  EXPECT_NEAR(all.sum / all.rows, 66, 0.5);
}

}  // namespace
}  // namespace kvwitness::harness
