__global__ void both() {}
int main() {
  return cudaLaunchCooperativeKernel((void*)both, dim3(2), dim3(32), nullptr);
}
