__global__ void sample(cudaSurfaceObject_t surface, float* out) {
  surf1Dread(out, surface, threadIdx.x);
}
