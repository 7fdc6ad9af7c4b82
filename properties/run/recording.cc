#include "properties/run/recording.h"

#include <utility>

#include "properties/run/case_size.h"
#include "properties/sandbox/interruption.h"

namespace kvwitness::harness {
namespace {

// What is kept of an implementation that can be restarted when it is full (up to 64 MB of tokens), and of one that
// cannot.
constexpr std::size_t kMostCalls = 16384, kMostElements = std::size_t{1} << 24;
constexpr std::size_t kLastCalls = 1024, kLastElements = std::size_t{1} << 20;

}  // namespace

bool Recording::supports(const Case& value) const {
  if (!ration_->affords(value)) return false;
  const auto begun = std::chrono::steady_clock::now();
  const bool answer = inner().supports(value);
  ration_->note_question(value, std::chrono::steady_clock::now() - begun);
  return answer;
}

Outcome Recording::run_in(const Case& value, const MemoryContext& memory_context) {
  const RunRequest request{&value, memory_context};
  return std::move(run_together({&request, 1}).front());
}

std::vector<Outcome> Recording::run_together(std::span<const RunRequest> requests) {
  if (is_interrupted()) throw TimeUp{};
  const auto begun = std::chrono::steady_clock::now();
  std::vector<Outcome> outcomes = inner().run_together(requests);
  const auto took = std::chrono::steady_clock::now() - begun;
  time_ += took;
  // An answer that never came says what a deadline is, not what the call takes.
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (came_back(outcomes[i])) ration_->note(*requests[i].value, took / static_cast<std::int64_t>(outcomes.size()));
  }
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    ++runs_;
    if (outcomes[i].ending == Ending::kHung) ++hangs_;
    if (paused_) continue;
    for (const Case& prior : requests[i].value->prior_calls) record(prior);
    record(*requests[i].value);
  }
  return outcomes;
}

bool Recording::restart() {
  restartable_ = inner().restart();
  if (*restartable_) forget(calls_.size());
  return *restartable_;
}

void Recording::forget(std::size_t calls) {
  for (std::size_t i = 0; i < calls; ++i) elements_ -= elements_of(calls_[i]);
  calls_.erase(calls_.begin(), calls_.begin() + static_cast<std::ptrdiff_t>(calls));
  forgotten_ += calls;
}

void Recording::record(const Case& value) {
  Case call = call_only(value);
  call.prior_calls.clear();
  elements_ += elements_of(call);
  calls_.push_back(std::move(call));
}

void Recording::make_room() {
  const bool restartable = restartable_.value_or(false);
  const std::size_t most_calls = restartable ? kMostCalls : kLastCalls;
  const std::size_t most_elements = restartable ? kMostElements : kLastElements;
  if (calls_.size() < most_calls && elements_ < most_elements) return;
  if (restartable_ != false && restart()) return;
  forget((calls_.size() + 1) / 2);  // half of what there was, so that the cost of moving the rest stays small
}

}  // namespace kvwitness::harness
