// The generators: floors hold for every seed and domain, cases stay within their domain, streams are repeatable, and
// the rows are what their kinds say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kvwitness/legality.h>
#include <kvwitness/oracle.h>
#include <rapidcheck.h>

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <sstream>
#include <tuple>

#include "properties/generators/case_stream.h"
#include "properties/generators/covering_array.h"
#include "properties/generators/random_source.h"
#include "properties/generators/scenarios.h"
#include "properties/generators/serving_cases.h"
#include "properties/implementations/registry.h"
#include "properties/run/runner.h"

namespace kvwitness::harness {
namespace {

const std::vector<Operation> kAllOperations = {Operation::kWitnesses, Operation::kApply, Operation::kScatter};
const std::vector<Focus> kAllFoci = {Focus::kEverything, Focus::kRefusals,   Focus::kInRange, Focus::kEmptyRows,
                                     Focus::kShortRows,  Focus::kOutOfRange, Focus::kPadding, Focus::kManyWitnesses};

std::string missed_floors(const Domain& domain, Focus focus, std::uint64_t seed, std::int64_t cases,
                          bool with_shared = false) {
  std::vector<std::int64_t> hits(all_coverage_classes().size(), 0);
  CaseStream stream(domain, focus, seed);
  for (std::int64_t i = 0; i < cases; ++i) {
    for (const std::size_t kind : classes_of(stream.next())) ++hits[kind];
  }
  if (with_shared) {
    for (const Case& value : shared_cases(domain, seed)) {
      for (const std::size_t kind : classes_of(value)) ++hits[kind];
    }
  }
  std::string missed;
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const CoverageClass& kind = all_coverage_classes()[i];
    if ((kind.scenario->shared && !with_shared) || !kind.scenario->possible(domain)) continue;
    if (hits[i] >= class_floor(kind, focus, cases)) continue;
    const std::int64_t floor = floor_within(domain, kind, focus, cases);
    if (hits[i] < floor) {
      missed += std::string(kind.name) + ": " + std::to_string(hits[i]) + " of " + std::to_string(floor) + "; ";
    }
  }
  return missed;
}

TEST(Generators, MissNoFloorForAnySeedAtTheDefaultNumberOfCases) {
  const Domain everything{.operations = kAllOperations};
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_EQ(missed_floors(everything, Focus::kEverything, seed, kDefaultCasesPerProperty, seed % 10 == 0), "")
        << "seed " << seed;
  }
}

// The executor of CUDA kernels serves long batches of short rows alone, and the runner spares it all but one operation.
// Those of more than four slots are for others.
TEST(Generators, MoreThan65535RowsAreNeverTooMuchForAnImplementation) {
  const Domain scatter{.operations = {Operation::kScatter}};
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    int met = 0;
    for (const Case& value : shared_cases(scatter, seed)) {
      if (value.rows() <= 65535 || value.topk > 4) continue;
      ++met;
      for (const auto& implementation : all_implementations()) {
        EXPECT_TRUE(!implementation->availability().can_run || implementation->supports(value))
            << implementation->name() << ", seed " << seed << ", topk " << value.topk;
      }
    }
    EXPECT_EQ(met, 1);
  }
}

TEST(Generators, MissNoFloorForAnyFocusOrOperation) {
  for (const Focus focus : kAllFoci) {
    for (const auto& operations :
         {std::vector{Operation::kWitnesses}, std::vector{Operation::kApply}, std::vector{Operation::kScatter},
          std::vector{Operation::kApply, Operation::kScatter}}) {
      for (const bool legal_only : {false, true}) {
        const Domain domain{.operations = operations, .legal_only = legal_only};
        EXPECT_EQ(missed_floors(domain, focus, 7, kDefaultCasesPerProperty), "")
            << "focus " << static_cast<int>(focus) << " operation " << name_of(operations.front());
      }
    }
  }
}

