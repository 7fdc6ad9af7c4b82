__global__ void __cluster_dims__(2, 1, 1) pair(int* out) {
  out[threadIdx.x] = 1;
}
