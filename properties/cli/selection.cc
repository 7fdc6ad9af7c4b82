#include "properties/cli/selection.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include "properties/implementations/pipe.h"
#include "properties/implementations/plugin.h"
#include "properties/implementations/registry.h"
#include "properties/implementations/renamed.h"
#include "properties/sandbox/host_implementation.h"
#include "properties/sandbox/isolation.h"

namespace kvwitness::harness::cli {
namespace {

std::vector<std::string> implementation_names() {
  std::vector<std::string> names;
  for (const auto& implementation : all_implementations()) names.push_back(implementation->name());
  return names;
}

// `name`, with #2, #3, ... where the selection holds it already.
std::string unused_name(const Selection& selection, const std::string& name) {
  const auto taken = [&](const std::string& candidate) {
    return std::any_of(selection.implementations.begin(), selection.implementations.end(),
                       [&](const auto& implementation) { return implementation->name() == candidate; });
  };
  std::string candidate = name;
  for (int number = 2; taken(candidate); ++number) candidate = fmt::format("{}#{}", name, number);
  return candidate;
}

void add(Selection& selection, std::unique_ptr<Implementation> implementation, const std::string& selector,
         bool forced) {
  const std::string name = unused_name(selection, implementation->name());
  if (name != implementation->name()) {
    implementation = std::make_unique<RenamedImplementation>(std::move(implementation), name);
  }
  selection.replays.selectors[name] = selector;
  if (forced) selection.forced.push_back(name);
  selection.implementations.push_back(std::move(implementation));
}

// How calls are made.
struct Manner {
  bool in_process;
  bool few_calls;
  std::optional<std::chrono::milliseconds> deadline;
  std::string words;  // of a replay in the same manner, after a selector

  DeadlineLimits within(const DeadlineLimits& usual) const {
    return deadline ? with_call_limit(usual, *deadline) : usual;
  }
};

Manner manner_of(const SelectionArguments& arguments) {
  Manner manner{.in_process = arguments.in_process, .few_calls = arguments.few_calls, .deadline = {}, .words = {}};
  if (!arguments.deadline) return manner;
  constexpr double kLeastSeconds = 0.001, kMostSeconds = 86400;
  const double seconds = parse_seconds("--deadline", *arguments.deadline);
  if (seconds < kLeastSeconds || seconds > kMostSeconds) {
    throw UsageError(fmt::format("--deadline is '{}', not a number of seconds from {} to {}", *arguments.deadline,
                                 kLeastSeconds, kMostSeconds));
  }
  manner.deadline = std::chrono::ceil<std::chrono::milliseconds>(std::chrono::duration<double>(seconds));
  manner.words = " --deadline " + *arguments.deadline;
  return manner;
}

std::unique_ptr<Implementation> isolated(std::unique_ptr<Implementation> implementation, const Manner& manner) {
  if (manner.in_process) return implementation;
  const auto* const host = dynamic_cast<const HostImplementation*>(implementation.get());
  if (host == nullptr) return implementation;
  const DeadlineLimits limits = manner.within(host->limits());
  return isolate(std::move(implementation), limits);
}

void add_named(Selection& selection, const std::string& name, const Manner& manner) {
  if (selection.replays.selectors.contains(name)) return;  // asked for twice
  std::unique_ptr<Implementation> implementation = find_implementation(name);
  if (implementation == nullptr) {
    const std::vector<std::string> names = implementation_names();
    throw UsageError(fmt::format("--impl is '{}', which is no implementation{}; there are {}", name,
                                 suggestion(name, names), listing(names)));
  }
  add(selection, isolated(std::move(implementation), manner), "--impl " + name + manner.words, true);
}

void add_plugin(Selection& selection, const std::string& path, const Manner& manner) {
  auto plugin = manner.in_process ? load_plugin_in_process(path) : load_plugin(path, manner.within({}));
  if (!plugin) throw UsageError(fmt::format("--plugin {}: {}", path, plugin.error()));
  const std::string absolute = std::filesystem::absolute(path).string();
  add(selection, std::move(*plugin), "--plugin " + shell_quote(absolute) + manner.words, true);
}

void add_pipe(Selection& selection, const std::string& command, const Manner& manner) {
  auto pipe =
      open_pipe(command, manner.within(kPipeLimits), manner.few_calls ? kWaitOfFewCalls : std::chrono::milliseconds{0});
  if (!pipe) throw UsageError(fmt::format("--pipe '{}': {}", command, pipe.error()));
  add(selection, std::move(*pipe), "--pipe " + shell_quote(command) + manner.words, true);
}

}  // namespace

Selection select_implementations(const SelectionArguments& arguments, const Environment& environment) {
  if (arguments.in_process && !arguments.commands.empty()) {
    throw UsageError("--in-process is not for --pipe, which is a process of its own: start that under the debugger");
  }
  const Manner manner = manner_of(arguments);
  Selection selection;
  selection.replays.program = executable_path();
  for (const std::string& name : arguments.names) add_named(selection, name, manner);
  for (const std::string& path : arguments.plugins) add_plugin(selection, path, manner);
  for (const std::string& command : arguments.commands) add_pipe(selection, command, manner);
  if (arguments.empty()) {
    for (auto& implementation : all_implementations()) {
      const std::string name = implementation->name();
      add(selection, isolated(std::move(implementation), manner), "--impl " + name + manner.words, false);
    }
  }
  if (environment.backend && selection.replays.selectors.contains("c-abi")) {
    selection.replays.variables["c-abi"] = "KVWITNESS_BACKEND=" + *environment.backend;
    if (arguments.empty()) selection.forced.emplace_back("c-abi");
  }
  return selection;
}

std::vector<Skipped> absent_implementations(const Selection& selection) {
  std::vector<Skipped> absent;
  for (const auto& implementation : selection.implementations) {
    const std::string name = implementation->name();
    if (std::find(selection.forced.begin(), selection.forced.end(), name) == selection.forced.end()) continue;
    if (const Availability availability = implementation->availability(); !availability.can_run) {
      absent.push_back({name, availability.why_not});
    }
  }
  return absent;
}

std::vector<const Property*> select_properties(const std::vector<std::string>& globs) {
  std::vector<std::string> names;
  for (const Property& property : all_properties()) names.emplace_back(property.name);
  const auto matches = [](const std::string& glob, const std::string& name) {
    return ::fnmatch(glob.c_str(), name.c_str(), 0) == 0;
  };
  for (const std::string& glob : globs) {
    if (std::none_of(names.begin(), names.end(), [&](const std::string& name) { return matches(glob, name); })) {
      throw UsageError(fmt::format("--property is '{}', which matches no property{}; there are {}", glob,
                                   suggestion(glob, names), listing(names)));
    }
  }
  std::vector<const Property*> selected;
  for (const Property& property : all_properties()) {
    const std::string name(property.name);
    if (globs.empty() ||
        std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) { return matches(glob, name); })) {
      selected.push_back(&property);
    }
  }
  return selected;
}

std::string executable_path() {
  std::error_code error;
  const std::filesystem::path path = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "kvwitness" : path.string();
}

}  // namespace kvwitness::harness::cli
