// What small_scope_test.cc says, on a larger scope.
#include <gtest/gtest.h>

#include "tests/properties/implementation_names.h"
#include "tests/properties/small_scope.h"

namespace kvwitness::harness {
namespace {

class LargerScopeOf : public testing::TestWithParam<std::string> {};

TEST_P(LargerScopeOf, EveryRowIsAnsweredAsTheOracleDoes) {
  const std::unique_ptr<Implementation> implementation = find_implementation(GetParam());
  const Availability availability = implementation->availability();
  if (!availability.can_run) {
    GTEST_SKIP() << availability.why_not;
  }
  ScopeJudge judge(*implementation);
  const bool is_slow = implementation->is_slow();
  const SmallScope scope = is_slow ? SmallScope{.longest_context = 5, .most_segments = 6, .widest_row = 3}
                                   : SmallScope{.longest_context = 6, .most_segments = 8, .widest_row = 5};
  for_each_case(scope, [&](const Case& value) { return judge.judge(value); });
  for_each_wide_case({.longest_context = 6, .most_segments = 8, .widest_row = is_slow ? 2 : 3}, 1500,
                     [&](const Case& value) { return judge.judge(value); });
  EXPECT_EQ(judge.complaint(), "");
  EXPECT_GT(judge.rows(), is_slow ? 100'000 : 20'000'000);
}

INSTANTIATE_TEST_SUITE_P(All, LargerScopeOf, testing::ValuesIn(implementation_names()), name_of_parameter);

}  // namespace
}  // namespace kvwitness::harness
