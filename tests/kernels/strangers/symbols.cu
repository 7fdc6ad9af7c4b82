// Variables of the device, written and read by the host.
__constant__ int weights[4];
__device__ int answer;
__managed__ int seen = 1;
__global__ void sum() {
  if (threadIdx.x == 0) answer = weights[0] + weights[3] + seen;
}
int main() {
  const int host[4] = {5, 0, 0, 7};
  cudaMemcpyToSymbol(weights, host, sizeof(host));
  seen = 30;
  sum<<<1, 32>>>();
  int result = 0;
  cudaMemcpyFromSymbol(&result, answer, sizeof(result));
  void* address = nullptr;
  cudaGetSymbolAddress(&address, answer);
  if (cudaMemset(address, 0, sizeof(int)) != cudaSuccess || answer != 0) return 2;
  return result == 42 && cudaMemcpyToSymbol(answer, host, 8) == cudaErrorInvalidValue ? 0 : 1;
}
