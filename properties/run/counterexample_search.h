// From a failure to a counterexample: reproduced, with the calls before it where it needs them, shrunk and explained.
#ifndef PROPERTIES_RUN_COUNTEREXAMPLE_SEARCH_H
#define PROPERTIES_RUN_COUNTEREXAMPLE_SEARCH_H

#include <kvwitness/case.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "properties/case/outcome.h"
#include "properties/rules/property.h"
#include "properties/run/recording.h"
#include "properties/run/runner.h"

namespace kvwitness::harness {

// A failure as it was met.
struct Failure {
  const Property* property;
  Case value;
  std::string source;
  Outcome outcome;
  Verdict verdict;
  std::vector<Case> calls_before;  // of the same process, oldest first
  bool hung = false;               // the run, or a further one of a relation, got no answer within the deadline
};

// 1. The case alone: if it fails again (after a restart, where the implementation can be restarted), nothing before it
//    matters and it is shrunk as it is. A fault that left something behind may make it fail only while the process
//    lives: then the minimal case is tried once more after a restart, and shrunk again with a restart before each
//    attempt if need be.
// 2. Otherwise the minimal cases of other properties are tried, which have the calls that they need with them.
// 3. Otherwise the calls before it are made again, the last one, the last two, four, ... and all; where the failure
//    comes back, the fewest of them with which it does become the case's `after` and are shrunk with it.
// 4. Otherwise the counterexample says that it was not reproduced, and stays as it was met.
//
// A failure by the deadline is searched for once an operation: where one of `known` has hung before, it is taken for
// this property too, and no further deadline is waited for.
struct KnownCase {
  Case value;
  bool hung = false;  // no answer to it came within the deadline
};

struct SearchLimits {
  std::int64_t attempts;
  // Of those that begin with a restart; a few are made where none is left. Less by what the search has used.
  std::int64_t& fresh_attempts;
  // Whether a case is within the run's domain.
  std::function<bool(const Case&)> admits;
  // Whether to end with what there is.
  std::function<bool()> is_over;
};

// `known` are minimal cases of other properties of the same implementation: a fault that breaks one usually breaks
// others on the same case, and starting there saves most attempts.
Counterexample find_counterexample(const Failure& failure, Recording& implementation, std::span<const KnownCase> known,
                                   const SearchLimits& limits);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUN_COUNTEREXAMPLE_SEARCH_H
