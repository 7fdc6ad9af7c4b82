#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

#include "properties/cli/commands.h"
#include "properties/cli/output_file.h"
#include "properties/cli/pinned.h"
#include "properties/cli/progress.h"
#include "properties/cli/signals.h"
#include "properties/cli/standard_streams.h"
#include "properties/generators/case_stream.h"
#include "properties/generators/domain.h"
#include "properties/report/report.h"
#include "properties/run/failure_database.h"
#include "properties/run/runner.h"
#include "properties/sandbox/frame_memory.h"

namespace kvwitness::harness::cli {
namespace {

// The forms of a report that can be written to a file.
struct ReportForm {
  const char* option;
  Text ReportPaths::* path;
  std::string (*render)(const RunReport&, const Conclusion&, const ReplayCommands&);
};
constexpr ReportForm kReportForms[] = {{"--json", &ReportPaths::json, render_json},
                                       {"--junit", &ReportPaths::junit, render_junit},
                                       {"--html", &ReportPaths::html, render_html}};

// The files of the forms that were asked for.
class Outputs {
 public:
  explicit Outputs(const ReportPaths& paths) {
    for (const ReportForm& form : kReportForms) {
      const Text& path = paths.*form.path;
      if (!path) continue;
      files_.emplace_back(&form, OutputFile(form.option, *path, form.render(RunReport{}, not_at_its_end(), {})));
    }
  }
  // Regular files, which nothing holds up, or the others: a reader of those gets them after the text.
  // Throws the first UsageError, after all were tried.
  void write(bool regular, const RunReport& report, const Conclusion& conclusion, const ReplayCommands& replays) const {
    std::optional<UsageError> failed;
    for (const auto& [form, file] : files_) {
      if (file.is_regular() != regular) continue;
      try {
        file.write(form->render(report, conclusion, replays));
      } catch (const UsageError& error) {
        if (!failed) failed = error;
      }
    }
    if (failed) throw UsageError(*failed);
  }

 private:
  std::vector<std::pair<const ReportForm*, OutputFile>> files_;
};

// Whether reports hold what a run found, which an error that comes later does not undo.
bool has_concluded = false;

TextStyle style_of_output() {
  const bool terminal = ::isatty(STDOUT_FILENO) != 0;
  const char* const no_colour = std::getenv("NO_COLOR");
  const char* const kind = std::getenv("TERM");
  TextStyle style;
  style.colour =
      terminal && (no_colour == nullptr || *no_colour == '\0') && kind != nullptr && std::string_view(kind) != "dumb";
  winsize size{};
  if (terminal && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) style.width = size.ws_col;
  return style;
}

std::int64_t parse_align(const std::string& text) {
  const auto bytes = static_cast<std::int64_t>(parse_count("--align", text, 4, FrameMemory::kAlignBytes));
  if ((bytes & (bytes - 1)) != 0) throw UsageError(fmt::format("--align is '{}', not 4, 8, 16, 32 or 64 bytes", text));
  return bytes;
}

std::vector<Operation> parse_operations(const std::string& text) {
  std::vector<std::string> names;
  std::vector<Operation> operations;
  const Domain whole = whole_domain();
  for (const Operation operation : whole.operations) names.emplace_back(name_of(operation));
  for (const std::string& item : split_list(text)) {
    const auto found =
        std::ranges::find(whole.operations, item, [](Operation operation) { return name_of(operation); });
    if (found == whole.operations.end()) {
      throw UsageError(fmt::format("--operation is '{}'; '{}' in it is no operation{}; there are {}", text, item,
                                   suggestion(item, names), listing(names)));
    }
    if (std::ranges::find(operations, *found) == operations.end()) operations.push_back(*found);
  }
  return operations;
}

// What the options admit.
Domain domain_of(const DomainArguments& arguments) {
  Domain domain = whole_domain();
  const auto bound = [](std::string_view option, const Text& text, std::int64_t greatest) {
    return static_cast<std::int64_t>(parse_count(option, *text, 1, static_cast<std::uint64_t>(greatest)));
  };
  if (arguments.operation) domain.operations = parse_operations(*arguments.operation);
  if (arguments.topk) domain.topk = parse_counts("--topk", *arguments.topk, 0, kMostDrawnTopk);
  if (arguments.segments) domain.num_segments = parse_counts("--segments", *arguments.segments, 0, kMostDrawnSegments);
  domain.contiguous = arguments.contiguous;
  if (arguments.align) domain.align_bytes = parse_align(*arguments.align);
  if (arguments.max_context) domain.max_context = bound("--max-context", arguments.max_context, domain.max_context);
  if (arguments.max_rows) domain.max_rows = bound("--max-rows", arguments.max_rows, domain.max_rows);
  domain.in_range = arguments.in_range;
  if (!can_draw(domain)) {
    throw UsageError("the options admit no call: neither a legal one nor one to refuse, of any operation");
  }
  return domain;
}

// The folder, made where it is missing: a run that cannot keep its failures should not start.
std::string writable_folder(std::string_view option, const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error && !std::filesystem::is_directory(path, error)) error = std::make_error_code(std::errc::not_a_directory);
  if (!error && ::access(path.c_str(), W_OK | X_OK) != 0) error = std::error_code(errno, std::generic_category());
  if (error) throw UsageError(fmt::format("{} is '{}', not a folder to write to: {}", option, path, error.message()));
  return path;
}

// Nothing for 0: no limit.
std::optional<double> time_limit_of(const VerifyArguments& arguments) {
  constexpr double kDefaultSeconds = 120;
  const double seconds = arguments.time ? parse_seconds("--time", *arguments.time) : kDefaultSeconds;
  return seconds == 0 ? std::nullopt : std::optional(seconds);
}

RunOptions options_of(const VerifyArguments& arguments, const Environment& environment) {
  RunOptions options;
  options.properties = select_properties(arguments.properties);
  options.judge_expectations = arguments.properties.empty();
  options.seed = arguments.seed ? parse_count("--seed", *arguments.seed, 0, std::numeric_limits<std::uint64_t>::max())
                                : environment.seed.value_or(0);
  options.cases_per_property = environment.cases.value_or(kDefaultCasesPerProperty);
  if (arguments.cases_per_property) {
    options.cases_per_property = static_cast<std::int64_t>(parse_count(
        "--cases-per-property", *arguments.cases_per_property, 0, static_cast<std::uint64_t>(kMaxCasesPerProperty)));
  }
  options.time_limit_seconds = time_limit_of(arguments);
  options.domain = domain_of(arguments.domain);
  if (arguments.failures) options.failures_folder = writable_folder("--failures", *arguments.failures);
  options.pinned = arguments.cases.empty() ? read_corpus(corpus_folder()) : read_case_files(arguments.cases);
  return options;
}

// What a run did to the failures that it keeps.
void print_kept_failures(const RunReport& report) {
  for (const std::string& path : report.fixed_failures) fmt::print("fixed: {} passes now\n", printable(path));
  for (const std::string& path : report.unseen_failures) {
    fmt::print("not seen again: {} failed once and passes now, so it is kept\n", printable(path));
  }
  for (const std::string& error : report.failure_errors) print_error("kvwitness: {}\n", printable(error));
}

}  // namespace

