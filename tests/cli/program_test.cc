// The program from end to end: what it prints, writes and exits with.
#include "tests/cli/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "properties/rules/property.h"
#include "tests/cli/json_schema.h"

namespace kvwitness::harness {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

// The hand example: [0, 5, 9, -1] at L = 16 and S = 4 lacks segment 3.
const std::string kRight =
    R"({"kvwitness_case":1,"operation":"apply","topk":4,"num_segments":4,"learned_keep":2,"max_replacements":2,)"
    R"("context_lens":[16],"learned":[[0,5,9,-1]],"expect":{"rows":[[0,5,12,-1]]}})"
    "\n";
const std::string kWrong =
    R"({"kvwitness_case":1,"operation":"apply","topk":4,"num_segments":4,"learned_keep":2,"max_replacements":2,)"
    R"("context_lens":[16],"learned":[[0,5,9,-1]],"expect":{"rows":[[0,5,11,-1]]}})"
    "\n";
const std::string kBare =
    R"({"kvwitness_case":1,"operation":"scatter","topk":4,"num_segments":2,"context_lens":[16],"learned":[[0,5,9,-1]]})"
    "\n";
const std::string kRefused =
    R"({"kvwitness_case":1,"operation":"scatter","topk":4,"num_segments":65,"context_lens":[16],"learned":[[0,5,9,-1]]})"
    "\n";

const std::string kGolden = KVWITNESS_CORPUS "/golden/upstream.jsonl";

std::string contents_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

const json& schema() {
  static const json kSchema = json::parse(contents_of(KVWITNESS_REPORT_SCHEMA));
  return kSchema;
}

// An implementation that cannot run on this machine, and one that can: of a vector set of each of two architectures one
// is foreign.
std::string foreign_implementation() {
#if defined(__x86_64__)
  return "neon";
#else
  return "avx2";
#endif
}

// A run of `verify` that takes a moment: one implementation, few generated cases.
std::vector<std::string> brief(const std::vector<std::string>& further) {
  std::vector<std::string> arguments = {"verify", "--impl", "scalar", "--cases", "-", "--cases-per-property", "20"};
  arguments.insert(arguments.end(), further.begin(), further.end());
  return arguments;
}

Finished with_variable(const std::string& variable, std::vector<std::string> arguments,
                       const std::string& input = kRight) {
  Invocation invocation;
  invocation.arguments = std::move(arguments);
  invocation.variables = {variable};
  invocation.input = input;
  return finish(invocation);
}

// ---- verify ----

TEST(Verify, ARightImplementationPassesAndTheTableShowsIt) {
  const Finished run = kvwitness(brief({"--seed", "5"}), kRight);
  EXPECT_EQ(run.exit_status, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("\noracle_equality "));
  EXPECT_THAT(run.out, HasSubstr("\nverdict "));
  EXPECT_THAT(run.out, HasSubstr("\nPASS 1 implementation kept "));
  EXPECT_THAT(run.out, HasSubstr("on 1 pinned and "));
  EXPECT_THAT(run.out, HasSubstr("; skipped: nothing; seed 5; "));
  EXPECT_THAT(run.err, HasSubstr("judging scalar\n"));
}

TEST(Verify, QuietPrintsOnlyTheLastLine) {
  const Finished run = kvwitness(brief({"--quiet"}), kRight);
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_THAT(run.out, StartsWith("PASS "));
  EXPECT_EQ(std::count(run.out.begin(), run.out.end(), '\n'), 1);
  EXPECT_EQ(run.err, "");
}

TEST(Verify, JudgesTheShippedCasesWhereNoneAreNamed) {
  const Finished run = kvwitness({"verify", "--impl", "scalar", "--property", "budget", "--cases-per-property", "0"});
  EXPECT_EQ(run.exit_status, 0) << run.out << run.err;
  EXPECT_THAT(run.out, Not(HasSubstr("on 0 pinned")));
  EXPECT_THAT(run.out, HasSubstr("and 0 generated cases"));
}

TEST(Verify, WritesReportsThatFitTheirFormats) {
  const ScratchFolder folder;
  const Finished run = kvwitness(brief({"--json", folder.path("report.json"), "--junit", folder.path("report.xml"),
                                        "--html", folder.path("report.html")}),
                                 kRight);
  ASSERT_EQ(run.exit_status, 0) << run.err;
  EXPECT_THAT(folder.names(), ElementsAre("report.html", "report.json", "report.xml"));
  EXPECT_THAT(folder.read("report.html"), AllOf(StartsWith("<!doctype html>"), HasSubstr("PASS"), HasSubstr("scalar")));
  const json report = json::parse(folder.read("report.json"));
  EXPECT_THAT(schema_violations(schema(), report), IsEmpty());
  EXPECT_EQ(report["verdict"], "pass");
  ASSERT_EQ(report["implementations"].size(), 1U);
  EXPECT_EQ(report["implementations"][0]["name"], "scalar");
  EXPECT_GT(report["implementations"][0]["properties"].size(), 20U);
  EXPECT_THAT(folder.read("report.xml"), AllOf(HasSubstr("<testsuite name=\"scalar\""), EndsWith("</testsuites>\n")));
}

// Implementations that would take hours: each has its verdict when its time is up, and a right one passes.
TEST(Verify, GivesAVerdictInTimeWhateverTakesLong) {
  const ScratchFolder folder;
  const auto judged = [&](const std::string& mode) {
    const Finished run = with_variable("SLOW_PLUGIN=" + mode, {"verify", "--plugin", KVWITNESS_SLOW_PLUGIN, "--time",
                                                               "4", "--quiet", "--json", folder.path(mode + ".json")});
    const json report = json::parse(folder.read(mode + ".json"));
    EXPECT_THAT(schema_violations(schema(), report), IsEmpty());
    return std::pair(run, report["implementations"][0]);
  };
  for (const char* const right : {"compiler", "burner", "questions", "calls"}) {
    const auto [run, result] = judged(right);
    EXPECT_EQ(run.exit_status, 0) << right << run.out << run.err;
    EXPECT_TRUE(result["cut_by_clock"] == true || result["left_out"] > 0) << right << run.out;
  }
  for (const char* const wrong : {"quadratic", "late"}) {
    const auto [run, result] = judged(wrong);
    EXPECT_EQ(run.exit_status, 1) << wrong << run.out << run.err;
  }
}

// As properties/README.md says: the sanitizer's runtime comes first.
TEST(Verify, APlugInWithAddressSanitizerIsJudgedAndItsReportIsSeen) {
  const std::string command = "LD_PRELOAD=$(" KVWITNESS_C_COMPILER
                              " -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 " KVWITNESS_PROGRAM
                              " verify --plugin " KVWITNESS_OVERRUN_PLUGIN
                              " --cases-per-property 0 --quiet --property oracle_equality --cases - ";
  const auto judged = [&](const std::string& len) {
    return shell(command + "<<'CASE'\n" +
                 R"({"kvwitness_case":1,"operation":"witnesses","topk":1,"num_segments":2,"context_lens":[)" + len +
                 R"(],"learned":[[1]]})" + "\nCASE");
  };
  const Finished right = judged("8");
  EXPECT_EQ(right.exit_status, 0) << right.out << right.err;
  const Finished overrun = judged("9");
  EXPECT_EQ(overrun.exit_status, 1) << overrun.out;
  EXPECT_THAT(overrun.err, HasSubstr("AddressSanitizer: global-buffer-overflow"));
  EXPECT_THAT(overrun.out, HasSubstr("the call did not return"));
}

TEST(Replay, InProcessAnswersAsIsolatedDoesAndRefusesAPipe) {
  const Finished one =
      shell(std::string(KVWITNESS_PROGRAM " replay --in-process --impl c-abi - <<'CASE'\n") + kRight + "\nCASE");
  EXPECT_EQ(one.exit_status, 0) << one.out << one.err;
  const Finished pipe = kvwitness({"replay", "--in-process", "--pipe", "cat", "-"}, kRight);
  EXPECT_EQ(pipe.exit_status, 2);
  EXPECT_THAT(pipe.err, HasSubstr("--in-process is not for --pipe"));
}

TEST(Verify, EqualSeedsGiveEqualReportsButForTheSeconds) {
  const ScratchFolder folder;
  const auto report = [&](const char* name, const char* seed) {
    EXPECT_EQ(kvwitness(brief({"--quiet", "--seed", seed, "--json", folder.path(name)}), kRight).exit_status, 0);
    json value = json::parse(folder.read(name));
    value.erase("seconds");
    return value;
  };
  const json first = report("first.json", "11");
  EXPECT_EQ(first, report("second.json", "11"));
  EXPECT_NE(first, report("third.json", "12"));
}

TEST(Verify, OptionsBeatTheEnvironment) {
  const Finished by_variable = with_variable("KVWITNESS_SEED=8", brief({"--quiet"}));
  EXPECT_THAT(by_variable.out, HasSubstr("seed 8;")) << by_variable.err;
  EXPECT_THAT(with_variable("KVWITNESS_SEED=8", brief({"--quiet", "--seed", "9"})).out, HasSubstr("seed 9;"));
  const std::vector<std::string> none = {"verify", "--impl", "scalar", "--cases", "-", "--quiet"};
  EXPECT_THAT(with_variable("KVWITNESS_CASES=0", none).out, HasSubstr("and 0 generated cases"));
  EXPECT_THAT(with_variable("KVWITNESS_CASES=0", brief({"--quiet"})).out, Not(HasSubstr("and 0 generated cases")));
}

TEST(Verify, AnExpectationThatIsWrongFailsWithACommandThatReplaysIt) {
  const ScratchFolder folder;
  const Finished run = kvwitness(brief({"--json", folder.path("report.json")}), kWrong);
  EXPECT_EQ(run.exit_status, 1) << run.out;
  EXPECT_THAT(run.out, AllOf(HasSubstr("FAIL scalar breaks expect\n"), HasSubstr("standard input#1")));
  EXPECT_THAT(run.out, HasSubstr("\nFAIL 1 of 1 implementation failed: scalar breaks expect;"));
  const json report = json::parse(folder.read("report.json"));
  EXPECT_THAT(schema_violations(schema(), report), IsEmpty());
  EXPECT_EQ(report["verdict"], "fail");
  std::string command;
  for (const json& property : report["implementations"][0]["properties"]) command = property.value("replay", command);
  const Finished replayed = shell("cd / && " + command);
  EXPECT_EQ(replayed.exit_status, 1) << command << replayed.out << replayed.err;
  EXPECT_THAT(replayed.out, HasSubstr("FAIL standard input#1 on scalar breaks expect"));
}

// Segment 1 of a context of 10 tokens in 4 segments begins at 3; the plug-in says 2.
TEST(Verify, AFaultyPlugInFailsWithASmallCaseThatReplaysAndIsKept) {
  const ScratchFolder folder;
  const std::string wide =
      R"({"kvwitness_case":1,"operation":"scatter","topk":12,"num_segments":4,"context_lens":[16,10,8],"learned":)"
      R"([[0,4,8,12,1,2,3,5,6,7,9,10],[0,1,2,5,6,9,0,0,0,0,0,0],[0,2,4,6,1,3,5,7,0,1,2,3]]})";
  const std::vector<std::string> arguments = {"verify",
                                              "--plugin",
                                              KVWITNESS_FAULTY_PLUGIN,
                                              "--cases",
                                              "-",
                                              "--cases-per-property",
                                              "0",
                                              "--property",
                                              "causality",
                                              "--property",
                                              "oracle_equality",
                                              "--json",
                                              folder.path("r.json"),
                                              "--failures",
                                              folder.path("found")};
  const Finished run = kvwitness(arguments, wide);
  ASSERT_EQ(run.exit_status, 1) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("FAIL rounds-down breaks oracle_equality"));
  const json report = json::parse(folder.read("r.json"));
  EXPECT_THAT(schema_violations(schema(), report), IsEmpty());
  for (const json& property : report["implementations"][0]["properties"]) {
    if (property["verdict"] != "fail") continue;
    EXPECT_LE(property["counterexample"]["learned"].dump().size(), 24U) << property["counterexample"];
    const Finished replayed = shell("cd / && " + property["replay"].get<std::string>());
    EXPECT_EQ(replayed.exit_status, 1) << property["replay"] << replayed.out << replayed.err;
    EXPECT_THAT(replayed.out, HasSubstr("on rounds-down breaks "));
  }
  // In one process, as a debugger wants it.
  const Finished debugged = shell(KVWITNESS_PROGRAM " replay --in-process --plugin " KVWITNESS_FAULTY_PLUGIN " " +
                                  folder.path("found") + "/*.json*");
  EXPECT_EQ(debugged.exit_status, 1) << debugged.out << debugged.err;
  EXPECT_THAT(run.out, HasSubstr("  to debug          printf '%s\\n' '{"));
  EXPECT_THAT(run.out,
              HasSubstr("' >case.json; gdb --args '" KVWITNESS_PROGRAM "' replay --in-process case.json --plugin "));
  const Finished kept =
      shell(KVWITNESS_PROGRAM " replay --plugin " KVWITNESS_FAULTY_PLUGIN " " + folder.path("found") + "/*.json*");
  EXPECT_EQ(kept.exit_status, 1) << kept.out << kept.err;
  const Finished right = shell(KVWITNESS_PROGRAM " replay --impl scalar " + folder.path("found") + "/*.json*");
  EXPECT_EQ(right.exit_status, 0) << right.out << right.err;
}

