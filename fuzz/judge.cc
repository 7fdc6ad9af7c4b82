#include "fuzz/judge.h"

#include <kvwitness/legality.h>
#include <kvwitness/oracle.h>

#include "fuzz/finding.h"
#include "properties/case/status.h"
#include "properties/rules/property.h"
#include "properties/sandbox/call_frame.h"

namespace kvwitness::fuzz {
namespace {

using harness::Case;
using harness::Outcome;
using harness::Verdict;

std::vector<std::int32_t> rows_of(const Case& call) {
  return harness::is_legal(call) || harness::expected_status(call, false) == harness::status::kOk
             ? harness::expected_rows(call)
             : std::vector<std::int32_t>();
}

// Whether the case lies within the element limits in every way that an implementation may see it.
bool can_be_laid_out(const Case& value, bool strided) {
  if (harness::beyond_limits(value, strided)) {
    return false;
  }
  for (const Case& prior : value.prior_calls) {
    if (harness::beyond_limits(prior, strided)) {
      return false;
    }
  }
  return true;
}

}  // namespace

harness::MemoryContext memory_context_of(const Case& value) {
  std::uint64_t state = static_cast<std::uint64_t>(value.topk) * 31 + static_cast<std::uint64_t>(value.num_segments);
  for (const std::int32_t length : value.context_lens) {
    state = state * 0x9E3779B97F4A7C15u + static_cast<std::uint32_t>(length);
  }
  for (const std::int32_t token : std::span(value.learned).first(std::min<std::size_t>(value.learned.size(), 8))) {
    state = state * 0x9E3779B97F4A7C15u + static_cast<std::uint32_t>(token);
  }
  state ^= state >> 32;
  return {(state & 1) != 0 ? harness::MemoryContext::Fill::kTokens : harness::MemoryContext::Fill::kPadding,
          (state & 2) != 0};
}

OracleAnswers::OracleAnswers(const Case& value) : value_(value), rows_(rows_of(value)) {
  for (const Case& prior : value.prior_calls) {
    prior_rows_.push_back(rows_of(prior));
  }
}

bool OracleAnswers::agrees(const Case& call, const std::vector<std::int32_t>& rows, const Outcome& outcome,
                           const harness::Implementation& implementation) const {
  const std::int32_t status = harness::expected_status(call, harness::sees_stride(implementation, call));
  return outcome.ending == harness::Ending::kReturned && outcome.status == status && outcome.stray.empty() &&
         outcome.rows == (status == harness::status::kOk ? rows : outcome.before);
}

void OracleAnswers::judge(std::string_view target, harness::Implementation& implementation) const {
  if (!implementation.supports(value_) ||
      !can_be_laid_out(value_, implementation.honours_stride(value_.operation) && value_.row_stride.has_value())) {
    return;
  }
  for (const Case& prior : value_.prior_calls) {
    if (!implementation.supports(prior)) {
      return;
    }
  }
  const Outcome outcome = implementation.run_in(value_, memory_context_of(value_));
  if (!agrees(value_, rows_, outcome, implementation)) {
    judge_by_properties(target, value_, outcome, implementation, true);
    report_finding({target, "oracle_equality", implementation.name(), "the run differs from the oracle's"}, value_);
  }
  for (std::size_t i = 0; i < outcome.prior_calls.size(); ++i) {
    if (!agrees(value_.prior_calls[i], prior_rows_[i], outcome.prior_calls[i], implementation)) {
      judge_by_properties(target, value_.prior_calls[i], outcome.prior_calls[i], implementation, true);
      report_finding({target, "oracle_equality", implementation.name(), "a prior call differs from the oracle's"},
                     value_);
    }
  }
}

void judge_by_properties(std::string_view target, const Case& value, const Outcome& outcome,
                         harness::Implementation& implementation, bool with_oracle) {
  for (const harness::Property& property : harness::all_properties()) {
    if (!property.concerns(value.operation) || property.uses_oracle != with_oracle) {
      continue;
    }
    const Verdict verdict = property.judge(value, outcome, implementation);
    if (verdict.kind == Verdict::Kind::kBroken) {
      std::string what = verdict.what;
      if (verdict.difference) {
        what += " (row " + std::to_string(verdict.difference->row) + " slot " +
                std::to_string(verdict.difference->slot) + ": " + std::to_string(verdict.difference->actual) +
                " instead of " + std::to_string(verdict.difference->expected) + ")";
      }
      report_finding({target, property.name, implementation.name(), what}, value);
    }
  }
}

}  // namespace kvwitness::fuzz