TEST(Generators, MissNoFloorInNarrowDomains) {
  const std::vector<Domain> narrow = {
      {.operations = kAllOperations, .topk = {512, 1024, 2048}, .align_bytes = 16},
      {.operations = kAllOperations,
       .legal_only = true,
       .topk = {2048},
       .num_segments = {64},
       .contiguous = true,
       .align_bytes = 64},
      {.operations = kAllOperations, .topk = {8}, .num_segments = {1}},
      {.operations = kAllOperations, .topk = {1}, .num_segments = {2}},
      {.operations = kAllOperations, .topk = {0}, .num_segments = {}},
      {.operations = kAllOperations, .topk = {4}, .num_segments = {0, 4}},
      {.operations = kAllOperations, .num_segments = {100}},
      {.operations = {Operation::kApply, Operation::kScatter}, .num_segments = {31, 32}, .contiguous = true},
  };
  for (std::size_t i = 0; i < narrow.size(); ++i) {
    EXPECT_EQ(missed_floors(narrow[i], Focus::kEverything, 3, kDefaultCasesPerProperty, true), "") << "domain " << i;
  }
}

std::string shown(const Domain& domain) {
  std::ostringstream text;
  text << "operations";
  for (const Operation operation : domain.operations) text << ' ' << name_of(operation);
  text << (domain.legal_only ? ", legal only" : "") << ", topk " << testing::PrintToString(domain.topk) << ", S "
       << testing::PrintToString(domain.num_segments) << (domain.contiguous ? ", contiguous" : "") << ", align "
       << domain.align_bytes << ", contexts up to " << domain.max_context << ", rows up to " << domain.max_rows
       << (domain.in_range ? ", in range" : "");
  return text.str();
}

constexpr std::uint64_t kSeeds = 6;

// Each of the options that narrow a domain, with small and telling values.
std::vector<Domain> domains_of_one_option() {
  std::vector<Domain> list;
  for (const Operation operation : kAllOperations) list.push_back({.operations = {operation}});
  for (const std::int64_t topk : {0, 1, 2, 3, 4, 16, 512}) list.push_back({.topk = {topk}});
  for (const std::int64_t segments : {0, 1, 2, 3, 4, 33, 64, 65}) list.push_back({.num_segments = {segments}});
  list.push_back({.contiguous = true});
  for (const std::int64_t align : {8, 64}) list.push_back({.align_bytes = align});
  for (const std::int64_t context : {1, 2, 3, 64, 1 << 24}) list.push_back({.max_context = context});
  for (const std::int64_t rows : {1, 2, 3, 40, 1024}) list.push_back({.max_rows = rows});
  list.push_back({.in_range = true});
  for (Domain& domain : list) {
    if (domain.operations.empty()) domain.operations = kAllOperations;
  }
  return list;
}

void expect_floors(const Domain& domain, Focus focus) {
  if (!can_draw(domain) || deck_for(domain).empty()) return;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    EXPECT_EQ(missed_floors(domain, focus, seed, kDefaultCasesPerProperty), "")
        << shown(domain) << ", focus " << static_cast<int>(focus) << ", seed " << seed;
  }
}

TEST(Generators, MissNoFloorForAnyOption) {
  for (Domain domain : domains_of_one_option()) {
    for (const bool legal_only : {false, true}) {
      domain.legal_only = legal_only;
      expect_floors(domain, Focus::kEverything);
    }
  }
}

TEST(Generators, MissNoFloorForAnyPairOfOptions) {
  const std::vector<Domain> options = domains_of_one_option();
  RandomSource random(4);
  for (std::size_t i = 0; i < options.size(); ++i) {
    for (std::size_t j = i + 1; j < options.size(); ++j) {
      const Domain both = common_domain(options[i], options[j]);
      if (both.operations.empty() || !random.chance(50)) continue;
      expect_floors(both, random.pick(kAllFoci));
    }
  }
}

TEST(Generators, MissNoFloorOfALargeCaseForAnyOption) {
  for (const Domain& domain : domains_of_one_option()) {
    if (deck_for(domain).empty()) continue;
    EXPECT_EQ(missed_floors(domain, Focus::kEverything, 1, kDefaultCasesPerProperty, true), "") << shown(domain);
  }
}

