// A signal that asks this process to end: whoever waits for another process or begins something new takes notice, so that
// what was found by then is told.
#ifndef PROPERTIES_SANDBOX_INTERRUPTION_H
#define PROPERTIES_SANDBOX_INTERRUPTION_H

#include <atomic>

namespace kvwitness::harness {

namespace interruption_detail {
inline std::atomic<int> requested{0};
static_assert(std::atomic<int>::is_always_lock_free);  // set by a signal handler
}  // namespace interruption_detail

// The first signal that asked; 0 while none has.
inline int interrupting_signal() noexcept {
  return interruption_detail::requested.load(std::memory_order_relaxed);
}
inline bool is_interrupted() noexcept {
  return interrupting_signal() != 0;
}
inline void interrupt(int signal) noexcept {
  int none = 0;
  interruption_detail::requested.compare_exchange_strong(none, signal);
}
// For tests, whose process goes on.
inline void forget_interruption() noexcept {
  interruption_detail::requested.store(0);
}

}  // namespace kvwitness::harness

#endif  // PROPERTIES_SANDBOX_INTERRUPTION_H
