#include <cuda_pipeline.h>
__global__ void copy(const int* in) {
  __shared__ int tile[32];
  __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 4);
}