// Domains that nobody has thought of.
TEST(Generators, MissNoFloorInDomainsDrawnAtRandom) {
  RandomSource random(9);
  for (int i = 0; i < 200; ++i) {
    Domain domain;
    for (const Operation operation : kAllOperations) {
      if (random.chance(70)) domain.operations.push_back(operation);
    }
    if (domain.operations.empty()) domain.operations = kAllOperations;
    domain.legal_only = random.chance(50);
    for (std::int64_t count = random.between(0, 3); count > 0; --count) {
      domain.topk.push_back(random.pick<std::int64_t>({0, 1, 2, 3, 5, 16, 64, 65, 128, 192, 512, 2048, 2051, 4096}));
    }
    for (std::int64_t count = random.between(0, 3); count > 0; --count) {
      domain.num_segments.push_back(random.pick<std::int64_t>({0, 1, 2, 3, 7, 16, 31, 32, 33, 40, 63, 64, 65, 200}));
    }
    domain.contiguous = random.chance(40);
    domain.align_bytes = std::int64_t{4} << random.between(0, 4);
    if (random.chance(40)) domain.max_context = std::int64_t{1} << random.between(0, 30);
    if (random.chance(40)) domain.max_rows = std::int64_t{1} << random.between(0, 17);
    domain.in_range = random.chance(30);
    expect_floors(domain, random.pick(kAllFoci));
  }
}

// What a narrow domain takes from a floor is what its cases cannot give, and no more.
TEST(Generators, KeepTheirFloorsWhereADomainLeavesTheirClassAlone) {
  const Domain contiguous{.operations = kAllOperations, .contiguous = true};
  int kept = 0, classes = 0;
  for (const CoverageClass& kind : all_coverage_classes()) {
    if (kind.scenario->shared || !kind.scenario->possible(contiguous)) continue;
    const std::int64_t floor = class_floor(kind, Focus::kEverything, kDefaultCasesPerProperty);
    ++classes;
    kept += floor_within(contiguous, kind, Focus::kEverything, kDefaultCasesPerProperty) == floor;
  }
  EXPECT_GT(classes, 60);
  EXPECT_GT(10 * kept, 9 * classes) << kept << " of " << classes;
}

TEST(Generators, AdmitNothingWhereNoCallIsInTheDomain) {
  const Domain too_many{.operations = {Operation::kApply}, .legal_only = true, .num_segments = {65, 100}};
  EXPECT_TRUE(CaseStream(too_many, Focus::kEverything, 0).empty());
  EXPECT_FALSE(can_draw(too_many));
  EXPECT_FALSE(CaseStream({.operations = {Operation::kWitnesses}, .legal_only = true, .num_segments = {65, 100}},
                          Focus::kEverything, 0)
                   .empty());
}

TEST(Generators, DrawTheRefusalsOfADomainWithoutALegalCall) {
  const Domain too_many{.operations = {Operation::kApply}, .num_segments = {65, 100}};
  CaseStream stream(too_many, Focus::kEverything, 0);
  for (int i = 0; i < 100; ++i) EXPECT_NE(expected_status(stream.next(), true), 0);
}

// Of the switch that turns scatter off the rest of the call plays no part, but for what the domain says of it.
TEST(Generators, DrawTheOffSwitchWhereItIsAllThereIs) {
  const Domain off{.operations = kAllOperations, .legal_only = true, .num_segments = {0}};
  CaseStream stream(off, Focus::kEverything, 0);
  for (int i = 0; i < 100; ++i) {
    const Case value = stream.next();
    EXPECT_EQ(value.operation, Operation::kScatter);
    EXPECT_EQ(value.num_segments, 0);
  }
}

void expect_in_domain(const Case& value, const Domain& domain) {
  EXPECT_TRUE(admits_case(domain, value)) << value;
  EXPECT_LT(value.base_offset, 16);
}

