// How long to wait for an answer before a call counts as hung: the harness's only clock but for a limit on the whole
// run.
#ifndef PROPERTIES_SANDBOX_DEADLINE_POLICY_H
#define PROPERTIES_SANDBOX_DEADLINE_POLICY_H

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "properties/sandbox/interruption.h"

namespace kvwitness::harness {

struct DeadlineLimits {
  std::chrono::milliseconds call{1000};
  std::chrono::milliseconds warm_up_call{60000};
  // The same once many warm-up calls were quick.
  std::chrono::milliseconds seasoned_warm_up_call{10000};
  std::int64_t elements_per_second = std::int64_t{1} << 22;  // of large calls, in addition to the limit
};

// The limits with `call` for a call: the others are no shorter, and where a call gets longer, large ones do in proportion.
inline DeadlineLimits with_call_limit(DeadlineLimits limits, std::chrono::milliseconds call) {
  if (call > limits.call) {
    limits.elements_per_second =
        std::max<std::int64_t>(limits.elements_per_second * limits.call.count() / call.count(), 1);
  }
  limits.call = call;
  limits.warm_up_call = std::max(limits.warm_up_call, call);
  limits.seasoned_warm_up_call = std::max(limits.seasoned_warm_up_call, call);
  return limits;
}

// A warm-up call, the first of a process or of a shape, may have to initialise a device or compile a kernel, and gets a
// long limit. Once an implementation has hung, the time that its warm-up calls have taken so far bounds the wait
// instead, so that one that never answers does not cost the long limit with every attempt to shrink the case.
class DeadlinePolicy {
 public:
  explicit DeadlinePolicy(const DeadlineLimits& limits) : limits_(limits) {}

  using Clock = std::chrono::steady_clock;

  // For a call that touches this many elements. Never beyond the end; nothing once this process is asked to end.
  std::chrono::milliseconds limit(bool is_warm_up, std::int64_t touched_elements) const {
    if (is_interrupted()) return std::chrono::milliseconds{0};
    const auto usual = usual_limit(is_warm_up, touched_elements);
    return end_ ? std::clamp(std::chrono::ceil<std::chrono::milliseconds>(*end_ - Clock::now()),
                             std::chrono::milliseconds{0}, usual)
                : usual;
  }

  // When nothing is waited for any more, whatever it is.
  void end_at(std::optional<Clock::time_point> end) { end_ = end; }
  bool is_over() const { return is_interrupted() || (end_ && Clock::now() >= *end_); }

  void note_answer(bool is_warm_up, std::chrono::milliseconds took) {
    auto& longest = is_warm_up ? longest_warm_up_ : longest_call_;
    longest = std::max(longest, took);
    warm_ups_ += is_warm_up ? 1 : 0;
  }
  void note_hang() { has_hung_ = true; }
  // A tenth of the limit for a call, as long as its answers have not taken long: while a case that hangs is shrunk.
  // What is found in a hurry must be confirmed by a call without it.
  void hurry(bool hurries) { hurries_ = hurries; }

 private:
  static constexpr std::int64_t kManyWarmUps = 32;
  static constexpr std::chrono::milliseconds kQuickWarmUp{200};

  std::chrono::milliseconds usual_limit(bool is_warm_up, std::int64_t touched_elements) const {
    const auto usual = hurries_ ? std::max(limits_.call / 10, 4 * longest_call_) : limits_.call;
    const auto limit = std::min(usual, limits_.call) +
                       std::chrono::milliseconds(touched_elements * 1000 / limits_.elements_per_second);
    if (!is_warm_up) {
      return limit;
    }
    if (has_hung_) {
      return std::max(limit, 4 * longest_warm_up_);
    }
    const bool is_seasoned = warm_ups_ >= kManyWarmUps && longest_warm_up_ <= kQuickWarmUp;
    return std::max(limit, is_seasoned ? limits_.seasoned_warm_up_call : limits_.warm_up_call);
  }

  DeadlineLimits limits_;
  std::optional<Clock::time_point> end_;
  std::chrono::milliseconds longest_warm_up_{0};
  std::chrono::milliseconds longest_call_{0};
  std::int64_t warm_ups_ = 0;
  bool hurries_ = false;
  bool has_hung_ = false;
};

}  // namespace kvwitness::harness

#endif  // PROPERTIES_SANDBOX_DEADLINE_POLICY_H
