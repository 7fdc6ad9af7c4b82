// A further run, which a metamorphic relation compares with the first one.
#ifndef PROPERTIES_RULES_FURTHER_RUN_H
#define PROPERTIES_RULES_FURTHER_RUN_H

#include <kvwitness/case.h>

#include <cstdint>
#include <optional>
#include <span>

#include "properties/case/implementation.h"
#include "properties/case/outcome.h"
#include "properties/rules/property.h"

namespace kvwitness::harness::judges {

struct FurtherRun {
  Case value;
  Outcome outcome;
  // Why there are no rows to compare: outside_domain() for a case outside the domain, broken for a legal call that
  // failed.
  std::optional<Verdict> verdict;

  // The row of the result.
  std::span<const std::int32_t> row(std::int64_t row) const;
};
FurtherRun run_further(Case further, Implementation& implementation);

// `verdict`, which names the case of `run` where it is broken.
Verdict against(Verdict verdict, const FurtherRun& run);

// The row's learned tokens, to be changed.
std::span<std::int32_t> learned_row(Case& value, std::int64_t row);

}  // namespace kvwitness::harness::judges

#endif  // PROPERTIES_RULES_FURTHER_RUN_H
