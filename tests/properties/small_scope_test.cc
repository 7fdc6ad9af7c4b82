// Every implementation gives the oracle's answer to every row of a small scope, and the oracle keeps every property
// that needs no oracle. small_scope_slow_test.cc has a larger scope.
#include "tests/properties/small_scope.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "properties/implementations/registry.h"
#include "properties/rules/property.h"
#include "tests/properties/faulty_rule.h"
#include "tests/properties/implementation_names.h"

namespace kvwitness::harness {
namespace {

constexpr SmallScope kScope{.longest_context = 4, .most_segments = 6, .widest_row = 4};
// On an executor of another machine's code a row takes some hundred times what a function takes.
constexpr SmallScope kSlowScope{.longest_context = 3, .most_segments = 4, .widest_row = 3};
constexpr std::int64_t kWide = 700;

class SmallScopeOf : public testing::TestWithParam<std::string> {};

TEST_P(SmallScopeOf, EveryRowIsAnsweredAsTheOracleDoes) {
  const std::unique_ptr<Implementation> implementation = find_implementation(GetParam());
  const Availability availability = implementation->availability();
  if (!availability.can_run) {
    GTEST_SKIP() << availability.why_not;
  }
  ScopeJudge judge(*implementation);
  const SmallScope& scope = implementation->is_slow() ? kSlowScope : kScope;
  for_each_case(scope, [&](const Case& value) { return judge.judge(value); });
  EXPECT_EQ(judge.complaint(), "");
  EXPECT_GT(judge.rows(), implementation->is_slow() ? 20'000 : 500'000);
}

TEST_P(SmallScopeOf, EveryRowSpreadOrRepeatedOverAWideOneIsAnsweredAsTheOracleDoes) {
  const std::unique_ptr<Implementation> implementation = find_implementation(GetParam());
  const Availability availability = implementation->availability();
  if (!availability.can_run) {
    GTEST_SKIP() << availability.why_not;
  }
  ScopeJudge judge(*implementation);
  const SmallScope scope{.longest_context = 4, .most_segments = 5, .widest_row = implementation->is_slow() ? 1 : 2};
  for_each_wide_case(scope, kWide, [&](const Case& value) { return judge.judge(value); });
  EXPECT_EQ(judge.complaint(), "");
  EXPECT_GT(judge.rows(), implementation->is_slow() ? 300 : 3'000);
}

INSTANTIATE_TEST_SUITE_P(All, SmallScopeOf, testing::ValuesIn(implementation_names()), name_of_parameter);

// The oracle's own answers, by the statements that do not ask it.
TEST(SmallScope, TheOracleKeepsEveryInvariantThatNeedsNoOracle) {
  const std::unique_ptr<Implementation> oracle = make_oracle();
  std::vector<std::int64_t> held(all_properties().size());
  for_each_case({.longest_context = 4, .most_segments = 5, .widest_row = 2}, [&](const Case& value) {
    const Outcome outcome = oracle->run(value);
    for (std::size_t index = 0; index < all_properties().size(); ++index) {
      const Property& property = all_properties()[index];
      if (property.uses_oracle || property.is_metamorphic_relation || !property.concerns(value.operation)) {
        continue;
      }
      const Verdict verdict = property.judge(value, outcome, *oracle);
      EXPECT_NE(verdict.kind, Verdict::Kind::kBroken) << property.name << ": " << verdict.what << " in " << value;
      held[index] += verdict.kind == Verdict::Kind::kHolds ? 1 : 0;
    }
    return !testing::Test::HasFailure();
  });
  EXPECT_GT(std::ranges::count_if(held, [](std::int64_t count) { return count > 100; }), 10);
}

// What the scope is small enough to miss, it must not be trusted with; these it must find.
TEST(SmallScope, FindsFaultsAndNamesTheRow) {
  using enum rule::Fault;
  for (const rule::Fault fault :
       {edge_rounded_down, mask_exclusive, past_end_clamped_to_effective, mask_not_reset, keep_one_late_when_dropped}) {
    FaultyRule faulty("faulty", {.rule = fault});
    ScopeJudge judge(faulty);
    for_each_case(kScope, [&](const Case& value) { return judge.judge(value); });
    EXPECT_THAT(judge.complaint(), testing::HasSubstr("expected")) << rule::name_of(fault);
  }
}

}  // namespace
}  // namespace kvwitness::harness
