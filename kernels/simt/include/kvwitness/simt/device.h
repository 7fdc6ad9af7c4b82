// What a CUDA source sees instead of the CUDA headers when a host compiler builds it for the executor: the qualifiers,
// the built-in variables, the barriers, the warp collectives, the atomics and the intrinsics of the subset that
// kernels/simt/README.md lists.
//
// Sources of the meaning of each name: NVIDIA, "CUDA C++ Programming Guide", chapters "C++ Language Extensions"
// (execution space and memory space specifiers, built-in variables, synchronization functions, warp functions, atomic
// functions) and "Programmatic Dependent Launch and Synchronization"; "CUDA Math API", chapters "Integer Intrinsics",
// "Single Precision Intrinsics" and "Type Casting Intrinsics".
//
// The executor is stricter than the guide in one thing: a thread that has exited does not count as arrived. A barrier
// or a collective that a thread of the block, or a lane named in the mask, never reaches is a fault.
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

// CCCL's own knowledge of the small floating-point formats reads NVIDIA's headers of these formats.
#define CCCL_DISABLE_FP16_SUPPORT
#define CCCL_DISABLE_BF16_SUPPORT
#define CCCL_DISABLE_NVFP8_SUPPORT
#define CCCL_DISABLE_NVFP6_SUPPORT
#define CCCL_DISABLE_NVFP4_SUPPORT

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>  // before __noinline__ is a macro: libstdc++ spells an attribute so

// NOLINTBEGIN(bugprone-reserved-identifier): CUDA's own names.

// ---- Qualifiers ------------------------------------------------------------------------------------------------------------------

#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __grid_constant__
#define __managed__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __inline_hint__
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

// A block-scope static in sections of their own, which the executor finds by name and fills with a poison pattern at
// the start of each block. GCC cannot put the statics of templates and of ordinary functions into one named section;
// its attribute noinit can. Without `used`, one that the kernel never writes would be the constant zero.
#if defined(__clang__)
#define __shared__ static __attribute__((section(".kvwitness_shared"), used))
#else
#define __shared__ static __attribute__((noinit, used))
#endif

// Dynamic shared memory, the whole of it, as an array of `type`: `extern __shared__ type name[];` in CUDA. Spell it
// this way in a source that both compilers read; kvwitness_add_simt_test also translates the CUDA spelling within the
// .cu file itself.
// NOLINTBEGIN(bugprone-macro-parentheses): a declaration, of a type.
#define KVWITNESS_DYNAMIC_SHARED(type, name) \
  auto* const name = static_cast<type*>(::kvwitness::simt::detail::dynamic_shared_memory())
// NOLINTEND(bugprone-macro-parentheses)

// ---- Vector types ----------------------------------------------------------------------------------------------------------------

// A GPU traps at a vector access to an address that is no multiple of the vector's size. GCC's alignment check sees
// that; Clang's does not where a whole vector is copied, so there each vector has an empty member that does.
namespace kvwitness::simt::detail {
#if defined(__clang__)
[[clang::nomerge]]
#endif
void misaligned(const void* address);
template <unsigned kBytes>
struct Alignment {
  constexpr Alignment() noexcept = default;
  constexpr Alignment(const Alignment& other) { check(&other); }
  constexpr Alignment& operator=(const Alignment& other) {
    check(&other);
    check(this);
    return *this;
  }

 private:
  __attribute__((always_inline)) static constexpr void check(const Alignment* address) {
    if (!__builtin_is_constant_evaluated()) {
      __asm__("" : "+r"(address));  // or the compiler takes the type's alignment for granted
      if ((reinterpret_cast<std::uintptr_t>(address) & (kBytes - 1)) != 0) {
        misaligned(address);
      }
    }
  }
};
}  // namespace kvwitness::simt::detail
#if defined(__clang__)
#define KVWITNESS_SIMT_ALIGNMENT(bytes) [[no_unique_address]] ::kvwitness::simt::detail::Alignment<(bytes)> alignment;
#else
#define KVWITNESS_SIMT_ALIGNMENT(bytes)
#endif

