// The k largest of a row by CUB's own BlockRadixSort, BlockLoad, BlockScan and BlockStore: a kernel of index selection.
#include <cub/cub.cuh>
constexpr int kThreads = 64, kItems = 4, kRow = kThreads * kItems, kTop = 20;
__global__ void select(const float* scores, int* indices) {
  using Load = cub::BlockLoad<float, kThreads, kItems, cub::BLOCK_LOAD_TRANSPOSE>;
  using Sort = cub::BlockRadixSort<float, kThreads, kItems, int>;
  using Scan = cub::BlockScan<int, kThreads>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Sort::TempStorage sort;
    typename Scan::TempStorage scan;
  } storage;
  __shared__ bool chosen[kRow];
  float score[kItems];
  int index[kItems], kept[kItems], at[kItems];
  Load(storage.load).Load(scores + blockIdx.x * kRow, score);
  __syncthreads();
  for (int i = 0; i < kItems; ++i) {
    index[i] = int(threadIdx.x) * kItems + i;
    chosen[index[i]] = false;
  }
  Sort(storage.sort).SortDescending(score, index);
  __syncthreads();
  for (int i = 0; i < kItems; ++i) {
    if (int(threadIdx.x) * kItems + i < kTop) chosen[index[i]] = true;
  }
  __syncthreads();
  for (int i = 0; i < kItems; ++i) kept[i] = chosen[threadIdx.x * kItems + i];
  Scan(storage.scan).ExclusiveSum(kept, at);
  for (int i = 0; i < kItems; ++i) {
    if (kept[i] != 0) indices[blockIdx.x * kTop + at[i]] = int(threadIdx.x) * kItems + i;
  }
}
int main() {
  float* scores;
  int* indices;
  cudaMallocManaged(&scores, 2 * kRow * sizeof(float));
  cudaMallocManaged(&indices, 2 * kTop * sizeof(int));
  for (int i = 0; i < 2 * kRow; ++i) scores[i] = float(i * 101 % 509) - 200;
  select<<<2, kThreads>>>(scores, indices);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  for (int row = 0; row < 2; ++row) {
    for (int i = 0; i < kTop; ++i) {
      const int index = indices[row * kTop + i];
      int better = 0;
      for (int k = 0; k < kRow; ++k) better += scores[row * kRow + k] > scores[row * kRow + index] ? 1 : 0;
      if (better >= kTop || (i > 0 && index <= indices[row * kTop + i - 1])) return 2;
    }
  }
  return 0;
}
