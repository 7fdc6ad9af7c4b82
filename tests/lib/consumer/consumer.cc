#include <kvwitness/backend.h>
#include <kvwitness/gate.h>
#include <kvwitness/kvwitness.h>
#include <kvwitness/metrics.h>
#include <kvwitness/nulls.h>
#include <kvwitness/segments.h>
#include <kvwitness/select.h>
#include <kvwitness/witness.h>

#include <cstdint>
#include <vector>

static_assert(KVWITNESS_ASSERTIONS == 0, "an installed header needs no flag to be without assertions");

int main() {
  std::vector<std::int32_t> rows{0, 1, 2, 3, 12, -1, -1, -1};
  const std::vector<std::int32_t> context_lens{16};
  if (!kvwitness::scatter(rows, 8, context_lens, 4)) {
    return 1;
  }
  const bool merged = rows == std::vector<std::int32_t>{0, 1, 2, 3, 4, 8, -1, -1};
  return merged && kvwitness::segment_coverage(rows, 16, 4) == 0.75 && kvwitness::locality_null(4, 1).front() == 3 ? 0
                                                                                                                   : 2;
}
