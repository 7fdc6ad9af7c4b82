#include "properties/recording.h"

#include <utility>

namespace kvwitness::harness {
namespace {

// What is kept of an implementation that can be restarted when it is full (up to 64 MB of tokens), and of one that
// cannot.
constexpr std::size_t kMostCalls = 16384, kMostElements = std::size_t{1} << 24;
constexpr std::size_t kLastCalls = 1024, kLastElements = std::size_t{1} << 20;

std::size_t elements_of(const Case& value) {
  return value.learned.size() + value.context_lens.size();
}

}  // namespace

Outcome Recording::run_in(const Case& value, const Surroundings& surroundings) {
  ++runs_;
  if (!paused_) {
    make_room();
    for (const Case& earlier : value.after) record(earlier);
    record(value);
  }
  const auto begun = std::chrono::steady_clock::now();
  Outcome outcome = inner_.run_in(value, surroundings);
  time_ += std::chrono::steady_clock::now() - begun;
  if (outcome.ending == Ending::kHung) ++hangs_;
  return outcome;
}

bool Recording::restart() {
  restartable_ = inner_.restart();
  if (!*restartable_) return false;
  calls_.clear();
  elements_ = 0;
  return true;
}

void Recording::record(const Case& value) {
  Case call = value;
  call.after.clear();
  call.expect.reset();
  call.attention.reset();
  call.note.clear();
  elements_ += elements_of(call);
  calls_.push_back(std::move(call));
}

void Recording::make_room() {
  const bool restartable = restartable_.value_or(false);
  const std::size_t most_calls = restartable ? kMostCalls : kLastCalls;
  const std::size_t most_elements = restartable ? kMostElements : kLastElements;
  if (calls_.size() < most_calls && elements_ < most_elements) return;
  if (restartable_ != false && restart()) return;
  // Half of what there was goes, so that the cost of moving the rest stays small.
  const std::size_t gone = (calls_.size() + 1) / 2;
  for (std::size_t i = 0; i < gone; ++i) elements_ -= elements_of(calls_[i]);
  calls_.erase(calls_.begin(), calls_.begin() + static_cast<std::ptrdiff_t>(gone));
}

}  // namespace kvwitness::harness
