#include "properties/run/judge_case.h"

#include "properties/rules/expectation.h"

namespace kvwitness::harness {

std::vector<Judgement> judge_case(const Case& value, Implementation& implementation,
                                  std::span<const Property* const> properties) {
  std::vector<Judgement> judgements;
  const Outcome outcome = implementation.run(value);
  for (const Property* property : properties) {
    const bool speaks = property->concerns(value.operation) && outcome.ending != Ending::kUnsupported;
    judgements.push_back(
        {std::string(property->name), speaks ? property->judge(value, outcome, implementation) : Verdict::silent()});
  }
  if (carries_expectation(value)) {
    judgements.push_back({std::string(kExpectation), expectation_property().judge(value, outcome, implementation)});
  }
  return judgements;
}

}  // namespace kvwitness::harness
