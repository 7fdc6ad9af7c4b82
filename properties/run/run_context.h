// What all parts of a run share: its options, its properties and coverage classes, its report so far, and its clock.
#ifndef PROPERTIES_RUN_RUN_CONTEXT_H
#define PROPERTIES_RUN_RUN_CONTEXT_H

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "properties/generators/scenarios.h"
#include "properties/rules/property.h"
#include "properties/run/implementation_run.h"
#include "properties/run/options.h"
#include "properties/run/results.h"

namespace kvwitness::harness {

class RunContext {
 public:
  // Options and progress must outlive the run.
  RunContext(const RunOptions& options, const Progress& progress);

  // Whether cases are drawn for the property: the expectation has only its own cases.
  bool is_drawn(std::size_t property) const {
    return property < options.properties.size() && options.cases_per_property > 0;
  }
  // Whether missed class floors make the run an error.
  bool enforces_floors() const { return options.cases_per_property >= kDefaultCasesPerProperty; }
  // The seed of the stream of this name.
  std::uint64_t seed_for(std::string_view name) const;

  double elapsed_seconds() const;

  // The number of cases that the whole run has, all implementations together.
  void expect_cases(std::int64_t cases);
  // Calls Progress::operator() where the progress has grown by a thousandth.
  void advance(const std::string& implementation, std::string_view property, std::int64_t cases);

  const RunOptions& options;
  std::vector<const Property*> properties;  // the options', and the expectation where it is judged
  std::span<const CoverageClass> classes;
  std::vector<std::unique_ptr<ImplementationRun>> runs;
  RunReport report;

 private:
  const Progress& progress_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::int64_t done_ = 0, whole_ = 1, shown_ = -1;
};

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUN_RUN_CONTEXT_H
