#include "properties/report/report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "properties/report/row_text.h"
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

const json& schema() {
  static const json kSchema = json::parse(std::ifstream(KVWITNESS_REPORT_SCHEMA));
  return kSchema;
}

PropertyResult passing(std::string property, std::int64_t cases) {
  PropertyResult result;
  result.property = std::move(property);
  result.cases = cases;
  result.classes = {{"empty_row", 7}, {"short_row", 0}};
  return result;
}

ImplementationResult passing_implementation(std::string name) {
  ImplementationResult result;
  result.implementation = std::move(name);
  result.properties = {passing("coverage", 120), passing("budget", 95)};
  return result;
}

ImplementationResult skipped_implementation(std::string name, std::string reason) {
  ImplementationResult result;
  result.implementation = std::move(name);
  result.kind = ResultKind::kSkipped;
  result.reason = std::move(reason);
  return result;
}

// [0, 5, 9, -1] at L = 16 and S = 4, whose witness 12 an implementation wrote as 11.
Counterexample counterexample() {
  Counterexample found;
  found.minimal.operation = Operation::kScatter;
  found.minimal.topk = 4;
  found.minimal.num_segments = 1;
  found.minimal.context_lens = {16};
  found.minimal.learned = {-1, -1, -1, -1};
  found.minimal.expect = std::vector<std::int32_t>{-1, -1, -1, 0};
  found.original = found.minimal;
  found.original.note = "it's the first";
  found.original_source = "corpus/real/rows.jsonl#3";
  found.outcome.rows = {-1, -1, -1, 11};
  WrongRow& wrong = found.wrong_row.emplace();
  wrong.row = found.minimal;
  wrong.slot = 3;
  wrong.expected = {-1, -1, -1, 0};
  wrong.actual = found.outcome.rows;
  found.verdict.kind = Verdict::Kind::kBroken;
  found.verdict.what = "segment 0 holds no token";
  found.verdict.difference = Difference{.row = 0, .slot = 3, .expected = 0, .actual = 11};
  found.irrelevant_fields = {"context_lens"};
  found.shrinks = 5;
  found.shrink_attempts = 40;
  found.reproduction = Reproduction::kFresh;
  return found;
}

ImplementationResult failing_implementation(std::string name) {
  ImplementationResult result = passing_implementation(std::move(name));
  result.kind = ResultKind::kFail;
  result.properties[0].kind = ResultKind::kFail;
  result.properties[0].counterexample = counterexample();
  return result;
}

RunReport report_of(std::vector<ImplementationResult> results) {
  RunReport report;
  report.seed = 7;
  report.seconds = 1.25;
  report.pinned_cases = 100;
  report.generated_cases = 115;
  report.implementations = std::move(results);
  for (const ImplementationResult& result : report.implementations) {
    for (const PropertyResult& property : result.properties) report.judged_cases += property.cases;
  }
  return report;
}

ReplayCommands replays() {
  return {.program = "/opt/a b/kvwitness",
          .selectors = {{"avx2", "--impl avx2"}, {"c-abi", "--impl c-abi"}},
          .variables = {{"c-abi", "KVWITNESS_BACKEND=sse4"}}};
}

std::string last_line(const RunReport& report, const Conclusion& conclusion) {
  return render_last_line(report, conclusion, {});
}

// ---- the conclusion ----

const std::vector<Skipped> kNoGpu = {{"cuda-block", "no GPU"}};

TEST(Conclusion, ARunInWhichEverythingHoldsPasses) {
  const Conclusion conclusion = conclude(report_of({passing_implementation("avx2")}), {}, {});
  EXPECT_EQ(conclusion.verdict, RunVerdict::kPass);
  EXPECT_EQ(conclusion.exit_status, 0);
  EXPECT_EQ(conclusion.message, "1 implementation kept 2 properties on 100 pinned and 115 generated cases");
}

TEST(Conclusion, AFailedPropertyOutranksAMissedFloorAndAForcedImplementationThatCannotRun) {
  RunReport report = report_of({failing_implementation("avx2"), skipped_implementation("cuda-block", "no GPU")});
  report.missed_floors = {
      {.implementation = "avx2", .property = "budget", .case_class = "short_row", .hits = 0, .floor = 4}};
  const std::vector<std::string> forced = {"cuda-block"};
  const Conclusion conclusion = conclude(report, forced, kNoGpu);
  EXPECT_EQ(conclusion.verdict, RunVerdict::kFail);
  EXPECT_EQ(conclusion.exit_status, 1);
  EXPECT_EQ(conclusion.message, "1 of 1 implementation failed: avx2 breaks coverage");
}

