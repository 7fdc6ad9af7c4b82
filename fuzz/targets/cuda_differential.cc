#include <string>

#include "fuzz/inputs/scheduled_case.h"
#include "fuzz/judge.h"
#include "fuzz/target.h"
#include "fuzz/under_test.h"

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
constexpr std::int64_t kMostSegments = 4096;

bool is_small(const harness::Case& value) {
  return value.rows() <= kMostRows && value.learned.size() <= kMostTokens && value.num_segments <= kMostSegments;
}

}  // namespace
}  // namespace kvwitness::fuzz

int fuzz_cuda_differential(const std::uint8_t* data, std::size_t size) {
  using namespace kvwitness;
  static fuzz::ScheduledImplementation implementation;
  const fuzz::ScheduledCase scheduled = fuzz::decode_scheduled({data, size});
  bool small = fuzz::is_small(scheduled.value) && scheduled.value.prior_calls.size() <= 4;
  for (const harness::Case& earlier : scheduled.value.prior_calls) {
    small = small && fuzz::is_small(earlier);
  }
  if (!small) {
    return -1;
  }
  implementation.set(scheduled);
  fuzz::Expected(scheduled.value).judge("cuda_differential", implementation);
  return 0;
}
