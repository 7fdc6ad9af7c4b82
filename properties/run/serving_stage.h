// The stage of serving shapes: a covering array of decode and prefill batches on each implementation.
#ifndef PROPERTIES_RUN_SERVING_STAGE_H
#define PROPERTIES_RUN_SERVING_STAGE_H

#include "properties/run/case_judge.h"
#include "properties/run/run_context.h"

namespace kvwitness::harness {

class ServingStage {
 public:
  ServingStage(RunContext& context, CaseJudge& judge) : context_(context), judge_(judge) {}

  // Small batches are judged by every property, large ones by those that compare a whole call, every row of it. Notes
  // how many of the possible pairs of levels the implementation has served.
  void judge(ImplementationRun& run);

 private:
  bool is_any_open(const ImplementationRun& run, JudgedBy by) const;

  RunContext& context_;
  CaseJudge& judge_;
};

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUN_SERVING_STAGE_H