TEST(Generators, StayWithinTheDomainInEachCallAndItsHistory) {
  std::vector<Domain> domains = domains_of_one_option();
  const std::vector<Domain> more = {
      {.operations = kAllOperations, .legal_only = true},
      {.operations = {Operation::kScatter},
       .legal_only = true,
       .topk = {16, 2048},
       .num_segments = {8, 64},
       .contiguous = true,
       .align_bytes = 16},
      {.operations = {Operation::kWitnesses}, .topk = {5}, .num_segments = {3, 70}, .align_bytes = 32},
      {.operations = kAllOperations, .align_bytes = 16, .max_context = 100, .max_rows = 7, .in_range = true},
      {.operations = kAllOperations, .num_segments = {0, 4, 65}, .contiguous = true, .max_rows = 5, .in_range = true},
  };
  domains.insert(domains.end(), more.begin(), more.end());
  for (const Domain& domain : domains) {
    for (const Focus focus : {Focus::kEverything, Focus::kRefusals}) {
      CaseStream stream(domain, focus, 11);
      for (int i = 0; i < 1000; ++i) expect_in_domain(stream.next(), domain);
    }
  }
}

// ---- Covering arrays.

TEST(CoveringArrays, HoldEveryPossibleTuple) {
  const std::vector<std::size_t> counts = {3, 4, 2, 5};
  std::vector<FactorGroup> groups = factor_pairs(counts.size());
  groups.push_back({0, 1, 3});
  const auto admits = [](const Combination& one) {  // 0 and 1 never have their last levels together
    return !(one[0] == 2 && one[1] == 3);
  };
  const CoveringArray array = covering_array(counts, groups, [](const LevelTuple&) { return true; }, admits);
  std::set<LevelTuple> met;
  for (const Combination& combination : array.combinations) {
    EXPECT_TRUE(admits(combination));
    met.merge(tuples_of(combination, groups));
  }
  EXPECT_EQ(met, array.tuples);
  std::set<LevelTuple> possible;
  for (std::size_t a = 0; a < 3; ++a) {
    for (std::size_t b = 0; b < 4; ++b) {
      for (std::size_t c = 0; c < 2; ++c) {
        for (std::size_t d = 0; d < 5; ++d) {
          if (admits({a, b, c, d})) possible.merge(tuples_of({a, b, c, d}, groups));
        }
      }
    }
  }
  EXPECT_EQ(array.tuples, possible);
  EXPECT_LE(array.combinations.size(), 70u);  // of 3 * 4 * 5 triples; 110 combinations are possible
}

// What a case shows of its levels: those that a person can read off it.
void expect_levels(const ServingCases& cases, std::size_t index, const Case& value) {
  const ServingLevels& levels = cases.levels();
  const Combination& combination = cases.combination(index);
  const std::int64_t rows = levels.rows[combination[0]];
  if (rows == 2048) {
    EXPECT_THAT((std::vector<std::int64_t>{2048, 4096, 8192}), testing::Contains(value.rows()));
  } else {
    EXPECT_EQ(value.rows(), rows);
  }
  EXPECT_EQ(value.topk, levels.topk[combination[1]]);
  EXPECT_EQ(value.num_segments, levels.num_segments[combination[2]]);
  EXPECT_EQ(value.operation, levels.placements[combination[4]].operation);
  EXPECT_EQ(value.in_place, levels.placements[combination[4]].in_place);
  EXPECT_EQ(value.row_stride.has_value(), levels.strides[combination[5]] != ServingStride::kPacked);
  EXPECT_EQ(value.base_offset, levels.base_offsets[combination[6]]);
  const std::int64_t len = value.context_lens[0];  // row 0 is of the case's levels
  switch (levels.lengths[combination[3]]) {
    case LengthClass::kBelowSegments:
      EXPECT_LT(len, value.num_segments);
      break;
    case LengthClass::kAbove24:
      EXPECT_GT(len, 1 << 24);
      break;
    case LengthClass::kAbove26:
      EXPECT_GT(len, 1 << 26);
      break;
    case LengthClass::kNear31:
      EXPECT_GE(len, (std::int64_t{1} << 31) - (1 << 20) - 1);
      break;
    default:
      EXPECT_GE(len, std::min<std::int64_t>(value.topk - 1, 201));
  }
  const std::vector<bool> occupied =
      oracle_occupancy(std::span(value.learned).first(static_cast<std::size_t>(value.topk)), len, value.num_segments);
  const auto missing = static_cast<std::size_t>(std::ranges::count(occupied, false));
  switch (levels.missing[combination[7]]) {
    case MissingSegments::kNone:
      EXPECT_EQ(missing, 0u);
      break;
    case MissingSegments::kFirst:
      EXPECT_TRUE(missing == 1 && !occupied.front());
      break;
    case MissingSegments::kLast:
      EXPECT_TRUE(missing == 1 && !occupied.back());
      break;
    case MissingSegments::k31:
      EXPECT_TRUE(missing == 1 && !occupied.at(31));
      break;
    case MissingSegments::k32:
      EXPECT_TRUE(missing == 1 && !occupied.at(32));
      break;
    case MissingSegments::kEverySecond:
      EXPECT_EQ(missing, occupied.size() / 2);
      break;
    case MissingSegments::kAll:
      EXPECT_EQ(missing, occupied.size());
  }
}