TEST(Conclusion, AMissedFloorThatIsEnforcedIsAnErrorOfTheHarness) {
  RunReport report = report_of({passing_implementation("avx2"), skipped_implementation("cuda-block", "no GPU")});
  report.missed_floors = {
      {.implementation = "avx2", .property = "budget", .case_class = "short_row", .hits = 1, .floor = 4}};
  const std::vector<std::string> forced = {"cuda-block"};
  const Conclusion conclusion = conclude(report, forced, kNoGpu);
  EXPECT_EQ(conclusion.verdict, RunVerdict::kError);
  EXPECT_EQ(conclusion.exit_status, 2);
  EXPECT_THAT(conclusion.message, HasSubstr("avx2/budget: short_row had 1 cases of at least 4"));
  EXPECT_THAT(conclusion.message, HasSubstr("fault of the harness"));
}

TEST(Conclusion, AMissedFloorThatIsNotEnforcedChangesNoVerdictAndIsSaid) {
  RunReport report = report_of({passing_implementation("avx2")});
  report.missed_floors = {{.implementation = "avx2",
                           .property = "budget",
                           .case_class = "short_row",
                           .hits = 1,
                           .floor = 4,
                           .enforced = false}};
  EXPECT_EQ(conclude(report, {}, {}).exit_status, 0);
  EXPECT_THAT(render_table(report, {}), HasSubstr("below floor: 1 class of generated cases, which changes no verdict"));
}

TEST(Conclusion, AnImplementationThatWasAskedForByNameAndCannotRunIsAnError) {
  const std::vector<std::string> forced = {"cuda-block"};
  const Conclusion conclusion = conclude(
      report_of({passing_implementation("avx2"), skipped_implementation("cuda-block", "no GPU")}), forced, kNoGpu);
  EXPECT_EQ(conclusion.verdict, RunVerdict::kError);
  EXPECT_EQ(conclusion.exit_status, 3);
  EXPECT_THAT(conclusion.message, HasSubstr("cuda-block (no GPU)"));
}

TEST(Conclusion, AnImplementationThatNobodyAskedForMayBeSkipped) {
  const RunReport report = report_of({passing_implementation("avx2"), skipped_implementation("cuda-block", "no GPU"),
                                      skipped_implementation("cuda-warp", "no GPU")});
  const Conclusion conclusion = conclude(report, {}, {});
  EXPECT_EQ(conclusion.exit_status, 0);
  EXPECT_THAT(last_line(report, conclusion), HasSubstr("skipped: cuda-block, cuda-warp (no GPU); seed 7; 1.2 s"));
}

TEST(Conclusion, ARunThatJudgedNothingIsAnError) {
  ImplementationResult result = passing_implementation("avx2");
  result.kind = ResultKind::kSkipped;
  for (PropertyResult& property : result.properties) property.cases = 0;
  const std::vector<std::string> forced = {"avx2"};
  const Conclusion conclusion = conclude(report_of({result}), forced, {});
  EXPECT_EQ(conclusion.exit_status, 2);
  EXPECT_THAT(conclusion.message, HasSubstr("not one case was judged"));
}

TEST(Conclusion, AForcedImplementationThatNoCaseCameToIsAnErrorThoughOthersPass) {
  ImplementationResult result = passing_implementation("mine");
  result.kind = ResultKind::kSkipped;
  result.reason = "no case of it was judged";
  for (PropertyResult& property : result.properties) property.cases = 0;
  const std::vector<std::string> forced = {"avx2", "mine"};
  const Conclusion conclusion = conclude(report_of({passing_implementation("avx2"), result}), forced, {});
  EXPECT_EQ(conclusion.exit_status, 3);
  EXPECT_THAT(conclusion.message, HasSubstr("mine (no case of it was judged)"));
}

TEST(Conclusion, ARunThatAClockCutSaysSo) {
  RunReport report = report_of({passing_implementation("avx2")});
  report.cut_by_clock = true;
  EXPECT_THAT(conclude(report, {}, {}).message, HasSubstr("the time was up before all cases were judged"));
}

