// One implementation in a run: its domain, its calls so far and its results so far.
#ifndef PROPERTIES_RUN_IMPLEMENTATION_RUN_H
#define PROPERTIES_RUN_IMPLEMENTATION_RUN_H

#include <kvwitness/rapidcheck.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "properties/case/implementation.h"
#include "properties/run/counterexample_search.h"
#include "properties/run/ration.h"
#include "properties/run/recording.h"
#include "properties/run/results.h"
#include "properties/run/within_domain.h"

namespace kvwitness::harness {

struct ImplementationRun {
  // After how many cases without an answer it is judged no further: each costs a deadline.
  static constexpr int kMostHangs = 5;

  ImplementationRun(Implementation& implementation, std::int64_t fresh_attempts_of_run,
                    std::optional<Ration::Seconds> time_limit)
      : ration(time_limit), within(implementation), recording(within, ration), fresh_attempts(fresh_attempts_of_run) {}

  const std::string& name() const { return result.implementation; }
  bool is_given_up() const { return hangs >= kMostHangs; }
  // Whether no further case can change the property's result.
  bool is_settled(std::size_t property) const {
    return result.properties[property].kind == ResultKind::kFail && !is_provisional[property];
  }

  // Its clock, and the end of its time told to it, for as long as the turn lives.
  class Turn {
   public:
    explicit Turn(ImplementationRun& run);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    ImplementationRun& run_;
  };
  // Whether it is judged no further, because of hangs or of time, or because this process is asked to end.
  bool is_over() {
    if (ration.is_nearly_over()) note_time_up();
    return is_interrupted() || result.cut_by_clock || is_given_up();
  }
  // What was judged by then counts. A run that is asked to end is not cut by its clock.
  void note_time_up() { result.cut_by_clock = result.cut_by_clock || !is_interrupted(); }

  Ration ration;
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
  // Each shape costs it much, so generated cases have few, and come before pinned cases.
  bool has_costly_shapes = false;
  std::int64_t pinned = 0;     // pinned cases that it serves
  std::int64_t supported = 0;  // cases that it ran as its domain's
  std::int64_t drawn = 0;      // generated cases that it was given
  std::int64_t served = 0;     // those of them that it serves
  int hangs = 0;               // cases that ran into the deadline, those of shrinking not counted
};

inline ImplementationRun::Turn::Turn(ImplementationRun& run) : run_(run) {
  run_.ration.enter();
  const auto left = run_.ration.left();
  if (!left) return;
  run_.recording.end_at(Ration::Clock::now() + std::chrono::duration_cast<Ration::Clock::duration>(*left));
}
inline ImplementationRun::Turn::~Turn() {
  run_.recording.end_at(std::nullopt);
  run_.ration.leave();
}

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUN_IMPLEMENTATION_RUN_H
