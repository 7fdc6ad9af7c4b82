// The search for a counterexample on implementations with a state: what it hands on fails in a process of its own, or says
// that it does not.
#include "properties/run/counterexample_search.h"

#include <gtest/gtest.h>
#include <kvwitness/legality.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "properties/rules/property.h"
#include "properties/run/case_size.h"
#include "properties/run/ration.h"
#include "properties/run/recording.h"
#include "properties/shrinking/shrinking.h"
#include "tests/properties/faulty_rule.h"

namespace kvwitness::harness {
namespace {

// Spoils the rule's answer where a test says so.
class Stateful final : public Implementation {
 public:
  struct State {
    int calls_of_process = 0;   // this one included
    bool was_wrong = false;     // this process, before
    int wrong_in_all = 0;       // this call not included
    int calls_since_wrong = 0;  // since this process was wrong first, this one included
  };
  using IsWrong = std::function<bool(const Case&, const State&)>;
  explicit Stateful(IsWrong is_wrong) : is_wrong_(std::move(is_wrong)) {}
  std::string name() const override { return "stateful"; }
  bool restart() override {
    state_ = {.wrong_in_all = state_.wrong_in_all};
    return true;
  }
  Outcome run_in(const Case& value, const MemoryContext& memory_context) override {
    return run_in_order(value, [&](const Case& call) {
      Outcome outcome = rule_.run_in(call, memory_context);
      ++state_.calls_of_process;
      state_.calls_since_wrong += state_.was_wrong ? 1 : 0;
      if (is_legal(call) && call.num_segments > 0 && !outcome.rows.empty() && is_wrong_(call, state_)) {
        outcome.rows.back() ^= 1;
        state_.was_wrong = true;
        ++state_.wrong_in_all;
      }
      return outcome;
    });
  }

 private:
  FaultyRule rule_{"rule", Faults{}};
  IsWrong is_wrong_;
  State state_;
};

// Three rows of eight slots, on which the implementation must be wrong, searched from as found in a run.
struct Searched {
  Case start;
  Counterexample found;
};
Searched search(const Stateful::IsWrong& is_wrong) {
  Searched searched;
  searched.start.operation = Operation::kWitnesses;
  searched.start.topk = 8;
  searched.start.num_segments = 9;
  searched.start.context_lens = {99, 1234, 17};
  searched.start.learned.assign(24, 5);
  const Property& property = *find_property("oracle_equality");
  Stateful implementation(is_wrong);
  Ration ration;
  Recording recording(implementation, ration);
  const Outcome outcome = recording.run(searched.start);
  const Verdict verdict = property.judge(searched.start, outcome, recording);
  EXPECT_EQ(verdict.kind, Verdict::Kind::kBroken);
  std::int64_t fresh_attempts = 2000;
  searched.found = find_counterexample({&property, searched.start, "here", outcome, verdict, {}}, recording, {},
                                       {.attempts = 2000,
                                        .fresh_attempts = fresh_attempts,
                                        .admits = [](const Case&) { return true; },
                                        .is_over = [] { return false; }});
  return searched;
}

void expect_to_fail_in_a_process_of_its_own(const Case& value, const Stateful::IsWrong& is_wrong) {
  Stateful fresh(is_wrong);
  const Outcome outcome = fresh.run(value);
  EXPECT_EQ(find_property("oracle_equality")->judge(value, outcome, fresh).kind, Verdict::Kind::kBroken) << value;
}

bool is_wide(const Case& value) {
  return value.topk >= 5;
}

// Once wrong, wrong for everything: whatever is tried in that process fails, and would pass in another.
TEST(CounterexampleSearch, ConfirmsAShrunkCaseInAFreshProcess) {
  const auto is_wrong = [](const Case& value, const Stateful::State& state) {
    return is_wide(value) || state.was_wrong;
  };
  const Counterexample found = search(is_wrong).found;
  EXPECT_EQ(found.reproduction, Reproduction::kFresh);
  EXPECT_EQ(found.minimal.topk, 5) << found.minimal;
  EXPECT_EQ(elements_of(found.minimal), 6U) << found.minimal;
  expect_to_fail_in_a_process_of_its_own(found.minimal, is_wrong);
}

// Wrong only in a process's first call: in one process no attempt fails after the first, and still the case is made
// small.
TEST(CounterexampleSearch, ShrinksInFreshProcessesWhatFailsOnlyThere) {
  const auto is_wrong = [](const Case& value, const Stateful::State& state) {
    return is_wide(value) && state.calls_of_process == 1;
  };
  const Counterexample found = search(is_wrong).found;
  EXPECT_EQ(found.reproduction, Reproduction::kFresh);
  EXPECT_EQ(elements_of(found.minimal), 6U) << found.minimal;
  expect_to_fail_in_a_process_of_its_own(found.minimal, is_wrong);
}

// In a process that was wrong some calls are right again after a while: what was made as small as that process allows is
// made smaller in fresh ones.
TEST(CounterexampleSearch, ShrinksOnWhereAttemptsMadeTheNextOnesPass) {
  for (const int calls : {1, 2, 3, 5, 8}) {
    const auto is_wrong = [=](const Case& value, const Stateful::State& state) {
      return is_wide(value) && state.calls_since_wrong <= calls;
    };
    const Counterexample found = search(is_wrong).found;
    EXPECT_EQ(found.reproduction, Reproduction::kFresh);
    EXPECT_EQ(elements_of(found.minimal), 6U) << calls << " " << found.minimal;
    expect_to_fail_in_a_process_of_its_own(found.minimal, is_wrong);
  }
}

// Wrong so many times and never again, in whatever process: what fails no more in the end is not confirmed, however many
// attempts to shrink it failed before.
TEST(CounterexampleSearch, ConfirmsNothingThatStoppedFailing) {
  int stopped_while_shrinking = 0;
  for (int most = 1; most <= 40; ++most) {
    const auto [start, found] = search(
        [=](const Case& value, const Stateful::State& state) { return is_wide(value) && state.wrong_in_all < most; });
    if (found.reproduction == Reproduction::kNot) {
      EXPECT_EQ(found.minimal, start) << most;
      EXPECT_EQ(found.verdict.kind, Verdict::Kind::kBroken) << "as it was found";
      stopped_while_shrinking += found.shrinks > 0 ? 1 : 0;
    }
  }
  EXPECT_GE(stopped_while_shrinking, 5);
}

}  // namespace
}  // namespace kvwitness::harness
