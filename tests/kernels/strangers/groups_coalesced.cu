// Cooperative groups: an aggregated atomic is right whatever lanes run together.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void count(int* total) {
  if (threadIdx.x % 3 == 0) {
    const cg::coalesced_group lanes = cg::coalesced_threads();
    if (lanes.thread_rank() == 0) atomicAdd(total, int(lanes.size()));
  }
}
int main() {
  int* total;
  cudaMallocManaged(&total, sizeof(int));
  *total = 0;
  count<<<1, 96>>>(total);
  return cudaDeviceSynchronize() == cudaSuccess && *total == 32 ? 0 : 1;
}
