// SIGINT and SIGTERM at moments of a run: the exit status, what is told, the reports, and what is left running.
#include "tests/cli/interrupts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/cli/leftovers.h"
#include "tests/cli/program.h"

namespace kvwitness::harness {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

TEST(Interrupts, LeaveNothingRunningAndLoseNoReport) {
  interrupt_often(30, 1);
}

// Once its first line of progress says that a failure was met.
TEST(Interrupts, TellWhatWasFoundWithTheLineThatReplaysIt) {
  for (const int signal : {SIGINT, SIGTERM}) {
    Leftovers leftovers;
    const ScratchFolder folder;
    Invocation invocation = verify_with_reports({"", {"--plugin", KVWITNESS_ODD_PLUGIN}, "wrong"}, folder);
    invocation.signal = {.number = signal, .after_words = "looking for its smallest case"};
    const Finished run = finish(invocation);
    EXPECT_EQ(run.exit_status, 128 + signal);
    EXPECT_THAT(run.out, HasSubstr("FAIL plain-c breaks "));
    EXPECT_THAT(run.out, HasSubstr("\n  replay "));
    EXPECT_THAT(run.out, HasSubstr("INTERRUPTED "));
    EXPECT_THAT(run.out, Not(HasSubstr("time of plain-c was up")));
    const auto report = nlohmann::json::parse(folder.read("report.json"));
    EXPECT_EQ(report.at("verdict"), "interrupted");
    EXPECT_EQ(report.at("implementations").at(0).at("verdict"), "fail");
    const auto replay = [&] {
      for (const auto& property : report.at("implementations").at(0).at("properties")) {
        if (property.contains("replay")) return property.at("replay").get<std::string>();
      }
      return std::string("false");
    }();
    EXPECT_EQ(shell("ODD_PLUGIN=wrong; export ODD_PLUGIN; " + replay).exit_status, 1) << replay;
    EXPECT_THAT(leftovers.end_all(), IsEmpty());
  }
}

TEST(Interrupts, EndAReplayAndARunAndTheProgramBehindAPipe) {
  // Its second call of 16 segments hangs, so that the first was answered by then.
  const std::string one =
      R"({"kvwitness_case":1,"operation":"scatter","topk":4,"num_segments":16,"context_lens":[40],"learned":[[0,1,2,3]]})";
  Leftovers leftovers;
  for (const std::string command : {"replay", "run"}) {
    Invocation invocation;
    invocation.arguments = {command, "--plugin", KVWITNESS_ODD_PLUGIN, "--deadline", "1000", "-"};
    invocation.variables = {"ODD_PLUGIN=hang"};
    invocation.input = one + "\n" + one + "\n";
    invocation.signal = {.number = SIGINT, .after = std::chrono::milliseconds(700)};
    const Finished run = finish(invocation);
    EXPECT_EQ(run.exit_status, 130) << run.out << run.err;
    EXPECT_THAT(run.out, HasSubstr(command == "run" ? "\"expect\"" : "INTERRUPTED after ")) << run.err;
    EXPECT_THAT(leftovers.end_all(), IsEmpty());
  }
  Invocation silent;
  silent.arguments = {"run", "--pipe", "echo started >&2; sleep 1000; true", "-"};
  silent.input = one;
  silent.signal = {.number = SIGTERM, .after = std::chrono::milliseconds(300)};
  EXPECT_EQ(finish(silent).exit_status, 143);
  EXPECT_THAT(leftovers.end_all(), IsEmpty());
}

// What is killed leaves no report of the run before it.
TEST(Interrupts, ByKillLeaveAReportThatSaysSo) {
  const ScratchFolder folder;
  Invocation invocation = verify_with_reports({"", {"--plugin", KVWITNESS_ODD_PLUGIN}, ""}, folder);
  invocation.signal = {.number = SIGKILL, .after_words = "judging plain-c"};
  Leftovers leftovers;
  const Finished run = finish(invocation);
  EXPECT_EQ(run.ended_by, SIGKILL);
  EXPECT_EQ(nlohmann::json::parse(folder.read("report.json")).at("verdict"), "interrupted");
  EXPECT_THAT(folder.read("report.xml"), HasSubstr("has not come to its end"));
  EXPECT_THAT(folder.names(), ElementsAre("kept", "report.json", "report.xml"));
  EXPECT_THAT(leftovers.end_all(), IsEmpty());
}

TEST(Interrupts, AreNotWaitedForByAShellWhileAPluginsDaemonLives) {
  Leftovers leftovers;
  Invocation invocation;
  invocation.arguments = {"verify", "--plugin", KVWITNESS_ODD_PLUGIN, "--cases-per-property", "0", "--quiet"};
  invocation.variables = {"ODD_PLUGIN=daemon"};
  // The daemon would sleep for a quarter of an hour, and finish() reads until nobody holds the output open.
  EXPECT_THAT(finish(invocation).out, HasSubstr("PASS "));
}
}  // namespace
}  // namespace kvwitness::harness
