// The program kvwitness: options to arguments, arguments to commands, errors to exit statuses.
#include <fmt/format.h>
#include <kvwitness/kvwitness.h>
#if __has_include(<malloc.h>)
#include <malloc.h>
#endif

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <iostream>
#include <string>
#include <string_view>
#include <vector>

#include "properties/cli/commands.h"
#include "properties/cli/signals.h"
#include "properties/cli/standard_streams.h"
#include "properties/report/report.h"
#include "properties/sandbox/interruption.h"
#include "properties/sandbox/system_calls.h"

namespace kvwitness::harness::cli {
namespace {

constexpr const char* kAbout =
    "Judges implementations of the segment-witness rule for sparse top-k rows: by an oracle and by the\n"
    "rule's invariants, over pinned, real and generated rows.";

constexpr const char* kStatuses =
    "\n"
    "Exit status, the first that applies:\n"
    "  2  the call is wrong, its input cannot be read or holds no case, or its output cannot be written\n"
    "  130, 143  SIGINT or SIGTERM ended it: what was found by then is told, reports say `interrupted`\n"
    "  1  a property failed, or a replayed case did not give what it expects\n"
    "  2  a class of generated cases was missed: a fault of the harness, not of an implementation\n"
    "  3  an implementation that was asked for by name cannot run here\n"
    "  0  none of these\n"
    "\n"
    "Environment, where no option says otherwise:\n"
    "  KVWITNESS_SEED      the seed\n"
    "  KVWITNESS_CASES     generated cases a property\n"
    "  KVWITNESS_BACKEND   the backend of the library that c-abi calls\n";

constexpr const char* kExamples =
    "Examples:\n"
    "  kvwitness verify                                every implementation here, every property\n"
    "  kvwitness verify --impl avx2 --property 'cov*'  one of each\n"
    "  kvwitness replay corpus/regressions/*.jsonl     are these still right?\n"
    "  kvwitness run corpus/golden/upstream.jsonl      the library's answers, as JSON lines\n"
    "  kvwitness score corpus/real/attention.jsonl     the policy and its null models\n";

constexpr const char* kVerifyExamples =
    "Examples:\n"
    "  kvwitness verify --seed 7 --cases-per-property 5000    more cases, other ones\n"
    "  kvwitness verify --time 600 --failures found           ten minutes; keeps failing cases in found/\n"
    "  kvwitness verify --plugin ./mine.so --topk 512,2048    your own kernel, in the shapes it serves\n"
    "  kvwitness verify --pipe 'python3 worker.py'            the same through a program\n"
    "  kvwitness verify --html report.html --json report.json --junit report.xml\n"
    "\n"
    "A failure is printed with its minimal case and a command that replays it.\n";

constexpr const char* kReplayExamples =
    "A case with `expect` is judged by it, one without by the oracle and the invariants. Its prior calls\n"
    "(`after`) run first, in the same process.\n"
    "\n"
    "Examples:\n"
    "  kvwitness replay found/*.json                        on every implementation here\n"
    "  kvwitness replay case.json --emit gtest > case.cc    a GoogleTest program of the same calls\n"
    "  kvwitness replay case.json --emit pytest --plugin ./mine.so > test_mine.py   a test of your own kernel\n"
    "  kvwitness replay case.json --emit json               with the oracle's answer as `expect`\n";

constexpr const char* kScoreNotes =
    "For each row: context length L, tokens k of the policy's row within [0, L), and segment coverage and\n"
    "attention mass recall of the learned row, the policy's row, k random tokens and the last k tokens.\n"
    "Recall needs cases with `attention`.\n"
    "\n"
    "Choosing num_segments (S): each witness overwrites a learned token, the lowest-ranked first. On the\n"
    "shipped rows with attention, S of at most topk / 4 costs a mean of 0.4 points of recall (0.7 where a\n"
    "row changes, at worst 2.4). S = topk costs a mean of 66: nothing is kept, and the first witness\n"
    "overwrites the best score. These numbers describe rows; they do not say whether a model answers\n"
    "better or worse.\n";

// CLI11 would read numbers itself and round or wrap what it cannot hold; all values stay text here.
void add_text(CLI::App& app, const std::string& name, Text& target, const std::string& help, const std::string& kind) {
  app.add_option_function<std::string>(
         name, [&target](const std::string& value) { target = value; }, help)
      ->type_name(kind)
      ->multi_option_policy(CLI::MultiOptionPolicy::Throw);
}

// An option that may be repeated, with one value each time.
CLI::Option* add_repeated(CLI::App& app, const std::string& name, std::vector<std::string>& target,
                          const std::string& help, const std::string& kind) {
  return app.add_option(name, target, help)->type_name(kind)->allow_extra_args(false);
}

// With `one`, a single implementation.
void add_selection(CLI::App& app, SelectionArguments& selection, bool one) {
  const std::vector<CLI::Option*> options = {
      add_repeated(app, "--impl", selection.names, "an implementation of `kvwitness list`", "NAME"),
      add_repeated(app, "--plugin", selection.plugins, "a shared library that exports <kvwitness/plugin.h>", "FILE"),
      add_repeated(app, "--pipe", selection.commands, "a program that answers over its standard input and output",
                   "COMMAND")};
  if (!one) return;
  for (CLI::Option* const option : options) {
    option->expected(1)->multi_option_policy(CLI::MultiOptionPolicy::Throw);
    for (CLI::Option* const other : options) {
      if (other != option) option->excludes(other);
    }
  }
}

void add_deadline(CLI::App& app, SelectionArguments& selection) {
  add_text(app, "--deadline", selection.deadline,
           "after which a call hangs; 1 by default, 5 for a pipe; first and large ones more", "SECONDS");
}

// What narrows the calls that are made.
void add_domain(CLI::App& app, DomainArguments& domain) {
  add_text(app, "--operation", domain.operation, "only these operations: witnesses, apply, scatter", "LIST");
  add_text(app, "--topk", domain.topk, "only these row widths, as 512,1024,2048", "LIST");
  add_text(app, "--segments", domain.segments, "only these segment counts", "LIST");
  app.add_flag("--contiguous", domain.contiguous, "only packed rows, no row stride");
  add_text(app, "--align", domain.align, "only bases and row strides in multiples of this: 4 (default), 8, 16, 32, 64",
           "BYTES");
  add_text(app, "--max-context", domain.max_context, "no context longer than this", "N");
  add_text(app, "--max-rows", domain.max_rows, "no batch of more rows", "N");
  app.add_flag("--in-range", domain.in_range, "no token at or past its row's length");
}

void add_verify(CLI::App& program, VerifyArguments& arguments) {
  CLI::App& app =
      *program.add_subcommand("verify", "judge implementations by every property: pinned cases, then generated ones");
  add_selection(app, arguments.selection, false);
  add_repeated(app, "--cases", arguments.cases, "case files in place of the pinned ones; - is standard input", "FILE");
  add_repeated(app, "--property", arguments.properties,
               "properties of `kvwitness list` by shell pattern; all by default", "GLOB");
  add_text(app, "--seed", arguments.seed, "of the generated cases; 0 by default", "N");
  add_text(app, "--cases-per-property", arguments.cases_per_property, "generated cases; 0 for none", "N");
  add_deadline(app, arguments.selection);
  add_text(app, "--time", arguments.time, "for each implementation; 120 by default, 0 for no limit", "SECONDS");
  add_domain(app, arguments.domain);
  add_text(app, "--json", arguments.reports.json, "write a report as JSON", "FILE");
  add_text(app, "--junit", arguments.reports.junit, "write a report as JUnit XML", "FILE");
  add_text(app, "--html", arguments.reports.html, "write a report as one HTML file, with pictures", "FILE");
  add_text(app, "--failures", arguments.failures, "keep failing cases here and replay them first", "DIR");
  app.add_flag("--quiet", arguments.quiet, "print only failures and the last line");
  app.footer(std::string(kVerifyExamples) + kStatuses);
}

void add_replay(CLI::App& program, ReplayArguments& arguments) {
  CLI::App& app = *program.add_subcommand("replay", "judge the cases of files, without generating or shrinking");
  app.add_option("FILE", arguments.files, "case files; - is standard input")->required()->type_name("");
  add_selection(app, arguments.selection, true);
  app.add_flag("--in-process", arguments.selection.in_process,
               "for gdb and sanitizers: in this process, without isolation or deadline");
  add_deadline(app, arguments.selection);
  add_text(app, "--emit", arguments.emit,
           "print the cases: gtest or json; with --plugin a test of it: gtest, c, pytest", "FORM");
  app.footer(kReplayExamples);
}

void add_run(CLI::App& program, RunArguments& arguments) {
  CLI::App& app =
      *program.add_subcommand("run", "answer each case: the case as a JSON line, `expect` being the answer");
  app.add_option("FILE", arguments.file, "a case file; - is standard input")->required()->type_name("");
  add_selection(app, arguments.selection, true);
  add_deadline(app, arguments.selection);
  app.footer("The default is c-abi. A refused call is an answer: its `expect` names the refusal.");
}

void add_score(CLI::App& program, ScoreArguments& arguments) {
  CLI::App& app =
      *program.add_subcommand("score", "coverage and attention recall of the policy's rows and of null models");
  app.add_option("FILE", arguments.file, "scatter and apply cases; - is standard input")->required()->type_name("");
  add_text(app, "--seed", arguments.seed, "of the random null; 0 by default", "N");
  add_text(app, "--json", arguments.json, "write the scores as JSON", "FILE");
  app.footer(kScoreNotes);
}

void add_list(CLI::App& program, ListArguments& arguments) {
  CLI::App& app =
      *program.add_subcommand("list", "implementations and whether they can run here, properties, backends");
  app.add_flag("--json", arguments.json, "as JSON");
}

// The value of `--name VALUE` or `--name=VALUE` in a command line that could not be parsed.
Text find_option(int argc, char** argv, std::string_view name) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == name && i + 1 < argc) return argv[i + 1];
    if (argument.starts_with(name) && argument.substr(name.size()).starts_with('=')) {
      return std::string(argument.substr(name.size() + 1));
    }
  }
  return {};
}

