// Cooperative groups: the block and the grid.
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void rotate(int* values) {
  const cg::thread_block block = cg::this_thread_block();
  __shared__ int tile[64];
  tile[block.thread_rank()] = values[block.thread_rank()];
  block.sync();
  values[block.thread_rank()] = tile[(block.thread_rank() + 1) % block.size()];
  cg::sync(block);
  if (cg::this_grid().thread_rank() == 0 && block.group_index().x == 0) values[0] += int(block.num_threads());
}
int main() {
  int* values;
  cudaMallocManaged(&values, 64 * sizeof(int));
  for (int i = 0; i < 64; ++i) values[i] = i;
  rotate<<<1, dim3(8, 8)>>>(values);
  return cudaDeviceSynchronize() == cudaSuccess && values[0] == 65 && values[63] == 0 ? 0 : 1;
}
