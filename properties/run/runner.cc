#include "properties/run/runner.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "properties/run/case_judge.h"
#include "properties/run/conclusion.h"
#include "properties/run/history_stage.h"
#include "properties/run/preparation.h"
#include "properties/run/run_context.h"
#include "properties/run/serving_stage.h"
#include "properties/run/stages.h"
#include "properties/run/triage.h"
#include "properties/sandbox/interruption.h"

namespace kvwitness::harness {

std::expected<RunReport, std::string> run_properties(const RunOptions& options,
                                                     std::vector<std::unique_ptr<Implementation>>& implementations,
                                                     const Progress& progress) {
  RunContext context(options, progress);
  if (auto prepared = prepare_runs(context, implementations); !prepared) return std::unexpected(prepared.error());
  Triage triage(context);
  if (auto kept = triage.read_kept_failures(); !kept) return std::unexpected(kept.error());
  triage.replay_kept_failures();

  CaseJudge judge(context, triage);
  Stages stages(context, judge);
  HistoryStage histories(context, triage);
  ServingStage serving(context, judge);
  const auto for_each_run = [&](auto judge_part) {
    for (const auto& run : context.runs) {
      if (run->is_available && !run->domain().operations.empty()) judge_part(*run);
    }
  };
  const auto judge_given = [&](ImplementationRun& run) {
    stages.judge_pinned(run);
    stages.judge_shared(run);
  };
  // Generated cases have few shapes where each costs much, and come first there: given ones would use up its time.
  for_each_run([&](ImplementationRun& run) {
    if (!run.has_costly_shapes) judge_given(run);
  });
  for (std::size_t i = 0; i < options.properties.size(); ++i) stages.judge_stream(i);
  for_each_run([&](ImplementationRun& run) {
    if (run.has_costly_shapes) judge_given(run);
    histories.judge(run);
    serving.judge(run);
  });

  context.report.interrupted_by = interrupting_signal();
  conclude_results(context);
  triage.mark_fixed_failures();
  RunReport& report = context.report;
  for (const auto& run : context.runs) report.implementations.push_back(std::move(run->result));
  report.cut_by_clock = std::ranges::any_of(report.implementations, &ImplementationResult::cut_by_clock);
  report.seconds = context.elapsed_seconds();
  return std::move(report);
}

}  // namespace kvwitness::harness
