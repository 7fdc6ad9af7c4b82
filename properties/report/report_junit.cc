// The JUnit form of a report: a suite an implementation, a test case a property.
#include <fmt/format.h>

#include <string>
#include <string_view>

#include "properties/report/markup.h"
#include "properties/report/report.h"

namespace kvwitness::harness {
namespace {

struct Counts {
  std::size_t tests = 0, failures = 0, errors = 0, skipped = 0;
};

class Suites {
 public:
  void open(std::string_view name) { name_ = name, body_.clear(), counts_ = {}; }

  void passed(std::string_view test) { add(test, ""); }
  void failed(std::string_view test, std::string_view message, std::string_view details) {
    ++counts_.failures;
    add(test,
        fmt::format("<failure message=\"{}\" type=\"property\">{}</failure>", escaped(message), escaped(details)));
  }
  void erred(std::string_view test, std::string_view message) {
    ++counts_.errors;
    add(test, fmt::format("<error message=\"{}\" type=\"run\"></error>", escaped(message)));
  }
  void skipped(std::string_view test, std::string_view message) {
    ++counts_.skipped;
    add(test, fmt::format("<skipped message=\"{}\"></skipped>", escaped(message)));
  }

  void close() {
    suites_ += fmt::format(
        "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"0\">\n{}  "
        "</testsuite>\n",
        escaped(name_), counts_.tests, counts_.failures, counts_.errors, counts_.skipped, body_);
    total_.tests += counts_.tests, total_.failures += counts_.failures;
    total_.errors += counts_.errors, total_.skipped += counts_.skipped;
  }

  std::string document(double seconds) const {
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"kvwitness\" tests=\"{}\" failures=\"{}\" "
        "errors=\"{}\" skipped=\"{}\" "
        "time=\"{:.3f}\">\n{}</testsuites>\n",
        total_.tests, total_.failures, total_.errors, total_.skipped, seconds, suites_);
  }

 private:
  void add(std::string_view test, std::string_view content) {
    ++counts_.tests;
    body_ += fmt::format("    <testcase name=\"{}\" classname=\"kvwitness.{}\" time=\"0\">{}</testcase>\n",
                         escaped(test), escaped(name_), content);
  }

  std::string name_, body_, suites_;
  Counts counts_, total_;
};

std::string details(const PropertyResult& result, const std::string& implementation, const ReplayCommands& replays) {
  if (!result.counterexample) return result.reason;
  const Counterexample& found = *result.counterexample;
  return fmt::format("The rule: {}\nMinimal case: {}\nReplay: {}\n", statement_of(result.property),
                     to_json(counterexample_case(found, result.property)),
                     replays.command(implementation, result.property, found));
}

void add_implementation(Suites& suites, const ImplementationResult& result, const ReplayCommands& replays) {
  suites.open(result.implementation);
  if (result.kind == ResultKind::kSkipped) suites.skipped("availability", result.reason);
  if (result.kind == ResultKind::kFail && !result.reason.empty()) {
    suites.failed("availability", result.reason, result.reason);
  }
  for (const PropertyResult& property : result.properties) {
    if (property.kind == ResultKind::kPass) {
      suites.passed(property.property);
    } else if (property.kind == ResultKind::kFail) {
      const std::string& what = property.counterexample ? property.counterexample->verdict.what : property.reason;
      suites.failed(property.property, what, details(property, result.implementation, replays));
    } else {
      suites.skipped(property.property, property.reason);
    }
  }
  suites.close();
}

}  // namespace

std::string render_junit(const RunReport& report, const Conclusion& conclusion, const ReplayCommands& replays) {
  Suites suites;
  for (const ImplementationResult& result : report.implementations) add_implementation(suites, result, replays);
  if (conclusion.verdict == RunVerdict::kError || conclusion.verdict == RunVerdict::kInterrupted) {
    suites.open("run");
    suites.erred("conclusion", conclusion.message);
    suites.close();
  }
  return suites.document(report.seconds);
}

}  // namespace kvwitness::harness