// ---- JSON ----

std::vector<std::string> violations(const RunReport& report, const Conclusion& conclusion) {
  return schema_violations(schema(), json::parse(render_json(report, conclusion, replays())));
}

TEST(JsonReport, EveryKindOfReportFitsTheSchema) {
  RunReport report = report_of({failing_implementation("avx2"), skipped_implementation("cuda-block", "no GPU"),
                                passing_implementation("scalar")});
  report.missed_floors = {
      {.implementation = "avx2", .property = "budget", .case_class = "short_row", .hits = 1, .floor = 4}};
  PropertyResult unsupported = passing("order", 0);
  unsupported.kind = ResultKind::kUnsupported;
  unsupported.reason = "it supported none of 30 cases";
  unsupported.unsupported = 30;
  report.implementations[2].properties.push_back(unsupported);
  EXPECT_THAT(violations(report, conclude(report, {}, {})), IsEmpty());
  EXPECT_THAT(violations(RunReport{}, refuse_to_run("no")), IsEmpty());
}

TEST(JsonReport, TheSchemaRefusesWhatIsNoReport) {
  const json good = json::parse(render_json(report_of({failing_implementation("avx2")}), {}, replays()));
  json misspelt = good;
  misspelt["verdict"] = "passed";
  EXPECT_THAT(schema_violations(schema(), misspelt), ElementsAre(HasSubstr("/verdict")));
  json lacking = good;
  lacking["implementations"][0]["properties"][0].erase("cases");
  EXPECT_THAT(schema_violations(schema(), lacking), ElementsAre("/implementations/0/properties/0: lacks \"cases\""));
  json token = good;
  token["implementations"][0]["properties"][0]["counterexample"]["learned"][0][1] = 2147483648;
  EXPECT_THAT(schema_violations(schema(), token), ElementsAre(HasSubstr("fits no alternative")));
  json further = good;
  further["colour"] = 1;
  EXPECT_THAT(schema_violations(schema(), further), ElementsAre(": has the unknown key colour"));
}

TEST(JsonReport, AFailureCarriesItsCaseAndACommandWithoutTheExpectationOfTheFile) {
  const json report =
      json::parse(render_json(report_of({failing_implementation("avx2")}),
                              conclude(report_of({failing_implementation("avx2")}), {}, {}), replays()));
  EXPECT_EQ(report["verdict"], "fail");
  EXPECT_EQ(report["seed"], 7);
  const json property = report["implementations"][0]["properties"][0];
  EXPECT_EQ(property["verdict"], "fail");
  EXPECT_EQ(property["shrinks"], 5);
  EXPECT_EQ(property["classes"], json({{"empty_row", 7}, {"short_row", 0}}));
  EXPECT_EQ(property["counterexample"]["learned"], json::parse("[[-1, -1, -1, -1]]"));
  EXPECT_FALSE(property["counterexample"].contains("expect"));
  const Case minimal = counterexample_case(counterexample(), "coverage");
  EXPECT_EQ(property["replay"],
            "printf '%s\\n' '" + to_json(minimal) + "' | '/opt/a b/kvwitness' replay - --impl avx2");
}

TEST(JsonReport, EqualReportsDifferInTheirSecondsAlone) {
  const RunReport first = report_of({failing_implementation("avx2")});
  RunReport second = first;
  second.seconds = 99;
  json a = json::parse(render_json(first, conclude(first, {}, {}), replays()));
  json b = json::parse(render_json(second, conclude(second, {}, {}), replays()));
  EXPECT_NE(a, b);
  a.erase("seconds");
  b.erase("seconds");
  EXPECT_EQ(a, b);
}

TEST(JsonReport, HoldsNoRates) {
  RunReport report = report_of({passing_implementation("avx2")});
  const std::string before = render_json(report, conclude(report, {}, {}), replays());
  report.implementations[0].generated = 1000;
  report.implementations[0].generated_seconds = 2;
  report.implementations[0].own_seconds = 1;
  EXPECT_EQ(render_json(report, conclude(report, {}, {}), replays()), before);
  EXPECT_NE(render_rates(report, {}), "");
}

TEST(JsonReport, AMessageThatIsNoUtf8GivesValidJson) {
  const std::string text = render_json(RunReport{}, refuse_to_run("bad \xff byte"), {});
  EXPECT_EQ(json::parse(text)["message"], "bad \xef\xbf\xbd byte");
}