const std::string kPipe = "python3 '" KVWITNESS_SOURCE "/tests/faults/faulty_pipe.py' ";

TEST(Pipe, ARightProgramPassesVerifyReplayAndRun) {
  const std::string command = kPipe + "right";
  const Finished judged =
      kvwitness({"verify", "--pipe", command, "--cases", "-", "--cases-per-property", "10"}, kRight);
  EXPECT_EQ(judged.exit_status, 0) << judged.out << judged.err;
  EXPECT_THAT(judged.out, HasSubstr("PASS 1 implementation kept "));
  const Finished replayed = kvwitness({"replay", "-", "--pipe", command}, kRight);
  EXPECT_EQ(replayed.exit_status, 0) << replayed.out << replayed.err;
  const Finished answered = kvwitness({"run", "--pipe", command, "-"}, kWrong);
  EXPECT_EQ(answered.exit_status, 0) << answered.err;
  EXPECT_THAT(answered.out, HasSubstr("[0,5,12,-1]"));
}

TEST(Pipe, AFaultyProgramFailsWithASmallCaseThatReplays) {
  for (const char* const fault : {"killed_by_three_rows", "answers_twice", "spare_cleared"}) {
    const ScratchFolder folder;
    const Finished run =
        kvwitness({"verify", "--pipe", kPipe + fault, "--property", "bounds", "--property", "oracle_equality",
                   "--cases", "-", "--cases-per-property", "90", "--json", folder.path("r.json")},
                  kRight);
    EXPECT_EQ(run.exit_status, 1) << fault << run.out << run.err;
    const json report = json::parse(folder.read("r.json"));
    EXPECT_THAT(schema_violations(schema(), report), IsEmpty()) << fault;
    for (const json& property : report["implementations"][0]["properties"]) {
      if (property["verdict"] != "fail") continue;
      EXPECT_LE(property["counterexample"]["learned"].dump().size(), 60U) << property["counterexample"];
      const Finished replayed = shell("cd / && " + property["replay"].get<std::string>());
      EXPECT_EQ(replayed.exit_status, 1) << property["replay"] << replayed.out << replayed.err;
    }
  }
}

