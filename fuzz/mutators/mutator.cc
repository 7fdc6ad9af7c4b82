#include "fuzz/mutators/mutator.h"

#include <utility>

namespace kvwitness::fuzz {
namespace {

Bytes within(Bytes bytes, std::size_t most_bytes) {
  return bytes.size() <= most_bytes ? std::move(bytes) : Bytes();
}

}  // namespace

Bytes mutate_input(const Mutator& mutator, std::span<const std::uint8_t> bytes, std::size_t most_bytes, unsigned seed) {
  Random random(seed);
  return within(mutator.mutate(bytes, random), most_bytes);
}

Bytes cross_inputs(const Mutator& mutator, std::span<const std::uint8_t> one, std::span<const std::uint8_t> other,
                   std::size_t most_bytes, unsigned seed) {
  if (mutator.cross == nullptr) {
    return {};
  }
  Random random(seed);
  return within(mutator.cross(one, other, random), most_bytes);
}

}  // namespace kvwitness::fuzz
