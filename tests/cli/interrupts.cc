#include "tests/cli/interrupts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <iterator>
#include <nlohmann/json.hpp>
#include <random>

#include "tests/cli/leftovers.h"

namespace kvwitness::harness {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kOldReport = R"({"kvwitness_report":1,"verdict":"pass","message":"of the run before"})";

std::vector<Subject> subjects() {
  const std::string pipe = "exec python3 -IS '" KVWITNESS_TEST_PIPE_FOLDER "/answer.py' right";
  return {{"a right plug-in", {"--plugin", KVWITNESS_ODD_PLUGIN}, ""},
          {"a wrong plug-in", {"--plugin", KVWITNESS_ODD_PLUGIN}, "wrong"},
          {"a plug-in that hangs", {"--plugin", KVWITNESS_ODD_PLUGIN}, "hang"},
          {"a plug-in that crashes", {"--plugin", KVWITNESS_ODD_PLUGIN}, "crash"},
          {"the C ABI", {"--impl", "c-abi"}, ""},
          {"a pipe", {"--pipe", pipe}, ""},
          {"a program that says nothing", {"--pipe", "sleep 1000; true"}, ""}};
}

// Interrupts one run, and expects all that holds whenever that is.
void interrupt_once(const Subject& subject, int signal, std::chrono::microseconds after) {
  SCOPED_TRACE(std::string(subject.name) + ", signal " + std::to_string(signal) + " after " +
               std::to_string(after.count()) + " us");
  Leftovers leftovers;
  const ScratchFolder folder;
  Invocation invocation = verify_with_reports(subject, folder);
  invocation.signal = {.number = signal, .after = after};
  const Finished run = finish(invocation);
  SCOPED_TRACE(run.out + run.err);
  EXPECT_THAT(leftovers.end_all(), IsEmpty());
  for (const std::string& name : folder.names()) {
    EXPECT_THAT(name, AnyOf("kept", "report.json", "report.xml")) << "a draft was left";
  }
  if (run.ended_by == signal) return;  // before the program's first line
  const auto report = nlohmann::json::parse(folder.read("report.json"));
  EXPECT_NE(report.at("message"), "of the run before");
  EXPECT_NE(folder.read("report.xml"), "<old/>");
  if (run.exit_status < 128) return;  // it was quicker
  EXPECT_EQ(run.exit_status, 128 + signal);
  if (report.at("verdict") != "interrupted") return;  // while it printed
  EXPECT_THAT(folder.read("report.xml"), HasSubstr("<error"));
  // What is told to a person and in the report is the same.
  const bool has_failed = run.out.find("replay -") != std::string::npos;
  bool reports_failure = false;
  for (const auto& implementation : report.at("implementations")) {
    EXPECT_NE(implementation.at("verdict"), "pass");
    for (const auto& property : implementation.at("properties")) {
      EXPECT_NE(property.at("verdict"), "pass");
      reports_failure = reports_failure || property.contains("replay");
    }
  }
  EXPECT_EQ(has_failed, reports_failure);
}

}  // namespace

Invocation verify_with_reports(const Subject& subject, const ScratchFolder& folder) {
  folder.write("report.json", kOldReport);
  folder.write("report.xml", "<old/>");
  Invocation invocation;
  invocation.arguments = {
      "verify",     "--json",           folder.path("report.json"), "--junit", folder.path("report.xml"),
      "--failures", folder.path("kept")};
  invocation.arguments.insert(invocation.arguments.end(), subject.selection.begin(), subject.selection.end());
  invocation.variables = {std::string("ODD_PLUGIN=") + subject.way_of_plugin};
  return invocation;
}

void interrupt_often(int times, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const std::vector<Subject> all = subjects();
  constexpr std::int64_t kLongest[] = {20'000, 200'000, 1'000'000, 3'000'000};  // microseconds
  for (int i = 0; i < times; ++i) {
    const Subject& subject = all[static_cast<std::size_t>(i) % all.size()];
    const int signal = random() % 2 == 0 ? SIGINT : SIGTERM;
    const std::int64_t longest = kLongest[random() % std::size(kLongest)];
    interrupt_once(subject, signal, std::chrono::microseconds(random() % static_cast<std::uint64_t>(longest)));
    if (testing::Test::HasFailure()) FAIL() << "seed " << seed << ", interrupt " << i;
  }
}

}  // namespace kvwitness::harness
