#include "properties/run/counterexample_search.h"

#include <kvwitness/legality.h>
#include <kvwitness/oracle.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>

#include "properties/case/status.h"
#include "properties/rules/expectation.h"
#include "properties/run/case_size.h"
#include "properties/run/irrelevant_fields.h"
#include "properties/shrinking/shrinking.h"

namespace kvwitness::harness {
namespace {

// Rows up to this many elements are shown beside what they should have been.
constexpr std::size_t kShownElements = 4096;
// Up to how many elements a case that another property has made minimal is tried to be made smaller still.
constexpr std::size_t kCheapElements = 1 << 15;
// How often a failure is tried again without prior calls before those are suspected.
constexpr int kTries = 2;
// How many attempts that begin with a restart are made even where the limit is used up.
constexpr std::int64_t kLeastFreshAttempts = 40;
// How many calls the search for the fewest prior calls makes, and how many all attempts to shrink a case together with
// them.
constexpr std::int64_t kMostCallsOfShrinking = 400'000;
// Relations make further calls of their own, so their numbers of prior calls are tried one by one up to here.
constexpr std::size_t kMostPriorCallsOneByOne = 128;

struct Trial {
  Attempt attempt = Attempt::kOutsideDomain;
  Outcome outcome;
  Verdict verdict;
  bool fails() const { return attempt == Attempt::kFails || attempt == Attempt::kHung; }
};

class Search {
 public:
  Search(const Failure& failure, Recording& implementation, std::span<const KnownCase> known,
         const SearchLimits& limits)
      : failure_(failure),
        property_(*failure.property),
        implementation_(implementation),
        known_(known),
        limits_(limits) {}

  Counterexample find() {
    found_.original = failure_.value;
    found_.original_source = failure_.source;
    try {
      search();
    } catch (const TimeUp&) {
      found_.is_shrinking_cut = true;
      if (latest_) {
        keep(latest_->first, std::move(latest_->second));
        found_.reproduction = Reproduction::kSameProcess;
      } else {
        keep_as_found(false);
        found_.reproduction = Reproduction::kUntried;
      }
    }
    explain();
    return std::move(found_);
  }

 private:
  // Where the property is the expectation: the case with the rule's answer as what it expects.
  Case as_judged(Case value) const {
    if (property_.name != kExpectation || carries_expectation(value)) return value;
    const std::int32_t status = expected_status(value, true);
    if (status != status::kOk) {
      value.expect = status;
    } else {
      value.expect = expected_rows(value);
    }
    return value;
  }
  void search() {
    restartable_ = implementation_.restart();
    if (property_.name == kExpectation && !expects_the_rule()) {  // such an expectation belongs to the case as it is
      keep_as_found(fresh_trial(failure_.value).fails());
    } else if (adopt_known_hang()) {
      // A case that is known to hang breaks this property too.
    } else if (fails_by_itself()) {
      shrink_by_itself();
    } else if (adopt_known()) {
      // The fault needs prior calls, and with those of another property's case it breaks this one too.
    } else if (auto candidate = with_prior_calls()) {
      shrink_afresh(*candidate);
    } else {
      keep_as_found(false);
    }
  }

  bool expects_the_rule() const {
    return failure_.value.expect && as_judged(call_only(failure_.value)).expect == failure_.value.expect;
  }

  Trial trial(const Case& candidate) {
    return property_.name == kExpectation ? trial_as_judged(as_judged(candidate)) : trial_as_judged(candidate);
  }
  Trial trial_as_judged(const Case& value) {
    Trial result;
    // A minimal case known from another property may be of an operation that this one says nothing about.
    if (!property_.concerns(value.operation) || !admitted(value)) return result;
    const std::int64_t hangs_before = implementation_.hangs();
    result.outcome = implementation_.run(value);
    if (result.outcome.ending == Ending::kUnsupported) return result;
    result.verdict = property_.judge(value, result.outcome, implementation_);
    const bool broken = result.verdict.kind == Verdict::Kind::kBroken;
    result.attempt = !broken                                   ? Attempt::kPasses
                     : implementation_.hangs() != hangs_before ? Attempt::kHung
                                                               : Attempt::kFails;
    return result;
  }
  Trial fresh_trial(const Case& value) {
    if (restartable_) implementation_.restart();
    return trial(value);
  }
  // When the time is up nothing is tried any more, and the case stays as small as it is.
  Attempt in_time(const Case& value, Trial (Search::*attempt)(const Case&)) {
    if (limits_.is_over()) return Attempt::kOutsideDomain;
    Trial trial = (this->*attempt)(value);
    const Attempt result = trial.attempt;
    if (trial.fails()) latest_.emplace(value, std::move(trial));
    return result;
  }
  bool admitted(const Case& value) const {
    const auto fits = [&](const Case& call) { return limits_.admits(call) && implementation_.supports(call); };
    return fits(value) && std::ranges::all_of(value.prior_calls, fits);
  }

