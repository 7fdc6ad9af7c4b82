// Which implementations and properties a command is about.
#ifndef PROPERTIES_CLI_SELECTION_H
#define PROPERTIES_CLI_SELECTION_H

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "properties/case/implementation.h"
#include "properties/cli/arguments.h"
#include "properties/report/report.h"
#include "properties/rules/property.h"

namespace kvwitness::harness::cli {

// How the command line names implementations; all empty means the command's default.
struct SelectionArguments {
  std::vector<std::string> names;       // --impl
  std::vector<std::string> plugins;     // --plugin: files
  std::vector<std::string> commands;    // --pipe
  bool few_calls = false;               // a replay or a run: each answer may be waited for a little longer
  bool in_process = false;              // for a debugger: in this process, without a deadline
  std::optional<std::string> deadline;  // --deadline: seconds for a call
  bool empty() const { return names.empty() && plugins.empty() && commands.empty(); }
};

struct Selection {
  std::vector<std::unique_ptr<Implementation>> implementations;  // those that cannot run here included
  // Names of those that a person asked for: --impl, --plugin, --pipe, and c-abi where KVWITNESS_BACKEND forces its
  // backend.
  std::vector<std::string> forced;
  ReplayCommands replays;
};

// Throws UsageError for an unknown name, a plug-in that does not load and a pipe without a hello. With nothing asked
// for: every implementation that this build knows.
Selection select_implementations(const SelectionArguments& arguments, const Environment& environment);

// The forced implementations that cannot run on this machine.
std::vector<Skipped> absent_implementations(const Selection& selection);

// The properties that match one of the shell globs, in the order of `kvwitness list`; all where there is no glob.
// Throws UsageError for a glob that matches nothing.
std::vector<const Property*> select_properties(const std::vector<std::string>& globs);

// The absolute path of this executable.
std::string executable_path();

}  // namespace kvwitness::harness::cli

#endif  // PROPERTIES_CLI_SELECTION_H
