// The inputs from which campaigns start, made from the corpus's case files.
#ifndef FUZZ_SEEDS_H
#define FUZZ_SEEDS_H

#include <expected>
#include <string>
#include <vector>

#include "fuzz/target.h"

namespace kvwitness::fuzz {

// The seeds of one target. Cases come from every case file in the corpus's folders regressions, golden and real, in
// their order; those above the size limit of the target's form are left out, and of the many golden ones of one size a
// part is taken. An error, in words, for a file that cannot be read.
std::expected<std::vector<Seed>, std::string> seeds_of(const Target& target, const std::string& corpus_folder);

}  // namespace kvwitness::fuzz

#endif  // FUZZ_SEEDS_H