  // A minimal case that hangs breaks every property that is about its operation.
  bool adopt_known_hang() {
    if (failure_.outcome.ending != Ending::kHung) return false;
    for (const auto& [value, hung] : known_) {
      if (!hung || !property_.concerns(value.operation) || !admitted(value) || !simpler(value, failure_.value)) {
        continue;
      }
      Trial trial{.attempt = Attempt::kHung, .outcome = failure_.outcome, .verdict = {}};
      trial.verdict = property_.judge(value, trial.outcome, implementation_);
      if (trial.verdict.kind != Verdict::Kind::kBroken) continue;
      keep(value, std::move(trial));
      return true;
    }
    return false;
  }

  bool adopt_known() {
    for (const KnownCase& known : known_) {
      Trial result = fresh_trial(known.value);
      if (!result.fails()) continue;
      keep(known.value, std::move(result));
      return true;
    }
    return false;
  }

  bool fails_by_itself() {
    for (int i = 0; i < kTries; ++i) {
      if (fresh_trial(failure_.value).fails()) return true;
    }
    return false;
  }

  // The simplest of the original and the minimal cases known from other properties that fail this one too.
  Case starting_point(bool& hung) {
    Case start = failure_.value;
    hung = failure_.hung;
    for (const auto& [value, known_to_hang] : known_) {
      if (!simpler(value, start)) continue;
      const Trial result = fresh_trial(value);
      if (!result.fails()) continue;
      start = value;
      hung = result.attempt == Attempt::kHung;
    }
    return start;
  }

  void shrink_by_itself() {
    bool hung = false;
    const Case start = starting_point(hung);
    // A known minimal case that hangs or is large is taken as it is: each further attempt would cost a deadline or much
    // work.
    const bool known = !(start == failure_.value);
    const bool costly = hung || elements_of(start) > kCheapElements;
    Shrunk shrunk{.minimal = start};
    if (!costly || !known) {
      implementation_.hurry(hung);
      shrunk = shrink(start, limits_.attempts, [this](const Case& value) { return in_time(value, &Search::trial); });
      implementation_.hurry(false);
    }
    count(shrunk);
    const bool fails_at_once = hung || trial(shrunk.minimal).fails();
    Trial last = fresh_trial(shrunk.minimal);
    if (!last.fails()) return shrink_afresh(start);            // what an attempt left behind made the next ones fail
    if (!fails_at_once) return shrink_afresh(shrunk.minimal);  // or made them pass
    keep(shrunk.minimal, std::move(last));
  }

  void shrink_afresh(const Case& start) {
    const auto calls = static_cast<std::int64_t>(start.prior_calls.size()) + 1;
    const std::int64_t affordable = std::max<std::int64_t>(kMostCallsOfShrinking / calls, 1);
    const std::int64_t budget =
        std::min({limits_.attempts, std::max(limits_.fresh_attempts, kLeastFreshAttempts), affordable});
    implementation_.hurry(failure_.hung);
    const Shrunk shrunk =
        shrink(start, budget, [this](const Case& value) { return in_time(value, &Search::fresh_trial); });
    implementation_.hurry(false);
    limits_.fresh_attempts -= shrunk.attempts;
    count(shrunk);
    Trial last = fresh_trial(shrunk.minimal);
    if (last.fails()) return keep(shrunk.minimal, std::move(last));
    last = fresh_trial(start);
    if (last.fails()) return keep(start, std::move(last));
    keep_as_found(false);
  }

  // The failure again after the calls that were made before it: the case with prior calls, or one of those that fails
  // already.
  std::optional<Case> with_prior_calls() {
    for (const std::size_t count : prior_call_counts()) {
      if (limits_.is_over()) break;
      std::optional<Case> candidate =
          property_.is_metamorphic_relation ? last_calls(count) : first_failing_of_last(count);
      if (candidate && fresh_trial(*candidate).fails()) return with_fewest_calls(std::move(*candidate));
    }
    return std::nullopt;
  }

  // The fewest of the last prior calls with which the case fails, by bisection. The first of those is one that the
  // fault needs, and often the only one.
  Case with_fewest_calls(Case value) {
    const auto with_last = [&](std::size_t count) {
      Case fewer = value;
      fewer.prior_calls.erase(fewer.prior_calls.begin(), fewer.prior_calls.end() - static_cast<std::ptrdiff_t>(count));
      return fewer;
    };
    std::size_t too_few = 0, enough = value.prior_calls.size();
    std::int64_t calls_left = kMostCallsOfShrinking;
    while (enough - too_few > 1 && calls_left > 0 && !limits_.is_over()) {
      const std::size_t middle = too_few + (enough - too_few) / 2;
      calls_left -= static_cast<std::int64_t>(middle) + 1;
      (fresh_trial(with_last(middle)).fails() ? enough : too_few) = middle;
    }
    value = with_last(enough);
    Case with_first = value;
    with_first.prior_calls.resize(std::min<std::size_t>(enough, 1));
    return enough > 1 && fresh_trial(with_first).fails() ? with_first : value;
  }

