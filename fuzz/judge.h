// One case on one implementation, judged by the oracle or by properties: what the targets of cases share.
#ifndef FUZZ_JUDGE_H
#define FUZZ_JUDGE_H

#include <kvwitness/case.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "properties/case/implementation.h"

namespace kvwitness::fuzz {

// What lies around the buffers of a run, chosen by the case's own values: a case says nothing of it, and must fail in
// the same way each time.
harness::MemoryContext memory_context_of(const harness::Case& value);

// The oracle's answers for a case and for its prior calls, worked out once for all implementations.
class OracleAnswers {
 public:
  explicit OracleAnswers(const harness::Case& value);

  // Runs the case and reports what differs from the oracle. Does nothing where the implementation does not serve the
  // case, or where the case exceeds the element limits.
  void judge(std::string_view target, harness::Implementation& implementation) const;

 private:
  bool agrees(const harness::Case& call, const std::vector<std::int32_t>& rows, const harness::Outcome& outcome,
              const harness::Implementation& implementation) const;

  const harness::Case& value_;
  std::vector<std::int32_t> rows_;
  std::vector<std::vector<std::int32_t>> prior_rows_;
};

// Reports the first property that the outcome of one run breaks, among those that concern the case's operation: those
// that ask the oracle (`with_oracle`), or those that do not.
void judge_by_properties(std::string_view target, const harness::Case& value, const harness::Outcome& outcome,
                         harness::Implementation& implementation, bool with_oracle);

}  // namespace kvwitness::fuzz

#endif  // FUZZ_JUDGE_H
