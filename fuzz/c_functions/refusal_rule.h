// What a raw call must come to, worked out from the contract of the C interfaces and nothing of the library.
#ifndef FUZZ_C_FUNCTIONS_REFUSAL_RULE_H
#define FUZZ_C_FUNCTIONS_REFUSAL_RULE_H

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "fuzz/c_functions/c_function.h"

namespace kvwitness::fuzz {

// A buffer of a call, or a part of its lengths.
struct Buffer {
  std::string_view name;
  std::int32_t pointer;  // as in RawCall::pointers
  Wide bytes;            // 0 where the call neither reads nor writes it
  std::int64_t element_bytes;
  ArgumentKind kind;
};

// The buffers in the order of the parameters. The call's counts are at least their minima.
std::vector<Buffer> buffers_of(const CFunction& function, const RawCall& call);

// The checks in the order of the contract, of which the first that fails decides: counts below their minimum; what
// counts must be to each other; null pointers; strides; overlaps; capacities; texts. `backends` are those that can run
// here.
Ruling ruling_of(const RawCall& call, std::span<const std::string_view> backends);

}  // namespace kvwitness::fuzz

#endif  // FUZZ_C_FUNCTIONS_REFUSAL_RULE_H