TEST(Pipe, AProgramThatDoesNotSpeakIsAUsageError) {
  for (const char* const command : {"true", "echo hello there, harness", "exit 3", "/nonexistent/program"}) {
    const Finished run = kvwitness({"verify", "--pipe", command, "--cases", "-"}, kRight);
    EXPECT_EQ(run.exit_status, 2) << command << run.out;
    EXPECT_THAT(run.err, AllOf(HasSubstr("--pipe"), HasSubstr(command))) << command;
  }
}

TEST(Verify, WhatAPlugInDoesNotExportIsNotProvidedAndNeverPassed) {
  const ScratchFolder folder;
  const Finished run =
      kvwitness({"verify", "--plugin", KVWITNESS_FAULTY_PLUGIN, "--cases", "-", "--cases-per-property", "0",
                 "--property", "retention", "--property", "added_occupant", "--json", folder.path("r.json")},
                kBare);
  EXPECT_EQ(run.exit_status, 0) << run.out << run.err;
  const json properties = json::parse(folder.read("r.json"))["implementations"][0]["properties"];
  EXPECT_EQ(properties[0]["name"], "retention");
  EXPECT_EQ(properties[0]["verdict"], "pass");
  EXPECT_EQ(properties[1]["name"], "added_occupant");  // a statement only about witness indices
  EXPECT_EQ(properties[1]["verdict"], "not provided");
}

