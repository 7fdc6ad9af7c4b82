// __shared__ behind macros, after the type, in two dimensions, and in a header.
#include "shared_spellings.cuh"
#define SHARED __shared__
#define DYNAMIC extern __shared__
#define DECLARE_TILE(type, name) extern __shared__ type name[]
__global__ void spell(int* out) {
  SHARED int a[32];
  int __shared__ b[32];
  DYNAMIC int c[];
  extern int __shared__ d[][8];
  __shared__ extern int e[];
  extern SHARED int f[];
  DECLARE_TILE(int, g);
  a[threadIdx.x] = 1;
  b[threadIdx.x] = 2;
  c[threadIdx.x] = 4;
  __syncthreads();
  const unsigned int other = 31 - threadIdx.x;
  const int dynamic = c[other] + d[other / 8][other % 8] + e[other] + f[other] + g[other] + in_header(other);
  out[threadIdx.x] = a[other] + b[other] + dynamic;
}
int main() {
  int* out;
  cudaMallocManaged(&out, 32 * sizeof(int));
  spell<<<1, 32, 32 * sizeof(int)>>>(out);
  return cudaDeviceSynchronize() == cudaSuccess && out[5] == 3 + 6 * 4 ? 0 : 1;
}
