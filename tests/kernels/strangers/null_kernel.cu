// A kernel by a pointer that is null.
int main() {
  void (*kernel)(int) = nullptr;
  kernel<<<1, 32>>>(1);
  return cudaGetLastError() == cudaErrorInvalidDeviceFunction ? 0 : 1;
}
