// The inputs from which campaigns start, made from the corpus's case files.
#ifndef FUZZ_SEEDS_H
#define FUZZ_SEEDS_H

#include <kvwitness/case.h>

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/target.h"

namespace kvwitness::fuzz {

struct Seed {
  std::string name;
  std::vector<std::uint8_t> bytes;
};

// The seeds of one target. Cases come from every case file in the corpus's folders regressions, golden and real, in
// their order; those above the target's size limit are left out, and of the many golden ones of one shape a part is
// taken. An error, in words, for a file that cannot be read.
std::expected<std::vector<Seed>, std::string> seeds_of(const Target& target, const std::string& corpus_folder);

// The largest seed of a target, and the largest input worth trying.
std::size_t most_seed_bytes(const Target& target);
std::size_t most_input_bytes(const Target& target);

// A case as inputs of a target: the case itself, several schedules of it, the raw calls that it makes, or calls of its
// shape.
std::vector<std::vector<std::uint8_t>> inputs_of(const Target& target, const harness::Case& value);

}  // namespace kvwitness::fuzz

#endif  // FUZZ_SEEDS_H
