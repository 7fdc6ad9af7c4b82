// The fault catalogue: each fault of faults.h as a plug-in, judged as `kvwitness verify` judges it, with generated cases
// only.
//
//     fault_catalogue FOLDER faulty.so [--whole] [NAME]...
//     fault_catalogue --pipes faulty_pipe.py [--whole] [NAME]...
//
// The second form has the faults of a program behind the pipe, which lists them itself.
//
// Each fault must be found by the property of its entry, with a counterexample that fails again in a process that has
// done nothing else and with a report that does not contradict itself; each right plug-in with a narrow domain must
// pass, with no class of cases below its floor. Without --whole only that one property judges (and draws cases) for a
// fault that is not rare; with it all do, as by default in `verify`. Prints a table: the fault, what found it, the
// cases that took, the counterexample. Exit status 1 where one line is not as it must be. FOLDER gets a link to
// faulty.so for each fault, for a person to try: kvwitness verify --plugin FOLDER/NAME.so
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "properties/implementations/pipe.h"
#include "properties/implementations/plugin.h"
#include "properties/report/report.h"
#include "properties/rules/property.h"
#include "properties/run/judge_case.h"
#include "properties/run/runner.h"
#include "tests/faults/faults.h"
#include "tests/properties/report_entries.h"

namespace kvwitness::faults {
namespace {

namespace fs = std::filesystem;
using harness::Counterexample;
using harness::Property;
using harness::PropertyResult;
using harness::Reproduction;
using harness::ResultKind;
using harness::RunReport;

constexpr harness::DeadlineLimits kLimits{.call = std::chrono::milliseconds(1000),
                                          .warm_up_call = std::chrono::milliseconds(3000)};

constexpr harness::DeadlineLimits kPipeLimits{.call = std::chrono::milliseconds(2000),
                                              .warm_up_call = std::chrono::milliseconds(10000),
                                              .elements_per_second = std::int64_t{1} << 18};

struct Options {
  fs::path folder;
  std::string script;  // of the pipes, where they are judged
  bool whole = false;
  std::vector<std::string> names;
};

// What is judged: a line of faults.h, or one that the script lists.
struct Subject {
  std::string name;
  std::string property;  // "" for a right one
  Group group;
};

struct Line {
  std::string text;
  bool good = false;
};

std::vector<std::unique_ptr<harness::Implementation>> load(const Options& options, const Subject& entry) {
  std::vector<std::unique_ptr<harness::Implementation>> list;
  auto loaded = options.script.empty()
                    ? harness::load_plugin(options.folder / (entry.name + ".so"), kLimits)
                    : harness::open_pipe("python3 '" + options.script + "' " + entry.name, kPipeLimits);
  if (!loaded) {
    fmt::print(stderr, "{}\n", loaded.error());
    std::exit(2);
  }
  list.push_back(std::move(*loaded));
  return list;
}

RunReport judged(const Options& options, const Subject& entry) {
  auto implementations = load(options, entry);
  harness::RunOptions run;
  for (const Property& property : harness::all_properties()) {
    const bool by_all = options.whole || entry.group == Group::kRight || entry.group == Group::kRare;
    if (by_all || property.name == entry.property) run.properties.push_back(&property);
  }
  auto report = harness::run_properties(run, implementations, {});
  if (!report) {
    fmt::print(stderr, "{}: {}\n", entry.name, report.error());
    std::exit(2);
  }
  return std::move(*report);
}

bool fails_in_a_fresh_process(const Options& options, const Subject& entry, const Counterexample& found) {
  auto implementations = load(options, entry);
  const Property* const property = harness::find_property(entry.property);
  const auto judgements = harness::judge_case(harness::counterexample_case(found, entry.property), *implementations[0],
                                              std::span(&property, 1));
  return judgements[0].verdict.kind == harness::Verdict::Kind::kBroken;
}

std::string shortened(std::string text, std::size_t length) {
  if (text.size() > length) text.replace(length - 3, std::string::npos, "...");
  return text;
}

Line line_of_fault(const Options& options, const Subject& entry) {
  const RunReport report = judged(options, entry);
  const auto& results = report.implementations[0].properties;
  const auto killers = std::ranges::count(results, ResultKind::kFail, &PropertyResult::kind);
  const auto named = std::ranges::find(results, entry.property, &PropertyResult::property);
  if (named == results.end()) return {"no such property: " + std::string(entry.property), false};
  if (named->kind != ResultKind::kFail) {
    return {fmt::format("{} judged {} cases and found nothing ({} other properties did)", entry.property, named->cases,
                        killers),
            false};
  }
  if (std::string wrong = harness::contradiction(report.implementations[0]); !wrong.empty()) {
    return {"its report contradicts itself: " + wrong, false};
  }
  const Counterexample& found = *named->counterexample;
  const bool fresh = found.reproduction == Reproduction::kFresh && fails_in_a_fresh_process(options, entry, found);
  const bool as_it_must = entry.group == Group::kChance || fresh;
  return {
      fmt::format("{:22} {:6} {:>3} {:9} {}", entry.property, named->cases, killers, fresh ? "replays" : "no replay",
                  shortened(harness::to_json(harness::counterexample_case(found, entry.property)), 300)),
      as_it_must};
}

Line line_of_right_one(const Options& options, const Subject& entry) {
  const RunReport report = judged(options, entry);
  const harness::Conclusion conclusion = harness::conclude(report, {}, {});
  const auto& results = report.implementations[0].properties;
  const auto passed = std::ranges::count(results, ResultKind::kPass, &PropertyResult::kind);
  const auto enforced = std::ranges::count(report.missed_floors, true, &harness::MissedFloor::enforced);
  std::string text = fmt::format("{} properties pass on {} cases; {}", passed, report.judged_cases, conclusion.message);
  return {std::move(text), conclusion.exit_status == 0 && enforced == 0 && passed > 0};
}

Line line_of(const Options& options, const Subject& entry) {
  const auto start = std::chrono::steady_clock::now();
  Line line = entry.group == Group::kRight ? line_of_right_one(options, entry) : line_of_fault(options, entry);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  fmt::print("{} {:30} {:4.1f} s  {}\n", line.good ? "  " : "!!", entry.name, took.count(), line.text);
  std::fflush(stdout);
  return line;
}

void link_all(const fs::path& folder, const fs::path& plugin) {
  fs::create_directories(folder);
  for (const FaultEntry& entry : kFaults) {
    const fs::path link = folder / (std::string(entry.name) + ".so");
    std::error_code already;
    fs::remove(link, already);
    fs::create_symlink(fs::absolute(plugin), link);
  }
}

std::vector<Subject> subjects_of(const Options& options) {
  std::vector<Subject> list;
  if (options.script.empty()) {
    for (const FaultEntry& entry : kFaults) {
      list.push_back({std::string(entry.name), std::string(entry.property), entry.group});
    }
    return list;
  }
  std::FILE* const listing = popen(("python3 '" + options.script + "'").c_str(), "r");
  std::array<char, 256> line{};
  while (listing != nullptr && std::fgets(line.data(), line.size(), listing) != nullptr) {
    std::istringstream words(line.data());
    Subject subject;
    words >> subject.name >> subject.property;
    if (subject.property == "-") subject.property.clear();
    // Each deadline of a pipe takes seconds.
    const bool hangs = subject.name == "silent_on_33" || subject.name == "answers_half" ||
                       subject.name == "answer_not_flushed" || subject.name == "closes_output";
    subject.group = subject.property.empty() ? Group::kRight : hangs ? Group::kLong : Group::kCalls;
    list.push_back(std::move(subject));
  }
  if (listing != nullptr) pclose(listing);
  return list;
}

bool is_asked_for(const Options& options, const Subject& entry) {
  if (!options.names.empty()) return std::ranges::find(options.names, entry.name) != options.names.end();
  const bool takes_long = entry.group == Group::kRight || entry.group == Group::kLong;
  return entry.group != Group::kCanary && (options.whole || !takes_long);
}

int visit(const Options& options) {
  int bad = 0, seen = 0;
  for (const Subject& entry : subjects_of(options)) {
    if (!is_asked_for(options, entry)) continue;
    ++seen;
    if (!line_of(options, entry).good) ++bad;
  }
  fmt::print("{} of {} as they must be\n", seen - bad, seen);
  return bad == 0 && seen > 0 && (options.names.empty() || seen == static_cast<int>(options.names.size())) ? 0 : 1;
}

}  // namespace
}  // namespace kvwitness::faults

// What escapes ends the test, and must. NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char** argv) {
  using namespace kvwitness::faults;
  if (argc < 3) {
    fmt::print(stderr,
               "usage: fault_catalogue FOLDER faulty.so [--whole] [NAME]...\n"
               "       fault_catalogue --pipes faulty_pipe.py [--whole] [NAME]...\n");
    return 2;
  }
  const bool pipes = std::string_view(argv[1]) == "--pipes";
  Options options{.folder = pipes ? "" : argv[1], .script = pipes ? argv[2] : "", .whole = false, .names = {}};
  for (int i = 3; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--whole") {
      options.whole = true;
    } else {
      options.names.emplace_back(argv[i]);
    }
  }
  if (!pipes) link_all(options.folder, argv[2]);
  return visit(options);
}
