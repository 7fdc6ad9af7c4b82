// Arithmetic of __nv_bfloat16, rounded once; conversions, comparisons, shuffles, vectors.
#include <cuda_bf16.h>
__global__ void check(int* wrong, __nv_bfloat16 three) {
  const __nv_bfloat16 one = __float2bfloat16(1.0f);
  const __nv_bfloat16 half_unit = __float2bfloat16(0.00390625f);
  *wrong += __bfloat162float(__hadd(one, half_unit)) != 1.0f || __heq(one, three) || !(one < three);
  // One rounding: three times three and half a unit of it is not a tie any more.
  *wrong += float(__hfma(three, three, half_unit)) != 9.0f || float(three * three / three) != 3.0f;
  *wrong += __bfloat162int_rn(__float2bfloat16(2.5f)) != 2 || __bfloat16_as_ushort(one) != 0x3F80;
  *wrong += !__hisnan(__float2bfloat16(0.0f) / __float2bfloat16(0.0f)) || float(__hmax(one, three)) != 3.0f;
  *wrong += float(__shfl_sync(1u, three, 0)) != 3.0f || float(hsqrt(three * three)) != 3.0f;
  const __nv_bfloat162 pair =
      __hfma2(__floats2bfloat162_rn(1, 2), __bfloat162bfloat162(three), make_bfloat162(one, one));
  *wrong += __low2float(pair) != 4.0f || __bfloat1622float2(pair).y != 7.0f;
  __nv_bfloat16 sum = one;
  atomicAdd(&sum, three);
  *wrong += float(sum) != 4.0f;
}
int main() {
  int* wrong;
  cudaMallocManaged(&wrong, sizeof(int));
  *wrong = 0;
  check<<<1, 1>>>(wrong, __float2bfloat16(3.0f));
  return cudaDeviceSynchronize() != cudaSuccess || *wrong != 0;
}
