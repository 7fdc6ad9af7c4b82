#include <cuda_fp8.h>
__global__ void convert(__nv_fp8_e4m3* out) {
  *out = __nv_fp8_e4m3(1.0f);
}
