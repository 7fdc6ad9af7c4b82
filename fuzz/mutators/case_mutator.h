// Mutation and crossover of cases by what they mean: rows, slots, edges and lengths, not bytes.
#ifndef FUZZ_MUTATORS_CASE_MUTATOR_H
#define FUZZ_MUTATORS_CASE_MUTATOR_H

#include <kvwitness/case.h>

#include "fuzz/mutators/mutator.h"

namespace kvwitness::fuzz {

// One to four changes; most cases stay legal. Each is one of these:
//
//   - a token put on an edge of its row's partition, beside it, on the context's end or on padding
//   - a row made to cover all segments, all but one or a single one; a row sorted, reversed, or padded
//   - a length moved around the segment count, topk or a power of two
//   - a row copied, dropped or taken to another place
//   - another width, segment count, budget, operation, stride or placement
//   - a prior call added, or all of them dropped
//   - an argument out of its range
void mutate(harness::Case& value, Random& random);

// A case with the width and the counts of one parent and rows, lengths or arguments of the other.
harness::Case cross(const harness::Case& one, const harness::Case& other, Random& random);

extern const Mutator kCaseMutator;
// The schedule or the case, or both.
extern const Mutator kScheduledCaseMutator;

}  // namespace kvwitness::fuzz

#endif  // FUZZ_MUTATORS_CASE_MUTATOR_H