// ---- the rates ----

TEST(Rates, AreOneForEachImplementationThatWasJudgedOnGeneratedCases) {
  RunReport report = report_of({passing_implementation("avx2"), passing_implementation("scalar"),
                                passing_implementation("cuda-emulated-block")});
  report.implementations[0].generated = 1000;
  report.implementations[0].generated_seconds = 0.5;
  report.implementations[0].own_seconds = 0.125;
  report.implementations[2].generated = 30;
  report.implementations[2].generated_seconds = 4;
  report.implementations[2].own_seconds = 4;
  EXPECT_EQ(
      render_rates(report, {.colour = false, .width = 200}),
      "generated cases a second (share of the implementation itself): avx2 2000 (25%), cuda-emulated-block 8 (100%)\n");
  EXPECT_EQ(render_rates(report, {.colour = false, .width = 80}),
            "generated cases a second (share of the implementation itself): avx2 2000 (25%),\n"
            "  cuda-emulated-block 8 (100%)\n");
}

TEST(Rates, AreSilentWithoutGeneratedCases) {
  EXPECT_EQ(render_rates(report_of({passing_implementation("avx2")}), {}), "");
}

// ---- the replay command ----

TEST(ReplayCommand, NamesTheBackendThatTheRunForcedAndQuotesWhatAShellWouldRead) {
  Counterexample found = counterexample();
  found.minimal.note = "it's $HOME";
  const std::string command = replays().command("c-abi", "coverage", found);
  EXPECT_THAT(command, HasSubstr("it'\\''s $HOME"));
  EXPECT_THAT(command, EndsWith(" | KVWITNESS_BACKEND=sse4 '/opt/a b/kvwitness' replay - --impl c-abi"));
}

TEST(ReplayCommand, KeepsTheExpectationWhereThatIsWhatFailed) {
  EXPECT_THAT(replays().command("avx2", "expect", counterexample()), HasSubstr("\"expect\""));
  EXPECT_THAT(replays().command("avx2", "coverage", counterexample()), Not(HasSubstr("\"expect\"")));
}

TEST(ReplayCommand, NamesTheFileOfALongCaseThatIsKept) {
  Counterexample found = counterexample();
  found.minimal.context_lens.assign(4000, 16);
  found.minimal.learned.assign(16000, -1);
  EXPECT_THAT(replays().command("avx2", "coverage", found), StartsWith("printf "));
  found.failure_file = "/tmp/found/a.json";
  EXPECT_EQ(replays().command("avx2", "coverage", found),
            "'/opt/a b/kvwitness' replay '/tmp/found/a.json' --impl avx2");
}

// ---- JUnit ----

TEST(JunitReport, CountsSuitesAndCases) {
  const RunReport report =
      report_of({failing_implementation("avx2"), skipped_implementation("cuda-block", "no \"GPU\" & <driver>")});
  const std::string xml = render_junit(report, conclude(report, {}, {}), replays());
  EXPECT_THAT(xml, StartsWith("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"kvwitness\" tests=\"3\" "
                              "failures=\"1\" errors=\"0\" skipped=\"1\" time=\"1.250\">"));
  EXPECT_THAT(xml,
              HasSubstr("<testsuite name=\"avx2\" tests=\"2\" failures=\"1\" errors=\"0\" skipped=\"0\" time=\"0\">"));
  EXPECT_THAT(xml, HasSubstr("<failure message=\"segment 0 holds no token\" type=\"property\">The rule: "));
  EXPECT_THAT(xml, HasSubstr("<skipped message=\"no &#34;GPU&#34; &#38; &#60;driver&#62;\"></skipped>"));
}

TEST(JunitReport, HoldsOnlyCharactersThatXmlHas) {
  RunReport report = report_of({failing_implementation("avx2")});
  report.implementations[0].properties[0].counterexample->verdict.what =
      "a\x1b[31m\x01 b\xff c\xef\xbf\xbe d\xe2\x82\xac\n";
  const std::string xml = render_junit(report, conclude(report, {}, {}), replays());
  EXPECT_THAT(xml, HasSubstr("message=\"a[31m b\xef\xbf\xbd c d\xe2\x82\xac&#10;\""));
  EXPECT_TRUE(std::none_of(xml.begin(), xml.end(),
                           [](char letter) { return static_cast<unsigned char>(letter) < 0x20 && letter != '\n'; }));
}

