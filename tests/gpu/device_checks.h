// What only a real device can show of the CUDA interface.
#ifndef TESTS_GPU_DEVICE_CHECKS_H
#define TESTS_GPU_DEVICE_CHECKS_H

#include "tests/gpu/check_log.h"

namespace kvwitness::gpu_check {

// Buffers of more than 2^31 elements, more rows than one grid dimension once took, graph capture and replay with new
// contents, several streams at once, and the runtime's last error left alone.
void check_device(CheckLog& log);

}  // namespace kvwitness::gpu_check

#endif  // TESTS_GPU_DEVICE_CHECKS_H
