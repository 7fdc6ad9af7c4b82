// An implementation that remembers the calls made of it, so that a failure which depends on them can be replayed.
#ifndef PROPERTIES_RECORDING_H
#define PROPERTIES_RECORDING_H

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "properties/implementations.h"

namespace kvwitness::harness {

// Forwards everything. Calls are kept one by one, a case's `after` before it, since the last restart; where there are
// too many, the implementation is restarted, so that what is kept is all that it has seen. One that cannot be restarted
// keeps the last calls alone.
class Recording final : public Implementation {
 public:
  explicit Recording(Implementation& inner) : inner_(inner) {}

  std::string name() const override { return inner_.name(); }
  Availability availability() const override { return inner_.availability(); }
  bool provides(Operation operation) const override { return inner_.provides(operation); }
  bool checks_arguments() const override { return inner_.checks_arguments(); }
  bool honours_stride(Operation operation) const override { return inner_.honours_stride(operation); }
  bool supports(const Case& value) const override { return inner_.supports(value); }
  bool is_slow() const override { return inner_.is_slow(); }
  Outcome run_in(const Case& value, const Surroundings& surroundings) override;
  bool restart() override;
  void hurry(bool hurries) override { inner_.hurry(hurries); }

  // The calls made, oldest first; none has an `after`.
  const std::vector<Case>& calls() const { return calls_; }
  std::int64_t runs() const { return runs_; }
  // The time that the implementation itself took for them.
  std::chrono::nanoseconds time() const { return time_; }
  // How many of the runs got no answer within the deadline.
  std::int64_t hangs() const { return hangs_; }

  // Calls made in between are not recorded: what shrinking tries is no part of the run's history.
  void pause() { paused_ = true; }
  void resume() { paused_ = false; }

 private:
  void record(const Case& value);
  void make_room();

  Implementation& inner_;
  std::vector<Case> calls_;
  std::size_t elements_ = 0;
  std::int64_t runs_ = 0;
  std::chrono::nanoseconds time_{0};
  std::int64_t hangs_ = 0;
  bool paused_ = false;
  std::optional<bool> restartable_;  // unknown before the first attempt
};

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RECORDING_H
