// The runner: judges implementations by properties over pinned and generated cases, and gives a Report.
//
// Pinned cases come first (in the order given), then generated ones. The first failing case of an (implementation, property) pair is kept
// as it was, then shrunk within a budget of attempts while the same property still fails, then explained. With the same options the report is the
// same, but for the seconds, unless a clock cut the run; then it says so.
#ifndef PROPERTIES_RUNNER_H
#define PROPERTIES_RUNNER_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "properties/case.h"
#include "properties/implementations.h"
#include "properties/invariants.h"

namespace kvwitness::harness {

struct PinnedCase {
  std::string source;  // "corpus/real/rows.jsonl:12": where a person finds it
  Case value;
};

struct RunOptions {
  std::vector<const Property*> properties;  // not empty
  std::vector<PinnedCase> pinned;
  std::uint64_t seed = 0;
  std::int64_t cases_per_property = 0;  // generated; 0 runs the pinned ones alone
  bool enforce_floors = true;           // only at the default number of cases or above
  std::optional<double> time_limit_seconds;
  std::int64_t shrink_attempts = 0;
  // The domain that the command line narrows (`--topk`, `--segments`, `--contiguous`, `--align`); empty lists admit all.
  std::vector<std::int64_t> topk;
  std::vector<std::int64_t> num_segments;
  bool contiguous = false;
  std::int64_t align_bytes = 4;
  std::string failures_folder;  // "": failures are not kept
};

// A counterexample as a person gets it.
struct Counterexample {
  Case original;
  std::string original_source;  // a pinned case's source, or "generated"
  Case minimal;
  Outcome outcome;              // the minimal case's
  std::optional<std::vector<std::int32_t>> expected_rows;  // the oracle's for the minimal case, where it is small enough to show
  Verdict verdict;              // the minimal case's
  std::vector<std::string> irrelevant_fields;  // those for which every other value that was tried fails too
  std::int64_t shrinks = 0;     // accepted
  std::int64_t shrink_attempts = 0;
};

enum class ResultKind : std::uint8_t { kPass, kFail, kSkipped, kNotProvided, kUnsupported };

struct PropertyResult {
  std::string property;
  ResultKind kind = ResultKind::kPass;
  std::string reason;              // where skipped, not provided or unsupported
  std::int64_t cases = 0;          // judged, silent ones not counted
  std::int64_t unsupported = 0;    // cases outside the implementation's domain
  std::map<std::string, std::int64_t> classes;
  std::optional<Counterexample> counterexample;
};

struct ImplementationResult {
  std::string implementation;
  ResultKind kind = ResultKind::kPass;
  std::string reason;
  std::vector<PropertyResult> properties;
};

struct MissedFloor {
  std::string implementation;
  std::string property;
  std::string case_class;
  std::int64_t hits = 0;
  std::int64_t floor = 0;
  bool enforced = true;
};

struct Report {
  std::uint64_t seed = 0;
  double seconds = 0;
  bool cut_by_clock = false;
  std::vector<ImplementationResult> implementations;
  std::vector<MissedFloor> missed_floors;
  std::int64_t pinned_cases = 0;
  std::int64_t generated_cases = 0;  // drawn, all properties and implementations together
};

// Called now and then: what is being judged and how much of the whole is done (0 to 1).
using Progress = std::function<void(const std::string& implementation, const std::string& property, double done)>;

Report run_properties(const RunOptions& options, std::vector<std::unique_ptr<Implementation>>& implementations, const Progress& progress);

// Judges one case by every given property on one implementation, without shrinking: what `replay` does. Results in the order of
// `properties`; the case's `expect` (and those of its `after`) is judged by the property named "expect" at the end where there is one.
struct Judgement {
  std::string property;
  Verdict verdict;
};
std::vector<Judgement> judge_case(const Case& value, Implementation& implementation, std::span<const Property* const> properties);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUNNER_H
