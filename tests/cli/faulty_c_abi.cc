// A C ABI that accepts every call and does nothing: what an emitted test must find wrong.
#include <kvwitness/kvwitness.h>

const char* kvw_last_error(void) {
  return "";
}

kvw_status kvw_witness_indices(const int32_t*, int64_t, int64_t, const int32_t*, int64_t, int64_t, int32_t*) {
  return KVW_OK;
}

kvw_status kvw_apply(const int32_t*, int64_t, int64_t, const int32_t*, int64_t, int64_t, int64_t, int64_t, int32_t*) {
  return KVW_OK;
}

kvw_status kvw_scatter(int32_t*, int64_t, int64_t, const int32_t*, int64_t, int64_t) {
  return KVW_OK;
}

kvw_status kvw_scatter_strided(int32_t*, int64_t, int64_t, const int32_t*, int64_t, int64_t) {
  return KVW_OK;
}
