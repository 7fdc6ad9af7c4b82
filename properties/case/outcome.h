// An Outcome: everything observable of one Case's run on one Implementation.
#ifndef PROPERTIES_CASE_OUTCOME_H
#define PROPERTIES_CASE_OUTCOME_H

#include <kvwitness/case.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace kvwitness::harness {

// How the run ended. All but kReturned and kUnsupported are faults of the implementation.
enum class Ending : std::uint8_t {
  kReturned,       // the call came back with a status
  kUnsupported,    // the implementation said beforehand that this shape is outside its domain
  kCrashed,        // a signal ended the process; `how` names it
  kExited,         // the process ended itself; `how` gives the exit status
  kHung,           // no answer within the deadline
  kProtocolError,  // a pipe's answer breaks the protocol; `how` says where
};

struct Outcome {
  Ending ending = Ending::kReturned;
  std::string how;  // for a person, where ending is not kReturned

  std::int32_t status = 0;  // a kvw_status number
  std::string message;      // the implementation's own words for a refusal, "" where it has none

  // The output buffer's logical contents after the call, packed: [rows, num_segments] for witnesses, otherwise as long
  // as the case's `learned`. For a refused call too: it must then hold what it held before the call (`before`).
  std::vector<std::int32_t> rows;
  // The same elements just before the call: poison for a separate output, `learned` in place.
  std::vector<std::int32_t> before;

  // What the call touched that it must not: "" or one sentence naming buffer, row, column and both values. Covers
  // canaries around every buffer, spare columns between rows, and inputs that changed.
  std::string stray;

  // Of the case's prior calls, in order. Where one of them does not return, those behind it and the case itself are not
  // run: the outcome ends as it did, and `how` names the call.
  std::vector<Outcome> prior_calls;

  // A run without a result.
  static Outcome ended(Ending ending, std::string how) {
    Outcome outcome;
    outcome.ending = ending;
    outcome.how = std::move(how);
    return outcome;
  }

  friend bool operator==(const Outcome&, const Outcome&) = default;
};

// The number of elements of the case's output: rows * num_segments for witnesses (of a refused call at most 65,536),
// else as many as `learned` has.
std::int64_t output_elements(const Case& value);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_CASE_OUTCOME_H
