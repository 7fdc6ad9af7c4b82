#include "properties/run/stages.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "properties/generators/case_stream.h"
#include "properties/generators/scenarios.h"
#include "properties/run/domains.h"

namespace kvwitness::harness {
namespace {

// Below this many generated cases a property, the shared large cases would take longer than all others together.
constexpr std::int64_t kLeastCasesForSharedOnes = 100;

constexpr std::string_view kGenerated = "generated";  // the source of a drawn case

}  // namespace

void Stages::judge_pinned(ImplementationRun& run) {
  std::vector<SourcedCase> admitted;
  for (const PinnedCase& pinned : context_.options.pinned) {
    if (admits_case(run.domain(), pinned.value)) admitted.push_back({&pinned.value, pinned.source});
  }
  std::int64_t served = 0;
  for (std::span<const SourcedCase> rest = admitted; !rest.empty();) {
    if (context_.out_of_time() || run.is_given_up()) break;
    const auto batch = CaseJudge::next_batch(rest, run);
    served += judge_.judge(run, batch, std::nullopt);
    context_.advance(run.name(), "pinned cases", std::ssize(batch));
    rest = rest.subspan(batch.size());
  }
  context_.report.pinned_cases = std::max(context_.report.pinned_cases, served);
}

void Stages::judge_shared(ImplementationRun& run) {
  if (context_.options.cases_per_property < kLeastCasesForSharedOnes) return;
  Domain domain = run.narrowed;
  if (run.recording.is_slow()) domain.operations = {domain.operations.back()};
  const std::vector<Case> cases = shared_cases(domain, context_.seed_for("shared"));
  std::vector<std::int64_t> hits(context_.classes.size(), 0);
  for (const Case& value : cases) {
    if (context_.out_of_time() || run.is_given_up()) return;
    for (const std::size_t kind : classes_of(value, context_.classes)) ++hits[kind];
    const SourcedCase given{&value, kGenerated};
    count_generated(run, {&given, 1}, judge_.judge(run, {&given, 1}, std::nullopt));
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
  const auto is_open = [&](const ImplementationRun* run) { return !run->is_settled(property) && !run->is_given_up(); };
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
        if (context_.out_of_time()) return note_stream_classes(property, domain, runs, hits, false);
        const auto batch = CaseJudge::next_batch(rest, *run);
        judge_of_stream(*run, batch, property);
        context_.advance(shown, name, std::ssize(batch));
        rest = rest.subspan(batch.size());
      }
    }
  }
  note_stream_classes(property, domain, runs, hits, drawn == most);
}

// With the time that it took. That of a failure's shrinking is no measure of anything.
void Stages::judge_of_stream(ImplementationRun& run, std::span<const SourcedCase> batch, std::size_t property) {
  const auto begun = std::chrono::steady_clock::now();
  const auto own_begun = run.recording.time();
  const auto failures = [&] {
    return std::ranges::count(run.result.properties, ResultKind::kFail, &PropertyResult::kind);
  };
  const auto failures_before = failures();
  count_generated(run, batch, judge_.judge(run, batch, property));
  if (failures() != failures_before) return;
  using Seconds = std::chrono::duration<double>;
  run.result.generated += std::ssize(batch);
  run.result.generated_seconds += Seconds(std::chrono::steady_clock::now() - begun).count();
  run.result.own_seconds += Seconds(run.recording.time() - own_begun).count();
}

void Stages::count_generated(ImplementationRun& run, std::span<const SourcedCase> cases, std::int64_t served) {
  run.drawn += std::ssize(cases);
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
                                             .enforced = context_.enforces_floors()});
  }
}

void Stages::note_stream_classes(std::size_t property, const Domain& domain, std::span<ImplementationRun* const> runs,
                                 std::span<const std::int64_t> hits, bool is_whole) {
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const CoverageClass& kind = context_.classes[i];
    if (kind.scenario->shared || !kind.scenario->possible(domain)) continue;
    const std::int64_t floor =
        class_floor(kind, context_.properties[property]->focus, context_.options.cases_per_property);
    for (ImplementationRun* run : runs) {
      PropertyResult& result = run->result.properties[property];
      result.classes[std::string(kind.name)] = hits[i];
      if (!is_whole || result.kind == ResultKind::kFail || run->is_given_up() || hits[i] >= floor) continue;
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
