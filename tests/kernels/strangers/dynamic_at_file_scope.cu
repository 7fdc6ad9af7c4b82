// Dynamic shared memory that is declared outside of the kernels, and again within one.
extern __shared__ __align__(16) float tile[];
namespace {
__device__ float first() {
  return tile[0];
}
}  // namespace
__global__ void fill(float* out) {
  tile[threadIdx.x] = 1.0f + threadIdx.x;
  __syncthreads();
  out[threadIdx.x] = first() + *(tile + threadIdx.x);
}
__global__ void fill_bytes(float* out) {
  extern __shared__ unsigned char tile[];
  tile[threadIdx.x] = 7;
  __syncthreads();
  out[threadIdx.x] += tile[31 - threadIdx.x];
}
int main() {
  float* out;
  cudaMallocManaged(&out, 32 * sizeof(float));
  fill<<<1, 32, 32 * sizeof(float)>>>(out);
  fill_bytes<<<1, 32, 32>>>(out);
  return cudaDeviceSynchronize() == cudaSuccess && out[31] == 1 + 32 + 7 ? 0 : 1;
}
