#pragma once
__device__ inline int in_header(unsigned int at) {
  extern __shared__ int tile[];
  return tile[at];
}
