#include "properties/run/conclusion.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "properties/run/likely_cause.h"

namespace kvwitness::harness {
namespace {

// An implementation must serve one of this many generated cases at least, or next to nothing is shown.
constexpr std::int64_t kLeastServed = 100;

constexpr const char* kServesNoShape = "it serves none of the shapes that were tried";

constexpr const char* kInterrupted = "not judged to the end: the run was interrupted";

void conclude_property(const ImplementationRun& run, const Property& property, PropertyResult& result,
                       bool is_interrupted) {
  if (result.kind != ResultKind::kFail && is_interrupted && run.is_available) {
    result.kind = ResultKind::kSkipped;
    result.reason = kInterrupted;
  }
  if (result.kind != ResultKind::kFail && run.is_given_up()) {
    result.kind = ResultKind::kSkipped;
    result.reason = "not judged to the end: " + std::to_string(ImplementationRun::kMostHangs) +
                    " cases got no answer within the deadline, and the implementation was given up";
  }
  if (result.kind != ResultKind::kPass || result.cases > 0) return;
  const std::string_view why_not_provided = property.why_not_provided(run.recording);
  if (!run.is_available) {
    result.kind = ResultKind::kSkipped;
    result.reason = run.result.reason;
  } else if (!why_not_provided.empty()) {
    result.kind = ResultKind::kNotProvided;
    result.reason = why_not_provided;
  } else if (result.outside_domain > 0) {
    result.kind = ResultKind::kUnsupported;
    result.reason = "every call to compare with lies outside the domain";
  } else if (result.unsupported > 0) {
    result.kind = ResultKind::kUnsupported;
    result.reason = kServesNoShape;
  } else {
    result.kind = ResultKind::kSkipped;
    result.reason = run.result.cut_by_clock ? "the time was up before a case came that it is about"
                                            : "no case came that it is about";
  }
}

void conclude_implementation(RunContext& context, ImplementationRun& run) {
  ImplementationResult& result = run.result;
  result.runs = run.recording.runs();
  result.left_out = run.ration.left_out();
  if (!run.is_available) return;
  const auto has = [&](ResultKind kind) {
    return std::ranges::find(result.properties, kind, &PropertyResult::kind) != result.properties.end();
  };
  if (has(ResultKind::kFail)) {
    result.kind = ResultKind::kFail;
  } else if (context.report.interrupted_by != 0) {
    result.kind = ResultKind::kSkipped;
    result.reason = kInterrupted;
  } else if (run.supported == 0 && has(ResultKind::kUnsupported)) {
    result.kind = ResultKind::kFail;
    result.reason = kServesNoShape;
  } else if (run.served * kLeastServed < run.drawn && !run.is_given_up()) {
    context.report.missed_floors.push_back({.implementation = result.implementation,
                                            .property = "every property",
                                            .case_class = "a shape that it serves",
                                            .hits = run.served,
                                            .floor = run.drawn / kLeastServed,
                                            .enforced = context.enforces_floors() && run.ration.left_out() == 0});
  } else if (!has(ResultKind::kPass)) {
    result.kind = ResultKind::kSkipped;
    result.reason = result.cut_by_clock ? "the time was up before a case of it was judged" : "no case of it was judged";
  }
}

}  // namespace

void conclude_results(RunContext& context) {
  for (const auto& run : context.runs) {
    for (std::size_t i = 0; i < context.properties.size(); ++i) {
      PropertyResult& result = run->result.properties[i];
      context.report.judged_cases += result.cases;
      conclude_property(*run, *context.properties[i], result, context.report.interrupted_by != 0);
    }
    conclude_implementation(context, *run);
    name_likely_causes(run->result);
  }
}

}  // namespace kvwitness::harness
