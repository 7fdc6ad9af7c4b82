#include "properties/implementations/plugin.h"

#include <gtest/gtest.h>
#include <kvwitness/oracle.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "properties/case/status.h"
#include "properties/rules/property.h"
#include "tests/properties/judged_samples.h"

namespace kvwitness::harness {
namespace {

using std::chrono::milliseconds;

std::string path_of(const std::string& plugin) {
  return KVWITNESS_TEST_PLUGIN_DIR "/" + plugin + ".so";
}

std::unique_ptr<Implementation> load(const std::string& plugin) {
  auto loaded = load_plugin(path_of(plugin), {.call = milliseconds(300), .warm_up_call = milliseconds(1000)});
  EXPECT_TRUE(loaded.has_value()) << loaded.error();
  return std::move(*loaded);
}

std::string refusal_of(const std::string& path) {
  const auto loaded = load_plugin(path);
  EXPECT_FALSE(loaded.has_value());
  return loaded ? "" : loaded.error();
}

Case apply_case(std::int32_t context_len) {
  Case value;
  value.operation = Operation::kApply;
  value.topk = 4;
  value.num_segments = 4;
  value.learned_keep = 2;
  value.max_replacements = 2;
  value.context_lens = {context_len};
  value.learned = {0, 5, 9, -1};
  value.base_offset = 12;  // the end of the rows is the end of a page
  return value;
}

// Runs the case, which ends badly, and then a good one, which does not.
Outcome run_and_recover(Implementation& implementation, const Case& value) {
  const Outcome outcome = implementation.run(value);
  expect_right(implementation, apply_case(16));
  return outcome;
}

TEST(Plugin, ARightOneKeepsEveryPropertyOnSampledCases) {
  const auto plugin = load("right");
  EXPECT_EQ(plugin->name(), "right by the rule");
  EXPECT_FALSE(plugin->checks_arguments());
  expect_no_property_broken(*plugin, 1, 300, 3000);
}

TEST(Plugin, WithoutANameItIsCalledAfterItsFileAndProvidesOnlyWhatItExports) {
  const auto plugin = load("witnesses_only");
  EXPECT_EQ(plugin->name(), "witnesses_only");
  EXPECT_TRUE(plugin->provides(Operation::kWitnesses));
  EXPECT_FALSE(plugin->provides(Operation::kApply));
  EXPECT_FALSE(plugin->provides(Operation::kScatter));
  EXPECT_EQ(plugin->run(apply_case(16)).ending, Ending::kUnsupported);
}

TEST(Plugin, AFileThatIsNoPluginIsRefusedWithTheReason) {
  EXPECT_NE(refusal_of(path_of("no_such_file")).find("there is no such file"), std::string::npos);
  EXPECT_NE(refusal_of(path_of("wrong_version")).find("kvw_plugin_abi_version is 7"), std::string::npos);
  EXPECT_NE(refusal_of(path_of("no_version")).find("does not export kvw_plugin_abi_version"), std::string::npos);
  EXPECT_NE(refusal_of(path_of("no_operation")).find("exports no operation"), std::string::npos);
  EXPECT_NE(refusal_of(path_of("crashes_when_loaded")).find("killed by signal 6"), std::string::npos);
  const std::string text = testing::TempDir() + "/text.so";
  std::ofstream(text) << "no library";
  EXPECT_NE(refusal_of(text).find(text), std::string::npos);
}

TEST(Plugin, MalformedCallsAreMadeOnlyWhereItPromisesTheRefusals) {
  Case malformed = apply_case(16);
  malformed.num_segments = 0;
  EXPECT_FALSE(load("right")->supports(malformed));
  EXPECT_EQ(load("right")->run(malformed).ending, Ending::kUnsupported);

  const auto checking = load("checking");
  EXPECT_TRUE(checking->checks_arguments());
  malformed.operation = Operation::kWitnesses;
  malformed.learned_keep = malformed.max_replacements = 0;
  ASSERT_TRUE(checking->supports(malformed));
  EXPECT_EQ(checking->run(malformed).status, status::kSegmentsOutOfRange);
  malformed.num_segments = 4;
  malformed.learned.push_back(3);
  const Outcome outcome = checking->run(malformed);
  EXPECT_EQ(outcome.status, status::kRowsMismatch);
  EXPECT_EQ(find_property("refused_writes_nothing")->judge(malformed, outcome, *checking).kind, Verdict::Kind::kBroken);
}

TEST(Plugin, AScatterWhoseRowsDoNotFillTheirShapeCannotBeCalled) {
  Case value;
  value.operation = Operation::kScatter;
  value.topk = 3;
  value.num_segments = 2;
  value.context_lens = {16};
  value.learned = {1, 2};
  for (const char* const name : {"right", "checking"}) {
    EXPECT_FALSE(load(name)->supports(value));
    value.num_segments = 0;
  }
}

TEST(Plugin, ShapesThatItDeclinesAreUnsupportedAndNeverCalled) {
  const auto plugin = load("narrow");
  Case value;
  value.operation = Operation::kScatter;
  value.topk = 8;
  value.num_segments = 4;
  value.context_lens = {64};
  value.learned = {0, 1, 2, 3, 4, 5, 6, -1};
  EXPECT_TRUE(plugin->supports(value));
  expect_right(*plugin, value);
  for (const auto& change :
       std::vector<void (*)(Case&)>{[](Case& c) { c.base_offset = 1; }, [](Case& c) { c.num_segments = 9; },
                                    [](Case& c) { c.row_stride = 9; }}) {
    Case outside = value;
    change(outside);
    EXPECT_FALSE(plugin->supports(outside));
    EXPECT_EQ(plugin->run(outside).ending, Ending::kUnsupported);
  }
}

TEST(Plugin, StatesItsDomainAndIsGivenNoCallOutside) {
  const auto plugin = load("stating");
  const Domain stated{.operations = {Operation::kWitnesses},
                      .legal_only = true,
                      .topk = {8, 512},
                      .num_segments = {3, 64},
                      .contiguous = true,
                      .align_bytes = 16,
                      .max_context = 1000,
                      .max_rows = 3,
                      .in_range = true};
  EXPECT_EQ(plugin->domain(), stated);  // it has no scatter, and does not state its apply
  Case value;
  value.operation = Operation::kWitnesses;
  value.topk = 8;
  value.num_segments = 3;
  value.context_lens = {1000};
  value.learned = {0, 5, 9, -1, 999, -1, -1, -1};
  expect_right(*plugin, value);
  value.row_stride = 9;  // does not reach witness indices
  EXPECT_TRUE(plugin->supports(value));
  value.row_stride.reset();
  const auto changed = [&](auto change) {
    Case other = value;
    change(other);
    return other;
  };
  for (const Case& other :
       {changed([](Case& c) { c.context_lens = {1001}; }),
        changed([](Case& c) { c.context_lens = {999}; }),  // a token at its end
        changed([](Case& c) { c.num_segments = 4; }), changed([](Case& c) { c.base_offset = 2; }), changed([](Case& c) {
          c.topk = 4;
          c.learned.resize(4);
        }),
        apply_case(16)}) {
    EXPECT_FALSE(plugin->supports(other)) << other;
    EXPECT_EQ(plugin->run(other).ending, Ending::kUnsupported) << other;
  }
}

TEST(Plugin, AStatedDomainThatIsNoneIsRefusedWithTheReason) {
  EXPECT_EQ(refusal_of(path_of("stating_nonsense")), "kvw_plugin_domain: align_bytes is 12, not 4, 8, 16, 32 or 64");
}

TEST(Plugin, ACrashOverTheQuestionOfSupportIsAVerdictOfTheRun) {
  const auto plugin = load("crashes_when_asked");
  Case value = apply_case(16);
  for (int row = 0; row < 3; ++row) {
    value.context_lens.push_back(16);
    value.learned.insert(value.learned.end(), {1, 2, 3, 4});
  }
  EXPECT_TRUE(plugin->supports(value));
  EXPECT_EQ(run_and_recover(*plugin, value).ending, Ending::kCrashed);
}

struct Misdeed {
  std::int32_t context_len;
  Ending ending;
  std::string how;
};

class MisbehavingPlugin : public testing::TestWithParam<Misdeed> {};

TEST_P(MisbehavingPlugin, EndsItsRunAndTheNextRunIsGood) {
  const auto plugin = load("misbehaving");
  const Case value = apply_case(GetParam().context_len);
  const Outcome outcome = run_and_recover(*plugin, value);
  EXPECT_EQ(outcome.ending, GetParam().ending) << outcome.how;
  EXPECT_NE(outcome.how.find(GetParam().how), std::string::npos) << outcome.how;
  EXPECT_EQ(find_property("bounds")->judge(value, outcome, *plugin).kind, Verdict::Kind::kBroken);
  EXPECT_EQ(find_property("retention")->judge(value, outcome, *plugin).kind, Verdict::Kind::kBroken);
}

INSTANTIATE_TEST_SUITE_P(
    Each, MisbehavingPlugin,
    testing::Values(Misdeed{1001, Ending::kCrashed, "signal 11"}, Misdeed{1002, Ending::kCrashed, "signal 6"},
                    Misdeed{1003, Ending::kExited, "status 3"}, Misdeed{1004, Ending::kExited, "status 0"},
                    Misdeed{1005, Ending::kHung, "deadline"}, Misdeed{1006, Ending::kHung, "deadline"},
                    Misdeed{1007, Ending::kCrashed, "from a plug-in"},
                    Misdeed{1009, Ending::kCrashed, "0 bytes past the end of the output rows"},
                    Misdeed{1010, Ending::kCrashed, "a write to the learned rows, which are an input, at byte 0"},
                    Misdeed{1011, Ending::kCrashed, "a write to the context lengths, which are an input"},
                    Misdeed{1012, Ending::kCrashed, "0 bytes past the end of the learned rows"},
                    Misdeed{1013, Ending::kCrashed, "signal 9"}, Misdeed{1014, Ending::kCrashed, "signal 9"},
                    Misdeed{1017, Ending::kCrashed, "bytes past the end of the output rows"},
                    Misdeed{1018, Ending::kCrashed, "signal 11"}),
    [](const auto& info) { return "Way" + std::to_string(info.param.context_len); });

TEST(Plugin, AStrayWriteBesideTheOutputIsSeen) {
  const auto plugin = load("misbehaving");
  EXPECT_NE(run_and_recover(*plugin, apply_case(1008)).stray.find("element 1 before the output rows"),
            std::string::npos);
  Case value = apply_case(1009);
  value.base_offset = 0;  // now canaries stand after the rows
  EXPECT_NE(run_and_recover(*plugin, value).stray.find("element 0 past the end of the output rows"), std::string::npos);
}

TEST(Plugin, ClosingEveryDescriptorHarmsNobody) {
  const auto plugin = load("misbehaving");
  expect_right(*plugin, apply_case(1015));
  expect_right(*plugin, apply_case(1001 - 1));
}

TEST(Plugin, StateKeptBetweenCallsShowsWithPriorCallsAndGoesWithARestart) {
  const auto plugin = load("misbehaving");
  Case counting = apply_case(1016);
  EXPECT_EQ(plugin->run(counting).rows[0], 1);
  EXPECT_EQ(plugin->run(counting).rows[0], 2);
  EXPECT_TRUE(plugin->restart());
  EXPECT_EQ(plugin->run(counting).rows[0], 1);
  plugin->restart();
  counting.prior_calls = {apply_case(16), apply_case(16), apply_case(16)};
  const Outcome outcome = plugin->run(counting);
  EXPECT_EQ(outcome.rows[0], 4);
  ASSERT_EQ(outcome.prior_calls.size(), 3u);
  EXPECT_EQ(outcome.prior_calls[2].rows, expected_rows(apply_case(16)));
}

TEST(Plugin, APriorCallThatDoesNotReturnEndsTheWhole) {
  const auto plugin = load("misbehaving");
  Case value = apply_case(16);
  value.prior_calls = {apply_case(16), apply_case(1002), apply_case(16)};
  const Outcome outcome = run_and_recover(*plugin, value);
  EXPECT_EQ(outcome.ending, Ending::kCrashed);
  EXPECT_NE(outcome.how.find("in call 2 of those before it"), std::string::npos) << outcome.how;
  EXPECT_EQ(outcome.prior_calls.size(), 2u);
}

TEST(Plugin, RowsBillionsOfElementsApartReachIt) {
  const auto plugin = load("right");
  Case value;
  value.operation = Operation::kScatter;
  value.topk = 3;
  value.num_segments = 2;
  value.context_lens = {16, 20, 30};
  value.learned = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  value.row_stride = (std::int64_t{1} << 30) + 1;
  expect_right(*plugin, value);
  value.row_stride = 4;
  expect_right(*plugin, value);
}

}  // namespace
}  // namespace kvwitness::harness
