#include "properties/run/case_judge.h"

#include <kvwitness/assertions.h>

#include <algorithm>
#include <utility>

#include "properties/run/case_size.h"
#include "properties/run/deferred_runs.h"
#include "properties/sandbox/call.h"

namespace kvwitness::harness {
namespace {

// Up to how many elements of a pinned or shared case its relations are judged, on a slow implementation and on others.
constexpr std::size_t kMostElementsOfSlowRelations = 256;
constexpr std::size_t kMostElementsOfRelations = std::size_t{1} << 20;
// Up to how many elements the cases of a batch have together.
constexpr std::size_t kMostElementsOfBatch = std::size_t{1} << 16;

// Runs the requests together, in order. Fewer are run where the implementation is given up on the way.
// @param take  gets each request's number, its outcome, and the position of its calls among all calls made
template <typename Take>
void run_through(ImplementationRun& run, std::span<const RunRequest> requests, Take take) {
  for (std::size_t done = 0; done < requests.size() && !run.is_given_up();) {
    std::vector<Outcome> outcomes = run.recording.run_together(requests.subspan(done));
    std::size_t position = run.recording.calls_made();
    for (std::size_t i = 0; i < outcomes.size(); ++i) position -= requests[done + i].value->prior_calls.size() + 1;
    for (Outcome& outcome : outcomes) {
      const std::size_t calls = requests[done].value->prior_calls.size() + 1;
      take(done, std::move(outcome), position);
      position += calls;
      ++done;
    }
  }
}

}  // namespace

std::span<const SourcedCase> CaseJudge::next_batch(std::span<const SourcedCase> cases, const ImplementationRun& run) {
  KVWITNESS_ASSERT(!cases.empty());
  const std::size_t most = std::min(cases.size(), run.recording.runs_together());
  std::size_t elements = elements_with_prior_calls(*cases.front().value);
  std::size_t number = 1;
  while (number < most && (elements += elements_with_prior_calls(*cases[number].value)) <= kMostElementsOfBatch) {
    ++number;
  }
  return cases.first(number);
}

bool CaseJudge::is_judged(const ImplementationRun& run, const Case& value, std::size_t property,
                          std::optional<std::size_t> stream_property, JudgedBy judged_by) const {
  const Property& candidate = *context_.properties[property];
  if (judged_by == JudgedBy::kWholeCalls && !candidate.judges_large_calls) return false;
  if (judged_by != JudgedBy::kEverything && candidate.is_metamorphic_relation) return false;
  if (run.is_settled(property) || !candidate.concerns(value.operation)) return false;
  if (!candidate.is_metamorphic_relation || stream_property == property) return true;
  const std::size_t most = run.recording.is_slow() ? kMostElementsOfSlowRelations : kMostElementsOfRelations;
  return !stream_property && elements_of(value) <= most &&
         output_elements(value) <= static_cast<std::int64_t>(kMostElementsOfRelations);
}

std::int64_t CaseJudge::judge(ImplementationRun& run, std::span<const SourcedCase> batch,
                              std::optional<std::size_t> stream_property, JudgedBy judged_by) {
  if (run.is_given_up()) return 0;
  run.recording.make_room();
  std::vector<JudgedCase> judged;
  try {
    judged = run_cases(run, batch, stream_property, judged_by);
    if (batch.size() > 1) {
      judge_together(run, judged);
    } else {
      for (JudgedCase& one : judged) judge_alone(run, one);
    }
  } catch (const TimeUp&) {
    run.note_time_up();
  }
  settle(run, judged);
  return std::ssize(judged);
}

// A relation runs the case again, for which there may be no time.
bool CaseJudge::is_worth_judging(const ImplementationRun& run, const JudgedCase& judged,
                                 const PropertyVerdict& verdict) const {
  return !context_.properties[verdict.property]->is_metamorphic_relation || run.ration.affords(judged.value());
}

void CaseJudge::note_hang(ImplementationRun& run, JudgedCase& judged) {
  if (!judged.hung) ++run.hangs;
  judged.hung = true;
}

// The cases' own runs. What is not served, or not run any more, is not among them.
std::vector<CaseJudge::JudgedCase> CaseJudge::run_cases(ImplementationRun& run, std::span<const SourcedCase> batch,
                                                        std::optional<std::size_t> stream_property,
                                                        JudgedBy judged_by) {
  std::vector<JudgedCase> judged;
  for (const SourcedCase& given : batch) {
    JudgedCase one{.given = given, .verdicts = {}};
    for (std::size_t i = 0; i < context_.properties.size(); ++i) {
      if (is_judged(run, *given.value, i, stream_property, judged_by)) one.verdicts.push_back({.property = i});
    }
    if (one.verdicts.empty()) continue;
    if (!run.ration.affords(*given.value)) {
      run.ration.leave_out();
      continue;
    }
    if (!run.recording.supports(*given.value)) one.outcome = Outcome::ended(Ending::kUnsupported, {});
    judged.push_back(std::move(one));
  }
  std::vector<JudgedCase*> running;
  for (JudgedCase& one : judged) {
    if (!one.outcome) running.push_back(&one);
  }
  // Equal shapes next to each other: what an implementation prepares for a shape it prepares once.
  std::ranges::sort(running, {},
                    [](const JudgedCase* one) { return std::pair(call_shape_of(one->value(), false), one); });
  std::vector<RunRequest> requests;
  for (const JudgedCase* one : running) requests.push_back({.value = &one->value()});
  run_through(run, requests, [&](std::size_t i, Outcome outcome, std::size_t position) {
    if (outcome.ending == Ending::kHung) note_hang(run, *running[i]);
    running[i]->outcome = std::move(outcome);
    running[i]->position = position;
  });
  std::erase_if(judged, [&](const JudgedCase& one) {
    if (!one.outcome) return true;
    if (one.outcome->ending != Ending::kUnsupported) return false;
    for (const PropertyVerdict& verdict : one.verdicts) ++run.result.properties[verdict.property].unsupported;
    return true;
  });
  run.supported += std::ssize(judged);
  return judged;
}

void CaseJudge::judge_alone(ImplementationRun& run, JudgedCase& judged) {
  for (PropertyVerdict& one : judged.verdicts) {
    if (!is_worth_judging(run, judged, one)) continue;
    const std::int64_t hangs_before = run.recording.hangs();
    one.verdict = context_.properties[one.property]->judge(judged.value(), *judged.outcome, run.recording);
    one.hung = run.recording.hangs() != hangs_before;
    if (one.hung) note_hang(run, judged);
  }
}

void CaseJudge::judge_together(ImplementationRun& run, std::vector<JudgedCase>& batch) {
  struct OpenVerdict {
    JudgedCase* judged;
    PropertyVerdict* verdict;
    DeferredRuns runs;
  };
  std::vector<OpenVerdict> open;
  for (JudgedCase& judged : batch) {
    for (PropertyVerdict& verdict : judged.verdicts) {
      if (is_worth_judging(run, judged, verdict)) open.push_back({&judged, &verdict, DeferredRuns(run.recording)});
    }
  }
  for (;;) {
    std::erase_if(open, [&](OpenVerdict& one) {
      const Property& property = *context_.properties[one.verdict->property];
      auto verdict = one.runs.judge(property, one.judged->value(), *one.judged->outcome);
      if (!verdict) return false;
      one.verdict->verdict = std::move(*verdict);
      return true;
    });
    if (open.empty() || run.is_given_up()) return;
    std::vector<RunRequest> requests;
    for (const OpenVerdict& one : open) requests.push_back(one.runs.wanted());
    run_through(run, requests, [&](std::size_t i, Outcome outcome, std::size_t) {
      if (outcome.ending == Ending::kHung) {
        open[i].verdict->hung = true;
        note_hang(run, *open[i].judged);
      }
      open[i].runs.answer(std::move(outcome));
    });
  }
}

// Counts the verdicts and hands the failures on, in the order of the cases.
void CaseJudge::settle(ImplementationRun& run, std::span<const JudgedCase> batch) {
  std::vector<FoundFailure> failures;
  for (const JudgedCase& judged : batch) {
    for (const PropertyVerdict& one : judged.verdicts) {
      PropertyResult& result = run.result.properties[one.property];
      if (one.verdict.is_outside_domain) ++result.outside_domain;
      if (one.verdict.kind == Verdict::Kind::kSilent) continue;
      const bool fails_in_batch = std::ranges::find(failures, one.property, &FoundFailure::property) != failures.end();
      const bool failed_before = result.kind == ResultKind::kFail || fails_in_batch;
      if (!failed_before) ++result.cases;
      if (one.verdict.kind != Verdict::Kind::kBroken || fails_in_batch) continue;
      if (failed_before && !is_checkable(judged.value())) continue;
      failures.push_back(found_failure(run, judged, one, batch.size() == 1));
    }
  }
  if (failures.empty()) return;
  // The search for the first counterexample ends the process, and with it what was recorded of it.
  const std::vector<Case> calls = run.recording.calls();
  const std::size_t forgotten = run.recording.forgotten();
  for (auto& [property, failure, position] : failures) {
    const std::size_t count = std::min(std::max(position, forgotten) - forgotten, calls.size());
    failure.prior_calls.assign(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(count));
    triage_.handle(run, property, failure);
  }
}

CaseJudge::FoundFailure CaseJudge::found_failure(ImplementationRun& run, const JudgedCase& judged,
                                                 const PropertyVerdict& verdict, bool was_alone) const {
  const Property& property = *context_.properties[verdict.property];
  const bool hung = verdict.hung || judged.outcome->ending == Ending::kHung;
  FoundFailure found{
      verdict.property,
      {&property, judged.value(), std::string(judged.given.source), *judged.outcome, verdict.verdict, {}, hung},
      judged.position};
  if (property.is_metamorphic_relation && !was_alone && !hung) {
    // Between its runs others were made. By itself it mostly fails too, and then its prior calls are known.
    const std::size_t position = run.recording.calls_made();
    try {
      Outcome outcome = run.recording.run(judged.value());
      Verdict again = property.judge(judged.value(), outcome, run.recording);
      if (again.kind == Verdict::Kind::kBroken) {
        found.failure.outcome = std::move(outcome);
        found.failure.verdict = std::move(again);
        found.position = position;
      }
    } catch (const TimeUp&) {
      run.note_time_up();
    }
  }
  return found;
}

}  // namespace kvwitness::harness
