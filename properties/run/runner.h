// The runner: judges implementations by properties over pinned and generated cases.
//
// For each implementation: kept failures first, then pinned cases (in the order given), then the shared large cases,
// then for each property a stream of generated ones. Every run is judged by all properties that concern it, except that
// metamorphic relations judge only their own stream, the pinned and the shared cases. The first failing case of an
// (implementation, property) pair is kept as it was found, then shrunk within a budget of attempts while the same
// property still fails, then explained. With the same options the report is the same, but for the seconds, unless a
// clock cut the run; then it says so.
#ifndef PROPERTIES_RUN_RUNNER_H
#define PROPERTIES_RUN_RUNNER_H

#include <expected>
#include <memory>
#include <string>
#include <vector>

#include "properties/case/implementation.h"
#include "properties/run/options.h"
#include "properties/run/results.h"

namespace kvwitness::harness {

// An error, in words for a person, where nothing could be judged at all: no property, no implementation, neither a
// pinned case nor a generated one, a folder of failures that cannot be read.
std::expected<RunReport, std::string> run_properties(const RunOptions& options,
                                                     std::vector<std::unique_ptr<Implementation>>& implementations,
                                                     const Progress& progress);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUN_RUNNER_H
