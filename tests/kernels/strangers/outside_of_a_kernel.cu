// A device function that main() calls.
__device__ int index() {
  return threadIdx.x;
}
int main() {
  return index();
}