TEST(Verify, ColoursATerminalUnlessNoColorIsSet) {
  if (!has_terminals()) GTEST_SKIP() << "no terminal can be opened here";
  Invocation invocation;
  invocation.arguments = brief({});
  invocation.input = kRight;
  EXPECT_THAT(finish(invocation).out, Not(HasSubstr("\x1b[")));
  invocation.terminal = true;
  EXPECT_THAT(finish(invocation).out, HasSubstr("\x1b[32mPASS\x1b[0m"));
  invocation.variables = {"NO_COLOR=1"};
  EXPECT_THAT(finish(invocation).out, Not(HasSubstr("\x1b[32m")));
}

TEST(Verify, DrawsAProgressBarOnlyOnATerminal) {
  if (!has_terminals()) GTEST_SKIP() << "no terminal can be opened here";
  Invocation invocation;
  invocation.arguments = brief({});
  invocation.input = kRight;
  EXPECT_THAT(finish(invocation).err, Not(HasSubstr("\r")));
  invocation.terminal = true;
  EXPECT_THAT(finish(invocation).out, HasSubstr("\r\x1b[K["));
}

// ---- no false greens ----

TEST(FalseGreen, AMisspeltVariableIsRefusedByEveryCommand) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"verify"}, {"replay", "-"}, {"run", "-"}, {"score", "-"}, {"list"}}) {
    const Finished run = with_variable("KVWITNESS_SEEDS=1", arguments);
    EXPECT_EQ(run.exit_status, 2) << arguments[0];
    EXPECT_THAT(run.err, AllOf(HasSubstr("KVWITNESS_SEEDS"), HasSubstr("KVWITNESS_SEED "))) << arguments[0];
    EXPECT_EQ(run.out, "") << arguments[0];
  }
}

TEST(FalseGreen, AMalformedVariableIsRefused) {
  EXPECT_EQ(with_variable("KVWITNESS_SEED=one", {"list"}).exit_status, 2);
  EXPECT_EQ(with_variable("KVWITNESS_BACKEND=avx3", {"list"}).exit_status, 2);
}

TEST(FalseGreen, AFilterThatMatchesNothingIsRefused) {
  const Finished run = kvwitness(brief({"--property", "coverage", "--property", "covrage"}), kRight);
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("--property is 'covrage'"), HasSubstr("did you mean 'coverage'?"),
                             HasSubstr("gap_bound")));
}

TEST(FalseGreen, AnUnknownImplementationIsRefused) {
  const Finished run = kvwitness({"verify", "--impl", "scaler"});
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("--impl is 'scaler'"), HasSubstr("did you mean 'scalar'?"), HasSubstr("c-abi")));
}

TEST(FalseGreen, AForcedImplementationThatCannotRunIsAnErrorWithAReport) {
  const ScratchFolder folder;
  const Finished run = kvwitness(brief({"--impl", foreign_implementation(), "--json", folder.path("r.json")}), kRight);
  EXPECT_EQ(run.exit_status, 3) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr("ERROR asked for by name, but cannot run here: " + foreign_implementation()));
  const json report = json::parse(folder.read("r.json"));
  EXPECT_EQ(report["verdict"], "error");
  EXPECT_THAT(report["message"], HasSubstr(foreign_implementation()));
  EXPECT_EQ(report["implementations"][0]["verdict"], "pass");
  EXPECT_EQ(report["implementations"][1]["verdict"], "skipped");
  EXPECT_EQ(kvwitness({"replay", "-", "--impl", foreign_implementation()}, kRight).exit_status, 3);
  EXPECT_EQ(kvwitness({"run", "-", "--impl", foreign_implementation()}, kRight).exit_status, 3);
}

