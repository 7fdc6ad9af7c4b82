// The properties of a call as a whole: its answer against the oracle's, its refusals, and what it touched.
#include <kvwitness/legality.h>
#include <kvwitness/oracle.h>

#include <cstdint>
#include <optional>
#include <string>

#include "properties/case/status.h"
#include "properties/rules/judged_rows.h"
#include "properties/rules/judges.h"

namespace kvwitness::harness::judges {
namespace {

std::string numbered(std::int32_t status) {
  return std::to_string(status) + " (" + std::string(status_name(status)) + ")";
}

// The verdict on a call's ending, for properties that concern refused calls too: nothing where it returned.
std::optional<Verdict> ended_badly(const Outcome& outcome) {
  if (outcome.ending != Ending::kReturned) {
    return broken(why_not_returned(outcome));
  }
  return std::nullopt;
}

Verdict right_status(const Case& value, const Outcome& outcome, const Implementation& implementation) {
  const std::int32_t wanted = expected_status(value, sees_stride(implementation, value));
  if (outcome.status == wanted) {
    return Verdict::holds();
  }
  return broken("the call was answered with status " + numbered(outcome.status) + ", not " + numbered(wanted) +
                (outcome.message.empty() ? "" : "; the implementation says: " + outcome.message));
}

}  // namespace

Verdict oracle_equality(const Case& value, const Outcome& outcome, Implementation& implementation) {
  if (auto verdict = ended_badly(outcome)) {
    return *verdict;
  }
  Verdict status = right_status(value, outcome, implementation);
  if (status.kind == Verdict::Kind::kBroken || outcome.status != status::kOk) {
    return status;
  }
  if (auto verdict = unjudgeable(value, outcome, implementation)) {
    return *verdict;
  }
  return compare_rows(expected_rows(value), outcome.rows, result_width(value), "the result differs from the rule's");
}

Verdict refusal(const Case& value, const Outcome& outcome, Implementation& implementation) {
  if (auto verdict = ended_badly(outcome)) {
    return *verdict;
  }
  return right_status(value, outcome, implementation);
}

Verdict refused_writes_nothing(const Case& value, const Outcome& outcome, Implementation& implementation) {
  const bool must_be_refused = !legal_for(implementation, value);
  if (!must_be_refused && outcome.status == status::kOk && outcome.ending == Ending::kReturned) {
    return Verdict::silent();
  }
  if (auto verdict = ended_badly(outcome)) {
    return *verdict;
  }
  if (!outcome.stray.empty()) {
    return broken("a refused call wrote: " + outcome.stray);
  }
  if (outcome.rows.size() != outcome.before.size()) {
    return broken("a refused call left " + std::to_string(outcome.rows.size()) + " elements of " +
                  std::to_string(outcome.before.size()));
  }
  return compare_rows(outcome.before, outcome.rows, result_width(value), "a refused call wrote");
}

Verdict bounds(const Case&, const Outcome& outcome, Implementation&) {
  if (auto verdict = ended_badly(outcome)) {
    return *verdict;
  }
  if (!outcome.stray.empty()) {
    return broken(outcome.stray);
  }
  for (const Outcome& earlier : outcome.prior_calls) {
    if (!earlier.stray.empty()) {
      return broken("in a call before this one: " + earlier.stray);
    }
  }
  return Verdict::holds();
}

}  // namespace kvwitness::harness::judges
