// Memory of the device, copies, and the errors of bad ones.
__global__ void twice(float* values) {
  values[threadIdx.x] *= 2;
}
int main() {
  float host[32], *device = nullptr;
  for (int i = 0; i < 32; ++i) host[i] = float(i);
  if (cudaMalloc((void**)&device, sizeof(host)) != cudaSuccess) return 1;
  if (cudaMemcpy(device, host, sizeof(host), cudaMemcpyHostToDevice) != cudaSuccess) return 2;
  twice<<<1, 32>>>(device);
  if (cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost) != cudaSuccess || host[31] != 62) return 3;
  if (cudaMemcpy(device, host, sizeof(host) + 1, cudaMemcpyHostToDevice) != cudaErrorInvalidValue) return 4;
  if (cudaMemcpy(host, host, 4, cudaMemcpyHostToDevice) != cudaErrorInvalidValue) return 5;
  if (cudaMemset(device, 0, sizeof(host)) != cudaSuccess || cudaFree(device) != cudaSuccess) return 6;
  if (cudaFree(device) != cudaErrorInvalidValue || cudaFree(nullptr) != cudaSuccess) return 7;
  return cudaGetLastError() == cudaErrorInvalidValue && cudaGetLastError() == cudaSuccess ? 0 : 8;
}
