#include <kvwitness/legality.h>

#include <memory>
#include <string>

#include "fuzz/finding.h"
#include "fuzz/inputs/case_forms.h"
#include "fuzz/mutators/case_mutator.h"
#include "fuzz/target.h"
#include "fuzz/under_test.h"
#include "properties/case/status.h"

namespace kvwitness::fuzz {
namespace {

int judge_input(const std::uint8_t* data, std::size_t size) {
  static const std::unique_ptr<harness::Implementation> kImplementation = c_abi_implementation();
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
    report_finding(
        Finding{"canary", "scatter_is_idempotent", kImplementation->name(), "a second scatter changes the rows"},
        value);
  }
  return 0;
}

}  // namespace

namespace targets {
extern const Target canary = {
    .name = "canary",
    .judges =
        "the claim that scatter is idempotent, which the rule denies: a campaign that does not refute it is broken",
    .body = judge_input,
    .form = &kCaseForm,
    .mutator = &kCaseMutator,
    .is_control = true,
};
}  // namespace targets

}  // namespace kvwitness::fuzz
