#include "properties/cli/selection.h"

#include <gtest/gtest.h>
#include <kvwitness/oracle.h>

#include <memory>
#include <string>
#include <vector>

namespace kvwitness::harness::cli {
namespace {

// Answers four requests at a time, when it has read the fourth: one that is sent a request by itself never answers.
const std::string kInFours = "exec python3 -IS '" KVWITNESS_TEST_PIPE_FOLDER "/answer.py' fours";

Case scatter_case(std::int32_t context_len) {
  Case value;
  value.operation = Operation::kScatter;
  value.topk = 4;
  value.num_segments = 2;
  value.context_lens = {context_len};
  value.learned = {1, 2, 3, -1};
  return value;
}

TEST(Selection, TwoPipesOfOneNameAreToldApartAndBothAreSentRequestsInBatches) {
  SelectionArguments arguments;
  arguments.commands = {kInFours, kInFours};
  const Selection selection = select_implementations(arguments, {});
  ASSERT_EQ(selection.implementations.size(), 2U);
  EXPECT_EQ(selection.forced, (std::vector<std::string>{"answer.py", "answer.py#2"}));
  const std::vector<Case> cases = {scatter_case(10), scatter_case(20), scatter_case(30), scatter_case(40)};
  std::vector<RunRequest> requests;
  for (const Case& value : cases) requests.push_back({&value});
  for (const auto& implementation : selection.implementations) {
    EXPECT_GT(implementation->runs_together(), 1U) << implementation->name();
    EXPECT_TRUE(implementation->starts_slowly()) << implementation->name();
    const std::vector<Outcome> outcomes = implementation->run_together(requests);
    ASSERT_EQ(outcomes.size(), cases.size()) << implementation->name();
    for (std::size_t i = 0; i < cases.size(); ++i) {
      EXPECT_EQ(outcomes[i].ending, Ending::kReturned) << outcomes[i].how;
      EXPECT_EQ(outcomes[i].rows, expected_rows(cases[i]));
    }
    EXPECT_EQ(selection.replays.selectors.at(implementation->name()).find("--pipe '"), 0U);
  }
}

TEST(Selection, AnImplementationThatIsNamedTwiceIsJudgedOnce) {
  SelectionArguments arguments;
  arguments.names = {"scalar", "scalar"};
  EXPECT_EQ(select_implementations(arguments, {}).implementations.size(), 1U);
}

}  // namespace
}  // namespace kvwitness::harness::cli
