#include "properties/run/preparation.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <utility>
#include <vector>

#include "properties/run/domain_probe.h"
#include "properties/run/domains.h"

namespace kvwitness::harness {
namespace {

// Of the time of an implementation.
constexpr double kShareOfProbe = 1.0 / 6;
// With each width and number of segments some numbers of rows are called.
constexpr double kRowCountsOfAShape = 2;

// The first of `preferred` that the list admits (all, where it is empty), at most `most` of them; where none of them is, the
// list's own first ones.
std::vector<std::int64_t> some_of(const std::vector<std::int64_t>& list, std::initializer_list<std::int64_t> preferred,
                                  std::size_t most) {
  std::vector<std::int64_t> chosen;
  const auto is_admitted = [&](std::int64_t value) {
    return list.empty() || std::ranges::find(list, value) != list.end();
  };
  for (const std::int64_t value : preferred) {
    if (chosen.size() < most && is_admitted(value)) chosen.push_back(value);
  }
  if (chosen.empty())
    chosen.assign(list.begin(), list.begin() + static_cast<std::ptrdiff_t>(std::min(most, list.size())));
  return chosen;
}

// The domain with so few shapes that each operation can be called in all of them.
Domain few_shapes(Domain domain, std::int64_t shapes) {
  const auto each =
      static_cast<double>(shapes) / static_cast<double>(std::max<std::size_t>(domain.operations.size(), 1));
  const auto most = static_cast<std::size_t>(std::clamp(std::sqrt(each / kRowCountsOfAShape), 1.0, 4.0));
  domain.topk = some_of(domain.topk, {64, 2048, 1, 512, 16, 3}, most);
  domain.num_segments = some_of(domain.num_segments, {4, 64, 16, 33}, most);
  if (domain.rows.empty()) domain.rows = {2, 1};
  return domain;
}

std::unique_ptr<ImplementationRun> run_of(Implementation& implementation, const RunContext& context) {
  std::optional<Ration::Seconds> limit;
  if (context.options.time_limit_seconds) limit = Ration::Seconds(*context.options.time_limit_seconds);
  auto run = std::make_unique<ImplementationRun>(implementation, context.options.fresh_shrink_attempts(), limit);
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
  run->narrowed = run->domain();
  if (run->domain().operations.empty()) return run;
  const ImplementationRun::Turn turn(*run);
  try {
    const Ration& ration = run->ration;
    run->narrowed = probed_domain(run->domain(), run->recording, [&] {
      return ration.has_costly_shapes() || ration.spent() > ration.share(kShareOfProbe);
    });
    if (ration.has_costly_shapes()) {
      run->narrowed = few_shapes(run->narrowed, ration.affordable_shapes());
      if (ration.has_slow_questions()) {  // those are about strides and bases too
        run->narrowed.contiguous = true;
        run->narrowed.align_bytes = 64;
      }
      run->has_costly_shapes = true;
    }
  } catch (const TimeUp&) {
    run->note_time_up();
  }
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
