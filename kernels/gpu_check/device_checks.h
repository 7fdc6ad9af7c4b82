// What only a real device can show of the CUDA interface.
#ifndef KERNELS_GPU_CHECK_DEVICE_CHECKS_H
#define KERNELS_GPU_CHECK_DEVICE_CHECKS_H

#include "kernels/gpu_check/check_log.h"

namespace kvwitness::gpu_check {

// Buffers of more than 2^31 elements, more rows than one grid dimension once took, graph capture and replay with new
// contents, several streams at once, and the runtime's last error left alone.
void check_device(CheckLog& log);

}  // namespace kvwitness::gpu_check

#endif  // KERNELS_GPU_CHECK_DEVICE_CHECKS_H