TEST(JunitReport, ARunThatNeverStartedIsAnErrorInTheReport) {
  const std::string xml = render_junit(RunReport{}, refuse_to_run("--seed is 'x'"), {});
  EXPECT_THAT(xml, HasSubstr("errors=\"1\""));
  EXPECT_THAT(xml, HasSubstr("<error message=\"--seed is 'x'\" type=\"run\"></error>"));
}

// ---- text ----

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

TEST(TextTable, AlignsPropertiesByImplementations) {
  const std::vector<std::string> lines = lines_of(
      render_table(report_of({passing_implementation("scalar"), failing_implementation("cuda-emulated-block")}), {}));
  EXPECT_THAT(lines, ElementsAre("                        cuda-", "                    emulated-",
                                 "            scalar      block", "coverage    120 ok   120 FAIL",
                                 "budget       95 ok      95 ok", "verdict       pass       FAIL"));
}

TEST(TextTable, LeavesOutWhatWasSkippedAsAWhole) {
  ImplementationResult skipped = passing_implementation("cuda-block");
  skipped.kind = ResultKind::kSkipped;
  for (PropertyResult& property : skipped.properties) property.kind = ResultKind::kSkipped;
  EXPECT_EQ(render_table(report_of({passing_implementation("avx2"), skipped}), {}),
            render_table(report_of({passing_implementation("avx2")}), {}));
}

TEST(TextTable, MovesColumnsTogetherWhereThatKeepsItInOnePart) {
  std::vector<ImplementationResult> results(8, passing_implementation("scalar"));
  const auto parts = [&](std::size_t width) {
    const std::vector<std::string> lines =
        lines_of(render_table(report_of(results), {.colour = false, .width = width}));
    for (const std::string& line : lines) EXPECT_LE(line.size(), width) << line;
    return std::count_if(lines.begin(), lines.end(),
                         [](const std::string& line) { return line.starts_with("verdict"); });
  };
  EXPECT_EQ(parts(8 + 8 * 10), 1);  // two blanks between columns of 8
  EXPECT_EQ(parts(8 + 8 * 9), 1);   // one
  EXPECT_EQ(parts(8 + 8 * 9 - 1), 2);
}

TEST(TextTable, StaysWithinTheWidthByFurtherBlocks) {
  std::vector<ImplementationResult> results;
  for (int i = 0; i < 12; ++i) results.push_back(passing_implementation("implementation" + std::to_string(i)));
  const std::vector<std::string> lines = lines_of(render_table(report_of(results), {.colour = false, .width = 80}));
  EXPECT_EQ(
      std::count_if(lines.begin(), lines.end(), [](const std::string& line) { return line.starts_with("verdict"); }),
      3);
  for (const std::string& line : lines) EXPECT_LE(line.size(), 80U) << line;
}

TEST(TextTable, SaysWhyAPropertyWasNotJudged) {
  ImplementationResult result = passing_implementation("mine");
  result.properties[0].kind = ResultKind::kNotProvided;
  result.properties[0].reason = "the plug-in exports no witnesses";
  result.properties[1].unsupported = 60;
  const std::string text = render_table(report_of({result}), {});
  EXPECT_THAT(text, HasSubstr("no call, coverage: the plug-in exports no witnesses (mine)\n"));
  EXPECT_THAT(text, HasSubstr("not judged: 60 cases outside the domain of mine\n"));
}

TEST(TextFailure, HoldsWhatAPersonNeeds) {
  const std::string text = render_failures(report_of({failing_implementation("avx2")}), replays(), {});
  EXPECT_THAT(text, StartsWith("FAIL avx2 breaks coverage\n"));
  EXPECT_THAT(text, HasSubstr(std::string(find_property("coverage")->statement)));
  EXPECT_THAT(text, HasSubstr("it's the first"));
  EXPECT_THAT(text, HasSubstr("(corpus/real/rows.jsonl#3)"));
  EXPECT_THAT(text, HasSubstr("first difference  row 0, slot 3: expected 0, got 11\n"));
  EXPECT_THAT(text, HasSubstr("the rule gives    [-1, -1, -1, 0]\n"));
  EXPECT_THAT(text, HasSubstr("it gave           [-1, -1, -1, 11]\n"));
  EXPECT_THAT(
      text,
      HasSubstr(
          "operation, topk, num_segments, learned; not context_lens: every other value that was tried fails too"));
  EXPECT_THAT(text, HasSubstr("replay            printf '%s\\n' "));
}

