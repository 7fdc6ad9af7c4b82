// What a CUDA source sees instead of the CUDA headers when a host compiler builds it for the executor: the qualifiers, the built-in
// variables, the barriers, the warp collectives, the atomics and the integer intrinsics of the subset that kernels/simt/README.md lists.
//
// Sources of the meaning of each name: NVIDIA, "CUDA C++ Programming Guide", chapters "C++ Language Extensions" (execution space and
// memory space specifiers, built-in variables, synchronization functions, warp functions, atomic functions) and "Programmatic Dependent
// Launch and Synchronization"; "CUDA Math API", chapter "Integer Intrinsics".
//
// The executor is stricter than the guide in one thing: a thread that has exited does not count as arrived. A barrier or a collective
// that a thread of the block, or a lane named in the mask, never reaches is a fault.
//
// C++17. KVWITNESS_SIMT is defined for code that must know; neither __CUDACC__ nor __CUDA_ARCH__ is.
#ifndef KVWITNESS_SIMT_DEVICE_H
#define KVWITNESS_SIMT_DEVICE_H

#if defined(__CUDACC__)
#error "kvwitness/simt/device.h stands in for the CUDA headers under a host compiler; nvcc has its own"
#endif

#ifndef KVWITNESS_SIMT
#define KVWITNESS_SIMT 1
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>

// ---- Qualifiers ------------------------------------------------------------------------------------------------------------------

#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __grid_constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

// A block-scope static in sections of their own, which the executor finds by name and fills with a poison pattern at the start of
// each block. GCC cannot put the statics of templates and of ordinary functions into one named section; its attribute noinit can.
#if defined(__clang__)
#define __shared__ static __attribute__((section(".kvwitness_shared")))
#else
#define __shared__ static __attribute__((noinit))
#endif

// Dynamic shared memory, the whole of it, as an array of `type`: `extern __shared__ type name[];` in CUDA. Spell it this way in a source
// that both compilers read; kvwitness_add_simt_test also translates the CUDA spelling within the .cu file itself.
#define KVWITNESS_DYNAMIC_SHARED(type, name) \
  type* const name = static_cast<type*>(::kvwitness::simt::detail::dynamic_shared_memory())

// ---- Vector types ----------------------------------------------------------------------------------------------------------------

// clang-format off
struct alignas(8) int2 { int x, y; };
struct int3 { int x, y, z; };
struct alignas(16) int4 { int x, y, z, w; };
struct alignas(8) uint2 { unsigned int x, y; };
struct uint3 { unsigned int x, y, z; };
struct alignas(16) uint4 { unsigned int x, y, z, w; };
struct alignas(16) longlong2 { long long x, y; };
struct alignas(16) ulonglong2 { unsigned long long x, y; };
struct alignas(8) float2 { float x, y; };
struct alignas(16) float4 { float x, y, z, w; };
struct alignas(16) double2 { double x, y; };
// clang-format on

struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int width = 1, unsigned int height = 1, unsigned int depth = 1) noexcept
      : x(width), y(height), z(depth) {}
  constexpr dim3(uint3 extent) noexcept : x(extent.x), y(extent.y), z(extent.z) {}
  constexpr operator uint3() const noexcept { return {x, y, z}; }
};

constexpr int2 make_int2(int x, int y) noexcept {
  return {x, y};
}
constexpr int3 make_int3(int x, int y, int z) noexcept {
  return {x, y, z};
}
constexpr int4 make_int4(int x, int y, int z, int w) noexcept {
  return {x, y, z, w};
}
constexpr uint2 make_uint2(unsigned int x, unsigned int y) noexcept {
  return {x, y};
}
constexpr uint3 make_uint3(unsigned int x, unsigned int y, unsigned int z) noexcept {
  return {x, y, z};
}
constexpr uint4 make_uint4(unsigned int x, unsigned int y, unsigned int z, unsigned int w) noexcept {
  return {x, y, z, w};
}
constexpr longlong2 make_longlong2(long long x, long long y) noexcept {
  return {x, y};
}
constexpr ulonglong2 make_ulonglong2(unsigned long long x, unsigned long long y) noexcept {
  return {x, y};
}
constexpr float2 make_float2(float x, float y) noexcept {
  return {x, y};
}
constexpr float4 make_float4(float x, float y, float z, float w) noexcept {
  return {x, y, z, w};
}
constexpr double2 make_double2(double x, double y) noexcept {
  return {x, y};
}

