#include <cooperative_groups.h>
__global__ void both(int* out) {
  cooperative_groups::this_grid().sync();
  out[threadIdx.x] = 1;
}
