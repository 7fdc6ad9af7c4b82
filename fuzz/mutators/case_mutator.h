// Mutation and crossover of cases by what they mean: rows, slots, edges and lengths, not bytes.
#ifndef FUZZ_MUTATORS_CASE_MUTATOR_H
#define FUZZ_MUTATORS_CASE_MUTATOR_H

#include <kvwitness/case.h>

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "fuzz/target.h"

namespace kvwitness::fuzz {

using Random = std::minstd_rand;

// One to four changes, each of one of these kinds: a token put on an edge of its row's partition, beside it, on the
// context's end or on padding; a row made to cover all segments, all but one or a single one, sorted, reversed, or
// padded; a length moved around the segment count, topk or a power of two; a row copied, dropped or taken to another
// place; another width, segment count, budget, operation, stride or placement; calls put before the case; a call made
// malformed. Most cases stay legal.
void mutate(harness::Case& value, Random& random);

// A case with the shape of one parent and rows, lengths or arguments of the other.
harness::Case cross(const harness::Case& one, const harness::Case& other, Random& random);

// The same on inputs of a target whose form is a case, a scheduled case or a raw call: decodes, mutates, encodes. Raw
// calls are not crossed. The result has at most `most_bytes` bytes (0 where nothing that small came out; the caller
// then mutates bytes).
std::vector<std::uint8_t> mutate_input(InputForm form, std::span<const std::uint8_t> bytes, std::size_t most_bytes,
                                       unsigned seed);
std::vector<std::uint8_t> cross_inputs(InputForm form, std::span<const std::uint8_t> one,
                                       std::span<const std::uint8_t> other, std::size_t most_bytes, unsigned seed);

}  // namespace kvwitness::fuzz

#endif  // FUZZ_MUTATORS_CASE_MUTATOR_H
