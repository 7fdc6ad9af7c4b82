#include "properties/run/preparation.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "properties/run/domain_probe.h"
#include "properties/run/domains.h"

namespace kvwitness::harness {
namespace {

std::unique_ptr<ImplementationRun> run_of(Implementation& implementation, const RunContext& context) {
  auto run = std::make_unique<ImplementationRun>(implementation, context.options.fresh_shrink_attempts());
  run->result.implementation = implementation.name();
  for (const Property* property : context.properties) {
    PropertyResult result;
    result.property = property->name;
    run->result.properties.push_back(std::move(result));
    run->is_provisional.push_back(false);
  }
  if (Availability availability = implementation.availability(); !availability.can_run) {
    run->is_available = false;
    run->result.kind = ResultKind::kSkipped;
    run->result.reason = std::move(availability.why_not);
    return run;
  }
  run->within.narrow(domain_of(context.options, implementation));
  run->narrowed = run->domain().operations.empty() ? run->domain() : probed_domain(run->domain(), run->recording);
  return run;
}

std::int64_t expected_cases(const RunContext& context) {
  const RunOptions& options = context.options;
  const std::int64_t pinned = std::ssize(options.pinned) - context.report.excluded_cases;
  const auto available = std::ranges::count_if(context.runs, [](const auto& run) { return run->is_available; });
  return available * (pinned + std::ssize(options.properties) * options.cases_per_property);
}

}  // namespace

std::expected<void, std::string> prepare_runs(RunContext& context,
                                              std::vector<std::unique_ptr<Implementation>>& implementations) {
  const RunOptions& options = context.options;
  if (options.properties.empty()) return std::unexpected("no property to judge by");
  if (implementations.empty()) return std::unexpected("no implementation to judge");
  context.report.excluded_cases = std::ranges::count_if(
      options.pinned, [&](const PinnedCase& one) { return !admits_case(options.domain, one.value); });
  if (context.report.excluded_cases == std::ssize(options.pinned) && !options.pinned.empty() &&
      options.cases_per_property <= 0) {
    const std::string excluded = std::to_string(context.report.excluded_cases);
    return std::unexpected("no case to judge: options exclude " + excluded + (excluded == "1" ? " case" : " cases") +
                           ", and no generated ones are asked for");
  }
  if (options.pinned.empty() && options.cases_per_property <= 0) {
    return std::unexpected("no case to judge: neither pinned cases nor generated ones");
  }
  for (auto& implementation : implementations) context.runs.push_back(run_of(*implementation, context));
  context.expect_cases(expected_cases(context));
  return {};
}

}  // namespace kvwitness::harness
