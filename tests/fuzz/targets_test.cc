// The targets' bodies without an engine: on seeds, on mutated seeds, and on a claim that they must refute.
#include <gtest/gtest.h>
#include <kvwitness/case.h>

#include <string>
#include <vector>

#include "fuzz/minimise.h"
#include "fuzz/mutators/case_mutator.h"
#include "fuzz/seeds.h"
#include "fuzz/target.h"

namespace kvwitness::fuzz {
namespace {

class TargetsTest : public testing::TestWithParam<std::string> {
 protected:
  const Target& target() const { return *find_target(GetParam()); }
};

TEST_P(TargetsTest, EverySeedIsJudgedAndPasses) {
  const auto seeds = seeds_of(target(), KVWITNESS_CORPUS_FOLDER);
  ASSERT_TRUE(seeds.has_value()) << seeds.error();
  std::size_t judged = 0;
  for (std::size_t i = 0; i < seeds->size(); i += 3) {
    judged += target().body((*seeds)[i].bytes.data(), (*seeds)[i].bytes.size()) == 0 ? 1 : 0;
  }
  EXPECT_GT(judged, seeds->size() / 5);
}

TEST_P(TargetsTest, EveryPrefixOfASeedIsJudged) {
  const auto seeds = seeds_of(target(), KVWITNESS_CORPUS_FOLDER);
  ASSERT_TRUE(seeds.has_value()) << seeds.error();
  const std::vector<std::uint8_t>& seed = seeds->front().bytes;
  for (std::size_t size = 0; size <= std::min<std::size_t>(seed.size(), 120); ++size) {
    target().body(seed.data(), size);
  }
}

class MutatedTargetsTest : public TargetsTest {};

TEST_P(MutatedTargetsTest, MutatedSeedsPass) {
  const auto seeds = seeds_of(target(), KVWITNESS_CORPUS_FOLDER);
  ASSERT_TRUE(seeds.has_value()) << seeds.error();
  for (unsigned seed = 0; seed < 300; ++seed) {
    const auto mutated = mutate_input(target().form, (*seeds)[seed % seeds->size()].bytes, 2048, seed);
    target().body(mutated.data(), mutated.size());
  }
}

INSTANTIATE_TEST_SUITE_P(Each, TargetsTest,
                         testing::Values("case_file", "cuda_differential", "differential", "invariants",
                                         "metrics_nulls", "refusals"),
                         [](const auto& each) { return each.param; });

// The others' inputs are mutated by an engine alone.
INSTANTIATE_TEST_SUITE_P(Each, MutatedTargetsTest,
                         testing::Values("cuda_differential", "differential", "invariants", "refusals"),
                         [](const auto& each) { return each.param; });

TEST(CanaryTest, IsRefutedByTheRowThatTheRuleGivesAsItsExample) {
  harness::Case value;
  value.operation = harness::Operation::kScatter;
  value.topk = 8;
  value.num_segments = 4;
  value.context_lens = {16};
  value.learned = {0, 1, 2, 3, 12, -1, -1, -1};
  EXPECT_EQ(ending_of(*find_target("canary"), encode(value)),
            "target=canary invariant=scatter_is_idempotent subject=c-abi");
  value.learned = {0, 4, 8, 12, -1, -1, -1, -1};
  EXPECT_EQ(ending_of(*find_target("canary"), encode(value)), "");
}

}  // namespace
}  // namespace kvwitness::fuzz
