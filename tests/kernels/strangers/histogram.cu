// A textbook histogram that builds its mask by __activemask, which says nothing about who arrives: reported. Every lane
// takes part, by a ballot that all reach: right.
__global__ void count(const int* values, int n, int* bins) {
  for (int base = 0; base < n; base += blockDim.x) {
    const int i = base + int(threadIdx.x);
#ifdef BY_ACTIVEMASK
    if (i >= n) break;
    const unsigned int lanes = __activemask();
    const unsigned int peers = __match_any_sync(lanes, values[i]);
    if (__ffs(int(peers)) - 1 == int(threadIdx.x % 32)) atomicAdd(&bins[values[i]], __popc(peers));
#else
    const unsigned int lanes = __ballot_sync(0xFFFFFFFFu, i < n);
    if (i < n) {
      const unsigned int peers = __match_any_sync(lanes, values[i]);
      if (__ffs(int(peers)) - 1 == int(threadIdx.x % 32)) atomicAdd(&bins[values[i]], __popc(peers));
    }
#endif
  }
}
int main() {
  int *values, *bins;
  cudaMallocManaged(&values, 100 * sizeof(int));
  cudaMallocManaged(&bins, 8 * sizeof(int));
  cudaMemset(bins, 0, 8 * sizeof(int));
  for (int i = 0; i < 100; ++i) values[i] = i % 5;
  count<<<1, 64>>>(values, 100, bins);
  return cudaDeviceSynchronize() == cudaSuccess && bins[0] == 20 && bins[4] == 20 && bins[5] == 0 ? 0 : 1;
}
