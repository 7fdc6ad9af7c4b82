// Atomics of a block and of the system.
__global__ void count(int* total, unsigned int* largest) {
  __shared__ int in_block;
  if (threadIdx.x == 0) in_block = 0;
  __syncthreads();
  atomicAdd_block(&in_block, 1);
  atomicMax_system(largest, threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd_system(total, in_block);
}
int main() {
  int* total;
  unsigned int* largest;
  cudaMallocManaged(&total, sizeof(int));
  cudaMallocManaged(&largest, sizeof(int));
  *total = 0;
  *largest = 0;
  count<<<3, 40>>>(total, largest);
  return cudaDeviceSynchronize() == cudaSuccess && *total == 120 && *largest == 39 ? 0 : 1;
}
