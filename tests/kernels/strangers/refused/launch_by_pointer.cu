__global__ void one(int) {}
int main() {
  int value = 1;
  void* arguments[] = {&value};
  return cudaLaunchKernel((void*)one, dim3(1), dim3(32), arguments);
}
