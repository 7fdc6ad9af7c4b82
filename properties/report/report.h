// What a run of the harness tells a person and a program: its conclusion, the JSON report, the JUnit report, and text.
//
// Reports name what was judged, what failed, and what was skipped and why. With equal runs they are equal but for the
// seconds.
#ifndef PROPERTIES_REPORT_REPORT_H
#define PROPERTIES_REPORT_REPORT_H

#include <kvwitness/case.h>

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "properties/rules/expectation.h"
#include "properties/run/results.h"

namespace kvwitness::harness {

enum class RunVerdict : std::uint8_t { kPass, kFail, kError, kInterrupted };

// A run in one word and one sentence. The sentence holds no time, so that equal runs have equal ones.
struct Conclusion {
  RunVerdict verdict = RunVerdict::kPass;
  // 0: pass; 1: a property failed; 2: a class floor was missed or nothing was judged; 3: a forced implementation cannot
  // run; 128 and the number of the signal that interrupted the run.
  int exit_status = 0;
  std::string message;
};

// An implementation that was not judged, and why.
struct Skipped {
  std::string name;
  std::string reason;
};
// "avx2, avx512 (this build leaves them out), cuda-block (no GPU)": those of one reason together; "nothing" for none.
std::string skipped_listing(std::span<const Skipped> skipped);

// `forced` are the implementations that were asked for by name, `absent` those of them that cannot run here. The first
// that applies: an interrupted run, a failed property, a missed floor that is enforced, a forced implementation that is absent, a run that
// judged nothing, a forced implementation that no case could judge, a pass.
Conclusion conclude(const RunReport& report, std::span<const std::string> forced, std::span<const Skipped> absent);
// The conclusion of a run that ended before anything ran.
Conclusion refuse_to_run(std::string message);
// What reports say until the run is at its end: that of one that is killed says nothing else.
Conclusion not_at_its_end();

// How a person runs one case again: `printf ... | PROGRAM replay - SELECTOR`.
struct ReplayCommands {
  std::string program;                           // absolute path of the executable
  std::map<std::string, std::string> selectors;  // by implementation: "--impl avx2", "--plugin '/a/b.so'"
  std::map<std::string, std::string> variables;  // by implementation: "KVWITNESS_BACKEND=avx2", where the run had it

  // One line that a POSIX shell takes from any folder. The case stands in it, unless it is long and kept in a file.
  std::string command(const std::string& implementation, std::string_view property, const Counterexample& found) const;
  // The same under a debugger, in one process; "" for a pipe, which is a process of its own.
  std::string debug_command(const std::string& implementation, std::string_view property,
                            const Counterexample& found) const;
};

// The case that a report shows and replays for a failure: the minimal one without `attention` and, unless the
// expectation itself was what failed, without `expect`, so that a replay judges it by the oracle and the invariants.
Case counterexample_case(const Counterexample& counterexample, std::string_view property);

// The sentence of the rule that the property states, or what the expectation is.
std::string_view statement_of(std::string_view property);

// `text` in single quotes for a POSIX shell.
std::string shell_quote(std::string_view text);
// `text` without control characters, escape sequences included: names and messages may come from a plug-in.
std::string printable(std::string_view text);

// The verdict as a word for a person: "PASS", "FAIL", "ERROR" or "INTERRUPTED".
std::string_view headline_of(RunVerdict verdict);

std::string render_json(const RunReport& report, const Conclusion& conclusion, const ReplayCommands& replays);
// Strict XML 1.0: a suite an implementation, a test case a property.
std::string render_junit(const RunReport& report, const Conclusion& conclusion, const ReplayCommands& replays);

// One HTML file without outside parts: the conclusion, the table, and every failure with a picture of its context.
std::string render_html(const RunReport& report, const Conclusion& conclusion, const ReplayCommands& replays);

struct TextStyle {
  bool colour = false;
  std::size_t width = 100;  // columns
};
// Every failure: the original case, the minimal one, the first differing slot, the rule's sentence, what matters, and
// the replay command.
std::string render_failures(const RunReport& report, const ReplayCommands& replays, const TextStyle& style);
// Properties by implementations, each cell with the cases judged and the verdict; below it what was not provided,
// unsupported or below its floor.
std::string render_table(const RunReport& report, const TextStyle& style);
// How many generated cases a second each implementation was judged on, and how much of the time was its own: like the
// seconds, no two runs agree on it. "" where none was.
std::string render_rates(const RunReport& report, const TextStyle& style);
// "PASS ...; skipped: ... (why); seed 0; 12.3 s".
std::string render_last_line(const RunReport& report, const Conclusion& conclusion, const TextStyle& style);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_REPORT_REPORT_H
