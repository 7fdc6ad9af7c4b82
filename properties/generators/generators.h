// RapidCheck generators of cases: biased to edges, to structure and by swarms, with shrinking that keeps a legal case
// legal and a refused one refused for the same reason; and the scenarios by which a run makes sure that no class of cases
// is left to luck.
//
// How cases are distributed
//
// - A case is drawn from a *scenario*, which fixes the one thing that it is about ("topk 2,048", "rows shorter than S", "a
//   refused call"), while a *swarm* fixes the rest: each case first draws which kinds of lengths, tokens and placements
//   it may use at all, then draws within them. A kind that is absent lets the others meet more often than a uniform
//   mixture would.
// - Small shapes dominate: 1 to 40 rows of 0 to 65 slots, most below 20, seldom up to 512 rows. About one case in
//   twelve is large: topk 66 to 8,192, with tiles' widths and their neighbours among them, mostly in 1 to 3 rows, and in
//   4 to 32 of them as a decode batch has. The costly ones (more than 1,024, 65,535 or 131,072 rows, prefill batches,
//   topk above 65,536, more than 2^21 tokens, more than a million segments, a row stride above 2^30) come from shared
//   scenarios, once a run and implementation, and are judged by every property, relations of the very large ones aside.
// - Lengths: 0, -1, -7 and INT32_MIN; 1; below, at and above S; around topk; 2^k - 1, 2^k, 2^k + 1; above 2^24 (where
//   float stops being exact), above 2^26 (where 64 * L passes 2^32), near 2^31.
// - Tokens: e_s - 1, e_s, e_s + 1, L - 1, L, L + 1, INT32_MAX; -1, -7, INT32_MIN; clusters, full cover, all segments but
//   one, holes, duplicates (even and odd numbers of them), sorted and reversed rows, head or tail alone, garbage beyond
//   the length, absolute offsets, rows that look like a model's (recent tokens, a few sinks, scattered clusters, in
//   order of score).
// - S: 1 to 64 with weight on 1 to 4, 31 to 33, 63 and 64; witness indices also 65 to some thousands.
// - How the call is made: row strides above topk, in place, base offsets of 0 to 15 elements, and one to four earlier
//   calls of the same process.
//
// Each scenario has a number of cards in a deck; a run deals cases from shuffled decks, so the number of cases of a scenario
// is fixed and only their order and content depend on the seed. That is why class floors hold for every seed.
#ifndef PROPERTIES_GENERATORS_GENERATORS_H
#define PROPERTIES_GENERATORS_GENERATORS_H

#include <kvwitness/case.h>
#include <rapidcheck/Gen.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "properties/rules/property.h"

namespace kvwitness::harness {

// The shapes an implementation or a person admits, and what the property that judges them is about.
struct Domain {
  std::vector<Operation> operations = {};       // those that may be drawn; not empty
  bool legal_only = false;                      // no call that must be refused
  std::vector<std::int64_t> topk = {};          // empty: any
  std::vector<std::int64_t> num_segments = {};  // empty: any
  std::vector<std::int64_t> rows = {};          // empty: any number
  bool contiguous = false;                      // no row stride above topk
  std::int64_t align_bytes = 4;                 // every base is a multiple of it; 4, 8, 16, 32 or 64
  Focus focus = Focus::kEverything;

  friend bool operator==(const Domain&, const Domain&) = default;
};

// A scenario: what one card of the deck makes a case be about.
struct Scenario {
  std::string_view name;
  int cards;    // in a deck of the focus kEverything
  bool shared;  // too costly for every property's stream: drawn once a run and implementation, judged by every property
  bool (*possible)(const Domain&);
};
std::span<const Scenario> all_scenarios();

// One full deck for the domain: indices of all_scenarios(), a scenario as often as it has cards; half of it the focus's own
// scenarios where the focus is not kEverything. Never empty. Shared scenarios are not in it.
std::vector<std::size_t> deck_for(const Domain& domain);
// The shared scenarios that the domain admits.
std::vector<std::size_t> shared_scenarios(const Domain& domain);

// A case of the given scenario, which the domain must admit.
rc::Gen<Case> case_generator(const Domain& domain, std::size_t scenario);
// A case of a scenario drawn from the deck.
rc::Gen<Case> case_generator(const Domain& domain);

// A property's stream of cases: dealt from shuffled decks, drawn by case_generator. Equal domains and seeds give equal
// streams.
class CaseStream {
 public:
  CaseStream(Domain domain, std::uint64_t seed);
  // Whether the domain admits no case at all; next() must not be called then.
  bool empty() const { return deck_.empty(); }
  Case next();

 private:
  Domain domain_;
  std::vector<std::size_t> deck_;
  std::vector<std::size_t> left_;  // cards of the present deck, the next one last
  std::uint64_t seed_;
  std::uint64_t drawn_ = 0;
};

// One case of each shared scenario for each operation of the domain.
std::vector<Case> shared_cases(const Domain& domain, std::uint64_t seed);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_GENERATORS_GENERATORS_H
