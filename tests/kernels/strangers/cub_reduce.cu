// CUB's own BlockReduce and WarpReduce. Without the barrier between two uses of the same storage, a race.
#include <cub/block/block_reduce.cuh>
#include <cub/warp/warp_reduce.cuh>
template <cub::BlockReduceAlgorithm kAlgorithm, class T>
__global__ void reduce(const T* values, T* out) {
  using BlockReduce = cub::BlockReduce<T, 128, kAlgorithm>;
  using WarpReduce = cub::WarpReduce<T>;
  __shared__ typename BlockReduce::TempStorage storage;
  __shared__ typename WarpReduce::TempStorage warps[4];
  const T sum = BlockReduce(storage).Sum(values[threadIdx.x]);
#ifndef WITHOUT_BARRIER
  __syncthreads();
#endif
  const T largest = BlockReduce(storage).Reduce(values[threadIdx.x], [](T a, T b) { return a < b ? b : a; });
  const T of_warp = WarpReduce(warps[threadIdx.x / 32]).Sum(values[threadIdx.x]);
  if (threadIdx.x == 0) {
    out[0] = sum;
    out[1] = largest;
    out[2] = of_warp;
  }
}
template <cub::BlockReduceAlgorithm kAlgorithm, class T>
bool right() {
  T *values, *out;
  cudaMallocManaged(&values, 128 * sizeof(T));
  cudaMallocManaged(&out, 3 * sizeof(T));
  for (int i = 0; i < 128; ++i) values[i] = T(i * 37 % 128);
  T of_warp = 0;
  for (int i = 0; i < 32; ++i) of_warp += values[i];
  reduce<kAlgorithm><<<1, 128>>>(values, out);
  return cudaDeviceSynchronize() == cudaSuccess && out[0] == 128 * 127 / 2 && out[1] == 127 && out[2] == of_warp;
}
int main() {
  return right<cub::BLOCK_REDUCE_WARP_REDUCTIONS, int>() && right<cub::BLOCK_REDUCE_WARP_REDUCTIONS, double>() &&
                 right<cub::BLOCK_REDUCE_RAKING, float>() && right<cub::BLOCK_REDUCE_RAKING_COMMUTATIVE_ONLY, int>()
             ? 0
             : 1;
}
