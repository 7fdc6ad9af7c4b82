#include <mma.h>
__global__ void multiply() {
  nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> sum;
}
