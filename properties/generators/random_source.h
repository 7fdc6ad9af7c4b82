// A stream of pseudo-random values for what a generator draws by the thousand, where a RapidCheck generator for each
// would dominate the run. Its seed is drawn by RapidCheck, so a case is a function of RapidCheck's choices.
#ifndef PROPERTIES_GENERATORS_RANDOM_SOURCE_H
#define PROPERTIES_GENERATORS_RANDOM_SOURCE_H

#include <kvwitness/assertions.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>
#include <vector>

namespace kvwitness::harness {

class RandomSource {
 public:
  explicit RandomSource(std::uint64_t seed) : state_(seed) {}

  // splitmix64 (Steele, Lea and Flood, 2014).
  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

  // Uniform in [low, high] but for a bias below 2^-32 on ranges below 2^32; needs low <= high.
  std::int64_t between(std::int64_t low, std::int64_t high) {
    KVWITNESS_ASSERT(low <= high, low, high);
    const std::uint64_t width = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) + 1;
    const std::uint64_t offset = width == 0 ? next() : next() % width;
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + offset);
  }
  std::size_t below(std::size_t count) {
    KVWITNESS_ASSERT(count > 0);
    return static_cast<std::size_t>(next() % count);
  }
  bool chance(int percent) { return next() % 100 < static_cast<std::uint64_t>(percent); }

  template <typename T>
  T pick(std::initializer_list<T> values) {
    return values.begin()[below(values.size())];
  }
  template <typename T>
  const T& pick(const std::vector<T>& values) {
    return values[below(values.size())];
  }
  // Fisher and Yates. The standard's shuffle differs between libraries, and a seed must give the same cases everywhere.
  template <typename Sequence>
  void shuffle(Sequence& values) {
    for (std::size_t i = values.size(); i > 1; --i) {
      std::swap(values[i - 1], values[below(i)]);
    }
  }

 private:
  std::uint64_t state_;
};

}  // namespace kvwitness::harness

#endif  // PROPERTIES_GENERATORS_RANDOM_SOURCE_H
