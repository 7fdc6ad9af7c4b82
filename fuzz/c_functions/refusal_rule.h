// What a raw call must return, worked out from the contract of the C interfaces and nothing of the library.
#ifndef FUZZ_C_FUNCTIONS_REFUSAL_RULE_H
#define FUZZ_C_FUNCTIONS_REFUSAL_RULE_H

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "fuzz/c_functions/raw_call.h"

namespace kvwitness::fuzz {

// A buffer of a call: from the arena's start, in bytes. Wider than the arena where the counts say so.
struct Reach {
  std::int32_t pointer;  // as in RawCall::pointers
  unsigned __int128 bytes;
};

struct Ruling {
  std::int32_t status = 0;            // a number of status.h
  std::string_view argument;          // of a refusal: what its message must name
  std::optional<std::int64_t> count;  // what the nulls write to *count although they refuse
  // Of a legal call: what it reads and what it writes.
  std::vector<Reach> reads;
  std::vector<Reach> writes;
  // Of a legal call of a CUDA function: whether something is launched.
  bool launches = false;
};

// `backend_names` are those that can run here.
Ruling ruling_of(const RawCall& call, const std::vector<std::string_view>& backend_names);

}  // namespace kvwitness::fuzz

#endif  // FUZZ_C_FUNCTIONS_REFUSAL_RULE_H
