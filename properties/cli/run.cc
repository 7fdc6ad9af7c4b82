#include <fmt/format.h>

#include <cstdio>

#include "properties/cli/commands.h"
#include "properties/cli/pinned.h"
#include "properties/cli/signals.h"
#include "properties/cli/standard_streams.h"
#include "properties/report/report.h"

namespace kvwitness::harness::cli {
namespace {

// What an implementation may do besides answering, in words.
std::string ending_words(const Outcome& outcome) {
  switch (outcome.ending) {
    case Ending::kCrashed:
      return "crashed: " + outcome.how;
    case Ending::kExited:
      return "exited: " + outcome.how;
    case Ending::kHung:
      return "gave no answer: " + outcome.how;
    case Ending::kProtocolError:
      return "broke the protocol: " + outcome.how;
    case Ending::kReturned:
    case Ending::kUnsupported:
      break;
  }
  return "does not support the shape" + (outcome.how.empty() ? "" : ": " + outcome.how);
}

}  // namespace

ExitStatus run(const RunArguments& arguments) {
  require_standard_output();
  SelectionArguments chosen = arguments.selection;
  chosen.few_calls = true;
  if (chosen.empty()) chosen.names.emplace_back("c-abi");
  Selection selection = select_implementations(chosen, environment_of_process());
  Implementation& implementation = *selection.implementations.front();
  const std::vector<PinnedCase> cases = [&] {
    const EndAtOnce at_once;  // it may read standard input
    end_where_interrupted();
    return read_case_files({arguments.file});
  }();
  if (const Availability availability = implementation.availability(); !availability.can_run) {
    print_error("kvwitness: {} cannot run here: {}\n", printable(implementation.name()),
                printable(availability.why_not));
    return ExitStatus::kCannotRun;
  }
  for (const PinnedCase& pinned : cases) {
    end_where_interrupted();
    const Outcome outcome = implementation.run(pinned.value);
    if (outcome.ending != Ending::kReturned) {
      print_error("kvwitness: {}: {} {}\n", printable(pinned.source), printable(implementation.name()),
                  printable(ending_words(outcome)));
      return outcome.ending == Ending::kUnsupported ? ExitStatus::kCannotRun : ExitStatus::kFailed;
    }
    Case answered = pinned.value;
    if (outcome.status == 0) {
      answered.expect = outcome.rows;
    } else {
      answered.expect = outcome.status;
    }
    fmt::print("{}\n", to_json(answered));
  }
  return ExitStatus::kPassed;
}

}  // namespace kvwitness::harness::cli
