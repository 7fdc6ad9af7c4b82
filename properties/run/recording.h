// An implementation that remembers the calls made of it, so that a failure which depends on them can be replayed.
#ifndef PROPERTIES_RUN_RECORDING_H
#define PROPERTIES_RUN_RECORDING_H

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "properties/case/implementation.h"
#include "properties/run/ration.h"

namespace kvwitness::harness {

// Forwards everything. Calls are kept one by one, a case's prior calls before it, since the last restart. make_room()
// restarts the implementation where they are too many, so that what is kept is all that it has seen; of one that cannot
// be restarted only the last calls are kept.
class Recording final : public ForwardingImplementation {
 public:
  Recording(Implementation& inner, Ration& ration) : ForwardingImplementation(inner), ration_(&ration) {}

  // False too for a case that is not worth its time: what derives cases asks before it runs them.
  bool supports(const Case& value) const override;
  Outcome run_in(const Case& value, const MemoryContext& memory_context) override;
  std::vector<Outcome> run_together(std::span<const RunRequest> requests) override;
  bool restart() override;

  // The calls made, oldest first; none has prior calls of its own.
  const std::vector<Case>& calls() const { return calls_; }
  // How many calls were made before calls(), of which nothing is kept.
  std::size_t forgotten() const { return forgotten_; }
  std::size_t calls_made() const { return forgotten_ + calls_.size(); }
  std::int64_t runs() const { return runs_; }
  // The time that the implementation itself took for them.
  std::chrono::nanoseconds time() const { return time_; }
  // The call that was waited for when this process was asked to end, where that had been long.
  struct Unanswered {
    Case call;
    double seconds;
  };
  const std::optional<Unanswered>& unanswered() const { return unanswered_; }
  // How many of the runs got no answer within the deadline.
  std::int64_t hangs() const { return hangs_; }

  // Restarts the implementation, or forgets the oldest calls, where those that are kept are too many. To be called
  // between runs that are not compared with each other.
  void make_room();

  // Calls made in between are not recorded: what shrinking tries is no prior call of anything.
  void pause() { paused_ = true; }
  void resume() { paused_ = false; }

 private:
  void record(const Case& value);
  void forget(std::size_t calls);

  std::vector<Case> calls_;
  std::size_t elements_ = 0;
  std::size_t forgotten_ = 0;
  std::int64_t runs_ = 0;
  std::chrono::nanoseconds time_{0};
  std::int64_t hangs_ = 0;
  bool paused_ = false;
  std::optional<Unanswered> unanswered_;
  Ration* ration_;
  std::optional<bool> restartable_;  // unknown before the first attempt
};

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUN_RECORDING_H
