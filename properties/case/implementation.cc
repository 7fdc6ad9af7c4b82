#include "properties/case/implementation.h"

#include <kvwitness/legality.h>

#include <string>
#include <utility>

#include "properties/case/status.h"

namespace kvwitness::harness {

bool fills_its_shape(const Case& value) {
  return value.topk >= 0 &&
         static_cast<__int128>(value.rows()) * value.topk == static_cast<__int128>(value.learned.size());
}

bool sees_stride(const Implementation& implementation, const Case& value) {
  return value.row_stride.has_value() && implementation.honours_stride(value.operation) && fills_its_shape(value);
}

bool is_plain_call(const Case& value, bool strided) {
  if (!fills_its_shape(value) || expected_status(value, strided) != status::kOk) {
    return false;
  }
  // The off switch excuses any stride; without arguments to check, none of that is asked for.
  return !strided || (*value.row_stride >= 0 && (value.rows() < 2 || value.topk == 0)) ||
         (value.rows() > 1 && *value.row_stride >= value.topk &&
          *value.row_stride <= (kMaxSpannedElements - value.topk) / (value.rows() - 1));
}

bool came_back(const Outcome& outcome) {
  return outcome.ending == Ending::kReturned || outcome.ending == Ending::kUnsupported;
}

Outcome run_in_order(const Case& value, const std::function<Outcome(const Case&)>& run_one) {
  std::vector<Outcome> earlier;
  earlier.reserve(value.prior_calls.size());
  for (const Case& call : value.prior_calls) {
    earlier.push_back(run_one(call));
    const Outcome& last = earlier.back();
    if (!came_back(last)) {
      Outcome outcome =
          Outcome::ended(last.ending, "in call " + std::to_string(earlier.size()) + " of those before it, " + last.how);
      outcome.prior_calls = std::move(earlier);
      return outcome;
    }
  }
  Outcome outcome = run_one(value);
  outcome.prior_calls = std::move(earlier);
  return outcome;
}

std::vector<Outcome> Implementation::run_together(std::span<const RunRequest> requests) {
  std::vector<Outcome> outcomes;
  for (const auto& [value, memory_context] : requests) {
    outcomes.push_back(run_in(*value, memory_context));
    if (!came_back(outcomes.back())) {
      break;
    }
  }
  return outcomes;
}

}  // namespace kvwitness::harness
