// One case on one implementation, judged by the oracle: what the differential targets share.
#ifndef FUZZ_JUDGE_H
#define FUZZ_JUDGE_H

#include <kvwitness/case.h>

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "properties/case/implementation.h"

namespace kvwitness::fuzz {

// What lies around the buffers, chosen by the case's own values: a case says nothing of it, and must fail in the same
// way each time.
harness::MemoryContext memory_context_of(const harness::Case& value);

// The oracle's answers for a case and for the calls before it, worked out once for all implementations.
class Expected {
 public:
  explicit Expected(const harness::Case& value);

  // Reports what the run did wrong; does nothing where the implementation does not serve the case.
  void judge(std::string_view target, harness::Implementation& implementation) const;

 private:
  bool agrees(const harness::Case& call, const std::vector<std::int32_t>& rows, const harness::Outcome& outcome,
              const harness::Implementation& implementation) const;

  const harness::Case& value_;
  std::vector<std::int32_t> rows_;
  std::vector<std::vector<std::int32_t>> after_rows_;
};

// Every property that concerns the case's operation and that `takes` accepts, on the outcome of one run.
void judge_by_properties(std::string_view target, const harness::Case& value, const harness::Outcome& outcome,
                         harness::Implementation& implementation, bool with_oracle);

}  // namespace kvwitness::fuzz

#endif  // FUZZ_JUDGE_H
