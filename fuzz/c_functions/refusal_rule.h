// What a raw call must come to, worked out from the contract of the C interfaces and nothing of the library.
#ifndef FUZZ_C_FUNCTIONS_REFUSAL_RULE_H
#define FUZZ_C_FUNCTIONS_REFUSAL_RULE_H

#include <span>
#include <string_view>

#include "fuzz/c_functions/c_function.h"

namespace kvwitness::fuzz {

// The checks in the order of the contract, of which the first that fails decides: counts below their minimum; what
// counts must be to each other; null pointers; strides; overlaps; capacities; texts. `backends` are those that can run
// here.
Ruling ruling_of(const RawCall& call, std::span<const std::string_view> backends);

}  // namespace kvwitness::fuzz

#endif  // FUZZ_C_FUNCTIONS_REFUSAL_RULE_H
