// One case judged on one implementation, without shrinking: what `kvwitness replay` does.
#ifndef PROPERTIES_RUN_JUDGE_CASE_H
#define PROPERTIES_RUN_JUDGE_CASE_H

#include <kvwitness/case.h>

#include <span>
#include <string>
#include <vector>

#include "properties/case/implementation.h"
#include "properties/rules/property.h"

namespace kvwitness::harness {

struct Judgement {
  std::string property;
  Verdict verdict;
};

// In the order of `properties`. Where the case or one of its prior calls has an `expect`, the property named
// kExpectation judges that, last.
std::vector<Judgement> judge_case(const Case& value, Implementation& implementation,
                                  std::span<const Property* const> properties);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUN_JUDGE_CASE_H
