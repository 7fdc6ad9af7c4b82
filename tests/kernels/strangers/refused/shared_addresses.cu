__global__ void address(unsigned long long* out) {
  __shared__ int tile[32];
  *out = __cvta_generic_to_shared(tile);
}
