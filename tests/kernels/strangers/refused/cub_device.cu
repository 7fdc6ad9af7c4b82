#include <cub/cub.cuh>
void sum(void* storage, std::size_t bytes, const int* in, int* out) {
  cub::DeviceReduce::Sum(storage, bytes, in, out, 10);
}
