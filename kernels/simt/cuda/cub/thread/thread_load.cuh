// Found instead of CUB's header of this name when a CUDA source is compiled for the executor, where a cache modifier
// changes nothing.
//
// Source of the meaning of each name: CCCL 3.0, the interface of cub/thread/thread_load.cuh.
#ifndef KVWITNESS_SIMT_CUB_THREAD_LOAD
#define KVWITNESS_SIMT_CUB_THREAD_LOAD

// clang-format off
#include <cub/config.cuh>
#include <cub/util_ptx.cuh>
#include <cub/util_type.cuh>
// clang-format on

CUB_NAMESPACE_BEGIN

enum CacheLoadModifier { LOAD_DEFAULT, LOAD_CA, LOAD_CG, LOAD_CS, LOAD_CV, LOAD_LDG, LOAD_VOLATILE };

template <CacheLoadModifier = LOAD_DEFAULT, class Iterator = const char*>
auto ThreadLoad(Iterator at) {
  return *at;
}

namespace detail {
template <int kCount, CacheLoadModifier, class T>
void UnrolledThreadLoad(const T* from, T* to) {
  for (int i = 0; i < kCount; ++i) {
    to[i] = from[i];
  }
}
template <int kCount, class Iterator, class T>
void UnrolledCopy(Iterator from, T* to) {
  for (int i = 0; i < kCount; ++i) {
    to[i] = from[i];
  }
}
}  // namespace detail
using detail::UnrolledCopy;
using detail::UnrolledThreadLoad;

CUB_NAMESPACE_END

#endif  // KVWITNESS_SIMT_CUB_THREAD_LOAD
