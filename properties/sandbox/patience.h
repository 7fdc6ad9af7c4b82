// How long to wait for an answer before the callee counts as hung: the harness's only clock but for a limit on the
// whole run.
#ifndef PROPERTIES_SANDBOX_PATIENCE_H
#define PROPERTIES_SANDBOX_PATIENCE_H

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace kvwitness::harness {

// A call that may have to initialise a device or compile a kernel is unfamiliar and gets a long limit. Once a callee
// has hung, what its unfamiliar calls have taken so far bounds the wait instead, so that a silent callee does not cost
// the long limit with every attempt to make the case smaller.
class Patience {
 public:
  struct Limits {
    std::chrono::milliseconds call{1000};
    std::chrono::milliseconds unfamiliar{20000};
    std::int64_t elements_per_second = std::int64_t{1} << 22;  // of large calls, beside the limit
  };

  explicit Patience(const Limits& limits) : limits_(limits) {}

  // For a call that touches this many elements.
  std::chrono::milliseconds limit(bool unfamiliar, std::int64_t touched_elements) const {
    const auto usual = hurries_ ? std::max(limits_.call / 10, 4 * longest_ordinary_) : limits_.call;
    const auto ordinary = std::min(usual, limits_.call) +
                          std::chrono::milliseconds(touched_elements * 1000 / limits_.elements_per_second);
    if (!unfamiliar) {
      return ordinary;
    }
    return has_hung_ ? std::max(ordinary, 4 * longest_unfamiliar_) : std::max(ordinary, limits_.unfamiliar);
  }

  void answered(bool unfamiliar, std::chrono::milliseconds took) {
    auto& longest = unfamiliar ? longest_unfamiliar_ : longest_ordinary_;
    longest = std::max(longest, took);
  }
  void hung() { has_hung_ = true; }
  // A tenth of the limit for a call, as long as its answers have not taken long: while a case that hangs is made
  // smaller. What is found in a hurry needs a call without it.
  void hurry(bool hurries) { hurries_ = hurries; }

 private:
  Limits limits_;
  std::chrono::milliseconds longest_unfamiliar_{0};
  std::chrono::milliseconds longest_ordinary_{0};
  bool hurries_ = false;
  bool has_hung_ = false;
};

}  // namespace kvwitness::harness

#endif  // PROPERTIES_SANDBOX_PATIENCE_H