TEST(FalseGreen, AForcedBackendThatCannotRunIsAnErrorOnlyForTheCAbi) {
  const std::string forced = "KVWITNESS_BACKEND=" + foreign_implementation();
  const std::vector<std::string> rest = {"--cases", "-", "--cases-per-property", "5", "--quiet"};
  const auto verify = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    return with_variable(forced, arguments);
  };
  EXPECT_EQ(verify({"verify", "--impl", "c-abi"}).exit_status, 3);
  EXPECT_EQ(verify({"verify", "--impl", "scalar"}).exit_status, 0);
  EXPECT_EQ(with_variable("KVWITNESS_BACKEND=scalar", {"run", "-"}).exit_status, 0);
  EXPECT_EQ(with_variable(forced, {"run", "-"}).exit_status, 3);
}

TEST(FalseGreen, AFileWithoutACaseIsRefused) {
  const ScratchFolder folder;
  const std::string empty = folder.write("empty.jsonl", "\n");
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"verify", "--cases", empty}, {"replay", empty}, {"run", empty}, {"score", empty}}) {
    const Finished run = kvwitness(arguments);
    EXPECT_EQ(run.exit_status, 2) << arguments[0];
    EXPECT_THAT(run.err, HasSubstr(empty)) << arguments[0];
  }
}

TEST(FalseGreen, CasesOfWhichNothingIsSaidAreNotAPass) {
  const Finished run = kvwitness(
      {"verify", "--impl", "scalar", "--property", "empty_row", "--cases", "-", "--cases-per-property", "0"}, kBare);
  EXPECT_EQ(run.exit_status, 2) << run.out;
  EXPECT_THAT(run.out + run.err, HasSubstr("not one case was judged"));
}

// The corpus is looked up beside an installed program first, so a copy shows what an incomplete one does.
TEST(FalseGreen, AnEmptyOrMissingCorpusFolderIsAnError) {
  const ScratchFolder folder;
  std::filesystem::create_directories(folder.path("bin"));
  std::filesystem::create_directories(folder.path("share/kvwitness/corpus"));
  std::filesystem::copy_file(KVWITNESS_PROGRAM, folder.path("bin/kvwitness"));
  Invocation invocation;
  invocation.program = folder.path("bin/kvwitness");
  invocation.arguments = {"verify", "--impl", "scalar", "--property", "budget", "--cases-per-property", "1", "--quiet"};
  Finished run = finish(invocation);
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_THAT(run.err, HasSubstr("corpus/regressions"));
  folder.write("share/kvwitness/corpus/regressions/one.json", kRight);
  folder.write("share/kvwitness/corpus/real/one.jsonl", kRight);
  folder.write("share/kvwitness/corpus/golden/nulls.jsonl", "{}\n");
  run = finish(invocation);
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_THAT(run.err, HasSubstr("corpus/golden holds no case file"));
  folder.write("share/kvwitness/corpus/golden/one.jsonl", kRight);
  run = finish(invocation);
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("on 3 pinned"));
}

TEST(Installed, TheProgramFindsItsPinnedCases) {
  const ScratchFolder folder;
  const Finished installed =
      shell("cmake --install " KVWITNESS_BUILD " --component kvwitness_program --prefix " + folder.path(""));
  ASSERT_EQ(installed.exit_status, 0) << installed.out << installed.err;
  Invocation invocation;
  invocation.program = folder.path("bin/kvwitness");
  invocation.arguments = {"verify", "--impl", "scalar", "--property", "budget", "--cases-per-property", "0"};
  const Finished run = finish(invocation);
  EXPECT_EQ(run.exit_status, 0) << run.err;
  EXPECT_THAT(run.out, Not(HasSubstr("on 0 pinned")));
  EXPECT_TRUE(std::filesystem::exists(folder.path("share/kvwitness/corpus/golden/upstream.jsonl")));
}

TEST(FalseGreen, OutputThatCannotBeWrittenIsAnError) {
  EXPECT_EQ(shell(KVWITNESS_PROGRAM " list > /dev/full").exit_status, 2);
  EXPECT_EQ(shell(KVWITNESS_PROGRAM " run " + kGolden + " > /dev/full").exit_status, 2);
}

// ---- wrong calls ----