// ---- The executor's side of the built-ins ------------------------------------------------------------------------------------------

namespace kvwitness::simt::detail {

// Where a CUDA thread is. One executor runs at a time in a process and switches threads itself, so a plain global names the
// current one; the executor alone writes it.
struct BlockCoordinates {
  uint3 block_index;
  dim3 block_dim;
  dim3 grid_dim;
};
struct ThreadCoordinates {
  uint3 thread_index;
  const BlockCoordinates* block;
};
extern const ThreadCoordinates* current;

// The place in the source that a fault names.
struct Site {
  const char* file;
  int line;
};

enum class BlockVote : std::uint8_t { kNone, kAnd, kOr, kCount };
enum class WarpOperation : std::uint8_t {
  kSync,
  kBallot,
  kAny,
  kAll,
  kShuffle,
  kShuffleUp,
  kShuffleDown,
  kShuffleXor,
  kReduceAdd,
  kReduceMin,
  kReduceMax,
  kReduceMinSigned,
  kReduceMaxSigned,
  kReduceAnd,
  kReduceOr,
  kReduceXor,
  kMatchAny,
  kMatchAll,
};

int block_barrier(BlockVote vote, int predicate, Site site);
// The value this lane receives. `argument` is the shuffles' source lane, delta or lane mask in its low 16 bits, and the width above them.
std::uint64_t warp_collective(WarpOperation operation, unsigned int mask, std::uint64_t value, unsigned int argument,
                              Site site);
void dependency_wait(Site site);
void before_atomic(const void* address);
void after_atomic(const void* address);
void memory_fence();
void relinquish();
[[noreturn]] void trap(Site site);
void* dynamic_shared_memory();
unsigned int active_mask();

template <class T>
std::uint64_t to_bits(T value) noexcept {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "warp shuffles move values of 4 or 8 bytes");
  if constexpr (sizeof(T) == 4) {
    return __builtin_bit_cast(std::uint32_t, value);
  } else {
    return __builtin_bit_cast(std::uint64_t, value);
  }
}
template <class T>
T from_bits(std::uint64_t bits) noexcept {
  if constexpr (sizeof(T) == 4) {
    return __builtin_bit_cast(T, static_cast<std::uint32_t>(bits));
  } else {
    return __builtin_bit_cast(T, bits);
  }
}

template <class T>
T shuffle(WarpOperation operation, unsigned int mask, T value, unsigned int argument, int width, Site site) {
  return from_bits<T>(warp_collective(operation, mask, to_bits(value),
                                      (argument & 0xFFFFu) | (static_cast<unsigned int>(width) << 16), site));
}

// One read-modify-write, relaxed: atomic, ordering nothing. `update` gives the new value from the old one.
template <class T, class Update>
T atomic_update(T* address, Update update) {
  before_atomic(address);
  T old;
  __atomic_load(address, &old, __ATOMIC_RELAXED);
  for (T next = update(old);
       !__atomic_compare_exchange(address, &old, &next, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);) {
    next = update(old);
  }
  after_atomic(address);
  return old;
}

}  // namespace kvwitness::simt::detail

#define threadIdx (::kvwitness::simt::detail::current->thread_index)
#define blockIdx (::kvwitness::simt::detail::current->block->block_index)
#define blockDim (::kvwitness::simt::detail::current->block->block_dim)
#define gridDim (::kvwitness::simt::detail::current->block->grid_dim)
inline constexpr int warpSize = 32;

// The last two parameters of each collective are the caller's place and are never passed.
#define KVWITNESS_SIMT_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()
#define KVWITNESS_SIMT_HERE         \
  ::kvwitness::simt::detail::Site { \
    file, line                      \
  }

