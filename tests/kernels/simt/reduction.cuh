// The textbook reduction (Harris, "Optimizing Parallel Reduction in CUDA"): each block sums its part in shared memory
// by halving the distance, the last warp by shuffles, and adds the result to a global total. SIMT_TEST_OMIT is the
// number of the one synchronisation left out; a comment marks where that control must be reported.
#ifndef KVWITNESS_TESTS_KERNELS_SIMT_REDUCTION_CUH
#define KVWITNESS_TESTS_KERNELS_SIMT_REDUCTION_CUH

#include <cuda_runtime.h>

#ifndef SIMT_TEST_OMIT
#define SIMT_TEST_OMIT 0
#endif

template <int kThreads>
__global__ void reduce_sum(const int* values, int count, int* total) {
  __shared__ int partial[kThreads];
  const int thread = static_cast<int>(threadIdx.x);
  int sum = 0;
  for (int i = static_cast<int>(blockIdx.x) * kThreads + thread; i < count;
       i += static_cast<int>(gridDim.x) * kThreads) {
    sum += values[i];
  }
  partial[thread] = sum;
#if SIMT_TEST_OMIT != 1
  __syncthreads();
#endif
  for (int distance = kThreads / 2; distance >= warpSize; distance /= 2) {
    if (thread < distance) {
      partial[thread] += partial[thread + distance];  // control 1, control 2
    }
#if SIMT_TEST_OMIT != 2
    __syncthreads();
#endif
  }
  if (thread < warpSize) {
    sum = partial[thread];
    for (int distance = warpSize / 2; distance > 0; distance /= 2) {
      sum += __shfl_down_sync(0xFFFFFFFFu, sum, static_cast<unsigned>(distance));
    }
    if (thread == 0) {
#if SIMT_TEST_OMIT == 3
      *total += sum;  // control 3: no atomic, a race between blocks
#else
      atomicAdd(total, sum);
#endif
    }
  }
}

#endif  // KVWITNESS_TESTS_KERNELS_SIMT_REDUCTION_CUH
