// The stages of a run: pinned cases and shared large ones on each implementation, then each property's stream of
// generated cases; with the coverage classes that the generated cases must hit.
#ifndef PROPERTIES_RUN_STAGES_H
#define PROPERTIES_RUN_STAGES_H

#include <kvwitness/rapidcheck.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "properties/run/case_judge.h"
#include "properties/run/run_context.h"

namespace kvwitness::harness {

class Stages {
 public:
  Stages(RunContext& context, CaseJudge& judge) : context_(context), judge_(judge) {}

  // Small ones first.
  void judge_pinned(ImplementationRun& run);
  void judge_shared(ImplementationRun& run);
  // On all implementations; those with the same domain share a stream.
  void judge_stream(std::size_t property);

 private:
  void judge_stream_on(std::size_t property, const Domain& domain, std::span<ImplementationRun* const> runs);
  void judge_of_stream(ImplementationRun& run, std::span<const SourcedCase> batch, std::size_t property);
  void count_generated(ImplementationRun& run, std::int64_t drawn, std::int64_t served);
  void note_shared_classes(const ImplementationRun& run, const Domain& domain, std::span<const std::int64_t> hits);
  void note_stream_classes(std::size_t property, const Domain& domain, std::span<ImplementationRun* const> runs,
                           std::span<const std::int64_t> hits);

  RunContext& context_;
  CaseJudge& judge_;
};

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUN_STAGES_H
