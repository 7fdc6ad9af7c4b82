// Functions that stand in for others.
#ifndef FUZZ_PLANTED_FAULTS_STAND_IN_H
#define FUZZ_PLANTED_FAULTS_STAND_IN_H

#include <algorithm>
#include <span>
#include <type_traits>

#include "fuzz/under_test.h"

namespace kvwitness::fuzz {

struct StandIn {
  AnyFunction original;
  AnyFunction planted;
};

template <typename Function>
StandIn stand_in(Function* original, std::type_identity_t<Function>* planted) {
  return {reinterpret_cast<AnyFunction>(original), reinterpret_cast<AnyFunction>(planted)};
}

// The one that stands in for the function; the function itself where none does.
inline AnyFunction planted_for(AnyFunction function, std::span<const StandIn> stand_ins) {
  const auto found = std::ranges::find(stand_ins, function, &StandIn::original);
  return found == stand_ins.end() ? function : found->planted;
}

}  // namespace kvwitness::fuzz

#endif  // FUZZ_PLANTED_FAULTS_STAND_IN_H
