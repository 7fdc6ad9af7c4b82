// What CUB's headers need to be compiled for the executor. Included by the headers that stand before CUB's.
#ifndef KVWITNESS_SIMT_CUB_H
#define KVWITNESS_SIMT_CUB_H

#include <cuda/std/functional>

namespace kvwitness::simt::detail {
[[gnu::error("kvwitness simt: this part of CUB is written in PTX and not served")]] void ptx_of_cub();
}  // namespace kvwitness::simt::detail

_LIBCUDACXX_BEGIN_NAMESPACE_STD
// The operator of the overloads that are never chosen.
template <class T = void>
struct kvwitness_not_plus {};
_LIBCUDACXX_END_NAMESPACE_STD

#endif  // KVWITNESS_SIMT_CUB_H
