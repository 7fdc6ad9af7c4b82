// Found before CUB's header of this name when a CUDA source is compiled for the executor. CUB has overloads in PTX for
// sums of the plain types; while they are declared, their operator has another name, so that none is ever chosen and all
// types take the general way, by ShuffleUp and ShuffleDown. `asm volatile(...)` is read as a call that may not be made.
#ifndef KVWITNESS_SIMT_CUB_WARP_REDUCE_SHFL
#define KVWITNESS_SIMT_CUB_WARP_REDUCE_SHFL

// clang-format off
#include <cub/config.cuh>
#include <cub/thread/thread_operators.cuh>
#include <cub/util_ptx.cuh>
#include <cub/util_type.cuh>
#include <cuda/ptx>
#include <cuda/functional>
#include <cuda/std/__algorithm_>
#include <cuda/std/cstdint>
#include <cuda/std/functional>
#include <cuda/std/type_traits>
#include <nv/target>
#include <kvwitness/simt/cub.h>
#define plus kvwitness_not_plus
#define asm
#define volatile(...) ::kvwitness::simt::detail::ptx_of_cub()
#include_next <cub/warp/specializations/warp_reduce_shfl.cuh>
#undef volatile
#undef asm
#undef plus
// clang-format on

#endif  // KVWITNESS_SIMT_CUB_WARP_REDUCE_SHFL
