// How the generators choose a small value: by RapidCheck, which records every choice, replays it, and shrinks it towards
// the plainest one. For use inside rc::gen::exec.
//
// Ranges do not depend on RapidCheck's size, since edges are not large values that come late.
#ifndef PROPERTIES_GENERATORS_CHOICES_H
#define PROPERTIES_GENERATORS_CHOICES_H

#include <kvwitness/assertions.h>
#include <rapidcheck/Gen.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "properties/generators/random_source.h"

namespace kvwitness::harness {

// One of [low, high], the upper end included, which must be below INT64_MAX. Shrinks towards low.
inline rc::Gen<std::int64_t> between(std::int64_t low, std::int64_t high) {
  KVWITNESS_ASSERT(low <= high, low, high);
  return rc::gen::resize(rc::kNominalSize, rc::gen::inRange(low, high + 1));
}

// Shrinks towards false.
inline rc::Gen<bool> chance(int percent) {
  return rc::gen::map(between(0, 99), [percent](std::int64_t value) { return value >= 100 - percent; });
}

// One of the values, which are not empty. Shrinks towards the first, unlike rc::gen::element, which does not shrink.
template <typename T>
rc::Gen<T> one_of(std::vector<T> values) {
  KVWITNESS_ASSERT(!values.empty());
  const auto last = static_cast<std::int64_t>(values.size()) - 1;
  return rc::gen::map(between(0, last), [values = std::move(values)](std::int64_t index) {
    return values[static_cast<std::size_t>(index)];
  });
}

// A stream of bulk values. Its seed is one choice and does not shrink: what it filled shrinks as a whole.
inline rc::Gen<RandomSource> random_source() {
  return rc::gen::map(rc::gen::noShrink(rc::gen::resize(rc::kNominalSize, rc::gen::arbitrary<std::uint64_t>())),
                      [](std::uint64_t seed) { return RandomSource(seed); });
}

}  // namespace kvwitness::harness

#endif  // PROPERTIES_GENERATORS_CHOICES_H
