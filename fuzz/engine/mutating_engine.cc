// The target's mutator for a fuzzing engine. It is linked with targets that have one: an engine that finds these functions
// leaves its own mutations to them.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "fuzz/engine/linked_target.h"

extern "C" {

// The engine's own; this one takes its place where the engine has none (a replayer), and is not called there.
__attribute__((weak)) std::size_t LLVMFuzzerMutate(std::uint8_t*, std::size_t size, std::size_t) {
  return size;
}

// One mutation in eight is the engine's own, on the bytes: malformed encodings are worth reading too.
std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size, unsigned int seed) {
  using namespace kvwitness::fuzz;
  if (seed % 8 != 0) {
    const Bytes mutated = mutate_input(*linked_target().mutator, {data, size}, max_size, seed);
    if (!mutated.empty()) {
      std::ranges::copy(mutated, data);
      return mutated.size();
    }
  }
  return LLVMFuzzerMutate(data, size, max_size);
}

std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* data1, std::size_t size1, const std::uint8_t* data2,
                                      std::size_t size2, std::uint8_t* out, std::size_t max_out_size,
                                      unsigned int seed) {
  using namespace kvwitness::fuzz;
  const Bytes child = cross_inputs(*linked_target().mutator, {data1, size1}, {data2, size2}, max_out_size, seed);
  std::ranges::copy(child, out);
  return child.size();
}

}  // extern "C"
