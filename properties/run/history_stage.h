// The stage of histories: what an implementation does after first calls of odd shapes, and after very many calls.
#ifndef PROPERTIES_RUN_HISTORY_STAGE_H
#define PROPERTIES_RUN_HISTORY_STAGE_H

#include <kvwitness/case.h>

#include <cstddef>
#include <vector>

#include "properties/run/run_context.h"
#include "properties/run/triage.h"

namespace kvwitness::harness {

class HistoryStage {
 public:
  HistoryStage(RunContext& context, Triage& triage) : context_(context), triage_(triage) {}

  // In fresh processes: first calls without slots, without rows and of one row, each with ordinary calls after it. Then
  // 100,000 small calls of one process. Each answer is held against the oracle's, under the name oracle_equality; nothing
  // where that property is not asked for, or where the implementation cannot be restarted.
  void judge(ImplementationRun& run);

 private:
  void judge_in_time(ImplementationRun& run);
  void judge_first_calls(ImplementationRun& run, std::size_t property, const std::vector<Case>& ordinary);
  void judge_many_calls(ImplementationRun& run, std::size_t property, const std::vector<Case>& ordinary);
  // Makes the calls in turn, in a fresh process, until one is answered wrongly: a failure, with those before it.
  void run_in_turn(ImplementationRun& run, std::size_t property, const std::vector<Case>& first,
                   const std::vector<Case>& ordinary, std::size_t count);

  RunContext& context_;
  Triage& triage_;
};

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUN_HISTORY_STAGE_H
