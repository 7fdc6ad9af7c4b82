// Arithmetic of __half, rounded once; conversions, comparisons, shuffles, vectors.
#include <cuda_fp16.h>
__global__ void check(int* wrong, __half three) {
  const __half one = __float2half(1.0f);
  const __half half_unit = __float2half(0.00048828125f);
  *wrong += __half2float(__hadd(one, half_unit)) != 1.0f || __heq(one, three) || !(one < three);
  // One rounding: three times three and half a unit of it is not a tie any more.
  *wrong += float(__hfma(three, three, half_unit)) != 9.0f || float(three * three / three) != 3.0f;
  *wrong += __half2int_rn(__float2half(2.5f)) != 2 || __half_as_ushort(one) != 0x3C00;
  *wrong += !__hisnan(__float2half(0.0f) / __float2half(0.0f)) || float(__hmax(one, three)) != 3.0f;
  *wrong += float(__shfl_sync(1u, three, 0)) != 3.0f || float(hsqrt(three * three)) != 3.0f;
  const __half2 pair = __hfma2(__floats2half2_rn(1, 2), __half2half2(three), make_half2(one, one));
  *wrong += __low2float(pair) != 4.0f || __half22float2(pair).y != 7.0f;
  __half sum = one;
  atomicAdd(&sum, three);
  *wrong += float(sum) != 4.0f;
}
int main() {
  int* wrong;
  cudaMallocManaged(&wrong, sizeof(int));
  *wrong = 0;
  check<<<1, 1>>>(wrong, __float2half(3.0f));
  return cudaDeviceSynchronize() != cudaSuccess || *wrong != 0;
}
