// __barrier_sync waits for every thread of the block.
__global__ void reverse(int* values) {
  const int mine = values[threadIdx.x];
  __barrier_sync(1);
  values[blockDim.x - 1 - threadIdx.x] = mine;
}
int main() {
  int* values;
  cudaMallocManaged(&values, 64 * sizeof(int));
  for (int i = 0; i < 64; ++i) values[i] = i;
  reverse<<<1, 64>>>(values);
  return cudaDeviceSynchronize() == cudaSuccess && values[0] == 63 ? 0 : 1;
}
