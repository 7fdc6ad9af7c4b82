// CUB's own BlockScan and WarpScan.
#include <cub/block/block_scan.cuh>
#include <cub/warp/warp_scan.cuh>
template <cub::BlockScanAlgorithm kAlgorithm>
__global__ void scan(int* values, int* total, long long* by_warp) {
  using BlockScan = cub::BlockScan<int, 128, kAlgorithm>;
  using WarpScan = cub::WarpScan<long long, 16>;
  __shared__ typename BlockScan::TempStorage storage;
  __shared__ typename WarpScan::TempStorage warps[8];
  int items[3], sum;
  for (int i = 0; i < 3; ++i) items[i] = values[3 * threadIdx.x + i];
  BlockScan(storage).ExclusiveSum(items, items, sum);
  for (int i = 0; i < 3; ++i) values[3 * threadIdx.x + i] = items[i];
  if (threadIdx.x == 0) *total = sum;
  long long mine = threadIdx.x;
  WarpScan(warps[threadIdx.x / 16]).InclusiveSum(mine, mine);
  by_warp[threadIdx.x] = mine;
}
template <cub::BlockScanAlgorithm kAlgorithm>
bool right(int* values, int* total, long long* by_warp) {
  for (int i = 0; i < 384; ++i) values[i] = i % 7 - 2;
  scan<kAlgorithm><<<1, 128>>>(values, total, by_warp);
  if (cudaDeviceSynchronize() != cudaSuccess) return false;
  int sum = 0;
  for (int i = 0; i < 384; ++i) {
    if (values[i] != sum) return false;
    sum += i % 7 - 2;
  }
  return *total == sum && by_warp[16] == 16 && by_warp[127] == (112 + 127) * 8;
}
int main() {
  int *values, *total;
  long long* by_warp;
  cudaMallocManaged(&values, 384 * sizeof(int));
  cudaMallocManaged(&total, sizeof(int));
  cudaMallocManaged(&by_warp, 128 * sizeof(long long));
  return right<cub::BLOCK_SCAN_WARP_SCANS>(values, total, by_warp) &&
                 right<cub::BLOCK_SCAN_RAKING>(values, total, by_warp) &&
                 right<cub::BLOCK_SCAN_RAKING_MEMOIZE>(values, total, by_warp)
             ? 0
             : 1;
}
