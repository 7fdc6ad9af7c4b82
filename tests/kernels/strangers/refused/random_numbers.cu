#include <curand_kernel.h>
__global__ void draw(float* out) {
  curandState state;
  *out = curand_uniform(&state);
}
