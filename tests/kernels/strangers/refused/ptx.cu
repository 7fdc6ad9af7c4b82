__global__ void copy(unsigned int to, const int* from) {
  asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" : : "r"(to), "l"(from));
}
