#include "properties/run/runner.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

#include "properties/generators/coverage_classes.h"
#include "properties/generators/generators.h"
#include "properties/rules/expectation.h"
#include "properties/run/counterexample_search.h"
#include "properties/run/domain_probe.h"
#include "properties/run/failures.h"
#include "properties/run/foresight.h"
#include "properties/run/recording.h"
#include "properties/sandbox/call_frame.h"
#include "properties/sandbox/worker.h"

namespace kvwitness::harness {
namespace {

// Below this many generated cases a property, the shared large cases would take longer than all others together.
constexpr std::int64_t kLeastCasesForSharedOnes = 100;
// Up to how many tokens and lengths a pinned or shared case's relations are judged, on a slow implementation and on
// others.
constexpr std::size_t kMostElementsOfSlowRelations = 256;
constexpr std::size_t kMostElementsOfRelations = std::size_t{1} << 20;
// How many minimal cases are tried for the other properties of the same implementation.
constexpr std::size_t kMostKnown = 8;

// Up to how many tokens and lengths, of all its calls, a minimal case is one that a person can check.
constexpr std::size_t kCheckableElements = 4200;
// Of how many generated cases an implementation serves one at least, or next to nothing is shown.
constexpr std::int64_t kLeastServed = 100;
// Up to how many tokens and lengths the cases that are judged together have.
constexpr std::size_t kMostElementsTogether = std::size_t{1} << 16;
// After how many cases without an answer an implementation is judged no further: each costs a deadline.
constexpr int kMostHangs = 5;

constexpr std::string_view kGenerated = "generated";  // the source of a drawn case

constexpr Operation kOperations[] = {Operation::kWitnesses, Operation::kApply, Operation::kScatter};

// Of each name its own stream, the same on every machine (FNV-1a, then splitmix64's finaliser).
std::uint64_t seed_for(std::uint64_t seed, std::string_view name) {
  std::uint64_t hash = 0xCBF29CE484222325u;
  for (const char letter : name) hash = (hash ^ static_cast<unsigned char>(letter)) * 0x100000001B3u;
  std::uint64_t z = seed + hash * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

std::size_t elements_of(const Case& value) {
  std::size_t elements = value.learned.size() + value.context_lens.size();
  for (const Case& earlier : value.prior_calls) elements += earlier.learned.size() + earlier.context_lens.size();
  return elements;
}

// A case to be judged, and where a person finds it.
struct Given {
  const Case* value;
  std::string_view source;
};

// How many of the first cases to run together: up to `most`, fewer where they are large.
std::size_t number_together(std::span<const Given> cases, std::size_t most) {
  std::size_t elements = elements_of(*cases.front().value);
  std::size_t number = 1;
  while (number < std::min(cases.size(), most) &&
         (elements += elements_of(*cases[number].value)) <= kMostElementsTogether) {
    ++number;
  }
  return number;
}

// One implementation in the run.
struct Seat {
  Seat(Implementation& implementation, std::int64_t attempts) : recording(implementation), fresh_attempts(attempts) {}

  Recording recording;
  Domain domain;    // what the person and its own promises admit
  Domain narrowed;  // what of it the implementation serves
  ImplementationResult result;
  std::vector<KnownCase> known;  // minimal cases so far
  std::int64_t fresh_attempts;   // left for a slow starter's counterexamples
  std::int64_t supported_runs = 0;
  std::int64_t drawn = 0;   // generated cases that came before it
  std::int64_t served = 0;  // those of them that it serves
  int hangs = 0;            // cases of the run, those of shrinking aside, that ran into the deadline
  bool available = true;

  // By property: it failed, and a counterexample that is easier to check may come yet.
  std::vector<bool> provisional;

  bool is_given_up() const { return hangs >= kMostHangs; }
  bool is_settled(std::size_t property) const {
    return result.properties[property].kind == ResultKind::kFail && !provisional[property];
  }
};

// One property before one case.
struct Judging {
  std::size_t property;
  Verdict verdict = Verdict::silent();
  bool hung = false;  // an answer to one of its further runs did not come within the deadline
};

// A case before an implementation.
struct Sitting {
  Given given;
  std::vector<Judging> judgings;
  std::optional<Outcome> outcome = {};
  std::size_t position = 0;  // of its own calls among all that were made
  bool hung = false;         // it, or a further run for it

  const Case& value() const { return *given.value; }
};

// A failure that is to be looked into.
struct Met {
  std::size_t property;
  Failure failure;       // without the calls before it
  std::size_t position;  // of its calls among all that were made
};

// A kept failure and what its replay showed.
struct Replayed {
  FailureEntry entry;
  Seat* seat;
  std::size_t property;
  bool judged = false;
};

class Run {
 public:
  Run(const RunOptions& options, const Progress& progress) : options_(options), progress_(progress) {
    properties_ = options.properties;
    if (options.coverage_classes != nullptr) classes_ = *options.coverage_classes;
    const bool expects =
        std::ranges::any_of(options.pinned, [](const PinnedCase& pinned) { return carries_expectation(pinned.value); });
    if (options.judge_expectations && expects) properties_.push_back(&expectation_property());
  }

  std::expected<Report, std::string> judge_all(std::vector<std::unique_ptr<Implementation>>& implementations);

 private:
  static constexpr std::size_t kEvery = static_cast<std::size_t>(-1);

  std::expected<void, std::string> prepare(std::vector<std::unique_ptr<Implementation>>& implementations);
  void seat(Implementation& implementation);
  Domain domain_of(const Implementation& implementation) const;
  Domain stream_domain(const Seat& seat, const Property& property) const;

  void replay_failures();
  void judge_pinned(Seat& seat);
  void judge_shared(Seat& seat);
  void judge_stream(std::size_t property);
  void judge_stream_on(std::size_t property, const Domain& domain, const std::vector<Seat*>& seats);
  void note_classes(std::size_t property, const Domain& domain, const std::vector<Seat*>& seats,
                    const std::vector<std::int64_t>& hits, bool whole);

  std::int64_t judge(Seat& seat, std::span<const Given> cases, std::size_t own);
  void count_generated(Seat& seat, std::span<const Given> cases, std::int64_t served);
  std::vector<Sitting> run_first(Seat& seat, std::span<const Given> cases, std::size_t own);
  template <typename Take>
  void run_through(Seat& seat, std::span<const RunRequest> requests, Take take);
  static void note_hang(Seat& seat, Sitting& sitting);
  void judge_alone(Seat& seat, Sitting& sitting);
  void judge_together(Seat& seat, std::vector<Sitting>& sittings);
  void settle(Seat& seat, std::vector<Sitting>& sittings);
  Met met(Seat& seat, const Sitting& sitting, const Judging& judging, bool was_alone) const;
  void judge_timed(Seat& seat, std::span<const Given> cases, std::size_t property);
  bool is_judged(const Seat& seat, const Case& value, std::size_t property, std::size_t own) const;
  void fail(Seat& seat, std::size_t property, Failure failure);
  // Whether cases are drawn for it: the expectation has its own cases alone.
  bool property_is_drawn(std::size_t property) const {
    return property < options_.properties.size() && options_.cases_per_property > 0;
  }
  void keep(const FailureEntry& entry);

  void conclude();
  void conclude_property(Seat& seat, std::size_t property);
  void mark_fixed_failures();

  bool out_of_time();
  void advance(const std::string& implementation, std::string_view property, std::int64_t units = 1);

  const RunOptions& options_;
  const Progress& progress_;
  std::vector<const Property*> properties_;
  std::span<const CoverageClass> classes_ = all_coverage_classes();
  std::vector<std::unique_ptr<Seat>> seats_;
  std::vector<Replayed> replayed_;
  Report report_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
  std::int64_t done_ = 0, whole_ = 1, shown_ = -1;
};

// ---- Preparation.

Domain Run::domain_of(const Implementation& implementation) const {
  Domain domain;
  bool strides = false;
  for (const Operation operation : kOperations) {
    if (!implementation.provides(operation)) continue;
    domain.operations.push_back(operation);
    strides = strides || implementation.honours_stride(operation);
  }
  domain.legal_only = !implementation.checks_arguments();
  domain.topk = options_.topk;
  domain.num_segments = options_.num_segments;
  domain.contiguous = options_.contiguous || !strides;
  domain.align_bytes = options_.align_bytes;
  return domain;
}

Domain Run::stream_domain(const Seat& seat, const Property& property) const {
  Domain domain = seat.narrowed;
  const bool silent = property.needs.peers && seat.recording.peers().empty();
  std::erase_if(domain.operations, [&](Operation operation) { return silent || !property.concerns(operation); });
  domain.focus = property.focus;
  return domain;
}

void Run::seat(Implementation& implementation) {
  seats_.push_back(std::make_unique<Seat>(implementation, options_.shrink_attempts / 4));
  Seat& seat = *seats_.back();
  seat.result.implementation = implementation.name();
  for (const Property* property : properties_) {
    PropertyResult result;
    result.property = property->name;
    seat.result.properties.push_back(std::move(result));
    seat.provisional.push_back(false);
  }
  if (Availability availability = implementation.availability(); !availability.can_run) {
    seat.available = false;
    seat.result.kind = ResultKind::kSkipped;
    seat.result.reason = std::move(availability.why_not);
    return;
  }
  seat.domain = domain_of(implementation);
  seat.narrowed = seat.domain.operations.empty() ? seat.domain : probed_domain(seat.domain, seat.recording);
}

std::expected<void, std::string> Run::prepare(std::vector<std::unique_ptr<Implementation>>& implementations) {
  if (options_.properties.empty()) return std::unexpected("no property to judge by");
  if (implementations.empty()) return std::unexpected("no implementation to judge");
  if (options_.pinned.empty() && options_.cases_per_property <= 0) {
    return std::unexpected("no case to judge: neither pinned cases nor generated ones");
  }
  report_.seed = options_.seed;
  for (auto& implementation : implementations) seat(*implementation);
  const Domain person{.operations = {std::begin(kOperations), std::end(kOperations)},
                      .topk = options_.topk,
                      .num_segments = options_.num_segments,
                      .contiguous = options_.contiguous,
                      .align_bytes = options_.align_bytes};
  const auto pinned =
      std::ranges::count_if(options_.pinned, [&](const PinnedCase& given) { return admits_case(person, given.value); });
  if (!options_.failures_folder.empty()) {
    auto entries = read_failures(options_.failures_folder);
    if (!entries) return std::unexpected(entries.error());
    for (FailureEntry& entry : *entries) {
      for (const auto& seat : seats_) {
        const auto property = std::ranges::find(properties_, entry.property, [](const Property* p) { return p->name; });
        if (!seat->available || seat->result.implementation != entry.implementation || property == properties_.end())
          continue;
        replayed_.push_back({entry, seat.get(), static_cast<std::size_t>(property - properties_.begin())});
      }
    }
  }
  const auto available = std::ranges::count_if(seats_, [](const auto& seat) { return seat->available; });
  const auto streams = static_cast<std::int64_t>(options_.properties.size()) * options_.cases_per_property;
  whole_ = std::max<std::int64_t>(available * (pinned + streams), 1);
  return {};
}

// ---- One case on one implementation.

bool Run::is_judged(const Seat& seat, const Case& value, std::size_t property, std::size_t own) const {
  const Property& candidate = *properties_[property];
  if (seat.is_settled(property) || !candidate.concerns(value.operation)) return false;
  if (!candidate.is_metamorphic_relation || own == property) return true;
  const std::size_t elements = value.learned.size() + value.context_lens.size();
  return own == kEvery && output_elements(value) <= static_cast<std::int64_t>(kMostElementsOfRelations) &&
         elements <= (seat.recording.is_slow() ? kMostElementsOfSlowRelations : kMostElementsOfRelations);
}

// Judges the cases by the property `own` and by all that need no further runs; by every property where own is kEvery.
// Several are run together, and so are the further runs for them. Gives the number of those that it serves.
std::int64_t Run::judge(Seat& seat, std::span<const Given> cases, std::size_t own) {
  if (seat.is_given_up()) return 0;
  seat.recording.make_room();
  std::vector<Sitting> sittings = run_first(seat, cases, own);
  if (cases.size() > 1) {
    judge_together(seat, sittings);
  } else {
    for (Sitting& sitting : sittings) judge_alone(seat, sitting);
  }
  settle(seat, sittings);
  return std::ssize(sittings);
}

void Run::count_generated(Seat& seat, std::span<const Given> cases, std::int64_t served) {
  seat.drawn += std::ssize(cases);
  seat.served += served;
  report_.generated_cases += served;
}

// `take` gets the number of each request, its outcome, and the position of its calls among all that were made. Fewer
// are run where the implementation is given up.
template <typename Take>
void Run::run_through(Seat& seat, std::span<const RunRequest> requests, Take take) {
  for (std::size_t done = 0; done < requests.size() && !seat.is_given_up();) {
    std::vector<Outcome> outcomes = seat.recording.run_together(requests.subspan(done));
    std::size_t position = seat.recording.forgotten() + seat.recording.calls().size();
    for (std::size_t i = 0; i < outcomes.size(); ++i) position -= requests[done + i].value->prior_calls.size() + 1;
    for (Outcome& outcome : outcomes) {
      const std::size_t calls = requests[done].value->prior_calls.size() + 1;
      take(done, std::move(outcome), position);
      position += calls;
      ++done;
    }
  }
}

void Run::note_hang(Seat& seat, Sitting& sitting) {
  if (!sitting.hung) ++seat.hangs;
  sitting.hung = true;
}

// The cases' own runs. What is not served, or not run any more, is not among them.
std::vector<Sitting> Run::run_first(Seat& seat, std::span<const Given> cases, std::size_t own) {
  std::vector<Sitting> sittings;
  for (const Given& given : cases) {
    Sitting sitting{.given = given, .judgings = {}};
    for (std::size_t i = 0; i < properties_.size(); ++i) {
      if (is_judged(seat, *given.value, i, own)) sitting.judgings.push_back({.property = i});
    }
    if (sitting.judgings.empty()) continue;
    if (!seat.recording.supports(*given.value)) sitting.outcome = Outcome::ended(Ending::kUnsupported, {});
    sittings.push_back(std::move(sitting));
  }
  std::vector<Sitting*> running;
  for (Sitting& sitting : sittings) {
    if (!sitting.outcome) running.push_back(&sitting);
  }
  // Equal shapes next to each other: what an implementation prepares for a shape it prepares once.
  std::ranges::sort(running, {},
                    [](const Sitting* sitting) { return std::pair(call_shape_of(sitting->value(), false), sitting); });
  std::vector<RunRequest> requests;
  for (const Sitting* sitting : running) requests.push_back({.value = &sitting->value()});
  run_through(seat, requests, [&](std::size_t i, Outcome outcome, std::size_t position) {
    if (outcome.ending == Ending::kHung) note_hang(seat, *running[i]);
    running[i]->outcome = std::move(outcome);
    running[i]->position = position;
  });
  std::erase_if(sittings, [&](const Sitting& sitting) {
    if (!sitting.outcome) return true;
    if (sitting.outcome->ending != Ending::kUnsupported) return false;
    for (const Judging& judging : sitting.judgings) ++seat.result.properties[judging.property].unsupported;
    return true;
  });
  seat.supported_runs += std::ssize(sittings);
  return sittings;
}

void Run::judge_alone(Seat& seat, Sitting& sitting) {
  for (Judging& judging : sitting.judgings) {
    const std::int64_t hangs_before = seat.recording.hangs();
    judging.verdict = properties_[judging.property]->judge(sitting.value(), *sitting.outcome, seat.recording);
    judging.hung = seat.recording.hangs() != hangs_before;
    if (judging.hung) note_hang(seat, sitting);
  }
}

void Run::judge_together(Seat& seat, std::vector<Sitting>& sittings) {
  struct Open {
    Sitting* sitting;
    Judging* judging;
    Foresight foresight;
  };
  std::vector<Open> open;
  for (Sitting& sitting : sittings) {
    for (Judging& judging : sitting.judgings) open.push_back({&sitting, &judging, Foresight(seat.recording)});
  }
  for (;;) {
    std::erase_if(open, [&](Open& waiting) {
      const Sitting& sitting = *waiting.sitting;
      auto verdict =
          waiting.foresight.judge(*properties_[waiting.judging->property], sitting.value(), *sitting.outcome);
      if (!verdict) return false;
      waiting.judging->verdict = std::move(*verdict);
      return true;
    });
    if (open.empty() || seat.is_given_up()) return;
    std::vector<RunRequest> requests;
    for (const Open& waiting : open) requests.push_back(waiting.foresight.wanted());
    run_through(seat, requests, [&](std::size_t i, Outcome outcome, std::size_t) {
      if (outcome.ending == Ending::kHung) {
        open[i].judging->hung = true;
        note_hang(seat, *open[i].sitting);
      }
      open[i].foresight.answer(std::move(outcome));
    });
  }
}

// Counts the verdicts, and looks into the failures, in the order of the cases.
void Run::settle(Seat& seat, std::vector<Sitting>& sittings) {
  std::vector<Met> failures;
  for (const Sitting& sitting : sittings) {
    for (const Judging& judging : sitting.judgings) {
      if (judging.verdict.kind == Verdict::Kind::kSilent) continue;
      PropertyResult& result = seat.result.properties[judging.property];
      const bool met_before = std::ranges::find(failures, judging.property, &Met::property) != failures.end();
      const bool found_before = result.kind == ResultKind::kFail || met_before;
      if (!found_before) ++result.cases;
      if (judging.verdict.kind != Verdict::Kind::kBroken || met_before) continue;
      if (found_before && elements_of(sitting.value()) > kCheckableElements) continue;
      failures.push_back(met(seat, sitting, judging, sittings.size() == 1));
    }
  }
  if (failures.empty()) return;
  // Looking into the first ends the process, and with it what was recorded of it.
  const std::vector<Case> calls = seat.recording.calls();
  const std::size_t forgotten = seat.recording.forgotten();
  for (auto& [property, failure, position] : failures) {
    const std::size_t before = std::min(std::max(position, forgotten) - forgotten, calls.size());
    failure.calls_before.assign(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(before));
    fail(seat, property, std::move(failure));
  }
}

Met Run::met(Seat& seat, const Sitting& sitting, const Judging& judging, bool was_alone) const {
  const Property& property = *properties_[judging.property];
  const bool hung = judging.hung || sitting.outcome->ending == Ending::kHung;
  Met met{judging.property,
          {&property, sitting.value(), std::string(sitting.given.source), *sitting.outcome, judging.verdict, {}, hung},
          sitting.position};
  if (property.is_metamorphic_relation && !was_alone && !hung) {
    // Between its runs others were made. By itself it mostly fails too, and then what came before it is known.
    const std::size_t again = seat.recording.forgotten() + seat.recording.calls().size();
    Outcome outcome = seat.recording.run(sitting.value());
    Verdict verdict = property.judge(sitting.value(), outcome, seat.recording);
    if (verdict.kind == Verdict::Kind::kBroken) {
      met.failure.outcome = std::move(outcome);
      met.failure.verdict = std::move(verdict);
      met.position = again;
    }
  }
  return met;
}

void Run::fail(Seat& seat, std::size_t property, Failure failure) {
  PropertyResult& result = seat.result.properties[property];
  const bool found_before = result.kind == ResultKind::kFail;
  result.kind = ResultKind::kFail;
  FailureEntry entry{
      .path = {}, .implementation = seat.result.implementation, .property = result.property, .cases = {failure.value}};
  const bool kept_already =
      std::ranges::any_of(replayed_, [&](const Replayed& replayed) { return replayed.entry.path == failure.source; });
  if (!options_.failures_folder.empty()) {
    entry.path = kept_already
                     ? failure.source
                     : failure_path(options_.failures_folder, entry.implementation, entry.property, failure.value);
    if (!kept_already) keep(entry);  // as it is, before anything else can go wrong
  }
  // What a restart costs a slow starter is shared by all its failures.
  std::int64_t fresh_attempts = options_.shrink_attempts / 4;
  std::int64_t& shared = seat.recording.starts_slowly() ? seat.fresh_attempts : fresh_attempts;
  Counterexample found =
      find_counterexample(failure, seat.recording, seat.known,
                          {.attempts = options_.shrink_attempts,
                           .fresh_attempts = shared,
                           .admits = [&](const Case& value) { return admits_case(seat.domain, value); },
                           .is_over = [this] { return out_of_time(); }});
  if (!entry.path.empty()) {
    found.failure_file = entry.path;
    if (!(found.minimal == failure.value)) entry.cases.insert(entry.cases.begin(), found.minimal);
    keep(entry);
  }
  const bool is_new = std::ranges::find(seat.known, found.minimal, &KnownCase::value) == seat.known.end();
  if (found.reproduction != Reproduction::kNot && is_new && seat.known.size() < kMostKnown) {
    seat.known.push_back({found.minimal, found.outcome.ending == Ending::kHung});
  }
  // One more failure is looked for where this one is no case that a person can check, or cannot be replayed.
  const bool poor = elements_of(found.minimal) > kCheckableElements || found.reproduction == Reproduction::kNot;
  seat.provisional[property] = !found_before && poor && !failure.hung && property_is_drawn(property);
  if (!found_before || !poor) result.counterexample = std::move(found);
}

void Run::keep(const FailureEntry& entry) {
  if (auto written = write_failure(entry); !written) report_.failure_errors.push_back(written.error());
}

// ---- The stages.

void Run::replay_failures() {
  for (Replayed& replayed : replayed_) {
    PropertyResult& result = replayed.seat->result.properties[replayed.property];
    for (const Case& value : replayed.entry.cases) {
      if (result.kind == ResultKind::kFail || !properties_[replayed.property]->concerns(value.operation)) continue;
      Seat& seat = *replayed.seat;
      if (!admits_case(seat.domain, value) || !seat.recording.supports(value)) continue;
      const std::vector<Case> history = seat.recording.calls();
      const std::int64_t hangs_before = seat.recording.hangs();
      Outcome outcome = seat.recording.run(value);
      if (outcome.ending == Ending::kUnsupported) continue;
      Verdict verdict = properties_[replayed.property]->judge(value, outcome, seat.recording);
      replayed.judged = replayed.judged || verdict.kind != Verdict::Kind::kSilent;
      if (verdict.kind == Verdict::Kind::kSilent) continue;
      ++result.cases;
      if (verdict.kind != Verdict::Kind::kBroken) continue;
      fail(seat, replayed.property,
           {properties_[replayed.property], value, replayed.entry.path, std::move(outcome), std::move(verdict), history,
            seat.recording.hangs() != hangs_before});
    }
  }
}

void Run::judge_pinned(Seat& seat) {
  std::vector<Given> admitted;
  for (const PinnedCase& pinned : options_.pinned) {
    if (admits_case(seat.domain, pinned.value)) admitted.push_back({&pinned.value, pinned.source});
  }
  std::int64_t served = 0;
  for (std::span<const Given> rest = admitted; !rest.empty();) {
    if (out_of_time() || seat.is_given_up()) break;
    const auto cases = rest.first(number_together(rest, seat.recording.runs_together()));
    served += judge(seat, cases, kEvery);
    advance(seat.result.implementation, "pinned cases", std::ssize(cases));
    rest = rest.subspan(cases.size());
  }
  report_.pinned_cases = std::max(report_.pinned_cases, served);
}

void Run::judge_shared(Seat& seat) {
  if (options_.cases_per_property < kLeastCasesForSharedOnes) return;
  Domain domain = seat.narrowed;
  if (seat.recording.is_slow()) domain.operations = {domain.operations.back()};
  const std::vector<Case> cases = shared_cases(domain, seed_for(options_.seed, "shared"));
  std::vector<std::int64_t> hits(classes_.size(), 0);
  for (const Case& value : cases) {
    if (out_of_time() || seat.is_given_up()) return;
    for (const std::size_t kind : classes_of(value, classes_)) ++hits[kind];
    const Given given{&value, kGenerated};
    count_generated(seat, {&given, 1}, judge(seat, {&given, 1}, kEvery));
    advance(seat.result.implementation, "large cases", 0);
  }
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const CoverageClass& kind = classes_[i];
    const bool due = scenario_of(kind).shared && scenario_of(kind).possible(domain);
    if (!due || hits[i] > 0) continue;
    report_.missed_floors.push_back({.implementation = seat.result.implementation,
                                     .property = "every property",
                                     .case_class = std::string(kind.name),
                                     .hits = 0,
                                     .floor = 1,
                                     .enforced = options_.cases_per_property >= kDefaultCasesPerProperty});
  }
}

// Implementations with the same domain share a stream.
void Run::judge_stream(std::size_t property) {
  std::vector<std::pair<Domain, std::vector<Seat*>>> groups;
  for (const auto& seat : seats_) {
    if (!seat->available) continue;
    const Domain domain = stream_domain(*seat, *properties_[property]);
    if (domain.operations.empty()) continue;
    const auto group = std::ranges::find(groups, domain, &std::pair<Domain, std::vector<Seat*>>::first);
    if (group == groups.end()) {
      groups.push_back({domain, {seat.get()}});
    } else {
      group->second.push_back(seat.get());
    }
  }
  for (const auto& [domain, seats] : groups) judge_stream_on(property, domain, seats);
}

void Run::judge_stream_on(std::size_t property, const Domain& domain, const std::vector<Seat*>& seats) {
  CaseStream stream(domain, seed_for(options_.seed, properties_[property]->name));
  if (stream.empty()) return;
  std::vector<std::int64_t> hits(classes_.size(), 0);
  const auto is_open = [&](const Seat* seat) { return !seat->is_settled(property) && !seat->is_given_up(); };
  std::size_t most_together = 1;
  for (const Seat* seat : seats) most_together = std::max(most_together, seat->recording.runs_together());
  const std::string shown =
      seats.size() == 1 ? seats.front()->result.implementation : std::to_string(seats.size()) + " implementations";
  std::int64_t drawn = 0;
  while (drawn < options_.cases_per_property && std::ranges::any_of(seats, is_open)) {
    std::vector<Case> cases(std::min(most_together, static_cast<std::size_t>(options_.cases_per_property - drawn)));
    std::ranges::generate(cases, [&] { return stream.next(); });
    drawn += std::ssize(cases);
    std::vector<Given> given;
    for (const Case& value : cases) {
      for (const std::size_t kind : classes_of(value, classes_)) ++hits[kind];
      given.push_back({&value, kGenerated});
    }
    for (Seat* seat : seats) {
      for (std::span<const Given> rest = given; !rest.empty() && is_open(seat);) {
        if (out_of_time()) return note_classes(property, domain, seats, hits, false);
        const auto together = rest.first(number_together(rest, seat->recording.runs_together()));
        judge_timed(*seat, together, property);
        advance(shown, properties_[property]->name, std::ssize(together));
        rest = rest.subspan(together.size());
      }
    }
  }
  note_classes(property, domain, seats, hits, drawn == options_.cases_per_property);
}

// The time of a failure's shrinking is no measure of anything.
void Run::judge_timed(Seat& seat, std::span<const Given> cases, std::size_t property) {
  const auto begun = std::chrono::steady_clock::now();
  const auto own_begun = seat.recording.time();
  const auto failures = [&] {
    return std::ranges::count(seat.result.properties, ResultKind::kFail, &PropertyResult::kind);
  };
  const auto failures_before = failures();
  const std::int64_t served = judge(seat, cases, property);
  count_generated(seat, cases, served);
  if (failures() != failures_before) return;
  using Seconds = std::chrono::duration<double>;
  seat.result.generated += std::ssize(cases);
  seat.result.generated_seconds += Seconds(std::chrono::steady_clock::now() - begun).count();
  seat.result.own_seconds += Seconds(seat.recording.time() - own_begun).count();
}

void Run::note_classes(std::size_t property, const Domain& domain, const std::vector<Seat*>& seats,
                       const std::vector<std::int64_t>& hits, bool whole) {
  for (std::size_t i = 0; i < hits.size(); ++i) {
    const CoverageClass& kind = classes_[i];
    if (scenario_of(kind).shared || !scenario_of(kind).possible(domain)) continue;
    const std::int64_t floor = class_floor(kind, domain, options_.cases_per_property);
    for (Seat* seat : seats) {
      PropertyResult& result = seat->result.properties[property];
      result.classes[std::string(kind.name)] = hits[i];
      if (!whole || result.kind == ResultKind::kFail || seat->is_given_up() || hits[i] >= floor) continue;
      report_.missed_floors.push_back({.implementation = seat->result.implementation,
                                       .property = result.property,
                                       .case_class = std::string(kind.name),
                                       .hits = hits[i],
                                       .floor = floor,
                                       .enforced = options_.cases_per_property >= kDefaultCasesPerProperty});
    }
  }
}

// ---- The end.

void Run::conclude_property(Seat& seat, std::size_t property) {
  PropertyResult& result = seat.result.properties[property];
  report_.judged_cases += result.cases;
  if (result.kind != ResultKind::kFail && seat.is_given_up()) {
    result.kind = ResultKind::kSkipped;
    result.reason = "not judged to the end: " + std::to_string(kMostHangs) +
                    " cases got no answer within the deadline, and the implementation was given up";
  }
  if (result.kind != ResultKind::kPass || result.cases > 0) return;
  const std::string_view why_not_provided = properties_[property]->why_not_provided(seat.recording);
  if (!seat.available) {
    result.kind = ResultKind::kSkipped;
    result.reason = seat.result.reason;
  } else if (!why_not_provided.empty()) {
    result.kind = ResultKind::kNotProvided;
    result.reason = why_not_provided;
  } else if (result.unsupported > 0) {
    result.kind = ResultKind::kUnsupported;
    result.reason = "it serves none of the shapes that were tried";
  } else {
    result.kind = ResultKind::kSkipped;
    result.reason =
        report_.cut_by_clock ? "the time was up before a case came that it is about" : "no case came that it is about";
  }
}

void Run::conclude() {
  for (const auto& seat : seats_) {
    for (std::size_t i = 0; i < properties_.size(); ++i) conclude_property(*seat, i);
    ImplementationResult& result = seat->result;
    result.runs = seat->recording.runs();
    if (!seat->available) continue;
    const auto has = [&](ResultKind kind) {
      return std::ranges::any_of(result.properties, [&](const PropertyResult& p) { return p.kind == kind; });
    };
    if (has(ResultKind::kFail)) {
      result.kind = ResultKind::kFail;
    } else if (seat->supported_runs == 0 && has(ResultKind::kUnsupported)) {
      result.kind = ResultKind::kFail;
      result.reason = "it serves none of the shapes that were tried";
    } else if (seat->served * kLeastServed < seat->drawn && !seat->is_given_up()) {
      report_.missed_floors.push_back({.implementation = result.implementation,
                                       .property = "every property",
                                       .case_class = "a shape that it serves",
                                       .hits = seat->served,
                                       .floor = seat->drawn / kLeastServed,
                                       .enforced = options_.cases_per_property >= kDefaultCasesPerProperty});
    } else if (!has(ResultKind::kPass)) {
      result.kind = ResultKind::kSkipped;
      result.reason =
          report_.cut_by_clock ? "the time was up before a case of it was judged" : "no case of it was judged";
    }
  }
  mark_fixed_failures();
  for (const auto& seat : seats_) report_.implementations.push_back(std::move(seat->result));
}

void Run::mark_fixed_failures() {
  for (const Replayed& replayed : replayed_) {
    const bool passes = replayed.seat->result.properties[replayed.property].kind == ResultKind::kPass;
    if (!passes || !replayed.judged) continue;
    if (auto moved = mark_fixed(replayed.entry)) {
      report_.fixed_failures.push_back(replayed.entry.path);
    } else {
      report_.failure_errors.push_back(moved.error());
    }
  }
}

bool Run::out_of_time() {
  if (!options_.time_limit_seconds || report_.cut_by_clock) return report_.cut_by_clock;
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  report_.cut_by_clock = elapsed.count() >= *options_.time_limit_seconds;
  return report_.cut_by_clock;
}

void Run::advance(const std::string& implementation, std::string_view property, std::int64_t units) {
  done_ += units;
  const std::int64_t thousandths = std::min<std::int64_t>(done_ * 1000 / whole_, 1000);
  if (!progress_ || thousandths == shown_) return;
  shown_ = thousandths;
  progress_(implementation, std::string(property), static_cast<double>(thousandths) / 1000);
}

std::expected<Report, std::string> Run::judge_all(std::vector<std::unique_ptr<Implementation>>& implementations) {
  if (auto prepared = prepare(implementations); !prepared) return std::unexpected(prepared.error());
  replay_failures();
  for (const auto& seat : seats_) {
    if (!seat->available || seat->domain.operations.empty()) continue;
    judge_pinned(*seat);
    judge_shared(*seat);
  }
  for (std::size_t i = 0; i < options_.properties.size() && !out_of_time(); ++i) judge_stream(i);
  conclude();
  if (report_.cut_by_clock) {
    for (MissedFloor& missed : report_.missed_floors) missed.enforced = false;
  }
  report_.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
  return std::move(report_);
}

}  // namespace

std::expected<Report, std::string> run_properties(const RunOptions& options,
                                                  std::vector<std::unique_ptr<Implementation>>& implementations,
                                                  const Progress& progress) {
  return Run(options, progress).judge_all(implementations);
}

std::vector<Judgement> judge_case(const Case& value, Implementation& implementation,
                                  std::span<const Property* const> properties) {
  std::vector<Judgement> judgements;
  const Outcome outcome = implementation.run(value);
  for (const Property* property : properties) {
    const bool speaks = property->concerns(value.operation) && outcome.ending != Ending::kUnsupported;
    judgements.push_back(
        {std::string(property->name), speaks ? property->judge(value, outcome, implementation) : Verdict::silent()});
  }
  if (carries_expectation(value)) {
    judgements.push_back({std::string(kExpectation), expectation_property().judge(value, outcome, implementation)});
  }
  return judgements;
}

}  // namespace kvwitness::harness
