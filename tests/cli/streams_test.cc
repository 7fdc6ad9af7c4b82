// Standard input, output and error that are closed, full or left by their reader, and reports that cannot be written.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/cli/program.h"

namespace kvwitness::harness {
namespace {

using testing::ContainsRegex;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kProgram = KVWITNESS_PROGRAM;
constexpr const char* kCase =
    R"({"kvwitness_case":1,"operation":"scatter","topk":4,"num_segments":16,"context_lens":[40],"learned":[[0,1,2,3]]})"
    "\n";

// Of every choice of descriptors 0 to 2: "0<&- 2>&-".
std::vector<std::string> closings() {
  std::vector<std::string> all;
  for (int chosen = 1; chosen < 8; ++chosen) {
    std::string text;
    if ((chosen & 1) != 0) text += " 0<&-";
    if ((chosen & 2) != 0) text += " 1>&-";
    if ((chosen & 4) != 0) text += " 2>&-";
    all.push_back(text);
  }
  return all;
}

TEST(ClosedDescriptors, ChangeNoVerdict) {
  const ScratchFolder folder;
  const std::string file = folder.write("case.json", kCase);
  const std::string pipe = "--pipe \"exec python3 -IS '" KVWITNESS_TEST_PIPE_FOLDER "/answer.py' right\"";
  for (const std::string& closing : closings()) {
    const auto status = [&](const std::string& way, const std::string& arguments) {
      return shell("ODD_PLUGIN=" + way + " '" + kProgram + "' " + arguments + closing).exit_status;
    };
    const std::string plugin = "--plugin '" KVWITNESS_ODD_PLUGIN "'";
    EXPECT_EQ(status("right", "replay --impl c-abi " + file), 0) << closing;
    EXPECT_EQ(status("right", "replay " + plugin + " " + file), 0) << closing;
    EXPECT_EQ(status("crash", "replay " + plugin + " " + file), 1) << closing;
    EXPECT_EQ(status("wrong", "replay " + plugin + " " + file), 1) << closing;
    EXPECT_EQ(status("right", "replay " + pipe + " " + file), 0) << closing;
    const std::string verify =
        "verify --cases " + file + " --cases-per-property 2 --json " + folder.path("report.json");
    EXPECT_EQ(status("right", verify + " " + plugin), 0) << closing;
    EXPECT_EQ(nlohmann::json::parse(folder.read("report.json")).at("verdict"), "pass") << closing;
    EXPECT_EQ(status("wrong", verify + " " + plugin), 1) << closing;
    EXPECT_EQ(nlohmann::json::parse(folder.read("report.json")).at("verdict"), "fail") << closing;
  }
}

TEST(ClosedDescriptors, AreAnErrorWhereACommandOnlyPrints) {
  const ScratchFolder folder;
  const std::string file = folder.write("case.json", kCase);
  for (const std::string arguments : {"list", "list --json", "run FILE", "score FILE", "replay FILE --emit json"}) {
    std::string command = arguments;
    if (const std::size_t at = command.find("FILE"); at != std::string::npos) command.replace(at, 4, file);
    const Finished run = shell(std::string("'") + kProgram + "' " + command + " >&-");
    EXPECT_EQ(run.exit_status, 2) << arguments;
    EXPECT_THAT(run.err, HasSubstr("standard output is closed")) << arguments;
  }
}

// The last byte counts: what is buffered is written only at the end.
TEST(FullDevices, AreAnErrorOfEveryCommand) {
  const ScratchFolder folder;
  const std::string file = folder.write("case.json", kCase);
  for (const std::string arguments :
       {"--help", "--version", "verify --help", "list", "list --json", "run FILE", "score FILE",
        "replay FILE --emit json", "replay FILE --emit gtest", "replay --impl scalar FILE",
        "verify --impl scalar --cases FILE --cases-per-property 0",
        "verify --impl scalar --cases FILE --cases-per-property 0 --quiet"}) {
    std::string command = arguments;
    if (const std::size_t at = command.find("FILE"); at != std::string::npos) command.replace(at, 4, file);
    const Finished run = shell(std::string("'") + kProgram + "' " + command + " >/dev/full");
    EXPECT_EQ(run.exit_status, 2) << arguments;
    EXPECT_THAT(run.err, HasSubstr("standard output cannot be written")) << arguments;
  }
}

TEST(FullDevices, LoseNoReportAndAsStandardErrorNoVerdict) {
  const ScratchFolder folder;
  const std::string file = folder.write("case.json", kCase);
  const std::string verify = std::string("'") + kProgram + "' verify --plugin '" KVWITNESS_ODD_PLUGIN "' --cases " +
                             file + " --cases-per-property 0 --json " + folder.path("report.json");
  EXPECT_EQ(shell("ODD_PLUGIN=wrong " + verify + " --quiet >/dev/full").exit_status, 2);
  EXPECT_EQ(nlohmann::json::parse(folder.read("report.json")).at("verdict"), "fail");
  const Finished run = shell("ODD_PLUGIN=wrong " + verify + " 2>/dev/full");
  EXPECT_EQ(run.exit_status, 1);
  EXPECT_THAT(run.out, HasSubstr("FAIL 1 of 1 implementation failed"));
}

TEST(FullDevices, AreAnErrorOfEachReport) {
  for (const std::string option : {"--json", "--junit", "--html"}) {
    const Finished run = kvwitness(
        {"verify", "--impl", "scalar", "--cases", "-", "--cases-per-property", "0", option, "/dev/full"}, kCase);
    EXPECT_EQ(run.exit_status, 2) << option;
    EXPECT_THAT(run.err, ContainsRegex(option + " /dev/full: the file cannot be written")) << option;
  }
}

TEST(LeftPipes, AreAnErrorAndNoSilentEnd) {
  const ScratchFolder folder;
  const std::string pipe = folder.path("pipe");
  // The only reader is gone before the first byte.
  const Finished run =
      shell("mkfifo " + pipe + "; exec 3<>" + pipe + " 4>" + pipe + " 3<&-; '" + kProgram + "' list >&4");
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_THAT(run.err, HasSubstr("standard output cannot be written"));
}

// A disk that is full is one on which no file grows: the limit on a file's size.
TEST(Reports, StayAsTheyWereToTheLastByteWhereTheNewOneCannotBeWritten) {
  const ScratchFolder folder;
  const std::string file = folder.write("case.json", kCase);
  const std::string verify = std::string("'") + kProgram + "' verify --cases " + file +
                             " --cases-per-property 0 --quiet --html " + folder.path("report.html") +
                             " --pipe \"exec python3 -IS '" KVWITNESS_TEST_PIPE_FOLDER "/answer.py' right\"";
  folder.write("report.html", "<p>of the run before</p>");
  // Enough for what stands there until the run is at its end, and not for the report.
  const Finished run = shell("trap '' XFSZ; ulimit -f 5; exec " + verify);
  EXPECT_EQ(run.exit_status, 2) << run.out << run.err;
  EXPECT_THAT(folder.names(), ElementsAre("case.json", "report.html")) << "a draft was left";
  const std::string html = folder.read("report.html");
  EXPECT_THAT(html, HasSubstr("not come to its end"));
  EXPECT_TRUE(html.ends_with("</html>\n")) << "half a report";
}

TEST(Deadline, IsThatOfPluginsPipesAndImplementationsAlike) {
  const std::string slow =
      "ODD_PLUGIN=slow ODD_PLUGIN_MS=2500 '" + std::string(kProgram) + "' run --plugin '" + KVWITNESS_ODD_PLUGIN "' -";
  // Of the second call of a shape: first ones may compile.
  const ScratchFolder folder;
  const std::string twice = folder.write("case.jsonl", std::string(kCase) + kCase);
  const auto run = [&](const std::string& more) { return shell(slow + more + " <" + twice); };
  const Finished hangs = run("");
  EXPECT_EQ(hangs.exit_status, 1) << hangs.out;
  EXPECT_THAT(hangs.err, HasSubstr("no answer within the deadline"));
  EXPECT_EQ(run(" --deadline 60").exit_status, 0);

  const std::string pipe = "exec python3 -IS '" KVWITNESS_TEST_PIPE_FOLDER "/answer.py' right";
  EXPECT_EQ(kvwitness({"run", "--pipe", pipe, "--deadline", "60", "-"}, kCase).exit_status, 0);
  EXPECT_EQ(kvwitness({"replay", "--impl", "c-abi", "--deadline", "60", "-"}, kCase).exit_status, 0);
  for (const std::string wrong : {"0", "-1", "soon", "1e9", "nan", ""}) {
    const Finished refused = kvwitness({"run", "--deadline", wrong, "-"}, kCase);
    EXPECT_EQ(refused.exit_status, 2) << wrong;
    EXPECT_THAT(refused.err, HasSubstr("--deadline is '" + wrong + "'"));
  }
}

TEST(Deadline, StandsInTheLineThatReplaysAFailure) {
  Invocation invocation;
  invocation.arguments = {"verify",     "--plugin", KVWITNESS_ODD_PLUGIN, "--cases", "-", "--cases-per-property", "0",
                          "--deadline", "7.5"};
  invocation.variables = {"ODD_PLUGIN=wrong"};
  invocation.input = kCase;
  EXPECT_THAT(finish(invocation).out, ContainsRegex("replay - --plugin '[^']*' --deadline 7.5"));
}

}  // namespace
}  // namespace kvwitness::harness
