// The targets' bodies without an engine: on seeds, on mutated seeds, and on a claim that they must refute.
#include <gtest/gtest.h>
#include <kvwitness/case.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "fuzz/minimise.h"
#include "fuzz/planted_faults/catalogue.h"
#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "fuzz/target_list.h"

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
    const auto mutated = mutate_input(*target().mutator, (*seeds)[seed % seeds->size()].bytes, 2048, seed);
    target().body(mutated.data(), mutated.size());
  }
}

std::vector<std::string> names_of(bool (*holds)(const Target&)) {
  std::vector<std::string> names;
  for (const Target& target : all_targets()) {
    if (holds(target)) {
      names.emplace_back(target.name);
    }
  }
  return names;
}

INSTANTIATE_TEST_SUITE_P(Each, TargetsTest, testing::ValuesIn(names_of([](const Target&) { return true; })),
                         [](const auto& each) { return each.param; });

// The others' inputs are mutated by an engine only.
INSTANTIATE_TEST_SUITE_P(Each, MutatedTargetsTest,
                         testing::ValuesIn(names_of([](const Target& target) { return target.mutator != nullptr; })),
                         [](const auto& each) { return each.param; });

// ---- The lists that are made of the descriptors.

TEST(DescriptorsTest, AControlIsFoundByNameOnlyAndNonsenseIsNot) {
  for (const Target& target : all_targets()) {
    EXPECT_FALSE(target.is_control) << target.name;
    EXPECT_EQ(find_target(target.name)->body, target.body);
    EXPECT_FALSE(target.judges.empty()) << target.name;
  }
  EXPECT_TRUE(find_target("canary")->is_control);
  EXPECT_EQ(find_target("differentials"), nullptr);
}

TEST(DescriptorsTest, TheBuildReadsInTheFilesWhatTheDescriptorsSay) {
  std::size_t targets = 0;
#define KVWITNESS_FUZZ_COMPARE(read_name, mutates, runs, threads, faults, control) \
  {                                                                                \
    const Target* const target = find_target(#read_name);                          \
    ASSERT_NE(target, nullptr) << #read_name;                                      \
    EXPECT_EQ(target->name, #read_name);                                           \
    EXPECT_EQ(target->mutator != nullptr, mutates) << #read_name;                  \
    EXPECT_EQ(target->test_runs, runs) << #read_name;                              \
    EXPECT_EQ(target->has_threads, threads) << #read_name;                         \
    EXPECT_EQ(target->finds, faults) << #read_name;                                \
    EXPECT_EQ(target->is_control, control) << #read_name;                          \
    EXPECT_TRUE(target->is_control || target->test_runs > 0) << #read_name;        \
    targets += target->is_control ? 0U : 1U;                                       \
  }
  KVWITNESS_FUZZ_TARGETS(KVWITNESS_FUZZ_COMPARE)
#undef KVWITNESS_FUZZ_COMPARE
  EXPECT_EQ(targets, all_targets().size());
}

// The planted faults' code is not linked here; their names are.
TEST(DescriptorsTest, EveryTargetFindsTenPlantedFaultsOrMoreAndEveryFaultIsFoundByATarget) {
  std::set<std::string> planted;
#define KVWITNESS_FUZZ_NAME(fault, what) planted.insert(#fault);
  KVWITNESS_PLANTED_FAULTS(KVWITNESS_FUZZ_NAME)
#undef KVWITNESS_FUZZ_NAME
  std::set<std::string> found;
  for (const Target& target : all_targets()) {
    std::istringstream names{std::string(target.finds)};
    std::set<std::string> of_this;
    for (std::string name; names >> name;) {
      EXPECT_TRUE(planted.contains(name)) << target.name << " finds " << name << ", which is planted nowhere";
      EXPECT_TRUE(of_this.insert(name).second) << target.name << " names " << name << " twice";
    }
    EXPECT_GE(of_this.size(), 10U) << target.name;
    found.merge(of_this);
  }
  found.insert("null_without_end");  // no finding: tool_check.py replays it
  EXPECT_EQ(found, planted);
}

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
