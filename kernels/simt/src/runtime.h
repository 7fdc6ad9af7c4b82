// What the rest of the executor tells the host's side of CUDA.
#ifndef KVWITNESS_KERNELS_SIMT_SRC_RUNTIME_H
#define KVWITNESS_KERNELS_SIMT_SRC_RUNTIME_H

#include <cstdint>

namespace kvwitness::simt::detail {

// The schedule of the launches by <<<>>> from here on; run_schedules sets it before each try.
void set_launch_schedule(std::uint64_t schedule) noexcept;

// An event is an object of happens-before: it holds what was launched on a stream when it was recorded, and what is
// launched on a stream that waits for it comes after that.
void record_event(std::uint64_t& event, unsigned stream);
void wait_for_event(unsigned stream, std::uint64_t& event);

}  // namespace kvwitness::simt::detail

#endif  // KVWITNESS_KERNELS_SIMT_SRC_RUNTIME_H
