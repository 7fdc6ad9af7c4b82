// Dot products, words as bytes and halves, and the n-th set bit.
__global__ void check(int* wrong) {
  *wrong += __dp4a(0x01FF0203, 0x02030405, 10) != 10 + 3 * 5 + 2 * 4 - 3 + 2;
  *wrong += __dp4a(0x01FF0203u, 0x02030405u, 10u) != 10u + 15 + 8 + 255 * 3 + 2;
  *wrong += __dp2a_lo(0x0002FFFF, 0x0304, 1) != 1 - 4 + 6 || __dp2a_hi(0x00020003, 0x03040000, 0) != 3 * 4 + 2 * 3;
  *wrong += __vadd4(0x01FF7F80u, 0x01010101u) != 0x02008081u || __vmaxs2(0x8000FFFFu, 0x00010000u) != 0x00010000u;
  *wrong += __vminu2(0x8000FFFFu, 0x00010000u) != 0x00010000u || __vcmpeq4(0x01020304u, 0x01FF03FFu) != 0xFF00FF00u;
  *wrong += __fns(0xB4u, 0, 1) != 2u || __fns(0xB4u, 0, 3) != 5u || __fns(0xB4u, 7, -2) != 5u;
  *wrong += __fns(0xB4u, 4, 0) != 4u || __fns(0xB4u, 8, 1) != 0xFFFFFFFFu;
  *wrong += __sad(-3, 4, 1u) != 8u || __usad(9, 4, 1u) != 6u || __umul24(0x1000002u, 3u) != 6u || __mul24(-2, 3) != -6;
  *wrong += __rhadd(-3, 2) != 0 || __hadd(-3, 2) != -1 || __uhadd(0xFFFFFFFFu, 1u) != 0x80000000u;
}
int main() {
  int* wrong;
  cudaMallocManaged(&wrong, sizeof(int));
  *wrong = 0;
  check<<<1, 1>>>(wrong);
  return cudaDeviceSynchronize() != cudaSuccess || *wrong != 0;
}