TEST(TextFailure, SaysWhereASlotWasNotWritten) {
  ImplementationResult result = failing_implementation("avx2");
  for (PropertyResult& property : result.properties) {
    if (property.counterexample) property.counterexample->wrong_row->is_unwritten = true;
  }
  const std::string text = render_failures(report_of({result}), replays(), {});
  EXPECT_THAT(text, HasSubstr("expected 0, got 11, which stood there before the call\n"));
}

TEST(TextFailure, PropertiesOfOneCauseShareAnEntry) {
  RunReport report = report_of({failing_implementation("avx2")});
  PropertyResult& budget = report.implementations[0].properties[1];
  budget.kind = ResultKind::kFail;
  budget.counterexample = counterexample();
  const std::string text = render_failures(report, replays(), {});
  EXPECT_THAT(text, StartsWith("FAIL avx2 breaks coverage\n  also breaks       budget\n"));
  EXPECT_EQ(text.find("minimal case"), text.rfind("minimal case"));

  // Causes that explain several properties each have an entry each.
  ImplementationResult& result = report.implementations[0];
  result.properties = {result.properties[0], result.properties[0], budget, budget};
  for (std::size_t i = 0; i < 4; ++i) result.properties[i].counterexample->likely_cause = i < 2 ? "one" : "two";
  EXPECT_THAT(render_failures(report, replays(), {}), AllOf(HasSubstr("FAIL avx2 breaks coverage; likely cause: one\n"),
                                                            HasSubstr("FAIL avx2 breaks budget; likely cause: two\n")));
}

TEST(TextFailure, ACallThatDoesNotReturnHasOneEntryWithItsEnding) {
  RunReport report = report_of({failing_implementation("avx2")});
  PropertyResult bounds = report.implementations[0].properties[0];
  bounds.counterexample->wrong_row.reset();
  bounds.counterexample->outcome = Outcome::ended(Ending::kCrashed, "killed by signal 11");
  bounds.counterexample->verdict = {.kind = Verdict::Kind::kBroken,
                                    .what = "the call did not return: killed by signal 11",
                                    .difference = {},
                                    .compared_with = {}};
  report.implementations[0].properties = {bounds, bounds, bounds};
  report.implementations[0].properties[1].property = "bounds";
  EXPECT_THAT(render_failures(report, replays(), {}),
              StartsWith("FAIL avx2 breaks bounds; the call did not return: killed by signal 11\n"
                         "  also breaks       all 2 properties that need the call to return\n"));
}

TEST(TextFailure, ShowsThePictureOfAShortContext) {
  RunReport report = report_of({failing_implementation("avx2")});
  WrongRow& wrong = *report.implementations[0].properties[0].counterexample->wrong_row;
  wrong.row.num_segments = 4;
  wrong.row.learned = {1, 5, -1, -1};
  wrong.expected = {8, 12, -1, -1};
  wrong.actual = {8, 99, -1, -1};
  EXPECT_THAT(
      render_failures(report, replays(), {}),
      HasSubstr("  picture           learned   |.o..|.o..|....|....\n"
                "                    the rule  |....|....|w...|w...\n"
                "                    it gave   |....|....|w...|....\n"
                "                    L = 16, S = 4: o a learned token, w a witness, | an edge; it wrote 99 too, "
                "outside the context\n"));
  wrong.row.context_lens = {101};
  EXPECT_THAT(render_failures(report, replays(), {}), Not(HasSubstr("picture")));
}

TEST(TextFailure, APictureStaysWithinTheWidth) {
  RunReport report = report_of({failing_implementation("avx2")});
  WrongRow& wrong = *report.implementations[0].properties[0].counterexample->wrong_row;
  wrong.row.context_lens = {100};
  wrong.row.num_segments = 40;
  std::size_t pictures = 0;
  for (const std::string& line : lines_of(render_failures(report, replays(), {.colour = false, .width = 80}))) {
    if (line.find('|') == std::string::npos || line.find("replay") != std::string::npos) continue;
    ++pictures;
    EXPECT_LE(line.size(), 80U) << line;
  }
  EXPECT_EQ(pictures, 10U);  // three blocks of three lines, and the legend
}

