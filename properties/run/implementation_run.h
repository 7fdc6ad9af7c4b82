// One implementation in a run: its domain, its calls so far and its results so far.
#ifndef PROPERTIES_RUN_IMPLEMENTATION_RUN_H
#define PROPERTIES_RUN_IMPLEMENTATION_RUN_H

#include <kvwitness/rapidcheck.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "properties/case/implementation.h"
#include "properties/run/counterexample_search.h"
#include "properties/run/recording.h"
#include "properties/run/results.h"
#include "properties/run/within_domain.h"

namespace kvwitness::harness {

struct ImplementationRun {
  // After how many cases without an answer it is judged no further: each costs a deadline.
  static constexpr int kMostHangs = 5;

  ImplementationRun(Implementation& implementation, std::int64_t fresh_attempts_of_run)
      : within(implementation), recording(within), fresh_attempts(fresh_attempts_of_run) {}

  const std::string& name() const { return result.implementation; }
  bool is_given_up() const { return hangs >= kMostHangs; }
  // Whether no further case can change the property's result.
  bool is_settled(std::size_t property) const {
    return result.properties[property].kind == ResultKind::kFail && !is_provisional[property];
  }

  WithinDomain within;  // no call outside `domain` reaches the implementation
  Recording recording;
  bool is_available = true;
  const Domain& domain() const { return within.admitted(); }  // what the person and its own promises admit
  Domain narrowed;                                            // what of it the implementation serves
  ImplementationResult result;
  // By property: it failed, and a counterexample that is easier to check may come yet.
  std::vector<bool> is_provisional;
  std::vector<KnownCase> known;  // minimal cases so far
  std::int64_t
      fresh_attempts;  // shrinking attempts with a restart that are left to an implementation that starts slowly
  std::int64_t supported = 0;  // cases that it ran as its domain's
  std::int64_t drawn = 0;      // generated cases that it was given
  std::int64_t served = 0;     // those of them that it serves
  int hangs = 0;               // cases that ran into the deadline, those of shrinking not counted
};

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUN_IMPLEMENTATION_RUN_H