ExitStatus verify(const VerifyArguments& arguments) {
  const Outputs outputs(arguments.reports);
  end_where_interrupted();
  const Environment environment = environment_of_process();
  Selection selection = select_implementations(arguments.selection, environment);
  RunOptions options = [&] {
    const EndAtOnce at_once;  // it may read standard input
    end_where_interrupted();
    return options_of(arguments, environment);
  }();

  ProgressDisplay display(::isatty(STDERR_FILENO) != 0);
  Progress progress;
  if (!arguments.quiet) {
    fmt::print("judging {} properties on {} pinned cases and {} generated ones a property, seed {}\n",
               options.properties.size(), options.pinned.size(), options.cases_per_property, options.seed);
    flush_standard_output();
    progress = [&](const std::string& implementation, const std::string& property, double done) {
      display.show(implementation, property, done);
    };
  } else {
    progress = [](const std::string&, const std::string&, double) {};
  }
  options.on_failure = [&](const std::string& implementation, const std::string& property) {
    if (arguments.quiet) return;
    display.clear();
    print_error("{} breaks {}; looking for its smallest case\n", printable(implementation), property);
  };
  auto report = run_properties(options, selection.implementations, progress);
  display.clear();
  if (!report) throw UsageError(report.error());

  std::error_code no_folder;
  if (const auto folder = std::filesystem::temp_directory_path(no_folder); !no_folder) {
    keep_long_cases(*report, folder.string());
  }
  const Conclusion conclusion = conclude(*report, selection.forced, absent_implementations(selection));
  has_concluded = true;
  outputs.write(true, *report, conclusion, selection.replays);
  const EndAtOnce at_once;  // whoever reads the text may have stopped reading
  const TextStyle style = style_of_output();
  fmt::print("{}", render_failures(*report, selection.replays, style));
  if (!arguments.quiet) fmt::print("{}{}", render_table(*report, style), render_rates(*report, style));
  print_kept_failures(*report);
  fmt::print("{}", render_last_line(*report, conclusion, style));
  flush_standard_output();
  outputs.write(false, *report, conclusion, selection.replays);
  return static_cast<ExitStatus>(conclusion.exit_status);
}

void report_refusal(const ReportPaths& paths, const std::string& message) {
  if (has_concluded) return;
  for (const ReportForm& form : kReportForms) {
    const Text& path = paths.*form.path;
    if (!path) continue;
    try {
      const std::string refusal = form.render(RunReport{}, refuse_to_run(message), ReplayCommands{});
      const OutputFile file(form.option, *path, refusal);
      if (!file.is_regular()) file.write(refusal);
      // NOLINTNEXTLINE(bugprone-empty-catch)
    } catch (const UsageError&) {  // the message on standard error is then all there is
    }
  }
}

}  // namespace kvwitness::harness::cli
