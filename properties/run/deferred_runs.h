// A property judged while the further runs that it asks for are still to be made, so that those of many judgements can
// be made together.
#ifndef PROPERTIES_RUN_DEFERRED_RUNS_H
#define PROPERTIES_RUN_DEFERRED_RUNS_H

#include <kvwitness/assertions.h>

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "properties/case/implementation.h"
#include "properties/rules/property.h"

namespace kvwitness::harness {

// A property is a function of a case, its outcome and the answers to the runs that it asks for, so it may be judged
// again: with the answers that are known it comes as far as the first run that is not. That run is made together with
// those of other judgements, and so on until the property asks for no more.
class DeferredRuns final : public ForwardingImplementation {
 public:
  explicit DeferredRuns(Implementation& inner) : ForwardingImplementation(inner) {}

  Outcome run_in(const Case& value, const MemoryContext& memory_context) override {
    if (given_ < answers_.size()) return answers_[given_++];
    if (!wanted_) wanted_ = {value, memory_context};
    return Outcome::ended(Ending::kUnsupported, "not run yet");
  }

  // The verdict; nothing while a run is wanted for it.
  std::optional<Verdict> judge(const Property& property, const Case& value, const Outcome& outcome) {
    given_ = 0;
    wanted_.reset();
    Verdict verdict = property.judge(value, outcome, *this);
    return wanted_ ? std::nullopt : std::optional(std::move(verdict));
  }
  // The run that is wanted. Valid until the next judge().
  RunRequest wanted() const {
    KVWITNESS_ASSERT(wanted_.has_value());
    return {&wanted_->first, wanted_->second};
  }
  void answer(Outcome outcome) { answers_.push_back(std::move(outcome)); }

 private:
  std::vector<Outcome> answers_;
  std::size_t given_ = 0;
  std::optional<std::pair<Case, MemoryContext>> wanted_;
};

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUN_DEFERRED_RUNS_H
