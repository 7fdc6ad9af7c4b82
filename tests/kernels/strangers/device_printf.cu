// printf in a kernel, without an #include.
__global__ void hello() {
  printf("hello from lane %d\n", threadIdx.x);
}
int main() {
  hello<<<1, 2>>>();
  return cudaDeviceSynchronize();
}
