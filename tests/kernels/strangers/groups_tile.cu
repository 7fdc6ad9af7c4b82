// Cooperative groups: tiles, their shuffles, votes, reductions and scans.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
namespace cg = cooperative_groups;
struct Pair {
  float score;
  int index;
  short kind;
};
template <int kSize>
__device__ bool tile_is_right() {
  const auto block = cg::this_thread_block();
  const auto tile = cg::tiled_partition<kSize>(block);
  const int rank = int(tile.thread_rank());
  bool right = rank == int(block.thread_rank() % kSize) && tile.size() == kSize &&
               tile.meta_group_rank() == block.thread_rank() / kSize && tile.meta_group_size() == 64 / kSize;
  right = right && cg::reduce(tile, rank, cg::plus<int>()) == kSize * (kSize - 1) / 2;
  right = right && cg::reduce(tile, rank, cg::greater<int>()) == kSize - 1;
  right = right && cg::inclusive_scan(tile, 1) == rank + 1 && cg::exclusive_scan(tile, 1) == rank;
  right = right && tile.shfl(rank, kSize - 1) == kSize - 1 && tile.shfl_xor(rank, 1) == (rank ^ 1);
  right = right && tile.shfl_up(rank, 1) == (rank > 0 ? rank - 1 : 0) && tile.ballot(rank == 1) == 2u;
  right = right && tile.any(rank == 0) != 0 && tile.all(rank == 0) == 0 && __popc(tile.match_any(rank / 2)) == 2;
  const Pair best = tile.shfl(Pair{0.5f * rank, rank, short(rank)}, 1);
  right = right && best.score == 0.5f && best.index == 1 && best.kind == 1;
  tile.sync();
  const cg::thread_group any = cg::tiled_partition(block, 4);
  any.sync();
  return right && any.size() == 4 && cg::invoke_one_broadcast(tile, [] { return 9; }) == 9;
}
__global__ void check(int* wrong) {
  const bool right = tile_is_right<32>() && tile_is_right<16>() && tile_is_right<4>() && tile_is_right<2>();
  if (!right) atomicAdd(wrong, 1);
}
int main() {
  int* wrong;
  cudaMallocManaged(&wrong, sizeof(int));
  *wrong = 0;
  check<<<1, 64>>>(wrong);
  return cudaDeviceSynchronize() != cudaSuccess || *wrong != 0;
}
