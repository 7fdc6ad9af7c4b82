// A fuzz target whose input says how it ends: "abort" as a finding does, "race" in a kernel, "wait" in a kernel that
// never ends. Whatever ThreadSanitizer's options, the first two end the program and SIGTERM ends the last.
#include <cuda_runtime.h>
#include <kvwitness/simt.h>

#include <cstdlib>
#include <string_view>

#include "fuzz/target.h"

namespace simt = kvwitness::simt;

namespace kvwitness::fuzz {
namespace {

__global__ void race(int* out) {
  __shared__ int box;
  if (threadIdx.x == 3) {
    box = 5;
  }
  if (threadIdx.x == 40) {
    *out = box;
  }
}

__global__ void wait(const volatile int* flag) {
  while (*flag == 0) {
  }
}

int run(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  simt::GlobalBuffer<int> box(1, 0);
  simt::Config config;
  config.block = 64;
  if (input == "abort") {
    std::abort();
  }
  if (input == "race") {
    static_cast<void>(simt::launch(config, race, box.data()));
  }
  if (input == "wait") {
    static_cast<void>(simt::launch(config, wait, static_cast<const volatile int*>(box.data())));
  }
  return 0;
}

}  // namespace

namespace targets {
extern const Target end = {
    .name = "end",
    .judges = "nothing: how the program ends",
    .body = run,
    .form = nullptr,
    .is_control = true,
};
}  // namespace targets

}  // namespace kvwitness::fuzz
