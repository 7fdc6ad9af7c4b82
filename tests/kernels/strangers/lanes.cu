// A lane's number and masks, by the functions and by the PTX that reads the registers.
__global__ void check(unsigned int* wrong) {
  unsigned int lane, below;
  asm volatile("mov.u32 %0, %%laneid;" : "=r"(lane));
  asm("mov.u32 %0, %%lanemask_lt;" : "=r"(below));
  const bool right = lane == threadIdx.x % 32 && below == __lanemask_lt() && __lanemask_le() == (below | 1u << lane) &&
                     __lanemask_gt() == ~__lanemask_le() && __lanemask_ge() == ~below && __lanemask_eq() == 1u << lane;
  if (!right) atomicAdd(wrong, 1u);
}
int main() {
  unsigned int* wrong;
  cudaMallocManaged(&wrong, sizeof(int));
  *wrong = 0;
  check<<<1, 64>>>(wrong);
  return cudaDeviceSynchronize() != cudaSuccess || *wrong != 0;
}