TEST(ServingShapes, AreWhatTheirLevelsSayAndMeetInPairs) {
  const ServingCases cases(whole_domain(), 16384 * 2051, 3);
  std::set<LevelTuple> met;
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t>> shapes;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    met.merge(cases.pairs_of(i));
    const ServingLevels& levels = cases.levels();
    const Combination& combination = cases.combination(i);
    shapes.insert({levels.rows[combination[0]], levels.topk[combination[1]], levels.num_segments[combination[2]]});
    if (levels.rows[combination[0]] * levels.topk[combination[1]] > 1 << 21) continue;
    const Case value = cases.draw(i);
    EXPECT_TRUE(admits_case(whole_domain(), value) && is_legal(value));
    expect_levels(cases, i, value);
  }
  EXPECT_TRUE(std::ranges::includes(met, cases.pairs()));
  EXPECT_GT(cases.pairs().size(), 600u);
  EXPECT_LT(cases.size(), 200u);
  for (const std::int64_t rows : {1, 16, 64, 512}) {
    for (const std::int64_t segments : {16, 32, 33, 48, 64}) {
      EXPECT_TRUE(shapes.contains({rows, 512, segments}) && shapes.contains({rows, 2048, segments}));
    }
  }
  for (const std::int64_t rows : {2048, 16384}) {
    for (const std::int64_t topk : {512, 1024, 2048, 2051}) {
      EXPECT_TRUE(std::ranges::any_of(
          shapes, [&](const auto& shape) { return std::get<0>(shape) == rows && std::get<1>(shape) == topk; }))
          << rows << " rows of " << topk;
    }
  }
}

TEST(ServingShapes, StayWithinTheDomain) {
  std::vector<Domain> domains = domains_of_one_option();
  domains.push_back({.operations = kAllOperations,
                     .topk = {512},
                     .num_segments = {64, 7},
                     .contiguous = true,
                     .align_bytes = 16,
                     .max_context = 1000,
                     .max_rows = 70,
                     .in_range = true});
  int drawn = 0;
  for (const Domain& domain : domains) {
    const ServingCases cases(domain, 1 << 18, 1);
    std::set<LevelTuple> met;
    for (std::size_t i = 0; i < cases.size(); ++i) {
      met.merge(cases.pairs_of(i));
      if (i % 3 != 0) continue;
      ++drawn;
      const Case value = cases.draw(i);
      EXPECT_TRUE(admits_case(domain, value) && is_legal(value)) << shown(domain) << value;
    }
    EXPECT_TRUE(std::ranges::includes(met, cases.pairs())) << shown(domain);
  }
  EXPECT_GT(drawn, 300);
}