// ---- Barriers and fences -----------------------------------------------------------------------------------------------------------

inline void __syncthreads(KVWITNESS_SIMT_SITE) {
  kvwitness::simt::detail::block_barrier(kvwitness::simt::detail::BlockVote::kNone, 0, KVWITNESS_SIMT_HERE);
}
inline int __syncthreads_and(int predicate, KVWITNESS_SIMT_SITE) {
  return kvwitness::simt::detail::block_barrier(kvwitness::simt::detail::BlockVote::kAnd, predicate,
                                                KVWITNESS_SIMT_HERE);
}
inline int __syncthreads_or(int predicate, KVWITNESS_SIMT_SITE) {
  return kvwitness::simt::detail::block_barrier(kvwitness::simt::detail::BlockVote::kOr, predicate,
                                                KVWITNESS_SIMT_HERE);
}
inline int __syncthreads_count(int predicate, KVWITNESS_SIMT_SITE) {
  return kvwitness::simt::detail::block_barrier(kvwitness::simt::detail::BlockVote::kCount, predicate,
                                                KVWITNESS_SIMT_HERE);
}
inline void __syncwarp(unsigned int mask = 0xFFFFFFFFu, KVWITNESS_SIMT_SITE) {
  kvwitness::simt::detail::warp_collective(kvwitness::simt::detail::WarpOperation::kSync, mask, 0, 0,
                                           KVWITNESS_SIMT_HERE);
}
inline void __threadfence_block() {
  kvwitness::simt::detail::memory_fence();
}
inline void __threadfence() {
  kvwitness::simt::detail::memory_fence();
}
inline void __threadfence_system() {
  kvwitness::simt::detail::memory_fence();
}
inline void __nanosleep(unsigned int) {
  kvwitness::simt::detail::relinquish();
}
[[noreturn]] inline void __trap(KVWITNESS_SIMT_SITE) {
  kvwitness::simt::detail::trap(KVWITNESS_SIMT_HERE);
}

// Programmatic dependent launch: the dependent grid's wait for the whole of the grid before it. The model lets the two overlap from
// the start, so the trigger, which only permits the overlap, does nothing.
inline void cudaGridDependencySynchronize(KVWITNESS_SIMT_SITE) {
  kvwitness::simt::detail::dependency_wait(KVWITNESS_SIMT_HERE);
}
inline void cudaTriggerProgrammaticLaunchCompletion() {}

// ---- Warp collectives --------------------------------------------------------------------------------------------------------------

// The lanes that could be running with the caller. As on a GPU that says nothing about who will arrive anywhere: the executor
// answers with the caller's lane alone half of the time, so that code which builds a mask from it fails here.
inline unsigned int __activemask() {
  return kvwitness::simt::detail::active_mask();
}

inline unsigned int __ballot_sync(unsigned int mask, int predicate, KVWITNESS_SIMT_SITE) {
  return static_cast<unsigned int>(kvwitness::simt::detail::warp_collective(
      kvwitness::simt::detail::WarpOperation::kBallot, mask, predicate != 0 ? 1u : 0u, 0, KVWITNESS_SIMT_HERE));
}
inline int __any_sync(unsigned int mask, int predicate, KVWITNESS_SIMT_SITE) {
  return static_cast<int>(kvwitness::simt::detail::warp_collective(kvwitness::simt::detail::WarpOperation::kAny, mask,
                                                                   predicate != 0 ? 1u : 0u, 0, KVWITNESS_SIMT_HERE));
}
inline int __all_sync(unsigned int mask, int predicate, KVWITNESS_SIMT_SITE) {
  return static_cast<int>(kvwitness::simt::detail::warp_collective(kvwitness::simt::detail::WarpOperation::kAll, mask,
                                                                   predicate != 0 ? 1u : 0u, 0, KVWITNESS_SIMT_HERE));
}