// The alignments are those of the CUDA C++ Programming Guide, "Built-in Vector Types": the size of the vector up to 16
// bytes, and that of an element for vectors of three.
#define KVWITNESS_SIMT_VECTORS(element, name)                                             \
  struct name##1 {                                                                        \
    element x;                                                                            \
  };                                                                                      \
  struct alignas(2 * sizeof(element)) name##2 {                                           \
    element x, y;                                                                         \
    KVWITNESS_SIMT_ALIGNMENT(2 * sizeof(element))                                         \
  };                                                                                      \
  struct name##3 {                                                                        \
    element x, y, z;                                                                      \
  };                                                                                      \
  struct alignas(4 * sizeof(element) < 16 ? 4 * sizeof(element) : 16) name##4 {           \
    element x, y, z, w;                                                                   \
    KVWITNESS_SIMT_ALIGNMENT(4 * sizeof(element) < 16 ? 4 * sizeof(element) : 16)         \
  };                                                                                      \
  constexpr name##1 make_##name##1(element x) noexcept {                                  \
    return {x};                                                                           \
  }                                                                                       \
  constexpr name##2 make_##name##2(element x, element y) noexcept {                       \
    return {x, y};                                                                        \
  }                                                                                       \
  constexpr name##3 make_##name##3(element x, element y, element z) noexcept {            \
    return {x, y, z};                                                                     \
  }                                                                                       \
  constexpr name##4 make_##name##4(element x, element y, element z, element w) noexcept { \
    return {x, y, z, w};                                                                  \
  }
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmissing-field-initializers"
// clang-format off
KVWITNESS_SIMT_VECTORS(signed char, char)
KVWITNESS_SIMT_VECTORS(unsigned char, uchar)
KVWITNESS_SIMT_VECTORS(short, short)
KVWITNESS_SIMT_VECTORS(unsigned short, ushort)
KVWITNESS_SIMT_VECTORS(int, int)
KVWITNESS_SIMT_VECTORS(unsigned int, uint)
KVWITNESS_SIMT_VECTORS(long, long)
KVWITNESS_SIMT_VECTORS(unsigned long, ulong)
KVWITNESS_SIMT_VECTORS(long long, longlong)
KVWITNESS_SIMT_VECTORS(unsigned long long, ulonglong)
KVWITNESS_SIMT_VECTORS(float, float)
KVWITNESS_SIMT_VECTORS(double, double)
// clang-format on
#pragma GCC diagnostic pop
#undef KVWITNESS_SIMT_VECTORS
#undef KVWITNESS_SIMT_ALIGNMENT
// The vectors of 32 bytes by the alignment that their name carries.
#define KVWITNESS_SIMT_WIDE_VECTORS(element, name) \
  struct alignas(16) name##_16a {                  \
    element x, y, z, w;                            \
  };                                               \
  struct alignas(32) name##_32a {                  \
    element x, y, z, w;                            \
  };
KVWITNESS_SIMT_WIDE_VECTORS(long, long4)
KVWITNESS_SIMT_WIDE_VECTORS(unsigned long, ulong4)
KVWITNESS_SIMT_WIDE_VECTORS(long long, longlong4)
KVWITNESS_SIMT_WIDE_VECTORS(unsigned long long, ulonglong4)
KVWITNESS_SIMT_WIDE_VECTORS(double, double4)
#undef KVWITNESS_SIMT_WIDE_VECTORS

struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int width = 1, unsigned int height = 1, unsigned int depth = 1) noexcept
      : x(width), y(height), z(depth) {}
  constexpr dim3(uint3 extent) noexcept : x(extent.x), y(extent.y), z(extent.z) {}
  constexpr operator uint3() const noexcept { return {x, y, z}; }
};

// ---- The executor's side of the built-ins ------------------------------------------------------------------------------------------

