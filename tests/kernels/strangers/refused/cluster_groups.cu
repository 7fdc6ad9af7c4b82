#include <cooperative_groups.h>
__global__ void pair(int* out) {
  auto cluster = cooperative_groups::this_cluster();
  cluster.sync();
  out[threadIdx.x] = 1;
}
