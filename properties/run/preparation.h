// Before anything is judged: which implementations can run, and on what domain each.
#ifndef PROPERTIES_RUN_PREPARATION_H
#define PROPERTIES_RUN_PREPARATION_H

#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "properties/case/implementation.h"
#include "properties/run/run_context.h"

namespace kvwitness::harness {

// Adds a run of each implementation to the context. An error, in words for a person, where there is nothing to judge or
// to judge by.
std::expected<void, std::string> prepare_runs(RunContext& context,
                                              std::vector<std::unique_ptr<Implementation>>& implementations);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUN_PREPARATION_H
