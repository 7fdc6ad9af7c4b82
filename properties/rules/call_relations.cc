// Metamorphic relations that leave the rows as they are and change how, how often or where the call is made.
#include <kvwitness/case.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "properties/case/status.h"
#include "properties/rules/further_run.h"
#include "properties/rules/judged_rows.h"
#include "properties/rules/judges.h"

namespace kvwitness::harness::judges {
namespace {

// Whether two runs that must be equal are: for refused calls too.
Verdict same_answer(const Case& value, const Outcome& first, const Outcome& second, const Case& again,
                    const std::string& what) {
  Verdict verdict = Verdict::holds();
  if (first.status != second.status) {
    verdict = broken(what + ": status " + std::to_string(second.status) + ", before " + std::to_string(first.status));
  } else if (first.rows.size() != second.rows.size()) {
    verdict = broken(what + ": " + std::to_string(second.rows.size()) + " elements, before " +
                     std::to_string(first.rows.size()));
  } else if (first.status == status::kOk) {
    verdict = compare_runs(first.rows, second.rows, result_width(value), what);
  }
  if (verdict.kind == Verdict::Kind::kBroken) {
    verdict.compared_with = again;
    verdict.compared_rows = second.rows;
  }
  return verdict;
}

// The verdict where a run's ending leaves nothing to compare; a refused call that came back may be compared.
std::optional<Verdict> not_returned(const Outcome& outcome, const Case& value) {
  if (outcome.ending == Ending::kReturned) {
    return std::nullopt;
  }
  Verdict verdict = broken(why_not_returned(outcome));
  verdict.compared_with = value;
  return verdict;
}

// The verdict where a call that came back is called unsupported when it is made again.
std::optional<Verdict> declined(const Outcome& second, const Case& again) {
  if (second.ending != Ending::kUnsupported) {
    return std::nullopt;
  }
  Verdict verdict = broken("the call was served, and is declined when it is made again");
  verdict.compared_with = again;
  return verdict;
}

// Runs the case once more, in the given memory context, and expects the same.
Verdict run_once_more(const Case& value, const Outcome& outcome, Implementation& implementation,
                      const MemoryContext& memory_context, const std::string& what) {
  if (auto verdict = not_returned(outcome, value)) {
    return *verdict;
  }
  const Case again = call_only(value);
  const Outcome second = implementation.run_in(again, memory_context);
  if (auto verdict = declined(second, again)) {
    return *verdict;
  }
  if (auto verdict = not_returned(second, again)) {
    return *verdict;
  }
  return same_answer(value, outcome, second, again, what);
}

}  // namespace

Verdict determinism(const Case& value, const Outcome& outcome, Implementation& implementation) {
  return run_once_more(value, outcome, implementation, {}, "the same call gives another answer");
}

Verdict spare_poison(const Case& value, const Outcome& outcome, Implementation& implementation) {
  for (const MemoryContext& memory_context :
       {MemoryContext{MemoryContext::Fill::kPadding, false}, MemoryContext{MemoryContext::Fill::kTokens, true}}) {
    Verdict verdict = run_once_more(value, outcome, implementation, memory_context,
                                    "with other memory around the buffers the answer is another");
    if (verdict.kind != Verdict::Kind::kHolds) {
      return verdict;
    }
  }
  return Verdict::holds();
}

Verdict repeat_run(const Case& value, const Outcome& outcome, Implementation& implementation) {
  if (auto verdict = not_returned(outcome, value)) {
    return *verdict;
  }
  Case again = call_only(value);
  Case first = call_only(value);
  first.prior_calls.clear();
  again.prior_calls.push_back(std::move(first));
  const Outcome second = implementation.run_in(again, {});
  if (auto verdict = declined(second, again)) {
    return *verdict;
  }
  if (auto verdict = not_returned(second, again)) {
    return *verdict;
  }
  if (second.prior_calls.empty()) {
    return broken("the calls before the last one have no outcome");
  }
  if (auto verdict = declined(second.prior_calls.back(), again)) {
    return *verdict;
  }
  Verdict verdict =
      same_answer(value, outcome, second.prior_calls.back(), again, "made again, the call gives another answer");
  return verdict.kind == Verdict::Kind::kBroken
             ? verdict
             : same_answer(value, outcome, second, again,
                           "made twice in a row, the call gives another answer the second time");
}

Verdict stride_widening(const Case& value, const Outcome& outcome, Implementation& implementation) {
  if (value.topk == 0 || !implementation.honours_stride(value.operation)) {
    return Verdict::silent();
  }
  // One column more moves the rows off every alignment; an implementation that needs one takes the next boundary that it
  // supports.
  const std::int64_t stride = value.row_stride.value_or(value.topk);
  for (const std::int64_t boundary : {1, 4, 16, 64}) {
    const std::int64_t columns = boundary - stride % boundary;
    Case wider = call_only(value);
    wider.row_stride = stride + columns;
    const FurtherRun run = run_further(std::move(wider), implementation);
    if (!run.verdict) {
      return against(
          compare_runs(outcome.rows, run.outcome.rows, result_width(value),
                       "with " + std::to_string(columns) + " more spare columns between the rows the result differs"),
          run);
    }
    if (run.verdict->kind == Verdict::Kind::kBroken) {
      return *run.verdict;
    }
  }
  return Verdict::outside_domain();
}

Verdict backend_equality(const Case& value, const Outcome& outcome, Implementation& implementation) {
  bool compared = false;
  const std::string name = implementation.name();
  Case without_prior_calls = call_only(value);
  without_prior_calls.prior_calls.clear();
  for (const std::unique_ptr<Implementation>& backend : implementation.peers()) {
    if (backend->name() == name || !backend->supports(without_prior_calls) ||
        !legal_for(*backend, without_prior_calls)) {
      continue;
    }
    const Outcome other = backend->run(without_prior_calls);
    const Verdict verdict = same_answer(value, other, outcome, without_prior_calls,
                                        name + " and the backend " + backend->name() + " differ");
    if (verdict.kind == Verdict::Kind::kBroken) {
      return verdict;
    }
    compared = true;
  }
  return compared ? Verdict::holds() : Verdict::silent();
}

}  // namespace kvwitness::harness::judges
