// How long to wait for an answer before a call counts as hung: the harness's only clock but for a limit on the whole
// run.
#ifndef PROPERTIES_SANDBOX_DEADLINE_POLICY_H
#define PROPERTIES_SANDBOX_DEADLINE_POLICY_H

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace kvwitness::harness {

struct DeadlineLimits {
  std::chrono::milliseconds call{1000};
  std::chrono::milliseconds warm_up_call{20000};
  std::int64_t elements_per_second = std::int64_t{1} << 22;  // of large calls, in addition to the limit
};

// A warm-up call may have to initialise a device or compile a kernel, and gets a long limit. Once an implementation has
// hung, the time that its warm-up calls have taken so far bounds the wait instead, so that one that never answers does
// not cost the long limit with every attempt to shrink the case.
class DeadlinePolicy {
 public:
  explicit DeadlinePolicy(const DeadlineLimits& limits) : limits_(limits) {}

  // For a call that touches this many elements.
  std::chrono::milliseconds limit(bool is_warm_up, std::int64_t touched_elements) const {
    const auto usual = hurries_ ? std::max(limits_.call / 10, 4 * longest_call_) : limits_.call;
    const auto limit = std::min(usual, limits_.call) +
                       std::chrono::milliseconds(touched_elements * 1000 / limits_.elements_per_second);
    if (!is_warm_up) {
      return limit;
    }
    return has_hung_ ? std::max(limit, 4 * longest_warm_up_) : std::max(limit, limits_.warm_up_call);
  }

  void note_answer(bool is_warm_up, std::chrono::milliseconds took) {
    auto& longest = is_warm_up ? longest_warm_up_ : longest_call_;
    longest = std::max(longest, took);
  }
  void note_hang() { has_hung_ = true; }
  // A tenth of the limit for a call, as long as its answers have not taken long: while a case that hangs is shrunk.
  // What is found in a hurry must be confirmed by a call without it.
  void hurry(bool hurries) { hurries_ = hurries; }

 private:
  DeadlineLimits limits_;
  std::chrono::milliseconds longest_warm_up_{0};
  std::chrono::milliseconds longest_call_{0};
  bool hurries_ = false;
  bool has_hung_ = false;
};

}  // namespace kvwitness::harness

#endif  // PROPERTIES_SANDBOX_DEADLINE_POLICY_H
