#include <cooperative_groups.h>
__global__ void wide(int* out) {
  out[0] = int(cooperative_groups::tiled_partition<64>(cooperative_groups::this_thread_block()).size());
}
