// What a fuzzing engine calls, for one target: KVWITNESS_FUZZ_TARGET names it.
#include <cstddef>
#include <cstdint>

#include "fuzz/engine/linked_target.h"

namespace kvwitness::fuzz {

namespace targets {
extern const Target KVWITNESS_FUZZ_TARGET;
}

const Target& linked_target() {
  return targets::KVWITNESS_FUZZ_TARGET;
}

}  // namespace kvwitness::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return kvwitness::fuzz::linked_target().body(data, size);
}