TEST(TextFailure, SaysWhereALimitEndedShrinking) {
  RunReport report = report_of({failing_implementation("avx2")});
  EXPECT_THAT(render_failures(report, replays(), {}), HasSubstr("shrunk            5 steps in 40 attempts\n"));
  report.implementations[0].properties[0].counterexample->is_shrinking_cut = true;
  EXPECT_THAT(render_failures(report, replays(), {}),
              HasSubstr("5 steps in 40 attempts; its limit ended it, so a smaller case may fail too\n"));
}

TEST(TextFailure, ALongOriginalIsGivenByItsShape) {
  RunReport report = report_of({failing_implementation("avx2")});
  Case& original = report.implementations[0].properties[0].counterexample->original;
  original.context_lens.assign(70000, 16);
  original.learned.assign(280000, -1);
  const std::string text = render_failures(report, replays(), {});
  EXPECT_LT(text.size(), 4000U);
  EXPECT_THAT(text, HasSubstr("scatter, 70000 rows, topk 4, num_segments 1"));
}

TEST(RowText, ShowsAWideRowByRunsAroundItsSlot) {
  std::vector<std::int32_t> row(512, -1);
  EXPECT_EQ(row_text(row, 40), "[-1 x 512]");
  row[0] = 7;
  EXPECT_EQ(row_text(row, 40), "[7, -1 x 511]");
  for (std::int32_t slot = 0; slot < 100; ++slot) row[static_cast<std::size_t>(slot)] = 1000 + slot;
  EXPECT_EQ(row_text(row, 40),
            "[1000, 1001, (33 slots), 1035, 1036, 1037, 1038, 1039, 1040, 1041, 1042, 1043, 1044, 1045, (53 slots), "
            "1099, -1 x 412]");
  EXPECT_EQ(row_text(std::vector<std::int32_t>{3, 3, 3}, 0), "[3, 3, 3]");
  EXPECT_EQ(row_text({}, 0), "[]");
}

TEST(HtmlReport, IsOneDocumentWithThePictureAndNoForeignMarkup) {
  RunReport report = report_of({failing_implementation("a<script>b")});
  report.implementations[0].properties[0].counterexample->likely_cause = "budgets & <edges>";
  const std::string html = render_html(report, conclude(report, {}, {}), replays());
  EXPECT_THAT(html, AllOf(StartsWith("<!doctype html>\n"), EndsWith("</html>\n"), HasSubstr("<style>"),
                          HasSubstr("class=\"picture\""), HasSubstr("budgets &#38; &#60;edges&#62;"),
                          HasSubstr("a&#60;script&#62;b"), HasSubstr("120 FAIL")));
  for (const char* const outside : {"<script", "src=", "href=", "@import", "url("}) {
    EXPECT_THAT(html, Not(HasSubstr(outside)));
  }
}

TEST(HtmlReport, SaysOfARunThatNeverStartedWhy) {
  EXPECT_THAT(render_html(RunReport{}, refuse_to_run("--seed is '<x>'"), {}),
              AllOf(HasSubstr("ERROR</span></h1>\n<p>--seed is '&#60;x&#62;'</p>"), Not(HasSubstr("<table>"))));
}

TEST(Text, EscapeSequencesOfAPlugInDoNotReachTheTerminal) {
  RunReport report = report_of({failing_implementation("a\x1b[2Jb")});
  report.implementations[0].properties[0].counterexample->verdict.what = "x\x1b]0;y\x07";
  const std::string text =
      render_failures(report, replays(), {}) + render_table(report, {}) + last_line(report, conclude(report, {}, {}));
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
}

TEST(Text, IsColouredOnlyWhereAsked) {
  const RunReport report = report_of({failing_implementation("avx2")});
  const auto all = [&](const TextStyle& style) {
    return render_failures(report, replays(), style) + render_table(report, style) +
           render_last_line(report, conclude(report, {}, {}), style);
  };
  EXPECT_EQ(all({}).find('\x1b'), std::string::npos);
  EXPECT_THAT(all({.colour = true, .width = 100}), HasSubstr("\x1b[31mFAIL avx2 breaks coverage\x1b[0m"));
}

}  // namespace
}  // namespace kvwitness::harness
