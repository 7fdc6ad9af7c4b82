// The cases that `kvwitness verify` draws for a property: the generators of kvwitness/rapidcheck.h, dealt from decks.
//
// RapidCheck's own loop draws each case independently of the others. This stream differs where a verdict needs more:
//
// - Decks. Each scenario has a number of cards; cases are dealt from shuffled decks, so that how often a
//   scenario comes is fixed, and only the order and the content depend on the seed. That is why class
//   floors hold for every seed.
// - Narrow domains. A deck holds only the scenarios that the domain admits: what an implementation
//   declines is not drawn and thrown away.
// - Isolation and replay. A case is handed out as values, without RapidCheck's shrink tree: the
//   implementation may run in another process and die there, a fault may need the calls before it, and a
//   counterexample must outlive the generators. The runner shrinks values, by the same passes that the
//   generators offer to RapidCheck.
// - Shared cases. What is too costly for every property's stream is drawn once a run and judged by every
//   property.
#ifndef PROPERTIES_GENERATORS_CASE_STREAM_H
#define PROPERTIES_GENERATORS_CASE_STREAM_H

#include <kvwitness/case.h>
#include <kvwitness/rapidcheck.h>

#include <cstdint>
#include <vector>

#include "properties/generators/scenarios.h"

namespace kvwitness::harness {

// One full deck for the domain: a scenario as often as it has cards; half of it the focus's own scenarios where the focus
// is not kEverything. Empty where the domain admits none. Shared scenarios are not in it.
std::vector<const Scenario*> deck_for(const Domain& domain, Focus focus = Focus::kEverything);
// The shared scenarios that the domain admits.
std::vector<const Scenario*> shared_scenarios(const Domain& domain);

// Whether the domain admits a case of any scenario.
bool can_draw(const Domain& domain);

// A case of a scenario drawn from the deck, which must not be empty.
rc::Gen<Case> case_generator(const Domain& domain, Focus focus);

// A property's stream of cases. Equal domains, foci and seeds give equal streams.
class CaseStream {
 public:
  CaseStream(Domain domain, Focus focus, std::uint64_t seed);
  // Whether the domain admits no case at all; next() must not be called then.
  bool empty() const { return deck_.empty(); }
  Case next();

 private:
  Domain domain_;
  std::vector<const Scenario*> deck_;
  std::vector<const Scenario*> left_;  // cards of the present deck, the next one last
  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
};

// class_floor() as the domain permits it. In a narrow one a scenario may meet its class seldom, or never: two tokens
// cover no three segments. There the floor is no higher than what a sample of the domain's own cases leaves certain
// (4.8 standard deviations of a Poisson count below the mean), unless the scenario gives the class in each of its cases.
std::int64_t floor_within(const Domain& domain, const CoverageClass& coverage_class, Focus focus, std::int64_t cases);

// One case of each shared scenario for each operation of the domain.
std::vector<Case> shared_cases(const Domain& domain, std::uint64_t seed);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_GENERATORS_CASE_STREAM_H
