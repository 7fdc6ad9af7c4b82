#include <cuda/pipeline>
__global__ void copy() {
  auto pipe = cuda::make_pipeline();
}
