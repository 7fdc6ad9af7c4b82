// The end of a run that does not end by itself.
#ifndef FUZZ_ENGINE_INPUT_DEADLINE_H
#define FUZZ_ENGINE_INPUT_DEADLINE_H

#include <string>

namespace kvwitness::fuzz {

// How long an input may take in a replay, where no engine has a limit of its own: several times the slowest seed under a
// sanitizer on a busy machine.
inline constexpr unsigned kMostInputSeconds = 60;

// While one lives the process has so many seconds; then it says on standard error which input has not ended, as a timeout
// of an engine is said, and exits with status 1. One at a time.
class InputDeadline {
 public:
  explicit InputDeadline(const std::string& input, unsigned seconds = kMostInputSeconds);
  InputDeadline(const InputDeadline&) = delete;
  InputDeadline& operator=(const InputDeadline&) = delete;
  ~InputDeadline();
};

}  // namespace kvwitness::fuzz

#endif  // FUZZ_ENGINE_INPUT_DEADLINE_H
