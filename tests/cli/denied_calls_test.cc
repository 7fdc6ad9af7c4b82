// The program where the system denies a call that isolation uses: it gives its verdict, or says at the start which call
// it lacks, and leaves no process behind.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "tests/cli/leftovers.h"
#include "tests/cli/program.h"

namespace kvwitness::harness {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kCase =
    R"({"kvwitness_case":1,"operation":"scatter","topk":4,"num_segments":16,"context_lens":[40],"learned":[[0,1,2,3]]}
)";

// A way to use the program, and the exit status that it has where nothing is denied.
struct Use {
  const char* name;
  const char* way_of_plugin;  // "" for a right one
  std::vector<std::string> arguments;
  int exit_status;
};

std::vector<Use> uses() {
  const std::string pipe = "exec python3 -IS '" KVWITNESS_TEST_PIPE_FOLDER "/answer.py' right";
  return {{"verify --plugin",
           "",
           {"verify", "--plugin", KVWITNESS_ODD_PLUGIN, "--cases", "-", "--cases-per-property", "4", "--quiet"},
           0},
          {"one that crashes", "crash", {"replay", "--plugin", KVWITNESS_ODD_PLUGIN, "-"}, 1},
          {"one that hangs", "hang", {"run", "--plugin", KVWITNESS_ODD_PLUGIN, "-"}, 1},
          {"replay --impl", "", {"replay", "--impl", "c-abi", "-"}, 0},
          {"run --pipe", "", {"run", "--pipe", pipe, "-"}, 0}};
}

Finished finish_without(const std::string& call, const std::string& error, const Use& use) {
  Invocation invocation;
  invocation.program = "timeout";  // one that hangs ends with its status, 124
  invocation.arguments = {"--kill-after=5", "120", KVWITNESS_DENY_SYSTEM_CALL, call, error, KVWITNESS_PROGRAM};
  invocation.arguments.insert(invocation.arguments.end(), use.arguments.begin(), use.arguments.end());
  invocation.variables = {std::string("ODD_PLUGIN=") + use.way_of_plugin};
  invocation.input = std::string(kCase) + kCase;
  return finish(invocation);
}

struct Denied {
  const char* calls;
  bool has_way_without;  // the program then gives its verdict; else it may refuse
};

class DeniedCalls : public testing::TestWithParam<Denied> {
 protected:
  static void SetUpTestSuite() { std::printf("%-32s %-7s %-17s %s\n", "denied", "error", "use", "what came of it"); }
  void SetUp() override {
    const Finished run = finish_without("userfaultfd", "EPERM", {"", "", {"list"}, 0});
    if (run.exit_status == 125) GTEST_SKIP() << "this system has no seccomp filters: " << run.err;
  }
};

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

TEST_P(DeniedCalls, LeaveTheVerdictOrAreNamedAtTheStart) {
  const auto [calls, has_way_without] = GetParam();
  Leftovers leftovers;
  for (const char* const error : {"ENOSYS", "EPERM"}) {
    for (const Use& use : uses()) {
      const Finished run = finish_without(calls, error, use);
      const std::string what = std::string(calls) + " " + error + ", " + use.name + ": " + run.out + run.err;
      const bool is_verdict = run.exit_status == use.exit_status;
      std::printf("%-32s %-7s %-17s %s\n", calls, error, use.name,
                  is_verdict ? "its verdict" : first_line(run.err).c_str());
      EXPECT_THAT(leftovers.end_all(), IsEmpty()) << what;
      if (is_verdict) continue;
      EXPECT_FALSE(has_way_without) << what;
      EXPECT_EQ(run.exit_status, 2) << what;
      EXPECT_THAT(
          run.err,
          ContainsRegex(
              "the system denies|Function not implemented|Operation not permitted|Cannot fork|before its hello"))
          << what;
    }
  }
}

std::string test_name(const testing::TestParamInfo<Denied>& info) {
  std::string name = info.param.calls;
  std::ranges::replace(name, ',', '_');
  return name;
}

constexpr Denied kDenied[] = {{"close_range", true},
                              {"memfd_create", true},
                              {"prctl", true},
                              {"ppoll", true},
                              {"userfaultfd", true},
                              {"pidfd_open", true},
                              {"landlock_create_ruleset", true},
                              {"seccomp", true},
                              {"ptrace", true},
                              {"signalfd4", true},
                              {"prlimit64", true},
                              {"madvise", true},
                              {"sched_getaffinity", true},
                              {"fallocate", true},
                              {"sigaltstack", true},
                              {"rt_sigtimedwait", true},
                              {"fsync", true},
                              {"close_range,getdents64", false},
                              {"close_range,memfd_create,prctl", true},
                              {"kill", false},
                              {"wait4", false},
                              {"setpgid", false},
                              {"socketpair", false},
                              {"pipe2", false},
                              {"poll", false},
                              {"dup2", false},
                              {"fcntl", false},
                              {"getpid", false},
                              {"getppid", false},
                              {"recvfrom", false},
                              {"recvmsg", false},
                              {"sendmsg", false},
                              {"sendto", false},
                              {"clone", false},
                              {"clone3", false},
                              {"vfork", false},
                              {"ftruncate", false},
                              {"rt_sigaction", false},
                              {"rt_sigprocmask", false}};
INSTANTIATE_TEST_SUITE_P(Of, DeniedCalls, testing::ValuesIn(kDenied), test_name);

TEST(DeniedCall, IsNamedWithTheWayToJudgeWithoutIsolation) {
  const Finished run = finish_without("kill", "EPERM", {"", "", {"replay", "--impl", "c-abi", "-"}, 0});
  if (run.exit_status == 125) GTEST_SKIP() << run.err;
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_THAT(run.err, HasSubstr("the system denies kill (Operation not permitted)"));
  EXPECT_THAT(run.err, HasSubstr("kvwitness replay --in-process"));
  const Finished in_process =
      finish_without("kill", "EPERM", {"", "", {"replay", "--in-process", "--impl", "c-abi", "-"}, 0});
  EXPECT_EQ(in_process.exit_status, 0) << in_process.err;
}

}  // namespace
}  // namespace kvwitness::harness
