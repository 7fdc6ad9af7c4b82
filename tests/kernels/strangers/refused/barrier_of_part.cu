__global__ void part() {
  __barrier_sync_count(1, 64);
}
