__global__ void shift(int* values) {
  values[threadIdx.x] = __shfl_down(values[threadIdx.x], 1);
}
