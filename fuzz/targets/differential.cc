#include <memory>
#include <vector>

#include "fuzz/inputs/case_forms.h"
#include "fuzz/judge.h"
#include "fuzz/mutators/case_mutator.h"
#include "fuzz/target.h"
#include "fuzz/under_test.h"

namespace kvwitness::fuzz {
namespace {

int judge_input(const std::uint8_t* data, std::size_t size) {
  static const std::vector<std::unique_ptr<harness::Implementation>> kImplementations = host_implementations();
  const harness::Case value = harness::decode({data, size});
  const OracleAnswers answers(value);
  for (const std::unique_ptr<harness::Implementation>& implementation : kImplementations) {
    answers.judge("differential", *implementation);
  }
  return 0;
}

}  // namespace

namespace targets {
extern const Target differential = {
    .name = "differential",
    .judges =
        "the C ABI and every backend that can run here against the oracle: status, every slot, every byte around the "
        "buffers",
    .body = judge_input,
    .form = &kCaseForm,
    .mutator = &kCaseMutator,
    .test_runs = 6000,
    .finds =
        "edge_rounded_down segment_in_32_bits segment_in_float mask_shift_wraps mask_exclusive odd_last_slot_skipped "
        "only_minus_one_is_padding past_end_ignored short_row_keeps_its_count length_negative_as_1 "
        "budget_one_more only_head_read neighbours_length state_across_rows writes_spare_column "
        "budget_of_the_last_call many_segments_cut_off",
};
}  // namespace targets

}  // namespace kvwitness::fuzz
