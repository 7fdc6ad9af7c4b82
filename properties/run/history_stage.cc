#include "properties/run/history_stage.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "properties/generators/case_stream.h"

namespace kvwitness::harness {
namespace {

constexpr std::string_view kProperty = "oracle_equality";
constexpr std::string_view kGenerated = "generated";
// Below this many generated cases a property, these would take longer than all others together.
constexpr std::int64_t kLeastCases = 100;
constexpr std::size_t kManyCalls = 100'000;
constexpr std::size_t kOrdinaryCases = 64;
constexpr std::size_t kMostElements = 256;
constexpr std::size_t kCallsAfterTheFirst = 48;
// Of the implementation's time, for one history.
constexpr double kShareOfHistory = 0.1;

// Small legal calls without prior calls that the implementation serves; fewer than asked for where the domain has few.
std::vector<Case> ordinary_cases(const ImplementationRun& run, std::uint64_t seed) {
  std::vector<Case> cases;
  Domain domain = run.narrowed;
  domain.legal_only = true;
  CaseStream stream(domain, Focus::kEverything, seed);
  if (stream.empty()) return cases;
  for (std::size_t tries = 0; cases.size() < kOrdinaryCases && tries < 8 * kOrdinaryCases; ++tries) {
    Case value = stream.next();
    value.prior_calls.clear();
    if (value.learned.size() <= kMostElements && run.recording.supports(value)) cases.push_back(std::move(value));
  }
  return cases;
}

// The case with other numbers of slots and rows, its tokens padding.
Case reshaped(const Case& value, std::int64_t topk, std::size_t rows) {
  Case other = call_only(value);
  other.topk = topk;
  other.context_lens.resize(rows, 1);
  other.learned.assign(static_cast<std::size_t>(topk) * rows, -1);
  other.learned_keep = 0;
  other.row_stride.reset();
  return other;
}

}  // namespace

void HistoryStage::judge(ImplementationRun& run) {
  if (run.is_over()) return;
  const ImplementationRun::Turn turn(run);
  try {
    judge_in_time(run);
  } catch (const TimeUp&) {
    run.note_time_up();
    run.recording.resume();
  }
}

void HistoryStage::judge_in_time(ImplementationRun& run) {
  const auto found = std::ranges::find(context_.properties, kProperty, &Property::name);
  if (context_.options.cases_per_property < kLeastCases || found == context_.properties.end()) return;
  if (run.recording.starts_slowly() || !run.recording.restart()) return;
  const auto property = static_cast<std::size_t>(found - context_.properties.begin());
  const std::vector<Case> ordinary = ordinary_cases(run, context_.seed_for("history"));
  if (ordinary.empty()) return;
  judge_first_calls(run, property, ordinary);
  if (!run.recording.is_slow()) judge_many_calls(run, property, ordinary);
}

void HistoryStage::judge_first_calls(ImplementationRun& run, std::size_t property, const std::vector<Case>& ordinary) {
  for (std::size_t i = 0; i < std::min<std::size_t>(ordinary.size(), 4); ++i) {
    const Case& value = ordinary[i];
    for (const Case& first : {reshaped(value, 0, std::max<std::size_t>(value.context_lens.size(), 1)),
                              reshaped(value, value.topk, 0), reshaped(value, value.topk, 1)}) {
      if (run.recording.supports(first)) run_in_turn(run, property, {first}, ordinary, kCallsAfterTheFirst);
    }
  }
}

void HistoryStage::judge_many_calls(ImplementationRun& run, std::size_t property, const std::vector<Case>& ordinary) {
  run_in_turn(run, property, {}, ordinary, kManyCalls);
}

void HistoryStage::run_in_turn(ImplementationRun& run, std::size_t property, const std::vector<Case>& first,
                               const std::vector<Case>& ordinary, std::size_t count) {
  if (run.is_settled(property) || run.is_over()) return;
  const Ration::Seconds end = run.ration.spent() + run.ration.share(kShareOfHistory);
  const Property& rule = *context_.properties[property];
  const auto call = [&](std::size_t number) -> const Case& {
    return number < first.size() ? first[number] : ordinary[(number - first.size()) % ordinary.size()];
  };
  std::vector<Outcome> right;  // of the ordinary calls, when they were judged first
  run.recording.pause();       // they are known, and too many to be kept
  run.recording.restart();
  std::size_t number = 0;
  Verdict verdict;
  Outcome outcome;
  for (; number < first.size() + count && run.ration.spent() <= end; ++number) {
    const Case& value = call(number);
    outcome = run.recording.run(value);
    if (number < first.size()) continue;
    const std::size_t index = (number - first.size()) % ordinary.size();
    const bool is_known = index < right.size() && outcome.ending == Ending::kReturned &&
                          outcome.status == right[index].status && outcome.rows == right[index].rows &&
                          outcome.stray.empty();
    if (is_known) continue;
    verdict = rule.judge(value, outcome, run.recording);
    if (verdict.kind == Verdict::Kind::kBroken) break;
    if (index == right.size()) right.push_back(outcome);
  }
  if (number < first.size() + count && verdict.kind != Verdict::Kind::kBroken) run.ration.leave_out();
  run.recording.restart();
  run.recording.resume();
  run.drawn += std::ssize(ordinary);
  run.served += std::ssize(ordinary);
  run.result.properties[property].cases += static_cast<std::int64_t>(std::min(number, ordinary.size()));
  context_.report.generated_cases += static_cast<std::int64_t>(std::min(number, ordinary.size()));
  context_.advance(run.name(), "histories", 0);
  if (verdict.kind != Verdict::Kind::kBroken) return;
  Failure failure{&rule, call(number), std::string(kGenerated), std::move(outcome), std::move(verdict), {}, false};
  failure.hung = failure.outcome.ending == Ending::kHung;
  for (std::size_t before = 0; before < number; ++before) failure.prior_calls.push_back(call(before));
  triage_.handle(run, property, failure);
}

}  // namespace kvwitness::harness
