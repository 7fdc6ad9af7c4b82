// Mutation of a case file's numbers; the rest of a text is left to the engine.
#ifndef FUZZ_MUTATORS_NUMBER_MUTATOR_H
#define FUZZ_MUTATORS_NUMBER_MUTATOR_H

#include "fuzz/mutators/mutator.h"

namespace kvwitness::fuzz {

// Now and then changes one number of the text by a power of two at which a type of fewer bits wraps, writes it in another
// way, or replaces it by a limit.
extern const Mutator kNumberMutator;

}  // namespace kvwitness::fuzz

#endif  // FUZZ_MUTATORS_NUMBER_MUTATOR_H
