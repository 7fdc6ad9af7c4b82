// <<<>>> with one to four arguments, templates, deduced template arguments, a null pointer.
#include <cstddef>
namespace kernels {
template <int kAdd, class T>
__global__ void add(T* values, const int* nothing) {
  values[blockIdx.x * blockDim.x + threadIdx.x] += T{kAdd} + (nothing != nullptr ? 1 : 0);
}
}  // namespace kernels
__global__ void total(const int* values, int* sum) {
  extern __shared__ int tile[];
  tile[threadIdx.x] = values[threadIdx.x];
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned int i = 0; i < blockDim.x; ++i) *sum += tile[i];
  }
}
int main() {
  int *values, *sum;
  cudaMallocManaged(&values, 64 * sizeof(int));
  cudaMallocManaged(&sum, sizeof(int));
  cudaMemset(values, 0, 64 * sizeof(int));
  *sum = 0;
  const dim3 grid(2);
  kernels::add<3><<<grid, 32>>>(values, NULL);
  kernels::add<4, int><<<grid, dim3(32, 1)>>>(values, nullptr);
  total<<<1, 64, 64 * sizeof(int), 0>>>(values, sum);
  const bool right = cudaDeviceSynchronize() == cudaSuccess && *sum == 64 * 7;
  cudaFree(values);
  cudaFree(sum);
  return right ? 0 : 1;
}
