#include <fmt/format.h>
#include <fmt/ranges.h>
#include <kvwitness/legality.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "properties/cli/commands.h"
#include "properties/cli/emit.h"
#include "properties/cli/pinned.h"
#include "properties/cli/signals.h"
#include "properties/cli/standard_streams.h"
#include "properties/report/report.h"
#include "properties/run/failure_database.h"
#include "properties/run/judge_case.h"

namespace kvwitness::harness::cli {
namespace {

// What one implementation made of one case.
struct Answer {
  enum class Kind : std::uint8_t { kPasses, kFails, kNotJudged } kind = Kind::kNotJudged;
  std::string why_not;                // kNotJudged
  std::vector<Judgement> judgements;  // those that are not silent
};

// Why the implementation is not given the case, or "".
std::string why_not_given(const Case& value, const Implementation& implementation) {
  const auto refuses = [&](const Case& one) -> std::string {
    if (!implementation.provides(one.operation)) return fmt::format("it does not provide {}", name_of(one.operation));
    if (!implementation.checks_arguments() && expected_status(one, sees_stride(implementation, one)) != 0) {
      return "the call must be refused, and it does not promise to check arguments";
    }
    return implementation.supports(one) ? "" : "it does not support the shape";
  };
  for (const Case& prior : value.prior_calls) {
    if (std::string why = refuses(prior); !why.empty()) return why;
  }
  return refuses(value);
}

Answer answer_of(const Case& value, Implementation& implementation) {
  Answer answer;
  answer.why_not = why_not_given(value, implementation);
  if (!answer.why_not.empty()) return answer;
  std::vector<const Property*> properties;
  if (!value.expect) properties = select_properties({});
  implementation.restart();  // what the cases before left behind is no part of this one
  for (Judgement& judgement : judge_case(value, implementation, properties)) {
    if (judgement.verdict.kind == Verdict::Kind::kBroken) answer.kind = Answer::Kind::kFails;
    if (judgement.verdict.kind != Verdict::Kind::kSilent) answer.judgements.push_back(std::move(judgement));
  }
  if (answer.judgements.empty()) {
    answer.why_not = "no property is about it";
  } else if (answer.kind != Answer::Kind::kFails) {
    answer.kind = Answer::Kind::kPasses;
  }
  return answer;
}

void print_broken(const std::string& source, const std::string& implementation, const Answer& answer) {
  for (const Judgement& judgement : answer.judgements) {
    if (judgement.verdict.kind != Verdict::Kind::kBroken) continue;
    fmt::print("FAIL {} on {} breaks {}: {}\n", printable(source), printable(implementation), judgement.property,
               printable(judgement.verdict.what));
    if (const Property* const property = find_property(judgement.property)) {
      fmt::print("  {:<17} {}\n", "the rule", property->statement);
    }
    if (const auto& difference = judgement.verdict.difference) {
      fmt::print("  {:<17} row {}, slot {}: expected {}, got {}\n", "first difference", difference->row,
                 difference->slot, difference->expected, difference->actual);
    }
    if (judgement.verdict.compared_with) {
      fmt::print("  {:<17} {}\n", "compared with", to_json(*judgement.verdict.compared_with));
    }
  }
}

struct Tally {
  std::size_t passed = 0, failed = 0, not_judged = 0;
};

// One line for a case that all pass, else what each made of it.
void replay_case(const PinnedCase& pinned, std::vector<std::unique_ptr<Implementation>>& implementations,
                 Tally& tally) {
  std::vector<std::string> passing, not_judged;
  for (const auto& implementation : implementations) {
    const Answer answer = answer_of(pinned.value, *implementation);
    if (answer.kind == Answer::Kind::kFails) print_broken(pinned.source, implementation->name(), answer);
    if (answer.kind == Answer::Kind::kPasses) passing.push_back(implementation->name());
    if (answer.kind == Answer::Kind::kNotJudged) {
      not_judged.push_back(fmt::format("{}: {}", implementation->name(), answer.why_not));
    }
  }
  tally.passed += passing.size();
  tally.not_judged += not_judged.size();
  tally.failed += implementations.size() - passing.size() - not_judged.size();
  const std::string_view judge = pinned.value.expect ? "what it expects" : "the oracle and the invariants";
  const std::string& note = pinned.value.note;
  if (!passing.empty()) {
    fmt::print(
        "pass {} by {} on {}{}\n", printable(pinned.source), judge,
        printable(fmt::format("{}", fmt::join(passing, ", "))),
        note.starts_with(kFailureNote) ? fmt::format("; fixed there (its note says '{}')", printable(note)) : "");
  }
  for (const std::string& line : not_judged) {
    fmt::print("not judged {} on {}\n", printable(pinned.source), printable(line));
  }
}

std::string plural(std::size_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

ExitStatus replay(const ReplayArguments& arguments) {
  const Environment environment = environment_of_process();
  const std::vector<PinnedCase> cases = [&] {
    const EndAtOnce at_once;  // it may read standard input
    end_where_interrupted();
    return read_case_files(arguments.files);
  }();
  if (arguments.emit) {
    if (!arguments.selection.empty()) {
      throw UsageError(
          "--emit writes the oracle's answers and runs no implementation: leave out --impl, --plugin and --pipe");
    }
    require_standard_output();
    std::fputs(emit(*arguments.emit, cases).c_str(), stdout);
    return ExitStatus::kPassed;
  }
  SelectionArguments chosen = arguments.selection;
  chosen.few_calls = true;
  Selection selection = select_implementations(chosen, environment);
  const std::vector<Skipped> absent = absent_implementations(selection);
  std::vector<Skipped> skipped;
  std::erase_if(selection.implementations, [&](const std::unique_ptr<Implementation>& implementation) {
    const Availability availability = implementation->availability();
    if (!availability.can_run) skipped.push_back({implementation->name(), availability.why_not});
    return !availability.can_run;
  });

  Tally tally;
  std::size_t judged = 0;
  try {
    // In this process a call may never return, and the program then ends at once.
    const auto at_once = arguments.selection.in_process ? std::make_unique<EndAtOnce>() : nullptr;
    for (const PinnedCase& pinned : cases) {
      end_where_interrupted();
      replay_case(pinned, selection.implementations, tally);
      ++judged;
    }
  } catch (const TimeUp&) {
    fmt::print("INTERRUPTED after {} of {}: {} failed, {} passed, {} not judged\n", judged,
               plural(cases.size(), "case"), tally.failed, tally.passed, tally.not_judged);
    throw;
  }
  const std::string left_out = skipped_listing(skipped);
  const std::string over =
      fmt::format("{} on {}", plural(cases.size(), "case"), plural(selection.implementations.size(), "implementation"));
  if (tally.failed > 0) {
    fmt::print("FAIL {}: {} failed, {} passed, {} not judged; skipped: {}\n", over, tally.failed, tally.passed,
               tally.not_judged, left_out);
    return ExitStatus::kFailed;
  }
  if (!absent.empty()) {
    print_error("kvwitness: asked for by name, but cannot run here: {}\n", skipped_listing(absent));
    return ExitStatus::kCannotRun;
  }
  if (tally.passed == 0) throw UsageError(fmt::format("{}: not one was judged, so nothing is shown", over));
  fmt::print("PASS {}: {} passed, {} not judged; none fails, so what failed before is fixed; skipped: {}\n", over,
             tally.passed, tally.not_judged, left_out);
  return ExitStatus::kPassed;
}

}  // namespace kvwitness::harness::cli
