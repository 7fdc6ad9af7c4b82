#include "properties/rules/further_run.h"

#include <kvwitness/assertions.h>

#include <cstddef>
#include <utility>

#include "properties/rules/judged_rows.h"

namespace kvwitness::harness::judges {

std::span<const std::int32_t> FurtherRun::row(std::int64_t row) const {
  KVWITNESS_ASSERT(!verdict && row >= 0 && row < value.rows(), row, value.rows());
  const auto width = static_cast<std::size_t>(result_width(value));
  return std::span(outcome.rows).subspan(static_cast<std::size_t>(row) * width, width);
}

FurtherRun run_further(Case further, Implementation& implementation) {
  FurtherRun run{std::move(further), {}, {}};
  const bool strided = sees_stride(implementation, run.value);
  if (!implementation.supports(run.value) || beyond_limits(run.value, strided)) {
    run.verdict = Verdict::outside_domain();
    return run;
  }
  run.outcome = implementation.run(run.value);
  if (run.outcome.ending == Ending::kUnsupported) {
    run.verdict = Verdict::outside_domain();
    return run;
  }
  run.verdict = unjudgeable(run.value, run.outcome, implementation);
  if (run.verdict) {
    run.verdict = against(*std::move(run.verdict), run);
  }
  return run;
}

Verdict against(Verdict verdict, const FurtherRun& run) {
  if (verdict.kind == Verdict::Kind::kBroken) {
    verdict.compared_with = run.value;
    verdict.compared_rows = run.outcome.rows;
  }
  return verdict;
}

std::span<std::int32_t> learned_row(Case& value, std::int64_t row) {
  KVWITNESS_ASSERT(row >= 0 && row < value.rows(), row, value.rows());
  return std::span(value.learned)
      .subspan(static_cast<std::size_t>(row * value.topk), static_cast<std::size_t>(value.topk));
}

}  // namespace kvwitness::harness::judges
