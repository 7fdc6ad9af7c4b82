// Mutation and crossover of inputs by what they mean.
#ifndef FUZZ_MUTATORS_MUTATOR_H
#define FUZZ_MUTATORS_MUTATOR_H

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>

#include "fuzz/inputs/input_form.h"

namespace kvwitness::fuzz {

using Random = std::minstd_rand;

// Each decodes, changes and encodes; any bytes can be mutated.
struct Mutator {
  Bytes (*mutate)(std::span<const std::uint8_t> bytes, Random& random);
  // Null where inputs are not crossed.
  Bytes (*cross)(std::span<const std::uint8_t> one, std::span<const std::uint8_t> other, Random& random) = nullptr;
};

// The same input for the same seed. Empty where the result has more than `most_bytes` bytes: the caller then leaves the
// mutation to the engine.
Bytes mutate_input(const Mutator& mutator, std::span<const std::uint8_t> bytes, std::size_t most_bytes, unsigned seed);
// Empty also where inputs are not crossed.
Bytes cross_inputs(const Mutator& mutator, std::span<const std::uint8_t> one, std::span<const std::uint8_t> other,
                   std::size_t most_bytes, unsigned seed);

}  // namespace kvwitness::fuzz

#endif  // FUZZ_MUTATORS_MUTATOR_H
