// From a failure to a counterexample: reproduced, with the prior calls that it needs, shrunk and explained.
//
// 1. The case without prior calls. If it fails again (after a restart, where the implementation can be
//    restarted), no call made before it matters, and it is shrunk as it is. A fault that left something
//    behind may make it fail only while the process lives: then the minimal case is tried once more after a
//    restart, and shrunk again with a restart before each attempt if need be.
// 2. Otherwise the minimal cases of other properties are tried, with the prior calls that they need.
// 3. Otherwise the calls made before it are made again: the last one, the last two, four, ... and all. Where
//    the failure comes back, the fewest of them with which it does become the case's prior calls and are
//    shrunk with it.
// 4. Otherwise the counterexample says that it was not reproduced, and stays as it was found.
//
// A failure by the deadline is searched for once an operation: a known case that has hung before is taken for this
// property too, and no further deadline is waited for.
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
#include "properties/run/results.h"

namespace kvwitness::harness {

// A failure as it was found.
struct Failure {
  const Property* property;
  Case value;
  std::string source;
  Outcome outcome;
  Verdict verdict;
  std::vector<Case> prior_calls;  // of the same process, oldest first, without those of the case itself
  bool hung = false;              // the run, or a further one of a relation, got no answer within the deadline
};

// A minimal case of another property of the same implementation. A fault that breaks one property usually breaks others
// on the same case, and starting there saves most attempts.
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

Counterexample find_counterexample(const Failure& failure, Recording& implementation, std::span<const KnownCase> known,
                                   const SearchLimits& limits);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUN_COUNTEREXAMPLE_SEARCH_H
