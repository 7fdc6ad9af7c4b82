#include "properties/shrinking/shrinking.h"

#include <kvwitness/assertions.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "properties/shrinking/order.h"
#include "properties/shrinking/passes.h"

namespace kvwitness::harness {
namespace {

using shrinking::all_passes;
using shrinking::Complexity;
using shrinking::complexity_of;
using shrinking::Edit;
using shrinking::Edits;
using shrinking::keeps_status;
using shrinking::Pass;
using shrinking::Wide;

// The edited case, where it is simpler and keeps its status.
std::optional<Case> candidate_of(const Case& value, const Complexity& complexity, const Edit& edit) {
  Case candidate = value;
  edit(candidate);
  if (!(complexity_of(candidate) < complexity) || !keeps_status(candidate, value)) {
    return std::nullopt;
  }
  return candidate;
}

// What a call reads and writes.
std::int64_t elements_of(const Case& value) {
  constexpr Wide kMost = Wide{1} << 28;  // far more than any call that is made
  const Wide witnesses = value.operation == Operation::kWitnesses && value.num_segments > 0
                             ? Wide{value.rows()} * value.num_segments
                             : Wide{0};
  return static_cast<std::int64_t>(value.learned.size() + value.context_lens.size()) +
         static_cast<std::int64_t>(std::min(witnesses, kMost));
}

// What an attempt costs: more for a large case, and much for one that ran into the deadline.
std::int64_t cost_of(const Case& candidate, Attempt result) {
  std::int64_t elements = elements_of(candidate);
  for (const Case& prior : candidate.prior_calls) {
    elements += elements_of(prior);
  }
  return 1 + elements / 16384 + static_cast<std::int64_t>(candidate.prior_calls.size()) / 16 +
         (result == Attempt::kHung ? 100 : 0);
}

class Descent {
 public:
  Descent(const Case& failing, std::int64_t budget, const std::function<Attempt(const Case&)>& attempt)
      : budget_(budget), attempt_(attempt) {
    result_.minimal = call_only(failing);
  }

  Shrunk descend() {
    // A large case has few attempts, so the boldest steps of every kind come first.
    constexpr std::size_t kBold = 12, kAll = std::numeric_limits<std::size_t>::max();
    if (cost_of(result_.minimal, Attempt::kPasses) > 4) {
      run(shrinking::plainer_prior_calls, kBold);
      for (const Pass pass : all_passes()) {
        run(pass, kBold);
      }
    }
    bool moved = true;
    while (moved && !result_.exhausted) {
      moved = false;
      for (const Pass pass : all_passes()) {
        bool again = run(pass, kAll);
        moved |= again;
        while (shrinking::drops(pass) && again) {
          again = run(pass, kAll);
        }
      }
    }
    return std::move(result_);
  }

 private:
  // Tries the first `most` of the pass's edits in order, from where it stands after each success. True if one
  // succeeded.
  bool run(Pass pass, std::size_t most) {
    bool moved = false;
    Complexity complexity = complexity_of(result_.minimal);
    Edits edits = pass(result_.minimal);
    for (std::size_t i = 0; i < std::min(edits.size(), most) && !result_.exhausted;) {
      std::optional<Case> candidate = candidate_of(result_.minimal, complexity, edits[i]);
      if (!candidate || !fails(*candidate)) {
        ++i;
        continue;
      }
      moved = true;
      ++result_.accepted;
      KVWITNESS_ASSERT(simpler(*candidate, result_.minimal));
      result_.minimal = std::move(*candidate);
      complexity = complexity_of(result_.minimal);
      edits = pass(result_.minimal);
    }
    return moved;
  }

  bool fails(const Case& candidate) {
    // Candidates outside the domain are free, but not without end.
    if (spent_ >= budget_ || outside_ >= 20 * budget_) {
      result_.exhausted = true;
      return false;
    }
    const Attempt result = attempt_(candidate);
    if (result == Attempt::kOutsideDomain) {
      ++outside_;
      return false;
    }
    ++result_.attempts;
    spent_ += cost_of(candidate, result);
    return result == Attempt::kFails || result == Attempt::kHung;
  }

  std::int64_t budget_;
  const std::function<Attempt(const Case&)>& attempt_;
  std::int64_t spent_ = 0;
  std::int64_t outside_ = 0;
  Shrunk result_;
};

}  // namespace

bool simpler(const Case& a, const Case& b) {
  return complexity_of(a) < complexity_of(b);
}

std::vector<Case> shrink_candidates(const Case& value) {
  const Case plain = call_only(value);
  const Complexity complexity = complexity_of(plain);
  // So that a large case's candidates stay within some megabytes.
  constexpr std::size_t kMostElements = std::size_t{1} << 21;
  std::size_t elements = 0;
  std::vector<Case> list;
  for (const Pass pass : all_passes()) {
    for (const Edit& edit : pass(plain)) {
      if (elements > kMostElements) {
        return list;
      }
      if (std::optional<Case> candidate = candidate_of(plain, complexity, edit)) {
        elements +=
            candidate->learned.size() + candidate->context_lens.size() + 32 * (1 + candidate->prior_calls.size());
        list.push_back(std::move(*candidate));
      }
    }
  }
  return list;
}

Shrunk shrink(const Case& failing, std::int64_t attempt_budget, const std::function<Attempt(const Case&)>& attempt) {
  return Descent(failing, attempt_budget, attempt).descend();
}

}  // namespace kvwitness::harness
