// Launches that no device accepts are errors, not faults.
__global__ void nothing() {}
__global__ void last(char* out) {
  extern __shared__ char bytes[];
  bytes[60000] = 1;
  *out = bytes[60000];
}
int main() {
  nothing<<<1, 1025>>>();
  if (cudaGetLastError() != cudaErrorInvalidConfiguration) return 1;
  nothing<<<0, 1>>>();
  if (cudaPeekAtLastError() != cudaErrorInvalidConfiguration || cudaGetLastError() == cudaSuccess) return 2;
  char* out;
  cudaMalloc(&out, 1);
  last<<<1, 1, 61000>>>(out);
  if (cudaGetLastError() != cudaErrorInvalidValue) return 3;
  cudaFuncSetAttribute(last, cudaFuncAttributeMaxDynamicSharedMemorySize, 61000);
  last<<<1, 1, 61000>>>(out);
  cudaFree(out);
  return cudaGetLastError();
}
