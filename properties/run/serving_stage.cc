#include "properties/run/serving_stage.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "properties/generators/serving_cases.h"

namespace kvwitness::harness {
namespace {

constexpr std::string_view kServing = "generated";
// Below this many generated cases a property, these would take longer than all others together.
constexpr std::int64_t kLeastCases = 100;
// rows * topk of the largest batch: 16,384 rows of 2,051 slots, and of an executor of another machine's code.
constexpr std::int64_t kMostTokens = 16384 * 2051;
constexpr std::int64_t kMostTokensWhereSlow = 64 * 4096;
// Up to how many tokens all properties judge, and all but relations.
constexpr std::int64_t kMostTokensOfRelations = 4096;
constexpr std::int64_t kMostTokensOfInvariants = 16 * 2051;

// The time that an implementation may take for its serving shapes: one far away, in an interpreter or compiled at each
// shape gets fewer of the large ones.
class ServingTime {
 public:
  bool is_used_up(std::int64_t tokens) const { return used_ + per_token_ * static_cast<double>(tokens) > kMostSeconds; }
  void note(std::int64_t tokens, std::chrono::nanoseconds time) {
    const double seconds = std::chrono::duration<double>(time).count();
    used_ += seconds;
    if (tokens > 0) per_token_ = seconds / static_cast<double>(tokens);
  }

 private:
  static constexpr double kMostSeconds = 20;
  double used_ = 0, per_token_ = 0;
};

JudgedBy judged_by(std::int64_t tokens, bool is_slow) {
  if (tokens <= kMostTokensOfRelations && !is_slow) return JudgedBy::kEverything;
  return tokens <= kMostTokensOfInvariants ? JudgedBy::kAllButRelations : JudgedBy::kWholeCalls;
}

}  // namespace

// Whether a property that judges such cases can still change its result.
bool ServingStage::is_any_open(const ImplementationRun& run, JudgedBy by) const {
  for (std::size_t i = 0; i < context_.properties.size(); ++i) {
    if (by == JudgedBy::kWholeCalls && !context_.properties[i]->judges_large_calls) continue;
    if (!run.is_settled(i)) return true;
  }
  return false;
}

void ServingStage::judge(ImplementationRun& run) {
  if (context_.options.cases_per_property < kLeastCases) return;
  const bool is_slow = run.recording.is_slow();
  const ServingCases cases(run.narrowed, is_slow ? kMostTokensWhereSlow : kMostTokens, context_.seed_for("serving"));
  std::set<LevelTuple> drawn;
  ServingPairs& pairs = run.result.serving_pairs;
  pairs.possible = std::ssize(cases.pairs());
  std::set<LevelTuple> met;
  bool is_whole = true;
  ServingTime time;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const JudgedBy by = judged_by(cases.least_tokens(i), is_slow);
    if (run.is_over() || !is_any_open(run, by)) {
      is_whole = false;
      break;
    }
    if (time.is_used_up(cases.least_tokens(i))) {
      is_whole = false;
      run.ration.leave_out();
      continue;  // a smaller one may fit yet
    }
    const ImplementationRun::Turn turn(run);
    const Case value = cases.draw(i);
    const SourcedCase given{&value, kServing};
    const auto begun = run.recording.time();
    const std::int64_t served = judge_.judge(run, {&given, 1}, std::nullopt, by);
    time.note(std::ssize(value.learned), run.recording.time() - begun);
    ++run.drawn;
    run.served += served;
    context_.report.generated_cases += served;
    context_.advance(run.name(), "serving shapes", 0);
    for (const LevelTuple& pair : cases.pairs_of(i)) {
      if (!cases.pairs().contains(pair)) continue;
      drawn.insert(pair);
      if (served > 0) met.insert(pair);
    }
  }
  if (!run.recording.starts_slowly()) run.recording.restart();  // the memory of the largest batch is given back
  pairs.met = std::ssize(met);
  if (!is_whole || std::ranges::includes(drawn, cases.pairs())) return;
  context_.report.missed_floors.push_back({.implementation = run.name(),
                                           .property = "every property",
                                           .case_class = "pairs of serving shapes",
                                           .hits = std::ssize(drawn),
                                           .floor = pairs.possible,
                                           .enforced = context_.enforces_floors()});
}

}  // namespace kvwitness::harness
