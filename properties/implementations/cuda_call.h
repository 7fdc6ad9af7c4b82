// A Call made through the interface of kvwitness_cuda.h: the same checks and plans for the CPU executor and for a GPU.
#ifndef PROPERTIES_IMPLEMENTATIONS_CUDA_CALL_H
#define PROPERTIES_IMPLEMENTATIONS_CUDA_CALL_H

#include <kvwitness/case.h>

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/src/plan.h"
#include "properties/sandbox/call.h"

namespace kvwitness::harness {

// A call's context lengths in one of the forms of kvw_cuda_lengths, chosen by `choice`: as they are, as windows, spread
// out by a stride, both, or as tokens of requests where the lengths allow that. Every form gives every row its length,
// or for an empty row some length of 0 or less.
class LengthsForm {
 public:
  LengthsForm(const std::int32_t* context_lens, std::int64_t rows, std::uint64_t choice);

  const std::vector<std::int32_t>& lens() const noexcept { return lens_; }
  const std::vector<std::int32_t>& starts() const noexcept { return starts_; }  // empty where the form has none
  // The struct for lengths that lie at these addresses; `starts` is not looked at where the form has none.
  kvw_cuda_lengths at(const std::int32_t* lens, const std::int32_t* starts) const noexcept;

 private:
  bool try_requests(const std::int32_t* context_lens, std::int64_t rows, std::int64_t next_n);
  void make_windows(std::uint64_t noise);
  void spread(std::int64_t stride);

  std::vector<std::int32_t> lens_;
  std::vector<std::int32_t> starts_;
  std::int64_t count_;
  std::int64_t stride_ = 1;
  std::int64_t next_n_ = 1;
};

// How many elements the call's learned rows span; for a malformed call, as many as it has.
std::int64_t covered_elements(const Call& call) noexcept;

struct CudaPlan {
  kvw_status status;
  kernels::MergePlan merge;
  kernels::IndicesPlan indices;
};

// The plan of the call with its buffers at these addresses; `out` is `learned` where the call works in place.
CudaPlan plan_call(const Call& call, const kvw_cuda_lengths& lengths, std::int32_t* learned,
                   std::int32_t* out) noexcept;

// Whether a case's refusals are those of the C ABI: the CUDA interface takes buffers that are longer than the call
// needs, which the C ABI refuses.
bool is_cuda_case(const Case& value);

// A number that depends only on the call's values.
std::uint64_t fingerprint(const Call& call) noexcept;

}  // namespace kvwitness::harness

#endif  // PROPERTIES_IMPLEMENTATIONS_CUDA_CALL_H