TEST(ServingShapes, OfALargeBatchAreAFewHundredRowsInChangingNeighbourhoods) {
  const ServingCases cases({.operations = {Operation::kScatter}, .topk = {512}}, 4096 * 512, 1);
  const Case value = cases.draw(cases.size() - 1);
  ASSERT_GE(value.rows(), 2048);
  std::set<std::vector<std::int32_t>> rows, pairs;
  for (std::int64_t row = 0; row + 1 < value.rows(); ++row) {
    const auto begin = value.learned.begin() + row * value.topk;
    rows.insert({begin, begin + value.topk});
    pairs.insert({begin, begin + 2 * value.topk});
  }
  EXPECT_LE(rows.size(), 257u);
  EXPECT_GT(rows.size(), 150u);
  EXPECT_GT(pairs.size(), rows.size());
}

TEST(Generators, GiveTheSameStreamForTheSameSeedAndAnotherForAnother) {
  const Domain domain{.operations = kAllOperations};
  CaseStream first(domain, Focus::kEverything, 5), second(domain, Focus::kEverything, 5),
      other(domain, Focus::kEverything, 6);
  int differing = 0;
  for (int i = 0; i < 300; ++i) {
    const Case value = first.next();
    EXPECT_EQ(value, second.next());
    differing += !(value == other.next());
  }
  EXPECT_GT(differing, 250);
}

TEST(Generators, DrawEveryScenarioFromEveryCardOfItsDeck) {
  std::map<const Scenario*, int> cards;
  for (const Scenario* scenario : deck_for(whole_domain())) ++cards[scenario];
  for (const Scenario& scenario : all_scenarios()) {
    EXPECT_EQ(cards[&scenario], scenario.shared ? 0 : scenario.cards) << scenario.name;
  }
}

TEST(Generators, NoScenarioAndNoClassHasItsNameTwice) {
  std::set<std::string_view> scenarios, classes;
  for (const Scenario& scenario : all_scenarios()) EXPECT_TRUE(scenarios.insert(scenario.name).second) << scenario.name;
  for (const CoverageClass& kind : all_coverage_classes()) EXPECT_TRUE(classes.insert(kind.name).second) << kind.name;
  EXPECT_GT(classes.size(), 80u);
}

TEST(Generators, SmallCasesDominateAndCasesRoundTripThroughFiles) {
  CaseStream stream(whole_domain(), Focus::kEverything, 1);
  int small = 0;
  for (int i = 0; i < 500; ++i) {
    const Case value = stream.next();
    small += value.learned.size() <= 400;
    const auto read = parse_cases(to_json(value), "generated");
    ASSERT_TRUE(read.has_value()) << read.error().message() << value;
    EXPECT_EQ(read->front(), value);
  }
  EXPECT_GT(small, 400);
}

TEST(Generators, ShrinkToCallsOfTheDomain) {
  const Domain domain{.operations = {Operation::kScatter},
                      .legal_only = true,
                      .topk = {16, 64},
                      .num_segments = {8, 64},
                      .contiguous = true,
                      .align_bytes = 16};
  int candidates = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    auto shrinks = gen::call(domain)(rc::Random(seed), rc::kNominalSize).shrinks();
    for (auto next = shrinks.next(); next && candidates < 5000; next = shrinks.next()) {
      ++candidates;
      expect_in_domain(next->value(), domain);
    }
  }
  EXPECT_GT(candidates, 300);
}

TEST(Generators, ShrinkToCallsOfTheSameStatus) {
  const rc::Gen<Case> generator = gen::call();
  int candidates = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const auto shrinkable = generator(rc::Random(seed));
    const std::int32_t status = expected_status(shrinkable.value(), true);
    auto shrinks = shrinkable.shrinks();
    for (auto next = shrinks.next(); next && candidates < 20000; next = shrinks.next()) {
      ++candidates;
      ASSERT_EQ(expected_status(next->value(), true), status) << shrinkable.value() << next->value();
    }
  }
  EXPECT_GT(candidates, 1000);
}

}  // namespace
}  // namespace kvwitness::harness