  std::vector<std::size_t> prior_call_counts() const {
    const std::size_t all = failure_.prior_calls.size();
    std::vector<std::size_t> list;
    std::size_t count = 1;
    for (; property_.is_metamorphic_relation && count < std::min(all, kMostPriorCallsOneByOne); ++count) {
      list.push_back(count);
    }
    for (; count < all; count *= 2) list.push_back(count);
    if (all > 0) list.push_back(all);
    return list;
  }

  Case last_calls(std::size_t count) const {
    Case value = failure_.value;
    const auto& before = failure_.prior_calls;
    value.prior_calls.insert(value.prior_calls.begin(), before.end() - static_cast<std::ptrdiff_t>(count),
                             before.end());
    return value;
  }

  // The last calls are made again one by one and judged: where a fault counts calls, one of them may fail.
  std::optional<Case> first_failing_of_last(std::size_t count) {
    Case whole = last_calls(count);
    std::vector<Case> calls = std::exchange(whole.prior_calls, {});
    calls.push_back(std::move(whole));
    if (restartable_) implementation_.restart();
    for (std::size_t i = 0; i < calls.size(); ++i) {
      if (!property_.concerns(calls[i].operation)) {
        implementation_.run(calls[i]);
      } else if (trial(calls[i]).fails()) {
        Case value = calls[i];
        calls.resize(i);
        value.prior_calls = std::move(calls);
        return value;
      }
    }
    return std::nullopt;
  }

  void count(const Shrunk& shrunk) {
    found_.shrinks += shrunk.accepted;
    found_.shrink_attempts += shrunk.attempts;
    found_.is_shrinking_cut = shrunk.exhausted || limits_.is_over();
  }
  void keep(const Case& minimal, Trial last) {
    found_.minimal = as_judged(minimal);
    found_.outcome = std::move(last.outcome);
    found_.verdict = std::move(last.verdict);
    found_.reproduction = restartable_ ? Reproduction::kFresh : Reproduction::kSameProcess;
  }
  void keep_as_found(bool reproduced) {
    found_.minimal = failure_.value;
    found_.outcome = failure_.outcome;
    found_.verdict = failure_.verdict;
    found_.reproduction = !reproduced    ? Reproduction::kNot
                          : restartable_ ? Reproduction::kFresh
                                         : Reproduction::kSameProcess;
  }

  void explain();

  const Failure& failure_;
  const Property& property_;
  Recording& implementation_;
  std::span<const KnownCase> known_;
  const SearchLimits& limits_;
  bool restartable_ = false;
  std::optional<std::pair<Case, Trial>> latest_;  // the last attempt to shrink that failed
  Counterexample found_;
};

// The first row of the run that departs from the rule: the case's own or, where all its rows are right, of the further run
// that a relation compares it with.
std::optional<WrongRow> wrong_row_of(const Case& value, const Outcome& outcome, const Verdict& verdict) {
  if (outcome.ending != Ending::kReturned) return std::nullopt;
  if (outcome.status == status::kOk) {
    if (auto wrong = find_wrong_row(value, outcome.rows, outcome.before)) return wrong;
  }
  if (!verdict.compared_with) return std::nullopt;
  std::optional<WrongRow> wrong = find_wrong_row(*verdict.compared_with, verdict.compared_rows, {});
  if (wrong) wrong->is_of_compared_case = true;
  return wrong;
}

void Search::explain() {
  const Case& minimal = found_.minimal;
  found_.wrong_row = wrong_row_of(minimal, found_.outcome, found_.verdict);
  found_.original_row = wrong_row_of(failure_.value, failure_.outcome, failure_.verdict);
  if (const auto& wrong = found_.wrong_row) {
    found_.verdict.difference = Difference{
        .row = wrong->index, .slot = wrong->slot, .expected = wrong->expected_value(), .actual = wrong->actual_value()};
  }
  const std::size_t elements = elements_of(minimal);
  const bool worth_it = was_seen_again(found_) && !failure_.hung && elements <= kShownElements && !limits_.is_over();
  if (!worth_it) return;
  try {
    found_.irrelevant_fields =
        irrelevant_fields(found_.minimal, [this](const Case& value) { return fresh_trial(value).attempt; });
  } catch (const TimeUp&) {
    found_.irrelevant_fields.clear();
  }
}

}  // namespace

Counterexample find_counterexample(const Failure& failure, Recording& implementation, std::span<const KnownCase> known,
                                   const SearchLimits& limits) {
  implementation.pause();
  Counterexample found = Search(failure, implementation, known, limits).find();
  implementation.restart();  // what the search left behind is no part of the run
  implementation.resume();
  return found;
}

}  // namespace kvwitness::harness
