// The checks that kvwitness_gpu_check runs on a GPU, run on the CPU executor's variants: they pass there, and they
// notice a wrong answer.
#include "tests/gpu/case_checks.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "properties/case/implementation.h"
#include "properties/implementations/registry.h"
#include "tests/gpu/check_log.h"

namespace kvwitness::gpu_check {
namespace {

using harness::Case;
using harness::Implementation;
using harness::Outcome;

// The oracle, but for one element of the result.
class WrongInOneElement final : public Implementation {
 public:
  std::string name() const override { return "wrong"; }
  Outcome run_in(const Case& value, const harness::MemoryContext& memory_context) override {
    Outcome outcome = oracle_->run_in(value, memory_context);
    if (outcome.rows.size() > 7 && outcome.rows != outcome.before) {
      outcome.rows[7] ^= 1;
    }
    return outcome;
  }

 private:
  std::unique_ptr<Implementation> oracle_ = harness::make_oracle();
};

TEST(RandomCases, AreAnsweredRightByTheEmulatedVariants) {
  CheckLog log;
  check_random_cases(harness::make_cuda_emulated(), 250, log);
  EXPECT_EQ(log.passed(), 1);
  EXPECT_EQ(log.failed(), 0);
}

TEST(RandomCases, NoticeAWrongElement) {
  std::vector<std::unique_ptr<Implementation>> wrong;
  wrong.push_back(std::make_unique<WrongInOneElement>());
  CheckLog log;
  check_random_cases(wrong, 50, log);
  EXPECT_EQ(log.failed(), 1);
}

TEST(CaseFiles, AreReadAndJudged) {
  const std::string golden = std::string(KVWITNESS_CORPUS_FOLDER) + "/golden/upstream.jsonl";
  CheckLog log;
  check_case_files(harness::make_cuda_emulated(), {golden}, log);
  EXPECT_EQ(log.failed(), 0);
  std::vector<std::unique_ptr<Implementation>> wrong;
  wrong.push_back(std::make_unique<WrongInOneElement>());
  check_case_files(wrong, {golden, "no/such/file.jsonl"}, log);
  EXPECT_EQ(log.failed(), 2);
}

}  // namespace
}  // namespace kvwitness::gpu_check
