#include <string>

#include "fuzz/inputs/scheduled_case.h"
#include "fuzz/judge.h"
#include "fuzz/mutators/case_mutator.h"
#include "fuzz/target.h"
#include "fuzz/under_test.h"
#include "properties/sandbox/host_implementation.h"

namespace kvwitness::fuzz {
namespace {

// The kernels' source on the executor under a given schedule.
class ScheduledImplementation final : public harness::HostImplementation {
 public:
  void set(const ScheduledCase& scheduled) {
    run_ = scheduled.run;
    lengths_choice_ = scheduled.lengths_choice;
  }

  std::string name() const override {
    return run_.variant == kernels::Variant::kBlock ? "cuda-emulated-block" : "cuda-emulated-warp";
  }
  bool supports(const harness::Case& value) const override { return harness::is_cuda_case(value); }

  Answer call(const harness::Call& call) override {
    const harness::LengthsForm lengths(call.context_lens, call.rows, lengths_choice_);
    const kvw_cuda_lengths described = lengths.at(lengths.lens().data(), lengths.starts().data());
    const harness::CudaPlan plan = plan_call(call, described, const_cast<std::int32_t*>(call.learned), call.out);
    if (plan.status != KVW_OK) {
      return {plan.status, kernels::last_error()};
    }
    const simt::Report report = launch(plan, run_);
    return report.ok() ? Answer{KVW_OK, ""} : Answer{KVW_CUDA, report.to_string()};
  }

 private:
  harness::EmulatedRun run_{kernels::Variant::kBlock, simt::in_order, 1};
  std::uint64_t lengths_choice_ = 0;
};

// The executor takes tens of microseconds a row: larger cases cost more than they teach.
constexpr std::int64_t kMostRows = 24;
constexpr std::size_t kMostTokens = 8192;
// Of repeated rows up to so many are worth mutating again; more take a second, and a seed has them.
constexpr std::int64_t kMostKeptRows = 256;
constexpr std::int64_t kMostSegments = 4096;

bool is_small(const harness::Case& value) {
  return value.rows() <= kMostRows && value.learned.size() <= kMostTokens && value.num_segments <= kMostSegments;
}

int judge_input(const std::uint8_t* data, std::size_t size) {
  static ScheduledImplementation implementation;
  const ScheduledCase scheduled = decode_scheduled({data, size});
  bool small = is_small(scheduled.value) && scheduled.value.prior_calls.size() <= 4;
  for (const harness::Case& prior : scheduled.value.prior_calls) {
    small = small && is_small(prior);
  }
  if (!small) {
    return -1;
  }
  implementation.set(scheduled);
  const harness::Case judged = scheduled.repeated();
  OracleAnswers(judged).judge("cuda_differential", implementation);
  return judged.rows() <= kMostKeptRows ? 0 : -1;
}

}  // namespace

namespace targets {
extern const Target cuda_differential = {
    .name = "cuda_differential",
    .judges =
        "the CUDA kernels' source on the CPU executor against the oracle, under a thread schedule that the input names",
    .body = judge_input,
    .form = &kScheduledCaseForm,
    .mutator = &kScheduledCaseMutator,
    .test_runs = 1500,
    .has_threads = true,
    .finds =
        "edge_rounded_down segment_in_32_bits segment_in_float mask_shift_wraps mask_exclusive odd_last_slot_skipped "
        "only_minus_one_is_padding past_end_ignored short_row_keeps_its_count length_negative_as_1 "
        "budget_one_more only_head_read no_barrier_after_clear no_barrier_before_read "
        "no_barrier_between_rows first_row_of_a_block_alone rows_wrap_at_256 rows_wrap_at_4096 rows_wrap_at_32768 "
        "rows_wrap_at_65536 rows_end_at_65535",
    .control_runs = 20000,  // each runs 256 threads of a kernel
};
}  // namespace targets

}  // namespace kvwitness::fuzz
