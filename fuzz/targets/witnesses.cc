#include <memory>

#include "fuzz/inputs/case_forms.h"
#include "fuzz/judge.h"
#include "fuzz/mutators/case_mutator.h"
#include "fuzz/target.h"
#include "fuzz/under_test.h"

namespace kvwitness::fuzz {
namespace {

int judge_input(const std::uint8_t* data, std::size_t size) {
  static const std::unique_ptr<harness::Implementation> kImplementation = c_abi_implementation();
  harness::Case value = harness::decode({data, size});
  value.operation = harness::Operation::kWitnesses;
  value.in_place = false;
  value.learned_keep = 0;
  value.max_replacements = 0;
  if (!is_within_limits(value)) {
    return -1;
  }
  OracleAnswers(value).judge("witnesses", *kImplementation);
  return 0;
}

}  // namespace

namespace targets {
extern const Target witnesses = {
    .name = "witnesses",
    .judges = "the witness indices that the C ABI gives for any case against the oracle",
    .body = judge_input,
    .form = &kCaseForm,
    .mutator = &kCaseMutator,
    .test_runs = 6000,
    .finds =
        "edge_rounded_down product_in_32_bits division_in_float shift_of_32 toggled_bit last_slot_unread "
        "only_minus_one_pads past_length_ignored short_row_keeps_its_count empty_row_acts",
};
}  // namespace targets

}  // namespace kvwitness::fuzz
