// The commands of the program. Each takes its parsed options and gives its exit status; wrong options are UsageErrors.
#ifndef PROPERTIES_CLI_COMMANDS_H
#define PROPERTIES_CLI_COMMANDS_H

#include <optional>
#include <string>
#include <vector>

#include "properties/cli/arguments.h"
#include "properties/cli/selection.h"

namespace kvwitness::harness::cli {

// Options as text, as they were given; absent where they were not.
using Text = std::optional<std::string>;

// Where to write the reports of a run.
struct ReportPaths {
  Text json, junit, html;
};

// The calls that may be made.
struct DomainArguments {
  Text operation, topk, segments, align, max_context, max_rows;
  bool contiguous = false;
  bool in_range = false;
};

struct VerifyArguments {
  SelectionArguments selection;
  DomainArguments domain;
  std::vector<std::string> cases;       // files
  std::vector<std::string> properties;  // globs
  Text seed, cases_per_property, time, failures;
  ReportPaths reports;
  bool quiet = false;
};

struct ReplayArguments {
  SelectionArguments selection;
  std::vector<std::string> files;
  Text emit;
};

struct RunArguments {
  SelectionArguments selection;
  std::string file;
};

struct ScoreArguments {
  std::string file;
  Text seed, json;
};

struct ListArguments {
  bool json = false;
};

ExitStatus verify(const VerifyArguments& arguments);
// Leaves the reports of a run that never came to a conclusion, where they were asked for and can be written.
void report_refusal(const ReportPaths& paths, const std::string& message);
ExitStatus replay(const ReplayArguments& arguments);
ExitStatus run(const RunArguments& arguments);
ExitStatus score(const ScoreArguments& arguments);
ExitStatus list(const ListArguments& arguments);

}  // namespace kvwitness::harness::cli

#endif  // PROPERTIES_CLI_COMMANDS_H
