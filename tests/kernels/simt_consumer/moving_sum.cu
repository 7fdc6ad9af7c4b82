// A stranger's kernel: sums of three neighbours, by way of dynamic shared memory.
#include <cuda_runtime.h>

#ifdef KVWITNESS_SIMT
#include <kvwitness/simt.h>
#endif

__global__ void __launch_bounds__(128) moving_sum(const float* __restrict__ in, float* __restrict__ out, int count) {
  extern __shared__ float tile[];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int at = threadIdx.x + 1;
  tile[at] = i < count ? __ldg(&in[i]) : 0.0f;
  if (threadIdx.x == 0) {
    tile[0] = i > 0 ? in[i - 1] : 0.0f;
    tile[blockDim.x + 1] = i + blockDim.x < count ? in[i + blockDim.x] : 0.0f;
  }
#ifndef MOVING_SUM_WITHOUT_BARRIER
  __syncthreads();
#endif
  if (i < count) {
    out[i] = tile[at - 1] + tile[at] + tile[at + 1];
  }
}

#ifdef KVWITNESS_SIMT
int main(int argc, char** argv) {
  namespace simt = kvwitness::simt;
  constexpr int kCount = 300;
  simt::GlobalBuffer<float> in(kCount);
  for (int i = 0; i < kCount; ++i) {
    in[i] = static_cast<float>(i);
  }
  return simt::run_schedules(argc, argv, 50, [&](std::uint64_t schedule) -> std::string {
    simt::GlobalBuffer<float> out(kCount);
    simt::Config config;
    config.grid = (kCount + 127) / 128;
    config.block = 128;
    config.dynamic_shared_bytes = (128 + 2) * sizeof(float);
    config.schedule = schedule;
    const simt::Report report = simt::launch(config, moving_sum, in.data(), out.data(), kCount);
    if (!report.ok()) {
      return report.to_string();
    }
    for (int i = 0; i < kCount; ++i) {
      const float expected = (i > 0 ? in[i - 1] : 0.0f) + in[i] + (i + 1 < kCount ? in[i + 1] : 0.0f);
      if (out[i] != expected) {
        return "out[" + std::to_string(i) + "] is " + std::to_string(out[i]) + ", not " + std::to_string(expected);
      }
    }
    return "";
  });
}
#endif
