// Found instead of CUB's header of this name when a CUDA source is compiled for the executor, where a cache modifier
// changes nothing.
//
// Source of the meaning of each name: CCCL 3.0, the interface of cub/thread/thread_store.cuh.
#ifndef KVWITNESS_SIMT_CUB_THREAD_STORE
#define KVWITNESS_SIMT_CUB_THREAD_STORE

// clang-format off
#include <cub/config.cuh>
#include <cub/util_ptx.cuh>
#include <cub/util_type.cuh>
// clang-format on

CUB_NAMESPACE_BEGIN

enum CacheStoreModifier { STORE_DEFAULT, STORE_WB, STORE_CG, STORE_CS, STORE_WT, STORE_VOLATILE };

template <CacheStoreModifier = STORE_DEFAULT, class Iterator = char*, class T = char>
void ThreadStore(Iterator at, T value) {
  *at = value;
}

CUB_NAMESPACE_END

#endif  // KVWITNESS_SIMT_CUB_THREAD_STORE
