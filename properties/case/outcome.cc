#include "properties/case/outcome.h"

#include <kvwitness/legality.h>

#include <algorithm>

namespace kvwitness::harness {
namespace {

constexpr std::int64_t kRefusedWitnessElements = 65536;  // enough to see that a refused call wrote

}  // namespace

std::int64_t output_elements(const Case& value) {
  if (value.operation != Operation::kWitnesses) {
    return static_cast<std::int64_t>(value.learned.size());
  }
  const std::int64_t segments = std::max<std::int64_t>(0, value.num_segments);
  if (value.rows() == 0 || segments == 0) {
    return 0;
  }
  const std::int64_t limit = expected_status(value, false) == 0 ? kMaxTouchedElements : kRefusedWitnessElements;
  return segments > limit / value.rows() ? limit : segments * value.rows();
}

}  // namespace kvwitness::harness
