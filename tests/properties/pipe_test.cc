#include "properties/implementations/pipe.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kvwitness/oracle.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "properties/case/status.h"
#include "properties/rules/property.h"
#include "tests/properties/judged_samples.h"
#include "tests/properties/sampled_cases.h"

namespace kvwitness::harness {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

constexpr DeadlineLimits kLimits{.call = milliseconds(400), .warm_up_call = milliseconds(15000)};
// For programs that never answer.
constexpr DeadlineLimits kShortLimits{.call = milliseconds(300), .warm_up_call = milliseconds(1500)};

std::string program(const std::string& way) {
  return "exec python3 -IS '" KVWITNESS_TEST_PIPE_DIR "/answer.py' " + way;
}

std::unique_ptr<Implementation> open(const std::string& way, const DeadlineLimits& limits = kLimits) {
  auto opened = open_pipe(program(way), limits);
  EXPECT_TRUE(opened.has_value()) << opened.error();
  return std::move(*opened);
}

Case apply_case(std::int32_t context_len) {
  Case value;
  value.operation = Operation::kApply;
  value.topk = 4;
  value.num_segments = 4;
  value.learned_keep = 2;
  value.max_replacements = 2;
  value.context_lens = {context_len, 16};
  value.learned = {0, 5, 9, -1, 1, 2, 3, -1};
  value.row_stride = 6;
  return value;
}

const Case kMisdeed = apply_case(1001);
const Case kGood = apply_case(16);

TEST(Pipe, ARightProgramKeepsEveryPropertyOnSampledCases) {
  const auto pipe = open("right");
  EXPECT_EQ(pipe->name(), "answer.py");
  EXPECT_FALSE(pipe->checks_arguments());
  EXPECT_TRUE(pipe->honours_stride(Operation::kWitnesses));
  expect_no_property_broken(*pipe, 7, 150, 1500);
}

// A worker that raises at every call: its import may take long, so it is started a few times only.
TEST(Pipe, AProgramThatNeverAnswersIsStartedAFewTimesAndItsLastWordsAreQuoted) {
  const std::filesystem::path starts = std::filesystem::path(testing::TempDir()) / "kvwitness_pipe_starts";
  std::filesystem::remove(starts);
  const auto opened = open_pipe("echo start >>'" + starts.string() + "'; " + program("raises"));
  ASSERT_TRUE(opened.has_value()) << opened.error();
  for (int call = 0; call < 40; ++call) {
    const Outcome outcome = (*opened)->run(kGood);
    EXPECT_FALSE(came_back(outcome));
    EXPECT_THAT(outcome.how, HasSubstr("its last words: \"ValueError: no such width\""));
    (*opened)->restart();
  }
  std::ifstream file(starts);
  const auto lines = std::count(std::istreambuf_iterator<char>(file), {}, '\n');
  EXPECT_GE(lines, 2);
  EXPECT_LE(lines, 10);
}

TEST(Pipe, AProgramThatReadsBeforeItsHelloIsRefusedAtOnce) {
  const auto opened = open_pipe("cat");
  ASSERT_FALSE(opened.has_value());
  EXPECT_THAT(opened.error(), HasSubstr("waits for input and has said no hello"));
}

TEST(Pipe, ARowOfABigShapePassesWhole) {
  const auto pipe = open("right");
  Case value = kGood;
  value.row_stride = 300000;
  expect_right(*pipe, value);
}

TEST(Pipe, AProgramWithoutARightHelloIsRefusedWithTheReason) {
  const auto refusal = [](const std::string& command) {
    const auto opened = open_pipe(command, kShortLimits);
    EXPECT_FALSE(opened.has_value());
    return opened ? "" : opened.error();
  };
  EXPECT_NE(refusal("exit 4").find("exited with status 4 before its hello"), std::string::npos);
  EXPECT_NE(refusal("kill -9 $$").find("killed by signal 9"), std::string::npos);
  EXPECT_NE(refusal("exec sleep 1000").find("no answer within the deadline before its hello"), std::string::npos);
  EXPECT_NE(refusal("exec kvwitness-no-such-program").find("status 127"), std::string::npos);
  EXPECT_NE(refusal("echo good morning to you all; sleep 1000").find("does not begin with 0x5057564B"),
            std::string::npos);
  EXPECT_NE(refusal("printf 'KVWP\\2\\0\\0\\0\\0\\0\\0\\0'").find("has version 2"), std::string::npos);
  EXPECT_NE(refusal("printf 'KVWP\\1\\0\\0\\0\\0\\0\\1\\0'").find("name of 65536 bytes"), std::string::npos);
  EXPECT_NE(refusal("printf 'KVWP\\1\\0\\0\\0\\5\\0\\0\\0abc'").find("within its hello"), std::string::npos);
}

struct Misdeed {
  std::string way;
  Ending ending;
  std::string how;
};

class MisbehavingPipe : public testing::TestWithParam<Misdeed> {};

TEST_P(MisbehavingPipe, EndsItsRunAndTheNextRunIsGood) {
  const auto pipe = open(GetParam().way);
  expect_right(*pipe, kGood);  // so that the shape is warmed up and the deadline short
  const Outcome outcome = pipe->run(kMisdeed);
  EXPECT_EQ(outcome.ending, GetParam().ending) << outcome.how;
  EXPECT_NE(outcome.how.find(GetParam().how), std::string::npos) << outcome.how;
  EXPECT_EQ(find_property("bounds")->judge(kMisdeed, outcome, *pipe).kind,
            GetParam().ending == Ending::kUnsupported ? Verdict::Kind::kSilent : Verdict::Kind::kBroken);
  expect_right(*pipe, kGood);
}

INSTANTIATE_TEST_SUITE_P(Each, MisbehavingPipe,
                         testing::Values(Misdeed{"exit", Ending::kExited, "status 3"},
                                         Misdeed{"kill", Ending::kCrashed, "signal 9"},
                                         Misdeed{"silent", Ending::kHung, "deadline"},
                                         Misdeed{"close", Ending::kProtocolError, "closed its output"},
                                         Misdeed{"magic", Ending::kProtocolError, "0x5057564B"},
                                         Misdeed{"sequence", Ending::kProtocolError, "sequence number 3, not 2"},
                                         Misdeed{"zero", Ending::kProtocolError, "fourth word"},
                                         Misdeed{"count", Ending::kProtocolError, "counts 9 elements, not 10"},
                                         Misdeed{"short", Ending::kHung, "within its answer"},
                                         Misdeed{"short-end", Ending::kExited, "within its answer"},
                                         Misdeed{"long", Ending::kProtocolError, "more than"},
                                         Misdeed{"refuses-with-rows", Ending::kProtocolError, "not 0"},
                                         Misdeed{"unsupported", Ending::kUnsupported, "does not support"}),
                         [](const auto& info) {
                           std::string name = info.param.way;
                           std::erase(name, '-');
                           return name;
                         });

std::vector<RunRequest> requests_for(const std::vector<Case>& cases) {
  std::vector<RunRequest> requests;
  for (const Case& value : cases) requests.push_back({&value});
  return requests;
}

TEST_P(MisbehavingPipe, EndsRunsThatAreMadeTogetherWhereItMisbehaves) {
  const auto pipe = open(GetParam().way);
  const std::vector<Case> cases = {kGood, apply_case(17), kMisdeed, apply_case(18), kGood};
  const std::vector<Outcome> outcomes = pipe->run_together(requests_for(cases));
  const bool goes_on = GetParam().ending == Ending::kUnsupported;
  ASSERT_EQ(outcomes.size(), goes_on ? 5u : 3u);
  EXPECT_EQ(outcomes[2].ending, GetParam().ending) << outcomes[2].how;
  EXPECT_EQ(outcomes[0].rows, expected_rows(cases[0]));
  EXPECT_EQ(outcomes[1].rows, expected_rows(cases[1]));
  expect_right(*pipe, kGood);
}

TEST(Pipe, RequestsAreUnderWayTogether) {
  const auto pipe = open("fours");  // it answers four requests at a time, when it has read the fourth
  std::vector<Case> cases = {apply_case(16), apply_case(17), apply_case(18), apply_case(19), apply_case(20)};
  cases[1].prior_calls = {apply_case(21), apply_case(22), apply_case(23)};
  const std::vector<Outcome> outcomes = pipe->run_together(requests_for(cases));
  ASSERT_EQ(outcomes.size(), cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) {
    EXPECT_EQ(outcomes[i].ending, Ending::kReturned) << outcomes[i].how;
    EXPECT_EQ(outcomes[i].rows, expected_rows(cases[i]));
  }
  ASSERT_EQ(outcomes[1].prior_calls.size(), 3u);
  EXPECT_EQ(outcomes[1].prior_calls[2].rows, expected_rows(cases[1].prior_calls[2]));
}

TEST(Pipe, RunsTogetherGiveWhatTheyGiveOneByOne) {
  const auto pipe = open("right");
  std::vector<Case> cases;
  CaseSampler sampler(11);
  for (int i = 0; i < 200; ++i) cases.push_back(sampler.next());
  cases[100] = kGood;
  cases[100].row_stride = 300000;  // more elements than are sent ahead
  cases[101] = kGood;
  cases[101].num_segments = 0;  // refused, so it is not sent
  const std::vector<Outcome> outcomes = pipe->run_together(requests_for(cases));
  ASSERT_EQ(outcomes.size(), cases.size());
  for (std::size_t i = 0; i < cases.size(); ++i) EXPECT_EQ(outcomes[i], pipe->run(cases[i])) << cases[i];
}

// Where calls are few, as in a replay.
TEST(Pipe, BytesThatComeAfterTheAnswerAreWaitedForWhereAsked) {
  auto pipe = open_pipe(program("long-late"), kLimits, milliseconds(10000));
  ASSERT_TRUE(pipe.has_value());
  const Outcome outcome = (*pipe)->run(kMisdeed);
  EXPECT_EQ(outcome.ending, Ending::kProtocolError);
  EXPECT_NE(outcome.how.find("more than"), std::string::npos) << outcome.how;
}

TEST(Pipe, AShellsWordForASignalIsExplained) {
  const auto opened = open_pipe("(kill -9 $(exec sh -c 'echo $PPID')); exit $?", kShortLimits);
  ASSERT_FALSE(opened.has_value());
  EXPECT_NE(opened.error().find("status 137, a shell's word for signal 9"), std::string::npos) << opened.error();
}

TEST(Pipe, ARefusalOfALegalCallIsAStatus) {
  const Outcome outcome = open("refuses")->run(kMisdeed);
  EXPECT_EQ(outcome.status, status::kSegmentsOutOfRange);
  EXPECT_EQ(outcome.rows, outcome.before);
}

TEST(Pipe, AChangedSpareColumnIsAStrayWrite) {
  EXPECT_NE(open("spare")->run(kMisdeed).stray.find("spare column 4 of row 0"), std::string::npos);
}

TEST(Pipe, StateKeptBetweenCallsShowsWithPriorCallsAndGoesWithARestart) {
  const auto pipe = open("counts");
  Case counting = kMisdeed;
  counting.prior_calls = {kGood, kGood};
  EXPECT_EQ(pipe->run(counting).rows[0], 3);
  EXPECT_EQ(pipe->run(counting).rows[0], 6);
  pipe->restart();
  EXPECT_EQ(pipe->run(counting).rows[0], 3);
}

TEST(Pipe, MalformedAndHugeCallsAreNotSent) {
  const auto pipe = open("right");
  Case malformed = kGood;
  malformed.num_segments = 0;
  EXPECT_FALSE(pipe->supports(malformed));
  EXPECT_EQ(pipe->run(malformed).ending, Ending::kUnsupported);
  Case huge = kGood;
  huge.row_stride = std::int64_t{1} << 30;
  EXPECT_FALSE(pipe->supports(huge));
  EXPECT_EQ(pipe->run(huge).ending, Ending::kUnsupported);
}

}  // namespace
}  // namespace kvwitness::harness
