#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__global__ void label(int* out) {
  out[0] = int(cg::labeled_partition(cg::coalesced_threads(), threadIdx.x % 2).size());
}
