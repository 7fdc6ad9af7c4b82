// A wait by the clock lets other threads run.
__global__ void wait(int* later) {
  const long long start = clock64();
  while (clock64() - start < 1000) {
  }
  *later = clock64() > start;
}
int main() {
  int* later;
  cudaMallocManaged(&later, sizeof(int));
  *later = 0;
  wait<<<1, 1>>>(later);
  return *later == 1 ? 0 : 1;
}
