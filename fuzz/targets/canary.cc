#include <kvwitness/legality.h>

#include <memory>
#include <string>

#include "fuzz/finding.h"
#include "fuzz/target.h"
#include "fuzz/under_test.h"
#include "properties/case/status.h"

int fuzz_canary(const std::uint8_t* data, std::size_t size) {
  using namespace kvwitness;
  static const std::unique_ptr<harness::Implementation> kImplementation = fuzz::c_abi_implementation();
  harness::Case value = harness::decode({data, size});
  value.operation = harness::Operation::kScatter;
  value.row_stride.reset();
  value.prior_calls.clear();
  if (!harness::is_legal(value)) {
    return -1;
  }
  const harness::Outcome once = kImplementation->run(value);
  harness::Case again = value;
  again.learned = once.rows;
  const harness::Outcome twice = kImplementation->run(again);
  if (once.status == harness::status::kOk && twice.rows != once.rows) {
    report(
        fuzz::Finding{"canary", "scatter_is_idempotent", kImplementation->name(), "a second scatter changes the rows"},
        value);
  }
  return 0;
}
