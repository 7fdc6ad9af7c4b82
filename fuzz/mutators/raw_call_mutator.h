// Mutation of raw calls by what their arguments mean.
#ifndef FUZZ_MUTATORS_RAW_CALL_MUTATOR_H
#define FUZZ_MUTATORS_RAW_CALL_MUTATOR_H

#include "fuzz/c_functions/raw_call.h"
#include "fuzz/mutators/mutator.h"

namespace kvwitness::fuzz {

// One to three changes, mostly of what the function reads: another function; a count put on a limit of the contract, beside it, or in its relation to
// other counts (a length that is rows * topk, a product that wraps, the fewest lengths for the rows); a pointer made
// null, equal to another or overlapping it at its end; a text on the edge of what is accepted.
void mutate(RawCall& call, Random& random);

// Raw calls are not crossed.
extern const Mutator kRawCallMutator;

}  // namespace kvwitness::fuzz

#endif  // FUZZ_MUTATORS_RAW_CALL_MUTATOR_H
