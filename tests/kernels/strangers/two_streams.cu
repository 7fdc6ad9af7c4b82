// Two streams: what one writes the other reads, behind an event.
__global__ void write(int* value) {
  *value = 5;
}
__global__ void read(const int* value, int* out) {
  *out = *value;
}
int main() {
  int host = 0, *value, *out;
  cudaStream_t first, second;
  cudaEvent_t written;
  cudaStreamCreate(&first);
  cudaStreamCreate(&second);
  cudaEventCreate(&written);
  cudaMalloc(&value, sizeof(int));
  cudaMalloc(&out, sizeof(int));
  write<<<1, 1, 0, first>>>(value);
  cudaEventRecord(written, first);
#ifndef WITHOUT_EVENT
  cudaStreamWaitEvent(second, written, 0);
#endif
  read<<<1, 1, 0, second>>>(value, out);
  cudaStreamSynchronize(second);
  cudaMemcpy(&host, out, sizeof(int), cudaMemcpyDeviceToHost);
  return host == 5 ? 0 : 1;
}