template <class T>
T __shfl_sync(unsigned int mask, T value, int source_lane, int width = warpSize, KVWITNESS_SIMT_SITE) {
  return kvwitness::simt::detail::shuffle(kvwitness::simt::detail::WarpOperation::kShuffle, mask, value,
                                          static_cast<unsigned int>(source_lane), width, KVWITNESS_SIMT_HERE);
}
template <class T>
T __shfl_up_sync(unsigned int mask, T value, unsigned int delta, int width = warpSize, KVWITNESS_SIMT_SITE) {
  return kvwitness::simt::detail::shuffle(kvwitness::simt::detail::WarpOperation::kShuffleUp, mask, value, delta, width,
                                          KVWITNESS_SIMT_HERE);
}
template <class T>
T __shfl_down_sync(unsigned int mask, T value, unsigned int delta, int width = warpSize, KVWITNESS_SIMT_SITE) {
  return kvwitness::simt::detail::shuffle(kvwitness::simt::detail::WarpOperation::kShuffleDown, mask, value, delta,
                                          width, KVWITNESS_SIMT_HERE);
}
template <class T>
T __shfl_xor_sync(unsigned int mask, T value, int lane_mask, int width = warpSize, KVWITNESS_SIMT_SITE) {
  return kvwitness::simt::detail::shuffle(kvwitness::simt::detail::WarpOperation::kShuffleXor, mask, value,
                                          static_cast<unsigned int>(lane_mask), width, KVWITNESS_SIMT_HERE);
}

#define KVWITNESS_SIMT_REDUCE(name, type, operation)                                                                \
  inline type name(unsigned int mask, type value, KVWITNESS_SIMT_SITE) {                                            \
    return kvwitness::simt::detail::from_bits<type>(                                                                \
        kvwitness::simt::detail::warp_collective(kvwitness::simt::detail::WarpOperation::operation, mask,           \
                                                 kvwitness::simt::detail::to_bits(value), 0, KVWITNESS_SIMT_HERE)); \
  }
KVWITNESS_SIMT_REDUCE(__reduce_add_sync, unsigned int, kReduceAdd)
KVWITNESS_SIMT_REDUCE(__reduce_add_sync, int, kReduceAdd)
KVWITNESS_SIMT_REDUCE(__reduce_min_sync, unsigned int, kReduceMin)
KVWITNESS_SIMT_REDUCE(__reduce_min_sync, int, kReduceMinSigned)
KVWITNESS_SIMT_REDUCE(__reduce_max_sync, unsigned int, kReduceMax)
KVWITNESS_SIMT_REDUCE(__reduce_max_sync, int, kReduceMaxSigned)
KVWITNESS_SIMT_REDUCE(__reduce_and_sync, unsigned int, kReduceAnd)
KVWITNESS_SIMT_REDUCE(__reduce_or_sync, unsigned int, kReduceOr)
KVWITNESS_SIMT_REDUCE(__reduce_xor_sync, unsigned int, kReduceXor)
#undef KVWITNESS_SIMT_REDUCE

template <class T>
unsigned int __match_any_sync(unsigned int mask, T value, KVWITNESS_SIMT_SITE) {
  return static_cast<unsigned int>(
      kvwitness::simt::detail::warp_collective(kvwitness::simt::detail::WarpOperation::kMatchAny, mask,
                                               kvwitness::simt::detail::to_bits(value), 0, KVWITNESS_SIMT_HERE));
}
template <class T>
unsigned int __match_all_sync(unsigned int mask, T value, int* all_equal, KVWITNESS_SIMT_SITE) {
  const auto lanes = static_cast<unsigned int>(
      kvwitness::simt::detail::warp_collective(kvwitness::simt::detail::WarpOperation::kMatchAll, mask,
                                               kvwitness::simt::detail::to_bits(value), 0, KVWITNESS_SIMT_HERE));
  *all_equal = lanes != 0 ? 1 : 0;
  return lanes;
}

#undef KVWITNESS_SIMT_SITE
#undef KVWITNESS_SIMT_HERE

