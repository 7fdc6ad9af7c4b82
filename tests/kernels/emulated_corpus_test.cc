// Every pinned case on the kernels' source, run thread by thread on the CPU executor.
#include <gtest/gtest.h>
#include <kvwitness/case.h>
#include <kvwitness/legality.h>
#include <kvwitness/oracle.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "properties/case/implementation.h"
#include "properties/case/status.h"
#include "properties/implementations/cuda_call.h"
#include "properties/implementations/registry.h"

namespace kvwitness::harness {
namespace {

class EmulatedCorpus : public testing::TestWithParam<std::string> {
 protected:
  std::unique_ptr<Implementation> implementation_ = [] {
    for (auto& made : make_cuda_emulated()) {
      if (made->name() == GetParam()) {
        return std::move(made);
      }
    }
    return std::unique_ptr<Implementation>();
  }();

  // Runs one case and compares with the oracle, and with what the file expects.
  void judge(const Case& value) {
    SCOPED_TRACE(to_json(value).substr(0, 400));
    const Outcome outcome = implementation_->run(value);
    ASSERT_EQ(outcome.ending, Ending::kReturned) << outcome.how;
    EXPECT_EQ(outcome.status, expected_status(value, true)) << outcome.message;
    EXPECT_EQ(outcome.stray, "");
    const bool legal = expected_status(value, true) == status::kOk;
    EXPECT_EQ(outcome.rows, legal ? expected_rows(value) : outcome.before);
    if (value.expect && std::holds_alternative<std::vector<std::int32_t>>(*value.expect)) {
      EXPECT_EQ(outcome.rows, std::get<std::vector<std::int32_t>>(*value.expect));
    }
    if (outcome.status != status::kOk) {
      EXPECT_NE(outcome.message, "");
    }
  }

  // The number of cases run.
  std::size_t judge_folder(const std::string& folder) {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(std::string(KVWITNESS_CORPUS_FOLDER) + "/" + folder)) {
      if (entry.path().extension() == ".jsonl" && entry.path().filename() != "nulls.jsonl") {
        paths.push_back(entry.path().string());
      }
    }
    std::ranges::sort(paths);
    std::size_t run = 0;
    for (const std::string& path : paths) {
      SCOPED_TRACE(path);
      const auto cases = read_cases(path);
      EXPECT_TRUE(cases.has_value()) << (cases ? "" : cases.error().message());
      for (const Case& value : cases.value_or(std::vector<Case>{})) {
        if (!is_cuda_case(value)) {
          continue;  // a buffer longer than the call needs, which the CUDA interface takes and the case says to refuse
        }
        judge(value);
        ++run;
        if (HasFailure()) {
          return run;  // one case is enough to read
        }
      }
    }
    return run;
  }
};

TEST_P(EmulatedCorpus, GivesTheAnswersOfTheUpstreamReference) {
  EXPECT_EQ(judge_folder("golden"), 600u);
}

TEST_P(EmulatedCorpus, AnswersTheRowsOfARealModelAsTheRuleDoes) {
  EXPECT_GE(judge_folder("real"), 100u);
}

TEST_P(EmulatedCorpus, RepeatsNoFaultOfTheRegressions) {
  EXPECT_GE(judge_folder("regressions"), 150u);
}

INSTANTIATE_TEST_SUITE_P(Variants, EmulatedCorpus, testing::Values("cuda-emulated-block", "cuda-emulated-warp"),
                         [](const auto& variant) { return variant.param.substr(14); });

}  // namespace
}  // namespace kvwitness::harness
