// What a run of the harness found, for the reports.
#ifndef PROPERTIES_RUN_RESULTS_H
#define PROPERTIES_RUN_RESULTS_H

#include <kvwitness/case.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "properties/case/outcome.h"
#include "properties/rules/property.h"
#include "properties/run/wrong_row.h"

namespace kvwitness::harness {

// Whether the minimal case fails when it is all that happens.
enum class Reproduction : std::uint8_t {
  kFresh,        // it failed in an implementation that had been restarted: its replay fails
  kSameProcess,  // it failed again, but the implementation cannot be restarted: calls made before may play a part
  kNot,          // it did not fail again, with or without prior calls: the fault depends on what no case holds
  kUntried,      // the run ended before that could be seen
};

// The most characters of a case that can be pasted: an argument of a command may have 131,071 bytes. A longer minimal
// case is kept in a file, by whose name it is replayed.
inline constexpr std::size_t kLongestPastedCase = 100'000;

// A counterexample as a person gets it.
struct Counterexample {
  Case original;
  std::string original_source;  // a pinned case's source, or "generated"
  Case minimal;
  Outcome outcome;  // the minimal case's
  // Where the run departs from the rule; nothing where no row does, and where the case is too large to say.
  std::optional<WrongRow> wrong_row;
  // The same of the case as it was found.
  std::optional<WrongRow> original_row;
  // The minimal case's. Its difference is that of the wrong row, where there is one.
  Verdict verdict;
  std::string likely_cause;  // in words, see likely_cause.h; "" where what is wrong has no known shape
  std::vector<std::string> irrelevant_fields;  // those for which every other value that was tried fails too
  std::int64_t shrinks = 0;                    // accepted
  std::int64_t shrink_attempts = 0;
  bool is_shrinking_cut = false;  // its limit ended it before no simpler case failed
  Reproduction reproduction = Reproduction::kSameProcess;
  std::string failure_file;  // where --failures keeps it; "" where it does not
};

inline bool was_seen_again(const Counterexample& found) {
  return found.reproduction == Reproduction::kFresh || found.reproduction == Reproduction::kSameProcess;
}

enum class ResultKind : std::uint8_t { kPass, kFail, kSkipped, kNotProvided, kUnsupported };

struct PropertyResult {
  std::string property;
  ResultKind kind = ResultKind::kPass;
  std::string reason;            // where skipped, not provided or unsupported
  std::int64_t cases = 0;        // judged, silent ones not counted
  std::int64_t unsupported = 0;  // cases outside the implementation's domain
  // Cases of which a relation says nothing, because every call to compare with lies outside the domain.
  std::int64_t outside_domain = 0;
  // Hits by coverage class among the cases drawn for this property; a class that may occur and did not has 0.
  std::map<std::string, std::int64_t> classes;
  std::optional<Counterexample> counterexample;
};

// Pairs of levels of the serving shapes: two of the numbers of rows, widths, segment counts, classes of lengths, operations,
// strides, bases and missing segments.
struct ServingPairs {
  std::int64_t met = 0;       // that a case has which the implementation served
  std::int64_t possible = 0;  // in its domain; 0 where that has no serving shape, or few cases were asked for
};

struct ImplementationResult {
  std::string implementation;
  // kFail too where the implementation supported none of the cases; `reason` says so.
  ResultKind kind = ResultKind::kPass;
  std::string reason;
  bool cut_by_clock = false;     // its time was up before all cases were judged
  std::int64_t left_out = 0;     // cases that were not worth their time
  std::int64_t runs = 0;         // cases that it ran, those of relations and of shrinking included
  std::int64_t generated = 0;    // cases of the streams that were judged without a failure
  double generated_seconds = 0;  // what those took, a property's further runs and judging included
  double own_seconds = 0;        // what of it was the implementation itself
  ServingPairs serving_pairs;
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

struct RunReport {
  std::uint64_t seed = 0;
  double seconds = 0;
  bool cut_by_clock = false;
  int interrupted_by = 0;  // the signal that ended the run before everything was judged
  std::vector<ImplementationResult> implementations;
  std::vector<MissedFloor> missed_floors;
  std::int64_t excluded_cases = 0;           // pinned ones that the options leave out
  std::int64_t pinned_cases = 0;             // judged of the implementation that served most of them
  std::int64_t generated_cases = 0;          // judged, all properties and implementations together
  std::int64_t judged_cases = 0;             // the sum of PropertyResult::cases
  std::vector<std::string> failure_errors;   // what went wrong in keeping failures; empty in a good run
  std::vector<std::string> fixed_failures;   // files that moved to `fixed`
  std::vector<std::string> unseen_failures;  // files of failures that came once, and did not now
};

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUN_RESULTS_H