// ---- Atomics: relaxed, on shared and on global memory --------------------------------------------------------------------------------

// `value` is of the pointer's type and not deduced, as in the overloads of CUDA.
namespace kvwitness::simt::detail {
template <class T>
struct Identity {
  using type = T;
};
}  // namespace kvwitness::simt::detail
#define KVWITNESS_SIMT_ATOMIC(name, expression)                                                         \
  template <class T>                                                                                    \
  T name(T* address, typename kvwitness::simt::detail::Identity<T>::type value) {                       \
    return kvwitness::simt::detail::atomic_update(address, [value](T old) -> T { return expression; }); \
  }
KVWITNESS_SIMT_ATOMIC(atomicAdd, static_cast<T>(old + value))
KVWITNESS_SIMT_ATOMIC(atomicSub, static_cast<T>(old - value))
KVWITNESS_SIMT_ATOMIC(atomicAnd, static_cast<T>(old& value))
KVWITNESS_SIMT_ATOMIC(atomicOr, static_cast<T>(old | value))
KVWITNESS_SIMT_ATOMIC(atomicXor, static_cast<T>(old ^ value))
KVWITNESS_SIMT_ATOMIC(atomicMin, value < old ? value : old)
KVWITNESS_SIMT_ATOMIC(atomicMax, old < value ? value : old)
KVWITNESS_SIMT_ATOMIC(atomicExch, (static_cast<void>(old), value))
KVWITNESS_SIMT_ATOMIC(atomicInc, old >= value ? T{0} : static_cast<T>(old + 1))
KVWITNESS_SIMT_ATOMIC(atomicDec, old == 0 || old > value ? value : static_cast<T>(old - 1))
#undef KVWITNESS_SIMT_ATOMIC
template <class T>
T atomicCAS(T* address, typename kvwitness::simt::detail::Identity<T>::type expected,
            typename kvwitness::simt::detail::Identity<T>::type value) {
  return kvwitness::simt::detail::atomic_update(address, [=](T old) -> T { return old == expected ? value : old; });
}

// ---- Integer intrinsics --------------------------------------------------------------------------------------------------------------

constexpr int __popc(unsigned int x) noexcept {
  return __builtin_popcount(x);
}
constexpr int __popcll(unsigned long long x) noexcept {
  return __builtin_popcountll(x);
}
constexpr int __ffs(int x) noexcept {
  return __builtin_ffs(x);
}
constexpr int __ffsll(long long x) noexcept {
  return __builtin_ffsll(x);
}
constexpr int __clz(int x) noexcept {
  return x == 0 ? 32 : __builtin_clz(static_cast<unsigned int>(x));
}
constexpr int __clzll(long long x) noexcept {
  return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}
constexpr unsigned int __brev(unsigned int x) noexcept {
  x = ((x >> 1) & 0x55555555u) | ((x & 0x55555555u) << 1);
  x = ((x >> 2) & 0x33333333u) | ((x & 0x33333333u) << 2);
  x = ((x >> 4) & 0x0F0F0F0Fu) | ((x & 0x0F0F0F0Fu) << 4);
  return __builtin_bswap32(x);
}
constexpr unsigned long long __brevll(unsigned long long x) noexcept {
  return (static_cast<unsigned long long>(__brev(static_cast<unsigned int>(x))) << 32) |
         __brev(static_cast<unsigned int>(x >> 32));
}
constexpr unsigned int __umulhi(unsigned int x, unsigned int y) noexcept {
  return static_cast<unsigned int>((static_cast<unsigned long long>(x) * y) >> 32);
}
constexpr int __mulhi(int x, int y) noexcept {
  return static_cast<int>((static_cast<long long>(x) * y) >> 32);
}
constexpr unsigned long long __umul64hi(unsigned long long x, unsigned long long y) noexcept {
  __extension__ using Product = unsigned __int128;
  return static_cast<unsigned long long>((static_cast<Product>(x) * y) >> 64);
}
constexpr long long __mul64hi(long long x, long long y) noexcept {
  __extension__ using Product = __int128;
  return static_cast<long long>((static_cast<Product>(x) * y) >> 64);
}
// The low or high word of (high:low) shifted by shift mod 32, or by shift clamped to 32 in the _lc and _rc forms.
constexpr unsigned int __funnelshift_l(unsigned int low, unsigned int high, unsigned int shift) noexcept {
  return static_cast<unsigned int>((((static_cast<unsigned long long>(high) << 32) | low) << (shift & 31u)) >> 32);
}
constexpr unsigned int __funnelshift_r(unsigned int low, unsigned int high, unsigned int shift) noexcept {
  return static_cast<unsigned int>(((static_cast<unsigned long long>(high) << 32) | low) >> (shift & 31u));
}
constexpr unsigned int __funnelshift_lc(unsigned int low, unsigned int high, unsigned int shift) noexcept {
  return static_cast<unsigned int>(
      (((static_cast<unsigned long long>(high) << 32) | low) << (shift < 32u ? shift : 32u)) >> 32);
}
constexpr unsigned int __funnelshift_rc(unsigned int low, unsigned int high, unsigned int shift) noexcept {
  return static_cast<unsigned int>(((static_cast<unsigned long long>(high) << 32) | low) >>
                                   (shift < 32u ? shift : 32u));
}