TEST(Usage, EveryWrongOptionIsExitStatus2AndNamesItself) {
  const ScratchFolder folder;
  const std::vector<std::pair<std::vector<std::string>, std::string>> calls = {
      {{}, "subcommand is required"},
      {{"verfy"}, "did you mean 'verify'"},
      {{"verify", "--impll", "scalar"}, "--impll"},
      {{"verify", "--seed", "x"}, "--seed is 'x'"},
      {{"verify", "--seed", "18446744073709551616"}, "--seed is"},
      {{"verify", "--cases-per-property", "-1"}, ""},
      {{"verify", "--time", "-1"}, ""},
      {{"verify", "--topk", "8,,16"}, "--topk is '8,,16'"},
      {{"verify", "--segments", "x"}, "--segments is 'x'"},
      {{"verify", "--operation", "scater"}, "'scater' in it is no operation; did you mean 'scatter'?"},
      {{"verify", "--max-context", "0"}, "--max-context is '0', not an integer from 1 to 2147483647"},
      {{"verify", "--max-rows", "-1"}, "--max-rows"},
      {{"verify", "mine.so"}, "did you mean --plugin mine.so?"},
      {{"verify", "cases.jsonl"}, "did you mean --cases cases.jsonl?"},
      {{"verify", "--align", "12"}, "4, 8, 16, 32 or 64"},
      {{"verify", "--json", "/nonexistent/r.json"}, "--json /nonexistent/r.json"},
      {{"verify", "--junit", folder.path("")}, "--junit"},
      {{"verify", "--failures", "/proc/nope"}, "--failures is '/proc/nope'"},
      {{"verify", "--failures", ""}, "--failures is ''"},
      {{"verify", "--cases", "/nonexistent.jsonl"}, "/nonexistent.jsonl"},
      {{"verify", "--seed", "1", "--seed", "2"}, "--seed"},
      {{"verify", "--plugin", "/nonexistent.so"}, "/nonexistent.so"},
      {{"verify", "--pipe", "exit 3"}, "--pipe 'exit 3'"},
      {{"replay", "-", "--impl", "scalar", "--plugin", KVWITNESS_FAULTY_PLUGIN}, "--"},
      {{"replay"}, "FILE"},
      {{"replay", "-", "--emit", "xml"}, "--emit is 'xml'"},
      {{"replay", "-", "--impl", "scalar", "--impl", "c-abi"}, "--impl"},
      {{"replay", "-", "-"}, "standard input"},
      {{"run"}, "FILE"},
      {{"run", "-", "-"}, ""},
      {{"score", "-", "--seed", "-1"}, ""},
      {{"list", "--xml"}, "--xml"},
  };
  for (const auto& [arguments, named] : calls) {
    const Finished run = kvwitness(arguments, kRight);
    const std::string shown = arguments.empty() ? "" : arguments.front() + " " + arguments.back();
    EXPECT_EQ(run.exit_status, 2) << shown << run.out;
    EXPECT_THAT(run.err, AllOf(StartsWith("kvwitness: "), HasSubstr(named))) << shown;
    EXPECT_EQ(run.out, "") << shown;
  }
}

TEST(Usage, CasesThatTheOptionsExcludeAreCounted) {
  const Finished none =
      kvwitness({"verify", "--impl", "scalar", "--topk", "2048", "--cases", "-", "--cases-per-property", "0"}, kRight);
  EXPECT_EQ(none.exit_status, 2);
  EXPECT_THAT(none.err, HasSubstr("no case to judge: options exclude 1 case, and"));
  const Finished some = kvwitness(brief({"--topk", "8", "--quiet"}), kRight + kBare);
  EXPECT_EQ(some.exit_status, 0) << some.out << some.err;
  EXPECT_THAT(some.out, HasSubstr("on 0 pinned and"));
  EXPECT_THAT(some.out, HasSubstr("options exclude 2 cases"));
}

TEST(Verify, JudgesTheDomainThatManyOptionsLeave) {
  const Finished run =
      kvwitness({"verify", "--impl", "scalar", "--operation", "apply,scatter", "--topk", "8,16", "--segments", "0,4",
                 "--contiguous", "--align", "16", "--max-context", "100", "--max-rows", "3", "--in-range", "--quiet"});
  EXPECT_EQ(run.exit_status, 0) << run.out << run.err;
}

TEST(Usage, ABadFileIsNamedWithItsLineAndKey) {
  const ScratchFolder folder;
  const std::string bad = folder.write(
      "bad.jsonl",
      kRight +
          R"({"kvwitness_case":1,"operation":"scatter","topk":"4","num_segments":1,"context_lens":[],"learned":[]})");
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"verify", "--cases", bad}, {"replay", bad}, {"run", bad}, {"score", bad}}) {
    const Finished run = kvwitness(arguments);
    EXPECT_EQ(run.exit_status, 2) << arguments[0];
    EXPECT_THAT(run.err, AllOf(HasSubstr(bad + ":2"), HasSubstr("topk"))) << arguments[0];
    EXPECT_EQ(run.out, "") << arguments[0];
  }
}

TEST(Usage, AWrongCallLeavesAReportOfTheError) {
  const ScratchFolder folder;
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"--seed", "x"}, {"--bogus"}, {"--impl", "nobody"}, {"--cases", "/nonexistent"}}) {
    std::vector<std::string> all = {"verify", "--json", folder.path("r.json"), "--junit=" + folder.path("r.xml")};
    all.insert(all.end(), arguments.begin(), arguments.end());
    EXPECT_EQ(kvwitness(all).exit_status, 2);
    const json report = json::parse(folder.read("r.json"));
    EXPECT_THAT(schema_violations(schema(), report), IsEmpty()) << arguments[0];
    EXPECT_EQ(report["verdict"], "error");
    EXPECT_THAT(report["message"].get<std::string>(), HasSubstr(arguments.back()));
    EXPECT_THAT(folder.read("r.xml"), HasSubstr("errors=\"1\""));
    std::filesystem::remove(folder.path("r.json"));
    std::filesystem::remove(folder.path("r.xml"));
  }
}

