// cuda::std, from CCCL's headers.
#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/functional>
#include <cuda/std/limits>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/utility>
__global__ void check(int* out) {
  cuda::std::array<int, 4> values{4, 3, 2, 1};
  const cuda::std::span<int> all(values.data(), values.size());
  cuda::std::swap(values[0], values[3]);
  const auto [low, high] = cuda::std::tuple<int, int>(all.front(), all.back());
  const cuda::std::optional<int> bits = cuda::std::popcount(7u);
  out[threadIdx.x] = cuda::std::plus<>{}(low, high) + *bits + (cuda::std::numeric_limits<int>::max() > 0);
}
int main() {
  int* out;
  cudaMallocManaged(&out, 32 * sizeof(int));
  check<<<1, 32>>>(out);
  return cudaDeviceSynchronize() == cudaSuccess && out[31] == 9 ? 0 : 1;
}
