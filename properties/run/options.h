// What a run of the harness is asked to do, and how it tells of its progress.
#ifndef PROPERTIES_RUN_OPTIONS_H
#define PROPERTIES_RUN_OPTIONS_H

#include <kvwitness/case.h>
#include <kvwitness/domain.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "properties/rules/property.h"

namespace kvwitness::harness {

struct CoverageClass;

// The budgets of a run that asks for nothing else. Class floors are enforced from this number of cases on.
inline constexpr std::int64_t kDefaultCasesPerProperty = 500;
inline constexpr std::int64_t kDefaultShrinkAttempts = 2000;

struct PinnedCase {
  std::string source;  // "corpus/real/rows.jsonl:12": where a person finds it
  Case value;
};

// Called once an implementation has failed for the first time, before anything is made of the failure.
using OnFailure = std::function<void(const std::string& implementation, const std::string& property)>;

struct RunOptions {
  std::vector<const Property*> properties;  // not empty
  // Whether the pinned cases' `expect` are judged too, under the name kExpectation.
  bool judge_expectations = true;
  std::vector<PinnedCase> pinned;
  std::uint64_t seed = 0;
  std::int64_t cases_per_property = kDefaultCasesPerProperty;  // generated; 0 runs only the pinned ones
  std::optional<double> time_limit_seconds;                    // of each implementation
  std::int64_t shrink_attempts = kDefaultShrinkAttempts;
  // How many of those may begin with a restart: for each failure, or for all failures together of an implementation
  // that starts slowly.
  std::int64_t fresh_shrink_attempts() const { return shrink_attempts / 4; }
  // What the command line admits (`--operation`, `--topk`, `--segments`, `--contiguous`, `--align`, `--max-context`,
  // `--max-rows`, `--in-range`). Pinned cases outside it are left out.
  Domain domain = whole_domain();
  // Where failures are kept; "": nowhere.
  std::string failures_folder;
  OnFailure on_failure;
  // The coverage classes whose floors are watched; null for all_coverage_classes().
  const std::vector<CoverageClass>* coverage_classes = nullptr;
};

// Called now and then during a run.
// @param implementation  what is being judged: "avx2", or "5 implementations" where they share a stream
// @param property        by what: a property, "pinned cases" or "large cases"
// @param done            how much of the whole run is done, 0 to 1
using Progress = std::function<void(const std::string& implementation, const std::string& property, double done)>;

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUN_OPTIONS_H
