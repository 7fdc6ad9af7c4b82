#include "properties/run/run_context.h"

#include <algorithm>

#include "properties/rules/expectation.h"
#include "properties/run/fnv1a.h"

namespace kvwitness::harness {

RunContext::RunContext(const RunOptions& run_options, const Progress& progress)
    : options(run_options), properties(run_options.properties), classes(all_coverage_classes()), progress_(progress) {
  if (options.coverage_classes != nullptr) classes = *options.coverage_classes;
  const bool expects =
      std::ranges::any_of(options.pinned, [](const PinnedCase& pinned) { return carries_expectation(pinned.value); });
  if (options.judge_expectations && expects) properties.push_back(&expectation_property());
  report.seed = options.seed;
}

std::uint64_t RunContext::seed_for(std::string_view name) const {
  // splitmix64's finaliser (Steele, Lea and Flood, 2014).
  std::uint64_t z = options.seed + fnv1a(name) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

double RunContext::elapsed_seconds() const {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
}

void RunContext::expect_cases(std::int64_t cases) {
  whole_ = std::max<std::int64_t>(cases, 1);
}

void RunContext::advance(const std::string& implementation, std::string_view property, std::int64_t cases) {
  done_ += cases;
  const std::int64_t thousandths = std::min<std::int64_t>(done_ * 1000 / whole_, 1000);
  if (!progress_ || thousandths == shown_) return;
  shown_ = thousandths;
  progress_(implementation, std::string(property), static_cast<double>(thousandths) / 1000);
}

}  // namespace kvwitness::harness