int refuse(int argc, char** argv, const std::string& message, const std::string& advice) {
  print_error("kvwitness: {}\n{}", printable(message), advice);
  if (argc > 1 && std::string_view(argv[1]) == "verify") {
    report_refusal({.json = find_option(argc, argv, "--json"),
                    .junit = find_option(argc, argv, "--junit"),
                    .html = find_option(argc, argv, "--html")},
                   message);
  }
  return static_cast<int>(ExitStatus::kUsage);
}

// "; did you mean --plugin mine.so?" where a file stands among the arguments of verify that were not expected.
std::string forgotten_option(const CLI::App& app) {
  if (!app.got_subcommand("verify")) return "";
  for (const std::string& extra : app.remaining(true)) {
    if (extra.starts_with('-')) continue;
    const std::string_view name = extra;
    if (name.ends_with(".so") || name.ends_with(".dylib") || name.find(".so.") != std::string_view::npos) {
      return fmt::format("; did you mean --plugin {}?", extra);
    }
    if (name.ends_with(".json") || name.ends_with(".jsonl")) return fmt::format("; did you mean --cases {}?", extra);
    return "; a plug-in is named by --plugin FILE, a program by --pipe COMMAND, case files by --cases FILE";
  }
  return "";
}

struct Program {
  VerifyArguments verify;
  ReplayArguments replay;
  RunArguments run;
  ScoreArguments score;
  ListArguments list;
};

