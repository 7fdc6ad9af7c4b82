#include <gtest/gtest.h>
#include <kvwitness/case.h>
#include <kvwitness/legality.h>
#include <kvwitness/oracle.h>

#include <algorithm>
#include <cstdint>
#include <fstream>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "properties/case/status.h"

namespace kvwitness::harness {
namespace {

constexpr std::int32_t kMin = std::numeric_limits<std::int32_t>::min();
constexpr std::int32_t kMax = std::numeric_limits<std::int32_t>::max();

using Row = std::vector<std::int32_t>;

Case witnesses_case(Row learned, std::int32_t context_len, std::int64_t num_segments) {
  Case value;
  value.operation = Operation::kWitnesses;
  value.topk = static_cast<std::int64_t>(learned.size());
  value.num_segments = num_segments;
  value.context_lens = {context_len};
  value.learned = std::move(learned);
  return value;
}

Case scatter_case(Row learned, std::int32_t context_len, std::int64_t num_segments) {
  Case value = witnesses_case(std::move(learned), context_len, num_segments);
  value.operation = Operation::kScatter;
  return value;
}

Case apply_case(Row learned, std::int32_t context_len, std::int64_t num_segments, std::int64_t learned_keep,
                std::int64_t max_replacements) {
  Case value = witnesses_case(std::move(learned), context_len, num_segments);
  value.operation = Operation::kApply;
  value.learned_keep = learned_keep;
  value.max_replacements = max_replacements;
  return value;
}

// ---- The examples that are worked out by hand in the statement of the rule

TEST(OracleTest, ARowThatMissesTheLastOfFourSegmentsHasItsEdgeAsTheOneWitness) {
  EXPECT_EQ(expected_rows(witnesses_case({0, 5, 9, -1}, 16, 4)), (Row{-1, -1, -1, 12}));
  EXPECT_EQ(oracle_witnesses(Row{0, 5, 9, -1}, 16, 4), (Row{12}));
}

TEST(OracleTest, ApplyWritesWitnessesFromTheFirstSlotThatIsNotKept) {
  EXPECT_EQ(expected_rows(apply_case({0, 5, 9, -1}, 16, 4, 2, 2)), (Row{0, 5, 12, -1}));
}

TEST(OracleTest, ASegmentWhoseOnlyTokenSatInAnOverwrittenSlotEndsUncovered) {
  EXPECT_EQ(expected_rows(scatter_case({0, 1, 2, 3, 12, -1, -1, -1}, 16, 4)), (Row{0, 1, 2, 3, 4, 8, -1, -1}));
  EXPECT_EQ(expected_rows(scatter_case({0, 1, 2, 3, 12, 13, -1, -1}, 16, 4)), (Row{0, 1, 2, 3, 4, 8, -1, -1}));
}

TEST(OracleTest, ScatterIsNotIdempotent) {
  EXPECT_EQ(expected_rows(scatter_case({0, 1, 2, 3, 4, 8, -1, -1}, 16, 4)), (Row{0, 1, 2, 3, 12, 8, -1, -1}));
}

TEST(OracleTest, ThePolicyRowOfTheMetricExampleHoldsTheTwoMissingEdges) {
  EXPECT_EQ(expected_rows(scatter_case({0, 5, -1, -1, -1, -1}, 8, 4)), (Row{0, 5, 2, 6, -1, -1}));
}

TEST(OracleTest, AnEdgeIsRoundedUpSoThatItLiesInItsOwnSegment) {
  EXPECT_EQ(oracle_edge(1, 10, 4), 3);
  EXPECT_EQ(oracle_segment(2, 10, 4), 0);
  EXPECT_EQ(oracle_segment(3, 10, 4), 1);
}

TEST(OracleTest, EmptyRowsKeepTheirBitsAndHaveNoWitness) {
  for (const std::int32_t context_len : {0, -1, kMin}) {
    EXPECT_EQ(expected_rows(scatter_case({3, -1, -7, kMin}, context_len, 4)), (Row{3, -1, -7, kMin}));
    EXPECT_EQ(expected_rows(witnesses_case({3}, context_len, 3)), (Row{-1, -1, -1}));
    EXPECT_TRUE(oracle_occupancy(Row{3}, context_len, 3).empty());
  }
}

TEST(OracleTest, InAShortRowEveryAbsentTokenIsAWitnessAndOnePastTheEndMarksNothing) {
  EXPECT_EQ(expected_rows(witnesses_case({1, 3, kMax}, 3, 5)), (Row{0, -1, 2, -1, -1}));
  EXPECT_EQ(expected_rows(witnesses_case({3}, 3, 4)), (Row{0, 1, 2, -1}));
}

TEST(OracleTest, ATokenPastTheEndOfALongRowMarksTheLastSegment) {
  for (const std::int32_t token : {8, 9, 1000, kMax}) {
    EXPECT_EQ(expected_rows(witnesses_case({token}, 8, 4)), (Row{0, 2, 4, -1})) << token;
  }
}

TEST(OracleTest, TheBudgetDropsWitnessesAndNeverReachesPastTheRow) {
  EXPECT_EQ(expected_rows(apply_case({-1, -1, -1, -1}, 16, 4, 1, 2)), (Row{-1, 0, 4, -1}));
  EXPECT_EQ(expected_rows(apply_case({-1, -1, -1, -1}, 16, 4, 2, kMax)), (Row{-1, -1, 0, 4}));
  EXPECT_EQ(expected_rows(apply_case({-1, -1, -1, -1}, 16, 4, 4, 4)), (Row{-1, -1, -1, -1}));
  EXPECT_EQ(expected_rows(apply_case({-1, -1}, 16, 4, 0, std::numeric_limits<std::int64_t>::max())), (Row{0, 4}));
}

// ---- Edges and segments against the closed formulas, which the oracle does not use

TEST(OracleTest, EdgesAndSegmentsAreTheCeilingAndTheFloorOfTheRule) {
  for (std::int64_t context_len = 1; context_len <= 200; ++context_len) {
    for (std::int64_t num_segments = 1; num_segments <= 70; ++num_segments) {
      const std::int64_t effective = std::min(num_segments, context_len);
      ASSERT_EQ(oracle_effective_segments(context_len, num_segments), effective);
      for (std::int64_t segment = 0; segment <= effective; ++segment) {
        ASSERT_EQ(oracle_edge(segment, context_len, num_segments), (segment * context_len + effective - 1) / effective);
      }
      for (std::int64_t token = 0; token < 2 * context_len + 3; ++token) {
        ASSERT_EQ(oracle_segment(token, context_len, num_segments), token * effective / context_len)
            << token << " of " << context_len << " in " << num_segments;
      }
    }
  }
}

TEST(OracleTest, BothSidesOfEveryEdgeOfALongContextLieInTheirSegments) {
  for (const std::int64_t context_len : {std::int64_t{kMax}, std::int64_t{kMax} - 1, std::int64_t{1} << 30,
                                         std::int64_t{16777217}, std::int64_t{1431655765}, std::int64_t{65537}}) {
    for (const std::int64_t num_segments : {1, 2, 3, 7, 31, 32, 33, 63, 64, 1000, 65536}) {
      for (std::int64_t segment = 1; segment < num_segments; segment += 1 + num_segments / 70) {
        const std::int64_t edge = oracle_edge(segment, context_len, num_segments);
        ASSERT_EQ(oracle_segment(edge, context_len, num_segments), segment);
        ASSERT_EQ(oracle_segment(edge - 1, context_len, num_segments), segment - 1);
      }
      ASSERT_EQ(oracle_edge(num_segments, context_len, num_segments), context_len);
    }
  }
}

TEST(OracleTest, TheScanOverMillionsOfSegmentsFindsTheEdgesThatBisectionFinds) {
  constexpr std::int64_t kSegments = 2'000'003;
  const std::int64_t context_len = kMax;
  const std::vector<std::int32_t> rows = expected_rows(witnesses_case({0, kMax - 1, 1'000'000'000}, kMax, kSegments));
  ASSERT_EQ(rows.size(), static_cast<std::size_t>(kSegments));
  const std::int64_t middle = oracle_segment(1'000'000'000, context_len, kSegments);
  EXPECT_EQ(std::ranges::count(rows, -1), 3);
  for (const std::int64_t occupied : {std::int64_t{0}, middle, kSegments - 1}) {
    EXPECT_EQ(rows[static_cast<std::size_t>(occupied)], -1) << occupied;
  }
  for (std::int64_t segment = 1; segment < kSegments - 1; segment += 997) {
    if (segment != middle) {
      ASSERT_EQ(rows[static_cast<std::size_t>(segment)], oracle_edge(segment, context_len, kSegments)) << segment;
    }
  }
}

// ---- The invariants, on every row of a small scope

// The rule's closed formulas in plain integers: the other side of the comparison.
Row formula_witnesses(std::span<const std::int32_t> row, std::int64_t context_len, std::int64_t num_segments) {
  const std::int64_t effective = std::min(num_segments, context_len);
  std::set<std::int64_t> occupied;
  for (const std::int32_t token : row) {
    if (token >= 0) {
      occupied.insert(std::min(token * effective / context_len, num_segments - 1));
    }
  }
  Row witnesses;
  for (std::int64_t segment = 0; segment < effective; ++segment) {
    if (!occupied.contains(segment)) {
      witnesses.push_back(static_cast<std::int32_t>((segment * context_len + effective - 1) / effective));
    }
  }
  return witnesses;
}

// The longest run of offsets of [0, context_len) that are not selected.
std::int64_t longest_gap(const std::set<std::int32_t>& selected, std::int64_t context_len) {
  std::int64_t longest = 0;
  std::int64_t previous = -1;
  for (const std::int32_t token : selected) {
    longest = std::max(longest, token - previous - 1);
    previous = token;
  }
  return std::max(longest, context_len - previous - 1);
}

void check_witness_invariants(const Row& row, std::int64_t context_len, std::int64_t num_segments) {
  const Row witnesses = oracle_witnesses(row, context_len, num_segments);
  ASSERT_EQ(witnesses, formula_witnesses(row, context_len, num_segments));
  ASSERT_TRUE(std::ranges::is_sorted(witnesses, std::less_equal<>{}) || witnesses.size() < 2);
  bool in_range = true;
  std::set<std::int32_t> selected(witnesses.begin(), witnesses.end());
  ASSERT_EQ(selected.size(), witnesses.size());
  for (const std::int32_t witness : witnesses) {
    ASSERT_TRUE(0 <= witness && witness < context_len);
    ASSERT_EQ(std::ranges::count(row, witness), 0);
  }
  for (const std::int32_t token : row) {
    in_range = in_range && token < context_len;
    if (token >= 0) {
      selected.insert(token);
    }
  }
  if (in_range) {
    std::set<std::int64_t> covered;
    for (const std::int32_t token : selected) {
      covered.insert(oracle_segment(token, context_len, num_segments));
    }
    const std::int64_t effective = std::min(num_segments, context_len);
    ASSERT_EQ(static_cast<std::int64_t>(covered.size()), effective);
    ASSERT_LE(longest_gap(selected, context_len), 2 * ((context_len + effective - 1) / effective) - 2);
  }
}

TEST(OracleTest, EveryRowOfASmallScopeHasTheWitnessesOfTheFormulasAndTheInvariantsHold) {
  std::int64_t row_count = 0;
  for (std::int32_t context_len = 1; context_len <= 7; ++context_len) {
    for (std::int64_t num_segments = 1; num_segments <= 8; ++num_segments) {
      for (int topk = 0; topk <= 3; ++topk) {
        Row row(static_cast<std::size_t>(topk), -1);
        // Counts through all rows over the tokens -1 .. context_len + 1.
        for (bool more = true; more; ++row_count) {
          check_witness_invariants(row, context_len, num_segments);
          if (HasFatalFailure()) {
            FAIL() << "context length " << context_len << ", segments " << num_segments;
          }
          more = false;
          for (std::int32_t& token : row) {
            token = token == context_len + 1 ? -1 : token + 1;
            if (token != -1) {
              more = true;
              break;
            }
          }
        }
      }
    }
  }
  EXPECT_GT(row_count, 10'000);
}

TEST(OracleTest, TheMergeOfEverySmallBudgetIsTheRowWithTheFirstWitnessesOverIt) {
  const std::vector<Row> learned = {{0, 5, 9, -1}, {-1, -1, -1, -1}, {15, 11, 7, 3}, {3, 2, 1, 0}, {20, -1, 8, 8}};
  for (const Row& row : learned) {
    for (std::int64_t keep = 0; keep <= 4; ++keep) {
      for (std::int64_t replacements = 0; replacements <= 5; ++replacements) {
        const Row witnesses = formula_witnesses(row, 16, 4);
        Row merged = row;
        for (std::int64_t i = 0; i < static_cast<std::int64_t>(witnesses.size()) && i < replacements && keep + i < 4;
             ++i) {
          merged[static_cast<std::size_t>(keep + i)] = witnesses[static_cast<std::size_t>(i)];
        }
        EXPECT_EQ(expected_rows(apply_case(row, 16, 4, keep, replacements)), merged);
      }
    }
  }
}

TEST(OracleTest, RowsOfABatchDoNotInfluenceEachOther) {
  Case batch = scatter_case({0, 4, -1, -1, -1, -1, -1, -1, 5, 6, 7, 7}, 8, 2);
  batch.topk = 4;
  batch.context_lens = {8, 0, 8};
  EXPECT_EQ(expected_rows(batch), (Row{0, 4, -1, -1, -1, -1, -1, -1, 5, 6, 0, 7}));
}

// ---- Refusals and their order

struct StatusExample {
  std::string_view what;
  std::int32_t status;
  Case value;
};

Case changed(Case value, void (*change)(Case&)) {
  change(value);
  return value;
}

TEST(OracleTest, EachRefusalIsProvokedByItsOwnCondition) {
  const Case apply = apply_case({0, 1, 2, 3}, 16, 4, 2, 2);
  const Case scatter = scatter_case({0, 1, 2, 3}, 16, 4);
  const Case witnesses = witnesses_case({0, 1, 2, 3}, 16, 4);
  const std::vector<StatusExample> examples = {
      {"legal apply", status::kOk, apply},
      {"legal scatter", status::kOk, scatter},
      {"legal witnesses", status::kOk, witnesses},
      {"topk -1", status::kNegativeCount, changed(scatter, [](Case& c) { c.topk = -1; })},
      {"num_segments -1", status::kNegativeCount, changed(scatter, [](Case& c) { c.num_segments = -1; })},
      {"learned_keep -1", status::kNegativeCount, changed(apply, [](Case& c) { c.learned_keep = -1; })},
      {"max_replacements -1", status::kNegativeCount, changed(apply, [](Case& c) { c.max_replacements = -1; })},
      {"row_stride -1 with one row", status::kNegativeCount, changed(scatter, [](Case& c) { c.row_stride = -1; })},
      {"a token too many", status::kRowsMismatch, changed(scatter, [](Case& c) { c.learned.push_back(1); })},
      {"a length too many", status::kRowsMismatch, changed(scatter, [](Case& c) { c.context_lens.push_back(1); })},
      {"rows * topk wraps to 0", status::kRowsMismatch,
       changed(scatter,
               [](Case& c) {
                 c.topk = std::int64_t{1} << 62;
                 c.context_lens.assign(4, 1);
                 c.learned.clear();
               })},
      {"no segments, apply", status::kSegmentsOutOfRange, changed(apply, [](Case& c) { c.num_segments = 0; })},
      {"no segments, witnesses", status::kSegmentsOutOfRange, changed(witnesses, [](Case& c) { c.num_segments = 0; })},
      {"65 segments, apply", status::kSegmentsOutOfRange, changed(apply, [](Case& c) { c.num_segments = 65; })},
      {"65 segments, scatter", status::kSegmentsOutOfRange, changed(scatter, [](Case& c) { c.num_segments = 65; })},
      {"64 segments, scatter", status::kOk, changed(scatter, [](Case& c) { c.num_segments = 64; })},
      {"65 segments, witnesses", status::kOk, changed(witnesses, [](Case& c) { c.num_segments = 65; })},
      {"2^61 witnesses", status::kSegmentsOutOfRange,
       changed(witnesses, [](Case& c) { c.num_segments = std::int64_t{1} << 61; })},
      {"2^61 - 1 witnesses", status::kOk,
       changed(witnesses, [](Case& c) { c.num_segments = (std::int64_t{1} << 61) - 1; })},
      {"keep above topk", status::kLearnedKeepOutOfRange, changed(apply, [](Case& c) { c.learned_keep = 5; })},
      {"keep at topk", status::kOk, changed(apply, [](Case& c) { c.learned_keep = 4; })},
      {"one row may have any stride", status::kOk, changed(scatter, [](Case& c) { c.row_stride = 0; })},
      {"off switch", status::kOk,
       changed(scatter,
               [](Case& c) {
                 c.num_segments = 0;
                 c.topk = -5;
                 c.row_stride = -1;
               })},
      {"no rows of 2^62 slots", status::kOk,
       changed(scatter,
               [](Case& c) {
                 c.topk = std::int64_t{1} << 62;
                 c.context_lens.clear();
                 c.learned.clear();
               })},
      {"no rows are refused too", status::kLearnedKeepOutOfRange,
       changed(apply,
               [](Case& c) {
                 c.learned_keep = 5;
                 c.context_lens.clear();
                 c.learned.clear();
               })},
  };
  for (const StatusExample& example : examples) {
    EXPECT_EQ(expected_status(example.value, true), example.status) << example.what;
    EXPECT_EQ(is_legal(example.value), example.status == status::kOk) << example.what;
  }
}

TEST(OracleTest, TwoRowsNeedAStrideOfTopkOrMoreAndASpanThatMemoryCanHold) {
  Case two = scatter_case({0, 1, 2, 3, 4, 5, 6, 7}, 16, 4);
  two.topk = 4;
  two.context_lens = {16, 16};
  for (const auto& [stride, expected] : std::vector<std::pair<std::int64_t, std::int32_t>>{
           {3, status::kRowStride},
           {0, status::kRowStride},
           {4, status::kOk},
           {5, status::kOk},
           {(std::int64_t{1} << 61) - 5, status::kOk},
           {(std::int64_t{1} << 61) - 4, status::kRowStride},
           {std::numeric_limits<std::int64_t>::max(), status::kRowStride},
           {-1, status::kNegativeCount}}) {
    two.row_stride = stride;
    EXPECT_EQ(expected_status(two, true), expected) << stride;
    EXPECT_EQ(expected_status(two, false), status::kOk) << stride;
  }
  Case no_slots = two;
  no_slots.topk = 0;
  no_slots.learned.clear();
  no_slots.row_stride = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(expected_status(no_slots, true), status::kOk);
}

TEST(OracleTest, OfSeveralFaultsTheFirstOfTheOrderIsNamed) {
  // Every fault at once; each step repairs the one that was named.
  Case value = apply_case({0, 1, 2, 3, 4}, 16, 65, 9, 2);
  value.topk = 2;
  value.context_lens = {16, 16};
  value.max_replacements = -1;
  value.row_stride = 1;
  EXPECT_EQ(expected_status(value, true), status::kNegativeCount);
  value.max_replacements = 2;
  EXPECT_EQ(expected_status(value, true), status::kRowsMismatch);
  value.learned.resize(4);
  EXPECT_EQ(expected_status(value, true), status::kSegmentsOutOfRange);
  value.num_segments = 4;
  EXPECT_EQ(expected_status(value, true), status::kLearnedKeepOutOfRange);
  value.learned_keep = 1;
  EXPECT_EQ(expected_status(value, true), status::kRowStride);
  value.row_stride = 2;
  EXPECT_EQ(expected_status(value, true), status::kOk);
}

TEST(OracleTest, ARefusedCallAndTheOffSwitchLeaveTheRowsAsTheyAre) {
  EXPECT_EQ(expected_rows(scatter_case({-1, -1}, 16, 65)), (Row{-1, -1}));
  EXPECT_EQ(expected_rows(scatter_case({-1, -1}, 16, 0)), (Row{-1, -1}));
  Case mismatch = scatter_case({-1, -1, -1}, 16, 2);
  mismatch.topk = 2;
  EXPECT_EQ(expected_rows(mismatch), (Row{-1, -1, -1}));
}

TEST(OracleTest, AStrideChangesWhereRowsLieAndNotWhatTheyBecome) {
  Case value = scatter_case({0, -1}, 8, 2);
  const Row packed = expected_rows(value);
  value.row_stride = 7;
  EXPECT_EQ(expected_rows(value), packed);
}

// ---- Independence

// The oracle's files may include the harness's own public headers and files of properties/case, and no others.
TEST(OracleTest, TheOracleAndWhatItIncludesTakeNothingFromTheLibrary) {
  const std::string folder = KVWITNESS_SOURCE_FOLDER "/properties/";
  const std::set<std::string> own = {"kvwitness/case.h", "kvwitness/legality.h", "kvwitness/oracle.h",
                                     "properties/case/status.h"};
  for (const char* file : {"include/kvwitness/case.h", "include/kvwitness/legality.h", "include/kvwitness/oracle.h",
                           "oracle/oracle.cc", "case/legality.cc", "case/status.h", "case/status.cc"}) {
    std::ifstream stream(folder + file);
    ASSERT_TRUE(stream.is_open()) << file;
    int include_count = 0;
    for (std::string line; std::getline(stream, line);) {
      if (!line.starts_with("#include")) continue;
      ++include_count;
      const std::size_t begin = line.find_first_of("<\"") + 1;
      const std::string header = line.substr(begin, line.find_first_of(">\"", begin) - begin);
      EXPECT_TRUE(header.find('/') == std::string::npos || own.contains(header)) << file << ": " << line;
    }
    EXPECT_GT(include_count, 0) << file;
  }
}

}  // namespace
}  // namespace kvwitness::harness
