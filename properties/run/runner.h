// The runner: judges implementations by properties over pinned and generated cases, and gives a Report.
//
// For each implementation: kept failures first, then pinned cases (in the order given), then the shared large cases,
// then for each property a stream of generated ones. Every run is judged by all properties that concern it, relations
// aside, which judge their own stream, the pinned and the shared cases. The first failing case of an (implementation,
// property) pair is kept as it was, then shrunk within a budget of attempts while the same property still fails, then
// explained. With the same options the report is the same, but for the seconds, unless a clock cut the run; then it
// says so.
#ifndef PROPERTIES_RUN_RUNNER_H
#define PROPERTIES_RUN_RUNNER_H

#include <kvwitness/case.h>

#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "properties/case/implementation.h"
#include "properties/rules/expectation.h"
#include "properties/rules/property.h"

namespace kvwitness::harness {

// The budgets of a run that asks for nothing else. Class floors are enforced from this number of cases on.
inline constexpr std::int64_t kDefaultCasesPerProperty = 500;
inline constexpr std::int64_t kDefaultShrinkAttempts = 2000;

struct CoverageClass;

struct PinnedCase {
  std::string source;  // "corpus/real/rows.jsonl:12": where a person finds it
  Case value;
};

struct RunOptions {
  std::vector<const Property*> properties;  // not empty
  // Whether the pinned cases' `expect` are judged too, under the name kExpectation.
  bool judge_expectations = true;
  std::vector<PinnedCase> pinned;
  std::uint64_t seed = 0;
  std::int64_t cases_per_property = kDefaultCasesPerProperty;  // generated; 0 runs the pinned ones alone
  std::optional<double> time_limit_seconds;
  std::int64_t shrink_attempts = kDefaultShrinkAttempts;
  // The domain that the command line narrows (`--topk`, `--segments`, `--contiguous`, `--align`); empty lists admit
  // all. Pinned cases outside it are left out.
  std::vector<std::int64_t> topk;
  std::vector<std::int64_t> num_segments;
  bool contiguous = false;
  std::int64_t align_bytes = 4;
  std::string failures_folder;  // "": failures are not kept
  const std::vector<CoverageClass>* coverage_classes =
      nullptr;  // whose floors are watched; null for all_coverage_classes()
};

// Whether the minimal case fails when it is all that happens.
enum class Reproduction : std::uint8_t {
  kFresh,        // it failed in an implementation that had been restarted: its replay fails
  kSameProcess,  // it failed again, but the implementation cannot be restarted, so earlier calls may play a part
  kNot,  // it did not fail again, alone or after the calls before it: the fault depends on something that no case holds
};

// A counterexample as a person gets it.
struct Counterexample {
  Case original;
  std::string original_source;  // a pinned case's source, or "generated"
  Case minimal;
  Outcome outcome;  // the minimal case's
  std::optional<std::vector<std::int32_t>>
      expected_rows;  // the oracle's for the minimal case, where it is small enough to show
  Verdict verdict;  // the minimal case's; its difference is filled in from the oracle where the property names no slot
  std::vector<std::string> irrelevant_fields;  // those for which every other value that was tried fails too
  std::int64_t shrinks = 0;                    // accepted
  std::int64_t shrink_attempts = 0;
  Reproduction reproduction = Reproduction::kSameProcess;
  std::string failure_file;  // where --failures keeps it; "" where it does not
};

enum class ResultKind : std::uint8_t { kPass, kFail, kSkipped, kNotProvided, kUnsupported };

struct PropertyResult {
  std::string property;
  ResultKind kind = ResultKind::kPass;
  std::string reason;            // where skipped, not provided or unsupported
  std::int64_t cases = 0;        // judged, silent ones not counted
  std::int64_t unsupported = 0;  // cases outside the implementation's domain
  std::map<std::string, std::int64_t>
      classes;  // of the cases drawn for this property; a class that may occur and did not has 0
  std::optional<Counterexample> counterexample;
};

struct ImplementationResult {
  std::string implementation;
  // kFail too where the implementation supported none of the cases; `reason` says so.
  ResultKind kind = ResultKind::kPass;
  std::string reason;
  std::int64_t runs = 0;         // cases that it ran, further ones of relations and of shrinking included
  std::int64_t generated = 0;    // cases of the streams that were judged without a failure
  double generated_seconds = 0;  // what those took, a property's further runs and judging included
  double own_seconds = 0;        // what of it was the implementation itself
  std::vector<PropertyResult> properties;
};

struct MissedFloor {
  std::string implementation;
  std::string property;
  std::string case_class;
  std::int64_t hits = 0;
  std::int64_t floor = 0;
  bool enforced = true;  // only at kDefaultCasesPerProperty or above, and not where a clock cut the run
};

struct Report {
  std::uint64_t seed = 0;
  double seconds = 0;
  bool cut_by_clock = false;
  std::vector<ImplementationResult> implementations;
  std::vector<MissedFloor> missed_floors;
  std::int64_t pinned_cases = 0;            // judged of the implementation that served most of them
  std::int64_t generated_cases = 0;         // judged, all properties and implementations together
  std::int64_t judged_cases = 0;            // the sum of PropertyResult::cases
  std::vector<std::string> failure_errors;  // what went wrong in keeping failures; empty in a good run
  std::vector<std::string> fixed_failures;  // files that moved to `fixed`
};

// Called now and then: what is being judged ("avx2", or "5 implementations" where they share a stream; a property,
// "pinned cases" or "large cases") and how much of the whole is done (0 to 1).
using Progress = std::function<void(const std::string& implementation, const std::string& property, double done)>;

// An error, in words for a person, where nothing could be judged at all: no property, no implementation, neither a
// pinned case nor a generated one, a folder of failures that cannot be read.
std::expected<Report, std::string> run_properties(const RunOptions& options,
                                                  std::vector<std::unique_ptr<Implementation>>& implementations,
                                                  const Progress& progress);

// Judges one case by every given property on one implementation, without shrinking: what `replay` does. Results in the
// order of `properties`; the case's `expect` (and those of its `after`) is judged by the property named "expect" at the
// end where there is one.
struct Judgement {
  std::string property;
  Verdict verdict;
};
std::vector<Judgement> judge_case(const Case& value, Implementation& implementation,
                                  std::span<const Property* const> properties);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUN_RUNNER_H