namespace kvwitness::simt::detail {

// Where a CUDA thread is. One executor runs at a time in a process and switches threads itself, so a plain global names
// the current one; only the executor writes it.
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

// Says that a device function was called by the host, and ends the program.
[[noreturn]] void outside_kernel();
inline const ThreadCoordinates& here() {
  const ThreadCoordinates* const thread = current;
  if (__builtin_expect(thread == nullptr, 0)) {
    outside_kernel();
  }
  return *thread;
}

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

// Two calls in the source are two barriers, and no compiler may make one of them (GCC: -fno-tree-tail-merge).
#if defined(__clang__)
[[clang::nomerge]]
#endif
int block_barrier(BlockVote vote, int predicate, Site site);
// The value this lane receives. `argument` is the shuffles' source lane, delta or lane mask in its low 16 bits, and the
// width above them.
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
  static_assert(sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8, "warp shuffles move values of 2, 4 or 8 bytes");
  if constexpr (sizeof(T) == 2) {
    return __builtin_bit_cast(std::uint16_t, value);
  } else if constexpr (sizeof(T) == 4) {
    return __builtin_bit_cast(std::uint32_t, value);
  } else {
    return __builtin_bit_cast(std::uint64_t, value);
  }
}
template <class T>
T from_bits(std::uint64_t bits) noexcept {
  if constexpr (sizeof(T) == 2) {
    return __builtin_bit_cast(T, static_cast<std::uint16_t>(bits));
  } else if constexpr (sizeof(T) == 4) {
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

#define threadIdx (::kvwitness::simt::detail::here().thread_index)
#define blockIdx (::kvwitness::simt::detail::here().block->block_index)
#define blockDim (::kvwitness::simt::detail::here().block->block_dim)
#define gridDim (::kvwitness::simt::detail::here().block->grid_dim)
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

// Programmatic dependent launch: the dependent grid's wait for the whole of the grid before it. The model lets the two
// overlap from the start, so the trigger, which only permits the overlap, does nothing.
inline void cudaGridDependencySynchronize(KVWITNESS_SIMT_SITE) {
  kvwitness::simt::detail::dependency_wait(KVWITNESS_SIMT_HERE);
}
inline void cudaTriggerProgrammaticLaunchCompletion() {}

// ---- Warp collectives --------------------------------------------------------------------------------------------------------------

// The lanes that could be running with the caller. As on a GPU that says nothing about who will arrive anywhere: the
// executor answers with only the caller's lane half of the time, so that code which builds a mask from it fails here.
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

// Four of the eight bytes of (high:low), byte i named by the low three bits of nibble i of the selector; with its top
// bit set, copies of that byte's sign.
constexpr unsigned int __byte_perm(unsigned int low, unsigned int high, unsigned int selector) noexcept {
  const unsigned long long bytes = (static_cast<unsigned long long>(high) << 32) | low;
  unsigned int result = 0;
  for (unsigned int i = 0; i < 4; ++i) {
    const unsigned int nibble = (selector >> (4 * i)) & 15u;
    unsigned int byte = static_cast<unsigned int>(bytes >> (8 * (nibble & 7u))) & 0xFFu;
    if (nibble >= 8) {
      byte = byte >= 0x80u ? 0xFFu : 0u;
    }
    result |= byte << (8 * i);
  }
  return result;
}

// ---- Floating point: bits, and the functions that <cmath> has under another name -----------------------------------------------------

#define KVWITNESS_SIMT_REINTERPRET(name, from, to) \
  constexpr to name(from x) noexcept {             \
    return __builtin_bit_cast(to, x);              \
  }
KVWITNESS_SIMT_REINTERPRET(__float_as_int, float, int)
KVWITNESS_SIMT_REINTERPRET(__float_as_uint, float, unsigned int)
KVWITNESS_SIMT_REINTERPRET(__int_as_float, int, float)
KVWITNESS_SIMT_REINTERPRET(__uint_as_float, unsigned int, float)
KVWITNESS_SIMT_REINTERPRET(__double_as_longlong, double, long long)
KVWITNESS_SIMT_REINTERPRET(__longlong_as_double, long long, double)
#undef KVWITNESS_SIMT_REINTERPRET
constexpr float __saturatef(float x) noexcept {
  return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;
}
inline float __fmaf_rn(float x, float y, float z) noexcept {
  return __builtin_fmaf(x, y, z);
}
// The approximate functions of a GPU are these up to some units in the last place.
inline float rsqrtf(float x) noexcept {
  return 1.0f / __builtin_sqrtf(x);
}
inline float __fdividef(float x, float y) noexcept {
  return x / y;
}
// (Macros, because glibc's <cmath> declares functions of these names.)
#define __expf(x) __builtin_expf(x)
#define __logf(x) __builtin_logf(x)

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
#undef KVWITNESS_SIMT_MIN_MAX
// Of a NaN and a number, the number, as in CUDA.
constexpr float min(float a, float b) noexcept {
  return __builtin_fminf(a, b);
}
constexpr float max(float a, float b) noexcept {
  return __builtin_fmaxf(a, b);
}
constexpr double min(double a, double b) noexcept {
  return __builtin_fmin(a, b);
}
constexpr double max(double a, double b) noexcept {
  return __builtin_fmax(a, b);
}
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

// NOLINTEND(bugprone-reserved-identifier)

#include <kvwitness/simt/intrinsics.h>

#endif  // KVWITNESS_SIMT_DEVICE_H
