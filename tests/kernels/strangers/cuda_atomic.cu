// cuda::atomic and cuda::atomic_ref: a message by release and acquire, with a thread that polls. Relaxed, it is a race.
#include <cuda/atomic>
#ifdef WITHOUT_ORDER
constexpr auto kPublish = cuda::memory_order_relaxed, kReceive = cuda::memory_order_relaxed;
#else
constexpr auto kPublish = cuda::memory_order_release, kReceive = cuda::memory_order_acquire;
#endif
__global__ void pass(int* message, int* received, int* count) {
  __shared__ cuda::atomic<int, cuda::thread_scope_block> ready;
  if (threadIdx.x == 0) ready.store(0, cuda::memory_order_relaxed);
  __syncthreads();
  if (threadIdx.x == 0) {
    while (ready.load(kReceive) == 0) {
    }
    *received = *message;  // received here
  } else if (threadIdx.x == 33) {
    *message = 42;
    ready.store(1, kPublish);
  }
  cuda::atomic_ref<int, cuda::thread_scope_device>(*count).fetch_add(1, cuda::memory_order_relaxed);
}
int main() {
  int *message, *received, *count;
  cudaMallocManaged(&message, sizeof(int));
  cudaMallocManaged(&received, sizeof(int));
  cudaMallocManaged(&count, sizeof(int));
  *count = 0;
  pass<<<1, 64>>>(message, received, count);
  return cudaDeviceSynchronize() == cudaSuccess && *received == 42 && *count == 64 ? 0 : 1;
}
