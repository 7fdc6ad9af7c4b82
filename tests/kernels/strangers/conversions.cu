// Conversions saturate and round as on a GPU; arithmetic by rounding mode.
__global__ void check(int* wrong, float zero) {
  const float nan = zero / zero;
  *wrong += __float2int_rn(2.5f) != 2 || __float2int_rn(3.5f) != 4 || __float2int_rz(-2.7f) != -2;
  *wrong += __float2int_rd(-2.1f) != -3 || __float2int_ru(2.1f) != 3 || __float2int_rn(1e20f) != 2147483647;
  *wrong += __float2uint_rz(-5.0f) != 0u || __float2uint_rz(4e9f) != 4000000000u || __float2int_rn(nan) != 0;
  *wrong += __float2ll_rn(-3e9f) != -3000000000ll || __double2int_rn(-1.5) != -2 || __double2ll_rz(1e30) <= 0;
  *wrong += __int2float_rn(16777217) != 16777216.0f || __int2float_ru(16777217) != 16777218.0f;
  *wrong += __uint2float_rz(0xFFFFFFFFu) != 4294967040.0f || __int2float_rd(-16777217) != -16777218.0f;
  *wrong += __frcp_rn(4.0f) != 0.25f || __fadd_rn(1.0f, 2.0f) != 3.0f || __fsqrt_rn(9.0f) != 3.0f;
  *wrong += __fdiv_rn(1.0f, 3.0f) != 1.0f / 3.0f || __frsqrt_rn(4.0f) != 0.5f || __dmul_rn(2.0, 3.0) != 6.0;
  *wrong += __hiloint2double(__double2hiint(1.25), __double2loint(1.25)) != 1.25 || __sinf(0.0f) != 0.0f;
}
int main() {
  int* wrong;
  cudaMallocManaged(&wrong, sizeof(int));
  *wrong = 0;
  check<<<1, 1>>>(wrong, 0.0f);
  return cudaDeviceSynchronize() != cudaSuccess || *wrong != 0;
}
