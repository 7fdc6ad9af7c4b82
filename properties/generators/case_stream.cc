#include "properties/generators/case_stream.h"

#include <kvwitness/assertions.h>
#include <rapidcheck/Random.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <list>
#include <span>
#include <utility>

#include "properties/generators/random_source.h"

namespace kvwitness::harness {
namespace {

Case drawn_by(const rc::Gen<Case>& generator, RandomSource& random) {
  return generator(rc::Random(random.next()), rc::kNominalSize).value();
}

// A sample of a stream, of seeds of its own.
constexpr std::uint64_t kSampleSeed = 0x5A3B1E;
constexpr std::int64_t kSampleCases = 1000;
constexpr int kOwnSampleCases = 48;

bool always_gives(const Domain& domain, const CoverageClass& coverage_class) {
  RandomSource random(kSampleSeed);
  const auto generator = case_generator(domain, *coverage_class.scenario);
  for (int i = 0; i < kOwnSampleCases; ++i) {
    if (classes_of(drawn_by(generator, random), std::span(&coverage_class, 1)).empty()) return false;
  }
  return true;
}

// How many of the sample's cases fall into each class.
const std::vector<std::int64_t>& sampled_hits(const Domain& domain, Focus focus) {
  struct Sample {
    Domain domain;
    Focus focus;
    std::vector<std::int64_t> hits;
  };
  static std::list<Sample> samples;  // of this run: a few domains and foci
  const auto known = std::ranges::find_if(
      samples, [&](const Sample& sample) { return sample.focus == focus && sample.domain == domain; });
  if (known != samples.end()) return known->hits;
  constexpr std::size_t kMostSamples = 64;
  if (samples.size() >= kMostSamples) samples.pop_front();
  Sample& sample = samples.emplace_back(domain, focus, std::vector<std::int64_t>(all_coverage_classes().size(), 0));
  CaseStream stream(domain, focus, kSampleSeed);
  for (std::int64_t i = 0; i < kSampleCases; ++i) {
    for (const std::size_t kind : classes_of(stream.next())) ++sample.hits[kind];
  }
  return sample.hits;
}

}  // namespace

std::int64_t floor_within(const Domain& domain, const CoverageClass& coverage_class, Focus focus, std::int64_t cases) {
  const std::int64_t floor = class_floor(coverage_class, focus, cases);
  if (!is_narrow(domain) || coverage_class.scenario->shared) return floor;
  const auto all = all_coverage_classes();
  const auto known = std::ranges::find(all, coverage_class.name, &CoverageClass::name);
  if (known == all.end() || always_gives(domain, coverage_class)) return floor;
  const auto hits = static_cast<double>(sampled_hits(domain, focus)[static_cast<std::size_t>(known - all.begin())]);
  const double mean = hits * static_cast<double>(cases) / static_cast<double>(kSampleCases);
  // The square root of a Poisson count has a standard deviation of about 1/2 (Anscombe, 1948).
  const double root = std::max(std::sqrt(mean) - 2.4, 0.0);
  return std::min(floor, static_cast<std::int64_t>(root * root));
}

std::vector<const Scenario*> deck_for(const Domain& domain, Focus focus) {
  std::vector<const Scenario*> general, focused;
  for (const Scenario& scenario : all_scenarios()) {
    if (scenario.shared || !scenario.possible(domain)) continue;
    general.insert(general.end(), static_cast<std::size_t>(scenario.cards), &scenario);
    if (scenario.focus == focus) focused.insert(focused.end(), static_cast<std::size_t>(scenario.cards), &scenario);
  }
  if (focus == Focus::kEverything || focused.empty()) return general;
  const std::size_t general_count = general.size();
  for (std::size_t i = 0; i < general_count; ++i) general.push_back(focused[i % focused.size()]);
  return general;
}

std::vector<const Scenario*> shared_scenarios(const Domain& domain) {
  std::vector<const Scenario*> list;
  for (const Scenario& scenario : all_scenarios()) {
    if (scenario.shared && scenario.possible(domain)) list.push_back(&scenario);
  }
  return list;
}

bool can_draw(const Domain& domain) {
  return std::ranges::any_of(all_scenarios(), [&](const Scenario& scenario) { return scenario.possible(domain); });
}

rc::Gen<Case> case_generator(const Domain& domain, Focus focus) {
  return rc::gen::mapcat(rc::gen::elementOf(deck_for(domain, focus)),
                         [domain](const Scenario* scenario) { return case_generator(domain, *scenario); });
}

CaseStream::CaseStream(Domain domain, Focus focus, std::uint64_t seed)
    : domain_(std::move(domain)), deck_(deck_for(domain_, focus)), seed_(seed) {}

Case CaseStream::next() {
  KVWITNESS_ASSERT(!empty());
  RandomSource random(seed_ + (drawn_ << 32));
  ++drawn_;
  if (left_.empty()) {
    left_ = deck_;
    random.shuffle(left_);
  }
  const Scenario& scenario = *left_.back();
  left_.pop_back();
  return drawn_by(case_generator(domain_, scenario), random);
}

std::vector<Case> shared_cases(const Domain& domain, std::uint64_t seed) {
  RandomSource random(seed);
  std::vector<Case> cases;
  for (const Operation operation : domain.operations) {
    Domain one = domain;
    one.operations = {operation};
    for (const Scenario* scenario : shared_scenarios(one)) {
      cases.push_back(drawn_by(case_generator(one, *scenario), random));
    }
  }
  return cases;
}

}  // namespace kvwitness::harness
