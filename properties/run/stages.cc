#include "properties/run/stages.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "properties/generators/case_stream.h"
#include "properties/generators/scenarios.h"
#include "properties/run/case_size.h"
#include "properties/run/domains.h"

namespace kvwitness::harness {
namespace {

// Below this many generated cases a property, the shared large cases would take longer than all others together.
constexpr std::int64_t kLeastCasesForSharedOnes = 100;

// A pinned case above so many elements waits until the generated ones were judged.
constexpr std::size_t kMostElementsOfSmallCases = std::size_t{1} << 13;

// By when, as a part of its time, a slow implementation goes on from pinned and shared cases to generated ones, whose
// properties have the rest in equal parts. Where generated cases come first the others have all that is left.
constexpr double kEndOfGivenCases = 0.4, kEndOfFirstStreams = 0.7;

Ration::Seconds end_of_given_cases(const ImplementationRun& run) {
  return run.has_costly_shapes ? Ration::Seconds::max() : run.ration.share(kEndOfGivenCases);
}
Ration::Seconds end_of_streams(const ImplementationRun& run) {
  return run.ration.share(run.has_costly_shapes ? kEndOfFirstStreams : 1);
}

constexpr std::string_view kGenerated = "generated";  // the source of a drawn case

}  // namespace

void Stages::judge_pinned(ImplementationRun& run) {
  std::vector<SourcedCase> admitted, large;
  for (const PinnedCase& pinned : context_.options.pinned) {
    if (!admits_case(run.domain(), pinned.value)) continue;
    const bool is_large = elements_with_prior_calls(pinned.value) > kMostElementsOfSmallCases;
    (is_large ? large : admitted).push_back({&pinned.value, pinned.source});
  }
  admitted.insert(admitted.end(), large.begin(), large.end());
  for (std::span<const SourcedCase> rest = admitted; !rest.empty() && !run.is_over();) {
    if (run.ration.spent() > end_of_given_cases(run)) return run.ration.leave_out(std::ssize(rest));
    const ImplementationRun::Turn turn(run);
    const auto batch = CaseJudge::next_batch(rest, run);
    run.pinned += judge_.judge(run, batch, std::nullopt);
    context_.advance(run.name(), "pinned cases", std::ssize(batch));
    rest = rest.subspan(batch.size());
  }
  context_.report.pinned_cases = std::max(context_.report.pinned_cases, run.pinned);
}

void Stages::judge_shared(ImplementationRun& run) {
  if (context_.options.cases_per_property < kLeastCasesForSharedOnes) return;
  Domain domain = run.narrowed;
  if (run.recording.is_slow()) domain.operations = {domain.operations.back()};
  const std::vector<Case> cases = shared_cases(domain, context_.seed_for("shared"));
  std::vector<std::int64_t> hits(context_.classes.size(), 0);
  for (const Case& value : cases) {
    if (run.is_over()) return;
    if (run.ration.spent() > end_of_given_cases(run)) {
      run.ration.leave_out();
      continue;
    }
    for (const std::size_t kind : classes_of(value, context_.classes)) ++hits[kind];
    const ImplementationRun::Turn turn(run);
    const SourcedCase given{&value, kGenerated};
    count_generated(run, 1, judge_.judge(run, {&given, 1}, std::nullopt));
    context_.advance(run.name(), "large cases", 0);
  }
  note_shared_classes(run, domain, hits);
}

void Stages::judge_stream(std::size_t property) {
  std::vector<std::pair<Domain, std::vector<ImplementationRun*>>> groups;
  for (const auto& run : context_.runs) {
    if (!run->is_available) continue;
    const Domain domain = stream_domain(run->narrowed, *context_.properties[property], run->recording);
    if (domain.operations.empty()) {
      // Declined as a whole when the implementation was asked.
      const Domain provided = stream_domain(run->domain(), *context_.properties[property], run->recording);
      if (!provided.operations.empty()) ++run->result.properties[property].unsupported;
      continue;
    }
    const auto group = std::ranges::find(groups, domain, [](const auto& one) -> const Domain& { return one.first; });
    if (group == groups.end()) {
      groups.push_back({domain, {run.get()}});
    } else {
      group->second.push_back(run.get());
    }
  }
  for (const auto& [domain, runs] : groups) judge_stream_on(property, domain, runs);
}

void Stages::judge_stream_on(std::size_t property, const Domain& domain, std::span<ImplementationRun* const> runs) {
  const std::string_view name = context_.properties[property]->name;
  const std::int64_t most = context_.options.cases_per_property;
  CaseStream stream(domain, context_.properties[property]->focus, context_.seed_for(name));
  if (stream.empty()) return;
  std::vector<std::int64_t> hits(context_.classes.size(), 0);
  std::map<const ImplementationRun*, Ration::Seconds> ends;  // of this property's share of each one's time
  for (ImplementationRun* run : runs) {
    const Ration::Seconds left = std::max(Ration::Seconds{0}, end_of_streams(*run) - run->ration.spent());
    ends[run] = run->ration.spent() + left / static_cast<double>(context_.options.properties.size() - property);
  }
  const auto is_open = [&](ImplementationRun* run) {
    return !run->is_settled(property) && !run->is_over() && run->ration.spent() <= ends[run];
  };
  std::size_t most_together = 1;
  for (const ImplementationRun* run : runs) most_together = std::max(most_together, run->recording.runs_together());
  const std::string shown = runs.size() == 1 ? runs.front()->name() : std::to_string(runs.size()) + " implementations";
  std::int64_t drawn = 0;
  while (drawn < most && std::ranges::any_of(runs, is_open)) {
    std::vector<Case> cases(std::min(most_together, static_cast<std::size_t>(most - drawn)));
    std::ranges::generate(cases, [&] { return stream.next(); });
    drawn += std::ssize(cases);
    std::vector<SourcedCase> given;
    for (const Case& value : cases) {
      for (const std::size_t kind : classes_of(value, context_.classes)) ++hits[kind];
      given.push_back({&value, kGenerated});
    }
    for (ImplementationRun* run : runs) {
      for (std::span<const SourcedCase> rest = given; !rest.empty() && is_open(run);) {
        const ImplementationRun::Turn turn(*run);
        const auto batch = CaseJudge::next_batch(rest, *run);
        judge_of_stream(*run, batch, property);
        context_.advance(shown, name, std::ssize(batch));
        rest = rest.subspan(batch.size());
      }
    }
  }
  for (ImplementationRun* run : runs) {
    const bool is_cut = !run->is_settled(property) && run->ration.spent() > ends[run];
    if (is_cut) run->ration.leave_out(most - run->result.properties[property].cases);
  }
  note_stream_classes(property, domain, runs, hits);
}

// With the time that it took. That of a failure's shrinking is no measure of anything.
void Stages::judge_of_stream(ImplementationRun& run, std::span<const SourcedCase> batch, std::size_t property) {
  const auto begun = std::chrono::steady_clock::now();
  const auto own_begun = run.recording.time();
  const auto failures = [&] {
    return std::ranges::count(run.result.properties, ResultKind::kFail, &PropertyResult::kind);
  };
  const auto failures_before = failures();
  const std::int64_t left_out_before = run.ration.left_out();
  const std::int64_t served = judge_.judge(run, batch, property);
  count_generated(run, std::ssize(batch) - (run.ration.left_out() - left_out_before), served);
  if (failures() != failures_before) return;
  using Seconds = std::chrono::duration<double>;
  run.result.generated += std::ssize(batch);
  run.result.generated_seconds += Seconds(std::chrono::steady_clock::now() - begun).count();
  run.result.own_seconds += Seconds(run.recording.time() - own_begun).count();
}

void Stages::count_generated(ImplementationRun& run, std::int64_t drawn, std::int64_t served) {
  run.drawn += drawn;
  run.served += served;
  context_.report.generated_cases += served;
}

void Stages::note_shared_classes(const ImplementationRun& run, const Domain& domain,
                                 std::span<const std::int64_t> hits) {
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const CoverageClass& kind = context_.classes[i];
    const bool is_due = kind.scenario->shared && kind.scenario->possible(domain);
    if (!is_due || hits[i] > 0) continue;
    context_.report.missed_floors.push_back({.implementation = run.name(),
                                             .property = "every property",
                                             .case_class = std::string(kind.name),
                                             .hits = 0,
                                             .floor = 1,
                                             .enforced = context_.enforces_floors() && run.ration.left_out() == 0});
  }
}

void Stages::note_stream_classes(std::size_t property, const Domain& domain, std::span<ImplementationRun* const> runs,
                                 std::span<const std::int64_t> hits) {
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const CoverageClass& kind = context_.classes[i];
    if (kind.scenario->shared || !kind.scenario->possible(domain)) continue;
    const std::int64_t floor =
        class_floor(kind, context_.properties[property]->focus, context_.options.cases_per_property);
    for (ImplementationRun* run : runs) {
      PropertyResult& result = run->result.properties[property];
      result.classes[std::string(kind.name)] = hits[i];
      const bool is_whole = result.kind != ResultKind::kFail && !run->is_over() && run->ration.left_out() == 0;
      if (!is_whole || hits[i] >= floor) continue;
      const std::int64_t floor_here =
          !context_.enforces_floors()
              ? floor
              : floor_within(domain, kind, context_.properties[property]->focus, context_.options.cases_per_property);
      if (hits[i] >= floor_here) continue;
      context_.report.missed_floors.push_back({.implementation = run->name(),
                                               .property = result.property,
                                               .case_class = std::string(kind.name),
                                               .hits = hits[i],
                                               .floor = floor_here,
                                               .enforced = context_.enforces_floors()});
    }
  }
}

}  // namespace kvwitness::harness
