#include <memory>

#include "fuzz/inputs/case_forms.h"
#include "fuzz/judge.h"
#include "fuzz/mutators/case_mutator.h"
#include "fuzz/target.h"
#include "fuzz/under_test.h"
#include "properties/sandbox/call_frame.h"

namespace kvwitness::fuzz {
namespace {

int judge_input(const std::uint8_t* data, std::size_t size) {
  static const std::unique_ptr<harness::Implementation> kImplementation = c_abi_implementation();
  const harness::Case value = harness::decode({data, size});
  if (!kImplementation->supports(value) ||
      harness::beyond_limits(value, harness::sees_stride(*kImplementation, value))) {
    return -1;
  }
  const harness::Outcome outcome = kImplementation->run_in(value, memory_context_of(value));
  judge_by_properties("invariants", value, outcome, *kImplementation, false);
  return 0;
}

}  // namespace

namespace targets {
extern const Target invariants = {
    .name = "invariants",
    .judges = "every property that needs no oracle, metamorphic relations included, on the C ABI",
    .body = judge_input,
    .form = &kCaseForm,
    .mutator = &kCaseMutator,
    .test_runs = 6000,
    .finds =
        "edge_rounded_down segment_in_32_bits segment_in_float mask_shift_wraps mask_exclusive odd_last_slot_skipped "
        "only_minus_one_is_padding short_row_keeps_its_count length_negative_as_1 budget_one_more only_head_read "
        "neighbours_length state_across_rows writes_spare_column",
};
}  // namespace targets

}  // namespace kvwitness::fuzz
