// Qualifiers of functions and variables, with a header of the library after __noinline__ is a macro.
#include <memory>
#include <thread>
__device__ __noinline__ int twice(int x) {
  return 2 * x;
}
__host__ __device__ __forceinline__ int thrice(int x) {
  return 3 * x;
}
__global__ void __launch_bounds__(32, 2) kernel(int* __restrict__ out, const __grid_constant__ int add) {
  __builtin_assume(add > 0);
  out[threadIdx.x] = twice(int(threadIdx.x)) + thrice(add);
}
int main() {
  int* out;
  cudaMallocManaged(&out, 32 * sizeof(int));
  kernel<<<1, 32>>>(out, 2);
  const int last = out[31];
  cudaFree(out);
  return last == 68 ? 0 : 1;
}
