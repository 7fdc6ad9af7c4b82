// The failure database: a folder with every failing case, replayed first the next time.
//
// An entry is a case file (any `kvwitness replay` reads it) whose cases carry the pair that failed in their note:
// "fails: IMPLEMENTATION, PROPERTY" ("failed once: ..." where it did not fail again), the minimal case first, then the
// original one. Its name is made of the pair and of a digest of the original case, so the same failure keeps the same
// file. A pair that had failed again and passes now is mended: its entry moves to the sub-folder `fixed`.
#ifndef PROPERTIES_RUN_FAILURE_DATABASE_H
#define PROPERTIES_RUN_FAILURE_DATABASE_H

#include <kvwitness/case.h>

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "properties/run/results.h"

namespace kvwitness::harness {

// How the note of a kept failure begins: of one that failed again, and of one that did not.
inline constexpr std::string_view kFailureNote = "fails: ", kOnceFailedNote = "failed once: ";

struct FailureEntry {
  std::string path;
  std::string implementation;
  std::string property;
  std::vector<Case> cases;   // not empty; the minimal one first, without the note
  bool failed_again = true;  // one that did not is not fixed because it passes
};

// Every entry of the folder, by path. A folder that does not exist holds none. An entry that cannot be read, is no case
// file or has no pair in its notes is an error that names the file.
std::expected<std::vector<FailureEntry>, std::string> read_failures(const std::string& folder);

// Where the failure of the pair on `original` is kept.
std::string failure_path(const std::string& folder, std::string_view implementation, std::string_view property,
                         const Case& original);

// Writes the entry to its path, atomically: a reader sees the old file or the new one. Creates the folder. An error
// names the file.
std::expected<void, std::string> write_failure(const FailureEntry& entry);

// Writes each minimal case that is too long to be pasted, and is kept nowhere yet, to a file of the folder, by whose
// name it is replayed. One that cannot be written stays as it is.
void keep_long_cases(RunReport& report, const std::string& folder);

// Moves the entry to `fixed` beside it, over an older entry of that name.
std::expected<void, std::string> mark_fixed(const FailureEntry& entry);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUN_FAILURE_DATABASE_H
