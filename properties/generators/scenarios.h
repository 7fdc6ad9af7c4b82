// The scenarios by which a run makes sure that no class of cases is left to luck: each one descriptor, with the coverage
// classes that it guarantees and their floors.
//
// To add one, add an entry to the table in scenarios.cc; decks, floors, reports and tests follow from it.
//
// How cases are distributed
//
// - A case is drawn from a *scenario*, which fixes the one thing that it is about ("topk 2,048", "rows
//   shorter than S", "a refused call"), while a *swarm* fixes the rest: each case first draws which
//   kinds of lengths, tokens and placements it may use at all, then draws within them. A kind that is
//   absent lets the others meet more often than a uniform mixture would.
// - Small shapes dominate: 1 to 40 rows of 0 to 65 slots, most below 20, seldom up to 512 rows. About
//   one case in twelve is large: topk 66 to 8,192, with tiles' widths and their neighbours among them,
//   mostly in 1 to 3 rows, and in 4 to 32 of them as a decode batch has. The costly ones (more than
//   1,024, 65,535 or 131,072 rows, prefill batches, topk above 65,536, more than 2^21 tokens, more than
//   a million segments, a row stride above 2^30) come from shared scenarios, once a run and
//   implementation, and are judged by every property, relations of the very large ones aside.
// - Lengths: 0, -1, -7 and INT32_MIN; 1; below, at and above S; around topk; 2^k - 1, 2^k, 2^k + 1;
//   above 2^24 (where float stops being exact), above 2^26 (where 64 * L passes 2^32), near 2^31.
// - Tokens: e_s - 1, e_s, e_s + 1, L - 1, L, L + 1, INT32_MAX; -1, -7, INT32_MIN; clusters, full cover,
//   all segments but one, holes, duplicates (even and odd numbers of them), sorted and reversed rows,
//   head or tail alone, garbage beyond the length, absolute offsets, rows that look like a model's
//   (recent tokens, a few sinks, scattered clusters, in order of score).
// - S: 1 to 64 with weight on 1 to 4, 31 to 33, 63 and 64; witness indices also 65 to some thousands.
// - How the call is made: row strides above topk, in place, base offsets of 0 to 15 elements, and one to
//   four prior calls of the same process.
//
// Each scenario has a number of cards in a deck; a run deals cases from shuffled decks, so the number of
// cases of a scenario is fixed and only their order and content depend on the seed. That is why class
// floors hold for every seed.
#ifndef PROPERTIES_GENERATORS_SCENARIOS_H
#define PROPERTIES_GENERATORS_SCENARIOS_H

#include <kvwitness/case.h>
#include <kvwitness/rapidcheck.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "properties/rules/property.h"

namespace kvwitness::harness {

struct CallPlan;
struct CaseTraits;

// A class of cases whose occurrence a run must prove: one for each line of the rule's contracts and for each kind of
// fault that is known from public sparse-attention kernels.
struct ScenarioClass {
  std::string_view name;
  std::string_view what;
  int floor_per_mille = 0;  // of a stream's cases, at most a third of what the scenario's own cards give; a shared
                            // scenario's class must occur once a run
  bool (*contains)(const CaseTraits&);
};

// What one card of the deck makes a case be about.
struct Scenario {
  std::string_view name;
  int cards = 1;        // in a deck of the focus kEverything
  bool shared = false;  // too costly for every property's stream: drawn once a run and implementation, judged by every
                        // property
  Focus focus = Focus::kEverything;         // whose deck it fills further; kEverything for none
  bool (*possible)(const Domain&);          // whether the domain admits such a case
  void (*shape)(CallPlan&);                 // what it asks of a plan; chooses inside rc::gen::exec
  std::vector<ScenarioClass> classes = {};  // that it guarantees; cases of other scenarios fall into them too
};
std::span<const Scenario> all_scenarios();

struct CoverageClass : ScenarioClass {
  const Scenario* scenario;  // whose cards guarantee the class; the class is possible where the scenario is
};
std::span<const CoverageClass> all_coverage_classes();

// The indices of all classes that the case falls into, ascending. Linear in the case's size.
std::vector<std::size_t> classes_of(const Case& value);
// The same of other classes than these.
std::vector<std::size_t> classes_of(const Case& value, std::span<const CoverageClass> classes);

// How many of `cases` drawn from the decks of the focus must fall into the class at least. A focus gives half of its
// cases to its own scenarios, so the floors halve.
std::int64_t class_floor(const CoverageClass& coverage_class, Focus focus, std::int64_t cases);

// A case of the scenario, which the domain must admit.
rc::Gen<Case> case_generator(const Domain& domain, const Scenario& scenario);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_GENERATORS_SCENARIOS_H
