#include "fuzz/seeds.h"

#include <kvwitness/case.h>

#include <filesystem>
#include <string>
#include <utility>

#include "fuzz/engine/replay_files.h"

namespace kvwitness::fuzz {
namespace {

namespace fs = std::filesystem;

// nulls.jsonl holds answers of the null models and is no case file.
bool is_case_file(const fs::path& path) {
  return path.extension() == ".jsonl" && path.filename() != "nulls.jsonl";
}

// Of the large folders every so many-th case: the rest repeats their sizes.
std::size_t step_of(std::string_view folder) {
  return folder == "golden" ? 6 : folder == "real" ? 8 : 1;
}

std::expected<std::vector<NamedCase>, std::string> cases_of_corpus(const std::string& corpus_folder) {
  std::vector<NamedCase> cases;
  for (const std::string folder : {"regressions", "golden", "real"}) {
    const auto files = files_of({(fs::path(corpus_folder) / folder).string()});
    if (!files) {
      return std::unexpected(files.error());
    }
    for (const std::string& file : *files) {
      if (!is_case_file(file)) {
        continue;
      }
      auto read = harness::read_cases(file);
      if (!read) {
        return std::unexpected(read.error().message());
      }
      const std::string stem = fs::path(file).stem().string();
      for (std::size_t i = 0; i < read->size(); i += step_of(folder)) {
        cases.push_back({stem + "-" + std::to_string(i), std::move((*read)[i])});
      }
    }
  }
  return cases;
}

}  // namespace

std::expected<std::vector<Seed>, std::string> seeds_of(const Target& target, const std::string& corpus_folder) {
  const auto cases = cases_of_corpus(corpus_folder);
  if (!cases) {
    return std::unexpected(cases.error());
  }
  std::vector<Seed> seeds = target.form->seeds_of(*cases);
  std::erase_if(seeds, [&](const Seed& seed) { return seed.bytes.size() > target.form->most_seed_bytes; });
  return seeds;
}

}  // namespace kvwitness::fuzz
