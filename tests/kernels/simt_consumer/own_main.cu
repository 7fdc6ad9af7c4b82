// A file that knows nothing of the executor: it has a main() that launches by <<<>>>. Each row of 64 values is reversed.
#include <cstdio>
#include <vector>

__global__ void reverse(int* values) {
  extern __shared__ int row[];
  const int at = threadIdx.x, first = blockIdx.x * blockDim.x;
  row[at] = values[first + at];
#ifndef REVERSE_WITHOUT_BARRIER
  __syncthreads();
#endif
  values[first + at] = row[blockDim.x - 1 - at];
}

int main() {
  std::vector<int> host(192);
  for (int i = 0; i < 192; ++i) {
    host[i] = i;
  }
  int* device = nullptr;
  if (cudaMalloc(&device, host.size() * sizeof(int)) != cudaSuccess) {
    return 2;
  }
  cudaMemcpy(device, host.data(), host.size() * sizeof(int), cudaMemcpyHostToDevice);
  reverse<<<3, 64, 64 * sizeof(int)>>>(device);
  if (const cudaError_t error = cudaDeviceSynchronize(); error != cudaSuccess) {
    std::printf("%s\n", cudaGetErrorString(error));
    return 3;
  }
  cudaMemcpy(host.data(), device, host.size() * sizeof(int), cudaMemcpyDeviceToHost);
  cudaFree(device);
  for (int i = 0; i < 192; ++i) {
    if (host[i] != i / 64 * 64 + 63 - i % 64) {
      std::printf("value %d is %d\n", i, host[i]);
      return 1;
    }
  }
  return 0;
}
