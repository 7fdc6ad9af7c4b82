// Cases judged on one implementation: run alone or in batches, by every property that concerns them.
#ifndef PROPERTIES_RUN_CASE_JUDGE_H
#define PROPERTIES_RUN_CASE_JUDGE_H

#include <kvwitness/case.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "properties/case/implementation.h"
#include "properties/case/outcome.h"
#include "properties/rules/property.h"
#include "properties/run/implementation_run.h"
#include "properties/run/run_context.h"
#include "properties/run/triage.h"

namespace kvwitness::harness {

// A case to be judged, and where a person finds it.
struct SourcedCase {
  const Case* value;
  std::string_view source;
};

// Which properties judge a case.
enum class JudgedBy : std::uint8_t {
  kEverything,  // all, unless it is too large for relations
  kAllButRelations,
  kWholeCalls,  // only those that judge large calls cheaply
};

class CaseJudge {
 public:
  CaseJudge(RunContext& context, Triage& triage) : context_(context), triage_(triage) {}

  // The first cases that the implementation is asked to run together: fewer where they are large.
  static std::span<const SourcedCase> next_batch(std::span<const SourcedCase> cases, const ImplementationRun& run);

  // Judges a batch and hands its failures to the triage. The further runs that relations ask for are made together too.
  // Gives the number of cases that the implementation serves.
  // @param stream_property  the property whose stream the cases are from: of the metamorphic relations only
  //                         this one judges them. Without it all do, unless a case is too large for that.
  std::int64_t judge(ImplementationRun& run, std::span<const SourcedCase> batch,
                     std::optional<std::size_t> stream_property, JudgedBy judged_by = JudgedBy::kEverything);

 private:
  struct PropertyVerdict {
    std::size_t property;
    Verdict verdict = Verdict::silent();
    bool hung = false;  // a further run that it asked for got no answer within the deadline
  };
  struct JudgedCase {
    SourcedCase given;
    std::vector<PropertyVerdict> verdicts;
    std::optional<Outcome> outcome = {};
    std::size_t position = 0;  // of its own calls among all that were made
    bool hung = false;         // it, or a further run for it

    const Case& value() const { return *given.value; }
  };
  struct FoundFailure {
    std::size_t property;
    Failure failure;       // without its prior calls
    std::size_t position;  // of its calls among all that were made
  };

  bool is_judged(const ImplementationRun& run, const Case& value, std::size_t property,
                 std::optional<std::size_t> stream_property, JudgedBy judged_by) const;
  std::vector<JudgedCase> run_cases(ImplementationRun& run, std::span<const SourcedCase> batch,
                                    std::optional<std::size_t> stream_property, JudgedBy judged_by);
  bool is_worth_judging(const ImplementationRun& run, const JudgedCase& judged, const PropertyVerdict& verdict) const;
  static void note_hang(ImplementationRun& run, JudgedCase& judged);
  void judge_alone(ImplementationRun& run, JudgedCase& judged);
  void judge_together(ImplementationRun& run, std::vector<JudgedCase>& batch);
  void settle(ImplementationRun& run, std::span<const JudgedCase> batch);
  FoundFailure found_failure(ImplementationRun& run, const JudgedCase& judged, const PropertyVerdict& verdict,
                             bool was_alone) const;

  RunContext& context_;
  Triage& triage_;
};

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUN_CASE_JUDGE_H
