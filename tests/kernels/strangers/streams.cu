// Streams and events, in whose order nothing is lost: each launch runs where it is written.
__global__ void add(int* value) {
  *value += 1;
}
int main() {
  int host = 0, *value;
  cudaStream_t stream;
  cudaEvent_t start, stop;
  float milliseconds = -1;
  cudaStreamCreate(&stream);
  cudaEventCreate(&start);
  cudaEventCreateWithFlags(&stop, cudaEventDefault);
  cudaMallocAsync(&value, sizeof(int), stream);
  cudaMemsetAsync(value, 0, sizeof(int), stream);
  cudaEventRecord(start, stream);
  add<<<1, 1, 0, stream>>>(value);
  cudaEventRecord(stop, stream);
  cudaStreamWaitEvent(stream, stop, 0);
  cudaMemcpyAsync(&host, value, sizeof(int), cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  cudaEventElapsedTime(&milliseconds, start, stop);
  cudaFreeAsync(value, stream);
  cudaEventDestroy(start);
  cudaEventDestroy(stop);
  if (cudaStreamDestroy(stream) != cudaSuccess || cudaStreamDestroy(stream) == cudaSuccess) return 1;
  return host == 1 && milliseconds >= 0 ? 0 : 2;
}