ExitStatus dispatch(const std::string& command, const Program& arguments) {
  if (command == "verify") return verify(arguments.verify);
  if (command == "replay") return replay(arguments.replay);
  if (command == "run") return run(arguments.run);
  const EndAtOnce at_once;
  end_where_interrupted();
  if (command == "score") return score(arguments.score);
  return list(arguments.list);
}

// CLI11 calls a misspelt command a missing one.
void refuse_unknown_command(int argc, char** argv) {
  const std::vector<std::string> commands = {"verify", "replay", "run", "score", "list"};
  const std::string given = argc > 1 ? argv[1] : "-";
  if (given.starts_with('-') || std::find(commands.begin(), commands.end(), given) != commands.end()) return;
  throw UsageError(
      fmt::format("'{}' is no command{}; there are {}", given, suggestion(given, commands), listing(commands)));
}

int main_of(int argc, char** argv) {
  Program arguments;
  CLI::App app(kAbout, "kvwitness");
  app.set_version_flag("--version", std::string("kvwitness ") + kvw_version());
  app.require_subcommand(1);
  app.footer(std::string(kExamples) + kStatuses + "`kvwitness COMMAND --help` lists a command's options.");
  add_verify(app, arguments.verify);
  add_replay(app, arguments.replay);
  add_run(app, arguments.run);
  add_score(app, arguments.score);
  add_list(app, arguments.list);
  try {
    refuse_unknown_command(argc, argv);
    app.parse(argc, argv);
    const ExitStatus status = dispatch(app.get_subcommands().front()->get_name(), arguments);
    flush_standard_output();
    return static_cast<int>(status);
  } catch (const CLI::Success& wanted) {  // --help, --version
    const int status = app.exit(wanted);
    if (!std::cout.flush() || has_lost_output()) return refuse(argc, argv, kLostOutput, "");
    return status;
  } catch (const TimeUp&) {
    std::fflush(stdout);
    print_error("kvwitness: interrupted\n");
    return 128 + interrupting_signal();
  } catch (const CLI::ExtrasError& error) {
    return refuse(argc, argv, error.what() + forgotten_option(app), "Run with --help for the commands and options.\n");
  } catch (const CLI::ParseError& error) {
    return refuse(argc, argv, error.what(), "Run with --help for the commands and options.\n");
  } catch (const UsageError& error) {
    return refuse(argc, argv, error.what(), "");
  } catch (const NoIsolation& error) {
    return refuse(argc, argv, error.what(), "`kvwitness replay --in-process` judges cases without one.\n");
  } catch (const std::exception& error) {  // out of memory, and the like
    if (has_lost_output()) return refuse(argc, argv, kLostOutput, "");
    return refuse(argc, argv, fmt::format("the run could not go on: {}", error.what()), "");
  }
}

}  // namespace

}  // namespace kvwitness::harness::cli

// What escapes has no memory left for its message. NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  kvwitness::harness::cli::open_standard_streams();
  kvwitness::harness::cli::take_signals();
#if defined(M_MMAP_THRESHOLD) && defined(M_TRIM_THRESHOLD)
  // Batches of 100 MB and more are made and dropped again and again. Memory that is given back to the system each time
  // costs more than judging them.
  constexpr int kKeptBytes = 1 << 30;
  mallopt(M_MMAP_THRESHOLD, kKeptBytes);
  mallopt(M_TRIM_THRESHOLD, kKeptBytes);
#endif
  return kvwitness::harness::cli::main_of(argc, argv);
}