TEST(Usage, AReportKeepsItsOldContentsUntilTheNewOneIsWhole) {
  const ScratchFolder folder;
  folder.write("r.json", "old");
  std::filesystem::create_hard_link(folder.path("r.json"), folder.path("old.json"));
  EXPECT_EQ(kvwitness(brief({"--quiet", "--json", folder.path("r.json")}), kRight).exit_status, 0);
  EXPECT_EQ(folder.read("old.json"), "old") << "the file was overwritten in place";
  EXPECT_EQ(json::parse(folder.read("r.json"))["verdict"], "pass");
  EXPECT_THAT(folder.names(), ElementsAre("old.json", "r.json"));
}

TEST(Usage, AReportMayGoToStandardOutput) {
  const Finished run = shell("printf '%s' '" + kRight +
                             "' | " KVWITNESS_PROGRAM
                             " verify --impl scalar --property budget --cases - --cases-per-property 1 --quiet --json "
                             "/dev/stdout | tail -n +2");
  EXPECT_EQ(json::parse(run.out)["verdict"], "pass");
}

TEST(Usage, HelpAndVersionAreNoErrors) {
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{{"--help"},
                                                                                         {"verify", "--help"},
                                                                                         {"replay", "--help"},
                                                                                         {"run", "--help"},
                                                                                         {"score", "--help"},
                                                                                         {"list", "--help"}}) {
    const Finished run = kvwitness(arguments);
    EXPECT_EQ(run.exit_status, 0);
    EXPECT_THAT(run.out, HasSubstr("Usage: kvwitness"));
    EXPECT_EQ(run.err, "");
    std::istringstream lines(run.out);
    for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 110U) << line;
  }
  EXPECT_EQ(kvwitness({"--version"}).out, "kvwitness 0.1.0\n");
}

// ---- replay ----

TEST(Replay, JudgesByTheExpectationOrByTheRule) {
  const Finished right = kvwitness({"replay", "-", "--impl", "scalar"}, kRight + kBare + kRefused);
  EXPECT_EQ(right.exit_status, 0) << right.out;
  EXPECT_THAT(right.out, HasSubstr("pass standard input#1 by what it expects on scalar\n"));
  EXPECT_THAT(right.out, HasSubstr("pass standard input#2 by the oracle and the invariants on scalar\n"));
  EXPECT_THAT(right.out, HasSubstr("pass standard input#3 by the oracle and the invariants on scalar\n"));
  EXPECT_THAT(right.out, HasSubstr("PASS 3 cases on 1 implementation: 3 passed"));
  const Finished wrong = kvwitness({"replay", "-"}, kRight + kWrong);
  EXPECT_EQ(wrong.exit_status, 1);
  EXPECT_THAT(wrong.out, AllOf(HasSubstr("FAIL standard input#2 on oracle breaks expect"),
                               HasSubstr("FAIL standard input#2 on c-abi breaks expect")));
}

TEST(Replay, TheExpectationsOfPriorCallsAreJudgedToo) {
  const auto case_after = [](const std::string& before) {
    return R"({"kvwitness_case":1,"operation":"scatter","topk":1,"num_segments":1,"context_lens":[4],"learned":[[2]],"after":[)" +
           before + R"(],"expect":{"rows":[[2]]}})";
  };
  EXPECT_EQ(kvwitness({"replay", "-", "--impl", "scalar"}, case_after(kRight)).exit_status, 0);
  EXPECT_EQ(kvwitness({"replay", "-", "--impl", "scalar"}, case_after(kWrong)).exit_status, 1);
}

TEST(Replay, AFixedCaseSaysSo) {
  const std::string fixed =
      R"({"kvwitness_case":1,"operation":"scatter","topk":1,"num_segments":1,"context_lens":[4],"learned":[[2]],"note":"fails: scalar, coverage"})";
  const Finished run = kvwitness({"replay", "-", "--impl", "scalar"}, fixed);
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_THAT(run.out, HasSubstr("fixed there (its note says 'fails: scalar, coverage')"));
}

TEST(Replay, EveryShippedRegressionPasses) {
  const Finished run = shell(KVWITNESS_PROGRAM " replay " KVWITNESS_CORPUS "/regressions/*.json* --impl c-abi");
  EXPECT_EQ(run.exit_status, 0) << run.out << run.err;
}

TEST(Replay, EmitsCasesWithTheAnswerOfTheRule) {
  const Finished run = kvwitness({"replay", "-", "--emit", "json"}, kWrong + kBare + kRefused);
  EXPECT_EQ(run.exit_status, 0);
  std::istringstream lines(run.out);
  std::vector<json> cases;
  for (std::string line; std::getline(lines, line);) cases.push_back(json::parse(line));
  ASSERT_EQ(cases.size(), 3U);
  EXPECT_EQ(cases[0]["expect"], json::parse(R"({"rows":[[0,5,12,-1]]})"));
  EXPECT_EQ(cases[1]["expect"], json::parse(R"({"rows":[[0,5,9,-1]]})"));
  EXPECT_EQ(cases[2]["expect"], json::parse(R"({"refused":"segments out of range"})"));
  EXPECT_EQ(kvwitness({"replay", "-"}, run.out).exit_status, 0);
}

