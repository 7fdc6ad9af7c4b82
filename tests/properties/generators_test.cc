// The generators: floors hold for every seed and domain, cases stay within their domain, streams are repeatable, and
// the rows are what their kinds say.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kvwitness/legality.h>
#include <rapidcheck.h>

#include <map>
#include <set>

#include "properties/generators/case_stream.h"
#include "properties/generators/random_source.h"
#include "properties/generators/scenarios.h"
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
    const std::int64_t floor = class_floor(kind, focus, cases);
    if (kind.scenario->shared && !with_shared) continue;
    if (kind.scenario->possible(domain) && hits[i] < floor) {
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

// Domains that nobody has thought of.
TEST(Generators, MissNoFloorInDomainsDrawnAtRandom) {
  RandomSource random(9);
  for (int i = 0; i < 60; ++i) {
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
      domain.num_segments.push_back(random.pick<std::int64_t>({1, 2, 3, 7, 16, 31, 32, 33, 40, 63, 64}));
    }
    domain.contiguous = random.chance(40);
    domain.align_bytes = std::int64_t{4} << random.between(0, 4);
    const Focus focus = random.pick(kAllFoci);
    EXPECT_EQ(missed_floors(domain, focus, 5, kDefaultCasesPerProperty, true), "")
        << "domain " << i << ": topk " << testing::PrintToString(domain.topk) << ", S "
        << testing::PrintToString(domain.num_segments) << ", operations " << domain.operations.size()
        << (domain.contiguous ? ", contiguous" : "") << ", align " << domain.align_bytes << ", focus "
        << static_cast<int>(focus);
  }
}

TEST(Generators, AdmitNothingWhereNoLegalCallIsInTheDomain) {
  EXPECT_TRUE(
      CaseStream({.operations = {Operation::kApply}, .num_segments = {65, 100}}, Focus::kEverything, 0).empty());
  EXPECT_FALSE(
      CaseStream({.operations = {Operation::kWitnesses}, .num_segments = {65, 100}}, Focus::kEverything, 0).empty());
}

void expect_in_domain(const Case& value, const Domain& domain) {
  EXPECT_THAT(domain.operations, testing::Contains(value.operation));
  if (domain.legal_only) {
    EXPECT_TRUE(is_legal(value)) << value;
  }
  if (!is_legal(value)) return;
  if (!domain.topk.empty()) {
    EXPECT_THAT(domain.topk, testing::Contains(value.topk)) << value;
  }
  if (!domain.num_segments.empty()) {
    EXPECT_THAT(domain.num_segments, testing::Contains(value.num_segments)) << value;
  }
  if (domain.contiguous) {
    EXPECT_EQ(value.row_stride, std::nullopt) << value;
  }
  EXPECT_EQ(value.base_offset * std::int64_t{4} % domain.align_bytes, 0) << value;
  EXPECT_LT(value.base_offset, 16);
}

TEST(Generators, StayWithinTheDomainInEachCallAndItsHistory) {
  const std::vector<Domain> domains = {
      {.operations = kAllOperations, .legal_only = true},
      {.operations = {Operation::kScatter},
       .legal_only = true,
       .topk = {16, 2048},
       .num_segments = {8, 64},
       .contiguous = true,
       .align_bytes = 16},
      {.operations = {Operation::kWitnesses}, .topk = {5}, .num_segments = {3, 70}, .align_bytes = 32},
  };
  for (const Domain& domain : domains) {
    CaseStream stream(domain, Focus::kEverything, 11);
    for (int i = 0; i < 1000; ++i) {
      const Case value = stream.next();
      expect_in_domain(value, domain);
      for (const Case& earlier : value.prior_calls) expect_in_domain(earlier, domain);
    }
  }
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
