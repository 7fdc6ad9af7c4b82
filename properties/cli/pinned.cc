#include "properties/cli/pinned.h"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "properties/cli/arguments.h"
#include "properties/cli/selection.h"

namespace kvwitness::harness::cli {
namespace {

namespace fs = std::filesystem;

// "real/rows.jsonl#12": the twelfth case of the file.
void append_cases(std::vector<PinnedCase>& pinned, const std::string& path, const std::string& shown) {
  auto cases = read_cases(path);
  if (!cases) throw UsageError(cases.error().message());
  std::size_t number = 0;
  for (Case& value : *cases) {
    pinned.push_back({.source = fmt::format("{}#{}", shown, ++number), .value = std::move(value)});
  }
}

std::vector<fs::path> case_files(const fs::path& folder) {
  std::error_code error;
  std::vector<fs::path> files;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const fs::path& path = entry->path();
    const bool named_so = path.extension() == ".json" || path.extension() == ".jsonl";
    const bool nulls = path.filename() == "nulls.jsonl" && folder.filename() == "golden";
    if (named_so && !nulls && entry->is_regular_file()) files.push_back(path);
  }
  if (error) {
    throw UsageError(fmt::format("the pinned cases in {} cannot be read: {}", folder.string(), error.message()));
  }
  std::sort(files.begin(), files.end());
  return files;
}

}  // namespace

fs::path corpus_folder() {
  const fs::path installed = fs::path(executable_path()).parent_path().parent_path() / "share" / "kvwitness" / "corpus";
  std::error_code error;
  return fs::is_directory(installed, error) ? installed : fs::path(KVWITNESS_CORPUS_FOLDER);
}

std::vector<PinnedCase> read_corpus(const fs::path& folder) {
  std::vector<PinnedCase> pinned;
  for (const char* const part : {"regressions", "real", "golden"}) {
    const std::vector<fs::path> files = case_files(folder / part);
    if (files.empty()) {
      throw UsageError(
          fmt::format("{} holds no case file (*.json, *.jsonl): the corpus of pinned cases is incomplete; restore it, "
                      "or name the cases with --cases",
                      (folder / part).string()));
    }
    for (const fs::path& file : files) {
      append_cases(pinned, file.string(), fs::path("corpus" / file.lexically_relative(folder)).string());
    }
  }
  return pinned;
}

std::vector<PinnedCase> read_case_files(const std::vector<std::string>& paths) {
  if (std::count(paths.begin(), paths.end(), "-") > 1) {
    throw UsageError("'-' is named twice, and standard input can be read once");
  }
  std::vector<PinnedCase> pinned;
  for (const std::string& path : paths) append_cases(pinned, path, path == "-" ? "standard input" : path);
  return pinned;
}

}  // namespace kvwitness::harness::cli
