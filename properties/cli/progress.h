// What a person sees while a run lasts.
#ifndef PROPERTIES_CLI_PROGRESS_H
#define PROPERTIES_CLI_PROGRESS_H

#include <chrono>
#include <string>

namespace kvwitness::harness::cli {

// On standard error: a bar that redraws itself on a terminal, a line an implementation in a log.
class ProgressDisplay {
 public:
  explicit ProgressDisplay(bool terminal) : terminal_(terminal) {}
  ~ProgressDisplay() { clear(); }
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  // `done` is the part of the whole that is done, 0 to 1.
  void show(const std::string& implementation, const std::string& property, double done);
  // Removes the bar, so that other text may follow.
  void clear();

 private:
  bool terminal_;
  bool drawn_ = false;
  std::string last_implementation_;
  std::chrono::steady_clock::time_point last_drawn_{};
};

}  // namespace kvwitness::harness::cli

#endif  // PROPERTIES_CLI_PROGRESS_H
