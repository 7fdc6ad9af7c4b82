// The pinned cases: what `verify` judges before it generates anything.
#ifndef PROPERTIES_CLI_PINNED_H
#define PROPERTIES_CLI_PINNED_H

#include <kvwitness/case.h>

#include <filesystem>
#include <string>
#include <vector>

#include "properties/run/options.h"

namespace kvwitness::harness::cli {

// The folder with the shipped cases: ../share/kvwitness/corpus seen from the executable, where that exists (an
// installed program), else that of the source tree from which the program was built.
std::filesystem::path corpus_folder();

// The cases of every .json and .jsonl file in the folder's regressions, real and golden, in this order and by file
// name; golden/nulls.jsonl holds no cases and is left out. Throws UsageError where one of the three is missing or holds
// no case file, or a file cannot be read.
std::vector<PinnedCase> read_corpus(const std::filesystem::path& folder);

// The cases of files that a person names; "-" is standard input, once. Throws UsageError.
std::vector<PinnedCase> read_case_files(const std::vector<std::string>& paths);

}  // namespace kvwitness::harness::cli

#endif  // PROPERTIES_CLI_PINNED_H
