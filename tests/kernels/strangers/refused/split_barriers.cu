#include <cuda/barrier>
__global__ void wait() {
  __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
}
