// The textbook histogram: each block counts in shared memory by atomics, then adds its bins to the global ones.
// SIMT_TEST_OMIT is the number of the one synchronisation left out; a comment marks where that control must be
// reported.
#ifndef KVWITNESS_TESTS_KERNELS_SIMT_HISTOGRAM_CUH
#define KVWITNESS_TESTS_KERNELS_SIMT_HISTOGRAM_CUH

#include <cuda_runtime.h>

#ifndef SIMT_TEST_OMIT
#define SIMT_TEST_OMIT 0
#endif

template <int kBins>
__global__ void histogram(const unsigned int* values, int count, unsigned int* bins) {
  __shared__ unsigned int block_bins[kBins];
  for (unsigned int bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
    block_bins[bin] = 0;
  }
#if SIMT_TEST_OMIT != 1
  __syncthreads();
#endif
  const int stride = static_cast<int>(blockDim.x * gridDim.x);
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count; i += stride) {
#if SIMT_TEST_OMIT == 3
    ++block_bins[values[i] % kBins];  // control 3: no atomic, a race between threads
#else
    atomicAdd(&block_bins[values[i] % kBins], 1u);  // control 1
#endif
  }
#if SIMT_TEST_OMIT != 2
  __syncthreads();
#endif
  for (unsigned int bin = threadIdx.x; bin < kBins; bin += blockDim.x) {
    atomicAdd(&bins[bin], block_bins[bin]);  // control 2
  }
}

#endif  // KVWITNESS_TESTS_KERNELS_SIMT_HISTOGRAM_CUH
