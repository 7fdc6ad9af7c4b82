#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
__global__ void copy(const int* in) {
  __shared__ int tile[32];
  cooperative_groups::memcpy_async(cooperative_groups::this_thread_block(), tile, in, sizeof(tile));
}
