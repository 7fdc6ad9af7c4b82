#include "properties/rules/expectation.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "properties/case/status.h"
#include "properties/rules/judged_rows.h"

namespace kvwitness::harness {
namespace {

std::string words(std::int32_t number) {
  return std::string(status_name(number)) + " (" + std::to_string(number) + ")";
}

// One call against what it expects; nothing where it expects nothing or meets it.
std::optional<Verdict> against_expectation(const Case& value, const Outcome& outcome) {
  if (!value.expect) return std::nullopt;
  const auto* const refusal = std::get_if<std::int32_t>(&*value.expect);
  const std::int32_t expected_status = refusal != nullptr ? *refusal : status::kOk;
  if (outcome.status != expected_status) {
    return broken("the case expects the status " + words(expected_status) + ", the call gave " + words(outcome.status));
  }
  if (refusal != nullptr) return std::nullopt;
  const auto& rows = std::get<std::vector<std::int32_t>>(*value.expect);
  if (rows.size() != outcome.rows.size()) {
    return broken("the case expects " + std::to_string(rows.size()) + " elements, the call left " +
                  std::to_string(outcome.rows.size()));
  }
  Verdict verdict =
      compare_rows(rows, outcome.rows, std::max<std::int64_t>(result_width(value), 1), "the case's own expectation");
  if (verdict.kind == Verdict::Kind::kBroken) return verdict;
  return std::nullopt;
}

// Whether the implementation promises what the case expects. Without checks of its arguments it promises nothing of a
// call that must be refused, and a stride that never reaches it cannot be refused: it makes the packed call.
bool promised(const Case& value, const Implementation& implementation) {
  const auto* const refusal = value.expect ? std::get_if<std::int32_t>(&*value.expect) : nullptr;
  if (refusal == nullptr) return true;
  return implementation.checks_arguments() &&
         (*refusal != status::kRowStride || implementation.honours_stride(value.operation));
}

Verdict judge_expectation(const Case& value, const Outcome& outcome, Implementation& implementation) {
  if (!carries_expectation(value) || !promised(value, implementation)) {
    return Verdict::silent();
  }
  if (outcome.ending != Ending::kReturned) return broken(why_not_returned(outcome));
  for (std::size_t i = 0; i < value.prior_calls.size() && i < outcome.prior_calls.size(); ++i) {
    if (!promised(value.prior_calls[i], implementation) || outcome.prior_calls[i].ending == Ending::kUnsupported) {
      continue;
    }
    if (auto verdict = against_expectation(value.prior_calls[i], outcome.prior_calls[i])) {
      verdict->what = "call " + std::to_string(i + 1) + " of `after`: " + verdict->what;
      verdict->difference.reset();
      return *verdict;
    }
  }
  return against_expectation(value, outcome).value_or(Verdict::holds());
}

}  // namespace

bool carries_expectation(const Case& value) {
  return value.expect.has_value() || std::ranges::any_of(value.prior_calls, carries_expectation);
}

const Property& expectation_property() {
  static constexpr Property kProperty{
      .name = kExpectation, .statement = "the call gives what its case file expects", .judge_run = judge_expectation};
  return kProperty;
}

}  // namespace kvwitness::harness
