// kvwitness_fuzz: everything about fuzz inputs that needs no fuzzing engine.
#include <kvwitness/case.h>
#include <kvwitness/legality.h>
#include <kvwitness/oracle.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "fuzz/engine/input_deadline.h"
#include "fuzz/engine/replay_files.h"
#include "fuzz/minimise.h"
#include "fuzz/seeds.h"
#include "fuzz/target.h"
#include "properties/case/status.h"

namespace kvwitness::fuzz {
namespace {

namespace fs = std::filesystem;
using Arguments = std::vector<std::string>;

constexpr int kUsage = 2;
constexpr int kNoCase = 3;

constexpr std::string_view kHelp =
    "usage: kvwitness_fuzz COMMAND ...\n"
    "  targets                        the targets, one a line: name, largest input worth trying, what it judges and "
    "reads\n"
    "  replay TARGET [--limit SECONDS] PATH...\n"
    "                                 runs the target on files and on the files of folders; case files (.json, .jsonl) "
    "become inputs,\n"
    "                                 .bytes files are replayed on the target that their name starts with;\n"
    "                                 an input that takes longer than the limit (60 s) ends the replay\n"
    "  ending TARGET FILE             how the target's run on the file ends: one line, empty where it returns\n"
    "  minimise TARGET FILE OUT [N]   writes the smallest input that ends as the file does, found in N runs (default "
    "3000)\n"
    "  json TARGET FILE               the file's call as a case file, with the oracle's answer; exit 3 where it is no "
    "case\n"
    "  encode TARGET FILE FOLDER      the inputs that a case file becomes, one file each\n"
    "  seeds FOLDER CORPUS            the seeds of every target, below FOLDER\n";

int fail(const std::string& why) {
  std::fprintf(stderr, "kvwitness_fuzz: %s\n", why.c_str());
  return kUsage;
}

bool is_case_file(const std::string& file) {
  const std::string extension = fs::path(file).extension().string();
  return extension == ".json" || extension == ".jsonl";
}

// Whether a regression in the form of bytes, "<target>-<what>.bytes", is another target's.
bool is_of_another_target(const Target& target, const std::string& file) {
  const std::string name = fs::path(file).filename().string();
  return name.ends_with(".bytes") && !name.starts_with(std::string(target.name) + "-");
}

// The inputs that a file holds for the target.
std::expected<std::vector<Bytes>, std::string> inputs_in(const Target& target, const std::string& file) {
  if (is_of_another_target(target, file) || fs::path(file).filename() == "README.md") {
    return std::vector<Bytes>();
  }
  if (!is_case_file(file) || target.form->is_text) {
    auto bytes = bytes_of(file);
    if (!bytes) {
      return std::unexpected(bytes.error());
    }
    return std::vector<Bytes>{*std::move(bytes)};
  }
  const auto cases = harness::read_cases(file);
  if (!cases) {
    return std::unexpected(cases.error().message());
  }
  std::vector<Bytes> inputs;
  for (const harness::Case& value : *cases) {
    for (Bytes& input : target.form->inputs_of(value)) {
      inputs.push_back(std::move(input));
    }
  }
  return inputs;
}

// A positive number of the whole text; nothing where it is none.
std::optional<int> positive(const std::string& text) {
  int value = 0;
  const char* const end = text.data() + text.size();
  const auto read = std::from_chars(text.data(), end, value);
  return read.ec == std::errc() && read.ptr == end && value >= 1 ? std::optional(value) : std::nullopt;
}

int replay(const Target& target, Arguments paths) {
  unsigned seconds = kMostInputSeconds;
  if (paths.size() >= 2 && paths[0] == "--limit") {
    const auto limit = positive(paths[1]);
    if (!limit) {
      return fail("'" + paths[1] + "' is no number of seconds");
    }
    seconds = static_cast<unsigned>(*limit);
    paths.erase(paths.begin(), paths.begin() + 2);
  }
  const auto files = files_of(paths);
  if (!files) {
    return fail(files.error());
  }
  std::size_t count = 0;
  std::size_t not_judged = 0;
  for (const std::string& file : *files) {
    const auto inputs = inputs_in(target, file);
    if (!inputs) {
      return fail(inputs.error());
    }
    if (!inputs->empty()) {
      // Said before the run, so that a crash's last words name its input.
      std::fprintf(stderr, "replaying %s (%zu)\n", file.c_str(), inputs->size());
    }
    for (const Bytes& input : *inputs) {
      const InputDeadline deadline(file, seconds);
      not_judged += target.body(input.data(), input.size()) != 0 ? 1 : 0;
      ++count;
    }
  }
  if (count == not_judged) {
    return fail("none of the files holds an input that " + std::string(target.name) + " judges");
  }
  std::printf("%s: %zu inputs of %zu files replayed, %zu more not judged (too large, or outside the target's domain)\n",
              std::string(target.name).c_str(), count - not_judged, files->size(), not_judged);
  return 0;
}

bool write_file(const fs::path& file, const Bytes& bytes) {
  std::ofstream stream(file, std::ios::binary);
  stream.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return static_cast<bool>(stream.flush());
}

int minimise_file(const Target& target, const std::string& file, const std::string& out, int attempts) {
  auto bytes = bytes_of(file);
  if (!bytes) {
    return fail(bytes.error());
  }
  const std::size_t before = bytes->size();
  const Minimised smallest = minimise(target, *std::move(bytes), attempts);
  if (smallest.ending.empty()) {
    return fail(file + ": the run returns, so there is nothing to minimise");
  }
  if (!write_file(out, smallest.bytes)) {
    return fail(out + ": cannot be written");
  }
  std::printf("%s\n%zu -> %zu bytes in %d runs\n", smallest.ending.c_str(), before, smallest.bytes.size(),
              smallest.attempts);
  return 0;
}

// The call with the oracle's answers.
harness::Case answered(harness::Case value) {
  for (harness::Case& prior : value.prior_calls) {
    prior = answered(std::move(prior));
  }
  const std::int32_t status = harness::expected_status(value, true);
  value.expect = status == harness::status::kOk ? harness::Expectation(harness::expected_rows(value))
                                                : harness::Expectation(status);
  return value;
}

int print_json(const Target& target, const std::string& file) {
  const auto bytes = bytes_of(file);
  if (!bytes) {
    return fail(bytes.error());
  }
  if (target.form->case_of == nullptr) {
    std::fprintf(stderr, "kvwitness_fuzz: an input of %s is no case\n", std::string(target.name).c_str());
    return kNoCase;
  }
  std::printf("%s\n", to_json(answered(target.form->case_of(*bytes))).c_str());
  return 0;
}

int write_inputs(const Target& target, const std::string& file, const fs::path& folder) {
  const auto inputs = inputs_in(target, file);
  if (!inputs) {
    return fail(inputs.error());
  }
  fs::create_directories(folder);
  for (std::size_t i = 0; i < inputs->size(); ++i) {
    if (!write_file(folder / std::to_string(i), (*inputs)[i])) {
      return fail(folder.string() + ": cannot be written");
    }
  }
  return 0;
}

int write_seeds(const fs::path& folder, const std::string& corpus) {
  for (const Target& target : all_targets()) {
    const auto seeds = seeds_of(target, corpus);
    if (!seeds) {
      return fail(seeds.error());
    }
    const fs::path below = folder / target.name;
    fs::remove_all(below);
    fs::create_directories(below);
    std::size_t bytes = 0;
    for (const Seed& seed : *seeds) {
      bytes += seed.bytes.size();
      if (!write_file(below / seed.name, seed.bytes)) {
        return fail(below.string() + ": cannot be written");
      }
    }
    std::printf("%s: %zu seeds, %zu bytes\n", std::string(target.name).c_str(), seeds->size(), bytes);
  }
  return 0;
}

int list_targets() {
  for (const Target& target : all_targets()) {
    const auto faults = std::ranges::count(target.finds, ' ') + (target.finds.empty() ? 0 : 1);
    std::printf("%s %zu judges %s; reads %s; finds %td planted faults in at most %d executions each\n",
                std::string(target.name).c_str(), target.form->most_input_bytes, std::string(target.judges).c_str(),
                std::string(target.form->name).c_str(), faults, target.control_runs);
  }
  return 0;
}

int run_on_target(const std::string& command, const Target& target, const Arguments& rest) {
  if (command == "replay") {
    return replay(target, rest);
  }
  if (command == "ending" && rest.size() == 1) {
    const auto bytes = bytes_of(rest[0]);
    if (!bytes) {
      return fail(bytes.error());
    }
    std::printf("%s\n", ending_of(target, *bytes).c_str());
    return 0;
  }
  if (command == "json" && rest.size() == 1) {
    return print_json(target, rest[0]);
  }
  if (command == "encode" && rest.size() == 2) {
    return write_inputs(target, rest[0], rest[1]);
  }
  if (command == "minimise" && (rest.size() == 2 || rest.size() == 3)) {
    int attempts = 3000;
    if (rest.size() == 3) {
      const auto runs = positive(rest[2]);
      if (!runs) {
        return fail("'" + rest[2] + "' is no number of runs");
      }
      attempts = *runs;
    }
    return minimise_file(target, rest[0], rest[1], attempts);
  }
  std::fputs(std::string(kHelp).c_str(), stderr);
  return kUsage;
}

int run(const Arguments& arguments) {
  if (arguments.size() == 1 && arguments[0] == "targets") {
    return list_targets();
  }
  if (arguments.size() == 3 && arguments[0] == "seeds") {
    return write_seeds(arguments[1], arguments[2]);
  }
  if (arguments.size() < 3) {
    std::fputs(std::string(kHelp).c_str(), stderr);
    return kUsage;
  }
  const Target* const target = find_target(arguments[1]);
  if (target == nullptr) {
    return fail("there is no target '" + arguments[1] + "'; `kvwitness_fuzz targets` lists them");
  }
  return run_on_target(arguments[0], *target, Arguments(arguments.begin() + 2, arguments.end()));
}

}  // namespace
}  // namespace kvwitness::fuzz

int main(int argc, char** argv) {
  return kvwitness::fuzz::run(std::vector<std::string>(argv + 1, argv + argc));
}
