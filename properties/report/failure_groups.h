// The failures of an implementation by what lies behind them: one entry a cause.
#ifndef PROPERTIES_REPORT_FAILURE_GROUPS_H
#define PROPERTIES_REPORT_FAILURE_GROUPS_H

#include <string>
#include <string_view>
#include <vector>

#include "properties/report/report.h"
#include "properties/run/results.h"

namespace kvwitness::harness {

// Failed properties that one fault explains: they share a likely cause, or their calls ended in the same way, as by a crash.
// Those without a known cause are one group, or belong to the cause that explains at least half of all.
struct FailureGroup {
  const PropertyResult* shown = nullptr;      // the one with the shortest minimal case
  std::vector<const PropertyResult*> others;  // in the order of the properties
};

// In the order in which their first properties are listed. An implementation that failed as a whole has none.
std::vector<FailureGroup> failure_groups(const ImplementationResult& result);

// "avx2 breaks coverage; likely cause: segment edges are rounded down".
std::string heading_of(const ImplementationResult& result, const FailureGroup& group);
// "disjointness, order"; "" where no other property fails.
std::string others_of(const FailureGroup& group);

// One thing that a report says of a failure.
struct Field {
  std::string_view label;
  std::string content;
};
// What a report says of a group below its heading, in order; what there is nothing to say of is left out.
std::vector<Field> failure_fields(const ImplementationResult& result, const FailureGroup& group,
                                  const ReplayCommands& replays);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_REPORT_FAILURE_GROUPS_H
