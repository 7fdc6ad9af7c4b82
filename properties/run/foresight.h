// An implementation's answers to a property's further runs, gathered before the property is judged for good.
#ifndef PROPERTIES_RUN_FORESIGHT_H
#define PROPERTIES_RUN_FORESIGHT_H

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "properties/case/implementation.h"
#include "properties/rules/property.h"

namespace kvwitness::harness {

// Lets the further runs of many judgements be made together. A property is a function of a case, its outcome and the
// answers to the runs that it asks for, so it may be judged again: with the answers that are known it comes as far as
// the first run that is not, which is made together with those of other judgements, and so on until it asks for no more.
class Foresight final : public ForwardingImplementation {
 public:
  explicit Foresight(Implementation& inner) : ForwardingImplementation(inner) {}

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
  // Valid until the next judgement.
  RunRequest wanted() const { return {&wanted_->first, wanted_->second}; }
  void answer(Outcome outcome) {
    hung_ = hung_ || outcome.ending == Ending::kHung;
    answers_.push_back(std::move(outcome));
  }
  // Whether one of the answers did not come within the deadline.
  bool hung() const { return hung_; }

 private:
  std::vector<Outcome> answers_;
  std::size_t given_ = 0;
  std::optional<std::pair<Case, MemoryContext>> wanted_;
  bool hung_ = false;
};

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUN_FORESIGHT_H