TEST(Replay, EmittingRunsNothingAndSoRefusesAnImplementation) {
  EXPECT_EQ(kvwitness({"replay", "-", "--emit", "json", "--impl", "scalar"}, kRight).exit_status, 2);
}

// ---- run ----

TEST(Run, AnswersTheGoldenCasesAsTheReferenceDid) {
  const std::string golden = contents_of(kGolden);
  for (const char* const implementation : {"scalar", "c-abi", "oracle"}) {
    const Finished run = kvwitness({"run", kGolden, "--impl", implementation});
    EXPECT_EQ(run.exit_status, 0);
    EXPECT_TRUE(run.out == golden) << implementation << " differs from the file: " << run.out.size() << " bytes, "
                                   << golden.size() << " in the file";
  }
}

TEST(Run, ReplacesAWrongExpectationAndTakesTheCAbiByDefault) {
  const Finished run = kvwitness({"run", "-"}, kWrong + kRefused);
  EXPECT_EQ(run.exit_status, 0);
  EXPECT_EQ(run.err, "");
  EXPECT_THAT(run.out, StartsWith(kRight));
  EXPECT_THAT(run.out, EndsWith(R"("expect":{"refused":"segments out of range"}})"
                                "\n"));
}

TEST(Run, AScatterThatIsSwitchedOffIsAnsweredWithItsRowsWhateverTheirShape) {
  const std::string off =
      R"({"kvwitness_case":1,"operation":"scatter","topk":-3,"num_segments":0,"context_lens":[16],"learned":[4,5,6,7,8]})"
      "\n";
  for (const char* const implementation : {"scalar", "c-abi", "oracle"}) {
    const Finished run = kvwitness({"run", "-", "--impl", implementation}, off);
    EXPECT_EQ(run.exit_status, 0) << implementation;
    EXPECT_EQ(json::parse(run.out)["expect"], json::parse(R"({"rows":[4,5,6,7,8]})")) << implementation;
  }
}

// ---- score ----

TEST(Score, WritesTheDocumentedReport) {
  const ScratchFolder folder;
  const std::string attended =
      R"({"kvwitness_case":1,"operation":"apply","topk":6,"num_segments":4,"learned_keep":2,"max_replacements":4,"context_lens":[8],)"
      R"("learned":[[0,5,-1,-1,-1,-1]],"attention":[[0.5,0,0.25,0,0,0.125,0.0625,0.0625]]})";
  const Finished run =
      with_variable("KVWITNESS_SEED=3", {"score", "-", "--json", folder.path("s.json")}, attended + kBare);
  ASSERT_EQ(run.exit_status, 0) << run.err;
  const json report = json::parse(folder.read("s.json"));
  EXPECT_EQ(report["seed"], 3);
  ASSERT_EQ(report["rows"].size(), 2U);
  EXPECT_EQ(report["rows"][0]["policy"], json::parse(R"({"coverage":1.0,"recall":0.9375})"));
  EXPECT_TRUE(report["rows"][1]["policy"]["recall"].is_null());
  EXPECT_THAT(run.out, HasSubstr("do not say whether a model answers better or worse"));
  EXPECT_THAT(with_variable("KVWITNESS_SEED=3", {"score", "-", "--seed", "4"}, attended).out, HasSubstr("seed 4 "));
}

TEST(Score, RefusesWitnessesAndRefusedCalls) {
  const Finished run = kvwitness({"score", "-"}, kBare + kRefused);
  EXPECT_EQ(run.exit_status, 2);
  EXPECT_THAT(run.err, AllOf(HasSubstr("standard input#2"), HasSubstr("segments out of range")));
  EXPECT_EQ(run.out, "");
}

// ---- list ----

TEST(List, NamesEveryImplementationPropertyAndBackend) {
  const Finished text = kvwitness({"list"});
  EXPECT_EQ(text.exit_status, 0);
  for (const char* const name :
       {"oracle", "c-abi", "scalar", "avx2", "cuda-emulated-block", "cuda-emulated-warp", "cuda-block", "cuda-warp"}) {
    EXPECT_THAT(text.out, HasSubstr("\n  " + std::string(name) + " ")) << name;
  }
  const json list = json::parse(kvwitness({"list", "--json"}).out);
  std::vector<std::string> listed, known;
  for (const json& property : list["properties"]) listed.push_back(property["name"]);
  for (const Property& property : all_properties()) known.emplace_back(property.name);
  EXPECT_EQ(listed, known);
  for (const std::string& name : known) EXPECT_THAT(text.out, HasSubstr("\n  " + name + " ")) << name;
  for (const json& implementation : list["implementations"]) {
    EXPECT_EQ(implementation["can_run"].get<bool>(), implementation["reason"].get<std::string>().empty())
        << implementation;
  }
}

}  // namespace
}  // namespace kvwitness::harness
