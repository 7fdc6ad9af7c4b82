// What becomes of a failure: it is kept, made into a counterexample and noted in the results; and kept failures of
// earlier runs are replayed.
#ifndef PROPERTIES_RUN_TRIAGE_H
#define PROPERTIES_RUN_TRIAGE_H

#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "properties/run/counterexample_search.h"
#include "properties/run/failure_database.h"
#include "properties/run/run_context.h"

namespace kvwitness::harness {

// Whether a person can check a case of this size by hand.
bool is_checkable(const Case& value);

class Triage {
 public:
  explicit Triage(RunContext& context) : context_(context) {}

  // Reads the folder of kept failures, where the run has one. An error names the file that cannot be read.
  std::expected<void, std::string> read_kept_failures();
  // Runs and judges them.
  void replay_kept_failures();
  // Moves those whose property passes to the folder `fixed`, but for those that never failed again.
  void mark_fixed_failures();

  // Keeps the failure, searches for its counterexample, and makes it the property's result.
  void handle(ImplementationRun& run, std::size_t property, const Failure& failure);

 private:
  struct KeptFailure {
    FailureEntry entry;
    ImplementationRun* run;
    std::size_t property;
    bool was_judged = false;
  };

  void replay(KeptFailure& kept);
  void replay_in_time(KeptFailure& kept);
  void keep(const FailureEntry& entry);

  RunContext& context_;
  std::vector<KeptFailure> kept_;
};

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUN_TRIAGE_H
