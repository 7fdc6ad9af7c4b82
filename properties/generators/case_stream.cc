#include "properties/generators/case_stream.h"

#include <kvwitness/assertions.h>
#include <rapidcheck/Random.h>

#include <cstddef>
#include <utility>

#include "properties/generators/random_source.h"

namespace kvwitness::harness {
namespace {

Case drawn_by(const rc::Gen<Case>& generator, RandomSource& random) {
  return generator(rc::Random(random.next()), rc::kNominalSize).value();
}

}  // namespace

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
