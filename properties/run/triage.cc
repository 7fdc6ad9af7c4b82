#include "properties/run/triage.h"

#include <algorithm>
#include <utility>

#include "properties/run/case_size.h"
#include "properties/run/domains.h"

namespace kvwitness::harness {
namespace {

// How many minimal cases are tried for the other properties of the same implementation.
constexpr std::size_t kMostKnown = 8;
// Of an implementation's time: what the search for one counterexample may take.
constexpr double kShareOfSearch = 0.1;
// Up to how many elements, of all its calls, a person can check a case.
constexpr std::size_t kCheckableElements = 4200;

}  // namespace

bool is_checkable(const Case& value) {
  return elements_with_prior_calls(value) <= kCheckableElements;
}

std::expected<void, std::string> Triage::read_kept_failures() {
  if (context_.options.failures_folder.empty()) return {};
  auto entries = read_failures(context_.options.failures_folder);
  if (!entries) return std::unexpected(entries.error());
  const auto& properties = context_.properties;
  for (FailureEntry& entry : *entries) {
    const auto property = std::ranges::find(properties, entry.property, [](const Property* p) { return p->name; });
    if (property == properties.end()) continue;
    for (const auto& run : context_.runs) {
      if (!run->is_available || run->name() != entry.implementation) continue;
      kept_.push_back({entry, run.get(), static_cast<std::size_t>(property - properties.begin())});
    }
  }
  return {};
}

void Triage::replay_kept_failures() {
  for (KeptFailure& kept : kept_) replay(kept);
}

void Triage::replay(KeptFailure& kept) {
  const ImplementationRun::Turn turn(*kept.run);
  try {
    replay_in_time(kept);
  } catch (const TimeUp&) {
    kept.run->note_time_up();
  }
}

void Triage::replay_in_time(KeptFailure& kept) {
  const Property& property = *context_.properties[kept.property];
  ImplementationRun& run = *kept.run;
  PropertyResult& result = run.result.properties[kept.property];
  for (const Case& value : kept.entry.cases) {
    if (result.kind == ResultKind::kFail || !property.concerns(value.operation)) continue;
    if (!admits_case(run.domain(), value) || !run.recording.supports(value)) continue;
    const std::vector<Case> prior_calls = run.recording.calls();
    const std::int64_t hangs_before = run.recording.hangs();
    Outcome outcome = run.recording.run(value);
    if (outcome.ending == Ending::kUnsupported) continue;
    Verdict verdict = property.judge(value, outcome, run.recording);
    if (verdict.kind == Verdict::Kind::kSilent) continue;
    kept.was_judged = true;
    ++result.cases;
    if (verdict.kind != Verdict::Kind::kBroken) continue;
    const bool hung = run.recording.hangs() != hangs_before;
    handle(run, kept.property,
           {&property, value, kept.entry.path, std::move(outcome), std::move(verdict), prior_calls, hung});
  }
}

void Triage::mark_fixed_failures() {
  for (const KeptFailure& kept : kept_) {
    const bool passes = kept.run->result.properties[kept.property].kind == ResultKind::kPass;
    if (!passes || !kept.was_judged) continue;
    if (!kept.entry.failed_again) {
      context_.report.unseen_failures.push_back(kept.entry.path);
      continue;
    }
    if (auto moved = mark_fixed(kept.entry)) {
      context_.report.fixed_failures.push_back(kept.entry.path);
    } else {
      context_.report.failure_errors.push_back(moved.error());
    }
  }
}

void Triage::handle(ImplementationRun& run, std::size_t property, const Failure& failure) {
  const RunOptions& options = context_.options;
  PropertyResult& result = run.result.properties[property];
  const bool failed_before = result.kind == ResultKind::kFail;
  const bool is_first =
      std::ranges::find(run.result.properties, ResultKind::kFail, &PropertyResult::kind) == run.result.properties.end();
  if (is_first && options.on_failure) options.on_failure(run.name(), result.property);
  result.kind = ResultKind::kFail;
  FailureEntry entry{.path = {}, .implementation = run.name(), .property = result.property, .cases = {failure.value}};
  if (!options.failures_folder.empty()) {
    const bool is_kept =
        std::ranges::any_of(kept_, [&](const KeptFailure& kept) { return kept.entry.path == failure.source; });
    entry.path = is_kept ? failure.source
                         : failure_path(options.failures_folder, entry.implementation, entry.property, failure.value);
    if (!is_kept) keep(entry);  // as it is, before anything else can go wrong
  }
  // What a restart costs an implementation that starts slowly is shared by all its failures.
  std::int64_t fresh_attempts = options.fresh_shrink_attempts();
  std::int64_t& fresh_attempts_left = run.recording.starts_slowly() ? run.fresh_attempts : fresh_attempts;
  const Ration::Seconds end = run.ration.spent() + run.ration.share(kShareOfSearch);
  Counterexample found =
      find_counterexample(failure, run.recording, run.known,
                          {.attempts = options.shrink_attempts,
                           .fresh_attempts = fresh_attempts_left,
                           .admits = [&](const Case& value) { return admits_case(run.domain(), value); },
                           .is_over = [&] { return run.ration.is_over() || run.ration.spent() > end; }});
  if (!entry.path.empty()) {
    found.failure_file = entry.path;
    entry.failed_again = found.reproduction != Reproduction::kNot;
    if (!(found.minimal == failure.value)) entry.cases.insert(entry.cases.begin(), found.minimal);
    keep(entry);
  }
  const bool is_new = std::ranges::find(run.known, found.minimal, &KnownCase::value) == run.known.end();
  if (was_seen_again(found) && is_new && run.known.size() < kMostKnown) {
    run.known.push_back({found.minimal, found.outcome.ending == Ending::kHung});
  }
  // One more failure is looked for where this one is no case that a person can check, or cannot be replayed.
  const bool is_poor = !is_checkable(found.minimal) || !was_seen_again(found);
  run.is_provisional[property] = !failed_before && is_poor && !failure.hung && context_.is_drawn(property);
  if (!failed_before || !is_poor) result.counterexample = std::move(found);
}

void Triage::keep(const FailureEntry& entry) {
  if (auto written = write_failure(entry); !written) context_.report.failure_errors.push_back(written.error());
}

}  // namespace kvwitness::harness
