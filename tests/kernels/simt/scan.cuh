// The textbook inclusive scan of one block (Hillis and Steele, "Data Parallel Algorithms", CACM 1986) through dynamic
// shared memory, with a warp's part done by lanes that meet at __syncwarp. SIMT_TEST_OMIT is the number of the one
// synchronisation left out; a comment marks where that control must be reported.
#ifndef KVWITNESS_TESTS_KERNELS_SIMT_SCAN_CUH
#define KVWITNESS_TESTS_KERNELS_SIMT_SCAN_CUH

#include <cuda_runtime.h>

#ifndef SIMT_TEST_OMIT
#define SIMT_TEST_OMIT 0
#endif

// out[i] = values[0] + ... + values[i]; blockDim.x values, a multiple of 32; dynamic shared memory: one int for each
// thread and each warp.
inline __global__ void scan_inclusive(const int* values, int* out) {
  KVWITNESS_DYNAMIC_SHARED(int, shared);
  const int thread = static_cast<int>(threadIdx.x), lane = thread % warpSize, warp = thread / warpSize;
  int* const warp_totals = shared + blockDim.x;
  shared[thread] = values[thread];
#if SIMT_TEST_OMIT != 1
  __syncwarp();
#endif
  for (int distance = 1; distance < warpSize; distance *= 2) {
    const int before = lane >= distance ? shared[thread - distance] : 0;  // control 1, control 3
#if SIMT_TEST_OMIT != 2
    __syncwarp();
#endif
    shared[thread] += before;  // control 2
#if SIMT_TEST_OMIT != 3
    __syncwarp();
#endif
  }
  if (lane == warpSize - 1) {
    warp_totals[warp] = shared[thread];
  }
#if SIMT_TEST_OMIT != 4
  __syncthreads();
#endif
  int offset = 0;
  for (int w = 0; w < warp; ++w) {
    offset += warp_totals[w];  // control 4
  }
  out[thread] = shared[thread] + offset;
}

#endif  // KVWITNESS_TESTS_KERNELS_SIMT_SCAN_CUH
