// Shrinking: from a failing case to one that a person can check by hand.
//
// Every step makes a case simpler by one strict order (fewer calls, then fewer values, then a plainer call, then
// smaller numbers, then plainer tokens), and keeps its status: a legal case stays legal, and a refused one is refused
// with the same status. RapidCheck's generators, the runner and the minimiser of fuzz inputs shrink by it.
//
//     order.h    what is simpler
//     passes.h   what is tried
//     here       the loop
#ifndef PROPERTIES_SHRINKING_SHRINKING_H
#define PROPERTIES_SHRINKING_SHRINKING_H

#include <kvwitness/case.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace kvwitness::harness {

// Every simpler case to try in place of a failing one, most promising first. Notes, expectations and attention are
// dropped: they belong to the case as it was. At most some thousand cases, and few of a large case.
std::vector<Case> shrink_candidates(const Case& value);

// Whether `a` is strictly simpler than `b`, in the order by which shrinking descends.
bool simpler(const Case& a, const Case& b);

// What trying a candidate gave. A candidate outside the implementation's domain costs no attempt; one that hung costs
// many.
enum class Attempt : std::uint8_t { kFails, kPasses, kOutsideDomain, kHung };  // hung: it fails by the deadline

struct Shrunk {
  Case minimal;
  std::int64_t accepted = 0;
  std::int64_t attempts = 0;
  bool exhausted = false;  // the budget ended before no candidate failed
};

// Descends from a failing case while `attempt` says that a simpler one fails too, within a budget of attempts.
// Deterministic where `attempt` is.
Shrunk shrink(const Case& failing, std::int64_t attempt_budget, const std::function<Attempt(const Case&)>& attempt);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_SHRINKING_SHRINKING_H