// ---- Loads and stores with a cache hint ----------------------------------------------------------------------------------------------

#define KVWITNESS_SIMT_LOAD(name) \
  template <class T>              \
  T name(const T* address) {      \
    return *address;              \
  }
KVWITNESS_SIMT_LOAD(__ldg)
KVWITNESS_SIMT_LOAD(__ldca)
KVWITNESS_SIMT_LOAD(__ldcg)
KVWITNESS_SIMT_LOAD(__ldcs)
KVWITNESS_SIMT_LOAD(__ldlu)
KVWITNESS_SIMT_LOAD(__ldcv)
#undef KVWITNESS_SIMT_LOAD
#define KVWITNESS_SIMT_STORE(name)                                                   \
  template <class T>                                                                 \
  void name(T* address, typename kvwitness::simt::detail::Identity<T>::type value) { \
    *address = value;                                                                \
  }
KVWITNESS_SIMT_STORE(__stwb)
KVWITNESS_SIMT_STORE(__stcg)
KVWITNESS_SIMT_STORE(__stcs)
KVWITNESS_SIMT_STORE(__stwt)
#undef KVWITNESS_SIMT_STORE

// ---- min and max, which CUDA has in the global namespace -----------------------------------------------------------------------------

#define KVWITNESS_SIMT_MIN_MAX(type)            \
  constexpr type min(type a, type b) noexcept { \
    return b < a ? b : a;                       \
  }                                             \
  constexpr type max(type a, type b) noexcept { \
    return a < b ? b : a;                       \
  }
KVWITNESS_SIMT_MIN_MAX(int)
KVWITNESS_SIMT_MIN_MAX(unsigned int)
KVWITNESS_SIMT_MIN_MAX(long)
KVWITNESS_SIMT_MIN_MAX(unsigned long)
KVWITNESS_SIMT_MIN_MAX(long long)
KVWITNESS_SIMT_MIN_MAX(unsigned long long)
KVWITNESS_SIMT_MIN_MAX(float)
KVWITNESS_SIMT_MIN_MAX(double)
#undef KVWITNESS_SIMT_MIN_MAX
// One signed and one unsigned operand compare as unsigned, as in CUDA.
constexpr unsigned int min(int a, unsigned int b) noexcept {
  return min(static_cast<unsigned int>(a), b);
}
constexpr unsigned int min(unsigned int a, int b) noexcept {
  return min(a, static_cast<unsigned int>(b));
}
constexpr unsigned int max(int a, unsigned int b) noexcept {
  return max(static_cast<unsigned int>(a), b);
}
constexpr unsigned int max(unsigned int a, int b) noexcept {
  return max(a, static_cast<unsigned int>(b));
}

#endif  // KVWITNESS_SIMT_DEVICE_H
