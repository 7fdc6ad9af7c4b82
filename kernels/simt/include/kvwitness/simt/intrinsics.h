// More names of CUDA for a source that <kvwitness/simt/device.h> lets a host compiler build: conversions, arithmetic
// by rounding mode, integer intrinsics, scoped atomics, lane masks, the clock; and the functions that are refused, each
// by a static_assert that names what is not served.
//
// Sources of the meaning of each name: NVIDIA, "CUDA Math API", chapters "Type Casting Intrinsics", "Single Precision
// Intrinsics", "Double Precision Intrinsics" and "Integer Intrinsics"; "CUDA C++ Programming Guide", "C++ Language
// Extensions".
//
// Included by device.h. C++17.
#ifndef KVWITNESS_SIMT_INTRINSICS_H
#define KVWITNESS_SIMT_INTRINSICS_H

#include <kvwitness/simt/device.h>

#include <cfloat>
#include <cmath>
#include <limits>
#include <type_traits>

// NOLINTBEGIN(bugprone-reserved-identifier, bugprone-macro-parentheses, bugprone-signed-char-misuse): CUDA's own names,
// types as arguments of macros, and bytes that have a sign.

namespace kvwitness::simt::detail {

// What a GPU's conversion to an integer gives: the value rounded, the nearest end of the range where it does not fit,
// and for a NaN 0 in 32 bits and the lowest signed (unsigned: highest bit) value in 64.
template <class Integer, class Real>
Integer to_integer(Real rounded) noexcept {
  using Limits = std::numeric_limits<Integer>;
  if (rounded != rounded) {  // NOLINT(misc-redundant-expression): a NaN
    return sizeof(Integer) == 4 ? Integer{0} : static_cast<Integer>(1ull << 63);
  }
  // The first value above the range is a power of two, so it is a Real; the lowest of the range is one too.
  const Real above = static_cast<Real>(Limits::max() / 2 + 1) * 2;  // NOLINT(bugprone-integer-division)
  if (rounded >= above) {
    return Limits::max();
  }
  if (rounded < static_cast<Real>(Limits::min())) {
    return Limits::min();
  }
  return static_cast<Integer>(rounded);
}

// Half to even whatever the rounding mode of the host is.
template <class Real>
Real round_to_even(Real x) noexcept {
  const Real down = std::floor(x), rest = x - down;
  const bool odd = std::fmod(down, Real{2}) != 0;
  return rest > Real(0.5) || (rest == Real(0.5) && odd) ? down + 1 : down;
}

// An integer as a Real, rounded toward zero, down or up.
enum class Direction { kToZero, kDown, kUp };
template <class Real, class Integer>
Real to_real(Integer value, Direction direction) noexcept {
  const Real nearest = static_cast<Real>(value);
  // Exact in 80 bits and in 128, whichever long double is here; every integer of 64 bits fits.
  const long double exact = static_cast<long double>(value), error = static_cast<long double>(nearest) - exact;
  const bool above = error > 0, below = error < 0;
  const bool lower = direction == Direction::kDown || (direction == Direction::kToZero && value > Integer{0});
  if (lower && above) {
    return std::nextafter(nearest, -std::numeric_limits<Real>::infinity());
  }
  if (!lower && below) {
    return std::nextafter(nearest, std::numeric_limits<Real>::infinity());
  }
  return nearest;
}

std::uint64_t clock_ticks();
unsigned int lane_id();

}  // namespace kvwitness::simt::detail

// ---- Conversions -----------------------------------------------------------------------------------------------------------------

#define KVWITNESS_SIMT_TO_INTEGER(prefix, real, integer)                                            \
  inline integer prefix##_rn(real x) noexcept {                                                     \
    return kvwitness::simt::detail::to_integer<integer>(kvwitness::simt::detail::round_to_even(x)); \
  }                                                                                                 \
  inline integer prefix##_rz(real x) noexcept {                                                     \
    return kvwitness::simt::detail::to_integer<integer>(std::trunc(x));                             \
  }                                                                                                 \
  inline integer prefix##_rd(real x) noexcept {                                                     \
    return kvwitness::simt::detail::to_integer<integer>(std::floor(x));                             \
  }                                                                                                 \
  inline integer prefix##_ru(real x) noexcept {                                                     \
    return kvwitness::simt::detail::to_integer<integer>(std::ceil(x));                              \
  }
KVWITNESS_SIMT_TO_INTEGER(__float2int, float, int)
KVWITNESS_SIMT_TO_INTEGER(__float2uint, float, unsigned int)
KVWITNESS_SIMT_TO_INTEGER(__float2ll, float, long long)
KVWITNESS_SIMT_TO_INTEGER(__float2ull, float, unsigned long long)
KVWITNESS_SIMT_TO_INTEGER(__double2int, double, int)
KVWITNESS_SIMT_TO_INTEGER(__double2uint, double, unsigned int)
KVWITNESS_SIMT_TO_INTEGER(__double2ll, double, long long)
KVWITNESS_SIMT_TO_INTEGER(__double2ull, double, unsigned long long)
#undef KVWITNESS_SIMT_TO_INTEGER

#define KVWITNESS_SIMT_TO_REAL(prefix, integer, real)                                              \
  inline real prefix##_rn(integer x) noexcept {                                                    \
    return static_cast<real>(x);                                                                   \
  }                                                                                                \
  inline real prefix##_rz(integer x) noexcept {                                                    \
    return kvwitness::simt::detail::to_real<real>(x, kvwitness::simt::detail::Direction::kToZero); \
  }                                                                                                \
  inline real prefix##_rd(integer x) noexcept {                                                    \
    return kvwitness::simt::detail::to_real<real>(x, kvwitness::simt::detail::Direction::kDown);   \
  }                                                                                                \
  inline real prefix##_ru(integer x) noexcept {                                                    \
    return kvwitness::simt::detail::to_real<real>(x, kvwitness::simt::detail::Direction::kUp);     \
  }
KVWITNESS_SIMT_TO_REAL(__int2float, int, float)
KVWITNESS_SIMT_TO_REAL(__uint2float, unsigned int, float)
KVWITNESS_SIMT_TO_REAL(__ll2float, long long, float)
KVWITNESS_SIMT_TO_REAL(__ull2float, unsigned long long, float)
KVWITNESS_SIMT_TO_REAL(__ll2double, long long, double)
KVWITNESS_SIMT_TO_REAL(__ull2double, unsigned long long, double)
#undef KVWITNESS_SIMT_TO_REAL
constexpr double __int2double_rn(int x) noexcept {
  return x;
}
constexpr double __uint2double_rn(unsigned int x) noexcept {
  return x;
}
constexpr float __double2float_rn(double x) noexcept {
  return static_cast<float>(x);
}
constexpr int __double2hiint(double x) noexcept {
  return static_cast<int>(__builtin_bit_cast(unsigned long long, x) >> 32);
}
constexpr int __double2loint(double x) noexcept {
  return static_cast<int>(__builtin_bit_cast(unsigned long long, x) & 0xFFFFFFFFu);
}
constexpr double __hiloint2double(int high, int low) noexcept {
  return __builtin_bit_cast(double, (static_cast<unsigned long long>(static_cast<unsigned int>(high)) << 32) |
                                        static_cast<unsigned int>(low));
}

// ---- Arithmetic rounded to nearest, and the fast functions, by the host's arithmetic -------------------------------------------------

#define KVWITNESS_SIMT_ARITHMETIC(prefix, type)            \
  constexpr type prefix##add_rn(type x, type y) noexcept { \
    return x + y;                                          \
  }                                                        \
  constexpr type prefix##sub_rn(type x, type y) noexcept { \
    return x - y;                                          \
  }                                                        \
  constexpr type prefix##mul_rn(type x, type y) noexcept { \
    return x * y;                                          \
  }                                                        \
  constexpr type prefix##div_rn(type x, type y) noexcept { \
    return x / y;                                          \
  }                                                        \
  constexpr type prefix##rcp_rn(type x) noexcept {         \
    return type{1} / x;                                    \
  }                                                        \
  inline type prefix##sqrt_rn(type x) noexcept {           \
    return std::sqrt(x);                                   \
  }
KVWITNESS_SIMT_ARITHMETIC(__f, float)
KVWITNESS_SIMT_ARITHMETIC(__d, double)
#undef KVWITNESS_SIMT_ARITHMETIC
inline float __frsqrt_rn(float x) noexcept {
  return static_cast<float>(1.0 / std::sqrt(static_cast<double>(x)));
}
inline double __fma_rn(double x, double y, double z) noexcept {
  return std::fma(x, y, z);
}
inline double rsqrt(double x) noexcept {
  return 1.0 / std::sqrt(x);
}
inline float fdividef(float x, float y) noexcept {
  return x / y;
}
// (Macros, because glibc's <cmath> declares functions of these names.)
#define __sinf(x) __builtin_sinf(x)
#define __cosf(x) __builtin_cosf(x)
#define __tanf(x) __builtin_tanf(x)
#define __powf(x, y) __builtin_powf(x, y)
#define __log2f(x) __builtin_log2f(x)
#define __log10f(x) __builtin_log10f(x)
#define __exp10f(x) __builtin_powf(10.0f, x)

// ---- Integers ------------------------------------------------------------------------------------------------------------------------

namespace kvwitness::simt::detail {
// The sum of the products of the four signed or unsigned bytes of each word, and `sum`.
template <class Byte, class Word>
constexpr Word dot_bytes(Word a, Word b, Word sum) noexcept {
  auto total = static_cast<unsigned int>(sum);
  for (unsigned int i = 0; i < 4; ++i) {
    const int left = static_cast<Byte>(static_cast<unsigned int>(a) >> (8 * i));
    const int right = static_cast<Byte>(static_cast<unsigned int>(b) >> (8 * i));
    total += static_cast<unsigned int>(left * right);
  }
  return static_cast<Word>(total);
}
// Two halves of `a` times the two bytes of `b` from `first` on.
template <class Half, class Byte, class Word>
constexpr Word dot_halves(Word a, Word b, Word sum, unsigned int first) noexcept {
  auto total = static_cast<unsigned int>(sum);
  for (unsigned int i = 0; i < 2; ++i) {
    const int left = static_cast<Half>(static_cast<unsigned int>(a) >> (16 * i));
    const int right = static_cast<Byte>(static_cast<unsigned int>(b) >> (8 * (first + i)));
    total += static_cast<unsigned int>(left * right);
  }
  return static_cast<Word>(total);
}
}  // namespace kvwitness::simt::detail
constexpr int __dp4a(int a, int b, int sum) noexcept {
  return kvwitness::simt::detail::dot_bytes<signed char>(a, b, sum);
}
constexpr unsigned int __dp4a(unsigned int a, unsigned int b, unsigned int sum) noexcept {
  return kvwitness::simt::detail::dot_bytes<unsigned char>(a, b, sum);
}
constexpr int __dp2a_lo(int a, int b, int sum) noexcept {
  return kvwitness::simt::detail::dot_halves<short, signed char>(a, b, sum, 0);
}
constexpr int __dp2a_hi(int a, int b, int sum) noexcept {
  return kvwitness::simt::detail::dot_halves<short, signed char>(a, b, sum, 2);
}
constexpr unsigned int __dp2a_lo(unsigned int a, unsigned int b, unsigned int sum) noexcept {
  return kvwitness::simt::detail::dot_halves<unsigned short, unsigned char>(a, b, sum, 0);
}
constexpr unsigned int __dp2a_hi(unsigned int a, unsigned int b, unsigned int sum) noexcept {
  return kvwitness::simt::detail::dot_halves<unsigned short, unsigned char>(a, b, sum, 2);
}
constexpr int __mul24(int x, int y) noexcept {
  const auto low = [](int value) { return static_cast<int>(static_cast<unsigned int>(value) << 8) >> 8; };
  return static_cast<int>(static_cast<long long>(low(x)) * low(y));
}
constexpr unsigned int __umul24(unsigned int x, unsigned int y) noexcept {
  return (x & 0xFFFFFFu) * (y & 0xFFFFFFu);
}
constexpr unsigned int __sad(int x, int y, unsigned int sum) noexcept {
  return sum + (x > y ? static_cast<unsigned int>(x) - static_cast<unsigned int>(y)
                      : static_cast<unsigned int>(y) - static_cast<unsigned int>(x));
}
constexpr unsigned int __usad(unsigned int x, unsigned int y, unsigned int sum) noexcept {
  return sum + (x > y ? x - y : y - x);
}
constexpr int __hadd(int x, int y) noexcept {
  return static_cast<int>((static_cast<long long>(x) + y) >> 1);
}
constexpr int __rhadd(int x, int y) noexcept {
  return static_cast<int>((static_cast<long long>(x) + y + 1) >> 1);
}
constexpr unsigned int __uhadd(unsigned int x, unsigned int y) noexcept {
  return static_cast<unsigned int>((static_cast<unsigned long long>(x) + y) >> 1);
}
constexpr unsigned int __urhadd(unsigned int x, unsigned int y) noexcept {
  return static_cast<unsigned int>((static_cast<unsigned long long>(x) + y + 1) >> 1);
}

// Words as two halves or four bytes, each by itself. Comparisons give ones in every bit of the lanes where they hold.
namespace kvwitness::simt::detail {
template <class Lane, class Operation>
constexpr unsigned int lane_by_lane(unsigned int a, unsigned int b, Operation operation) noexcept {
  constexpr unsigned int kBits = 8 * sizeof(Lane), kMask = (1u << kBits) - 1;
  unsigned int result = 0;
  for (unsigned int at = 0; at < 32; at += kBits) {
    const auto left = static_cast<Lane>(a >> at & kMask), right = static_cast<Lane>(b >> at & kMask);
    result |= (static_cast<unsigned int>(operation(int{left}, int{right})) & kMask) << at;
  }
  return result;
}
}  // namespace kvwitness::simt::detail
#define KVWITNESS_SIMT_LANES(name, lane, expression)                                                   \
  constexpr unsigned int name(unsigned int x, unsigned int y) noexcept {                               \
    return kvwitness::simt::detail::lane_by_lane<lane>(x, y, [](int a, int b) { return expression; }); \
  }
#define KVWITNESS_SIMT_LANES_OF(count, sign, unsign)                      \
  KVWITNESS_SIMT_LANES(__vadd##count, unsign, a + b)                      \
  KVWITNESS_SIMT_LANES(__vsub##count, unsign, a - b)                      \
  KVWITNESS_SIMT_LANES(__vmins##count, sign, b < a ? b : a)               \
  KVWITNESS_SIMT_LANES(__vmaxs##count, sign, a < b ? b : a)               \
  KVWITNESS_SIMT_LANES(__vminu##count, unsign, b < a ? b : a)             \
  KVWITNESS_SIMT_LANES(__vmaxu##count, unsign, a < b ? b : a)             \
  KVWITNESS_SIMT_LANES(__vabsdiffu##count, unsign, a < b ? b - a : a - b) \
  KVWITNESS_SIMT_LANES(__vcmpeq##count, unsign, a == b ? -1 : 0)          \
  KVWITNESS_SIMT_LANES(__vcmpne##count, unsign, a != b ? -1 : 0)          \
  KVWITNESS_SIMT_LANES(__vcmpgtu##count, unsign, a > b ? -1 : 0)          \
  KVWITNESS_SIMT_LANES(__vcmpltu##count, unsign, a < b ? -1 : 0)
KVWITNESS_SIMT_LANES_OF(2, short, unsigned short)
KVWITNESS_SIMT_LANES_OF(4, signed char, unsigned char)
#undef KVWITNESS_SIMT_LANES_OF
#undef KVWITNESS_SIMT_LANES

// The position of the offset-th set bit of the mask, counted from the bit `base` upwards (offset > 0, the bit itself
// is the first), or downwards (offset < 0); for 0, the base where its bit is set. All ones where there is none.
constexpr unsigned int __fns(unsigned int mask, unsigned int base, int offset) noexcept {
  constexpr unsigned int kNone = 0xFFFFFFFFu;
  if (base >= 32) {
    return kNone;
  }
  if (offset == 0) {
    return (mask >> base & 1u) != 0 ? base : kNone;
  }
  const int step = offset > 0 ? 1 : -1;
  int left = offset > 0 ? offset : -offset;
  for (int bit = static_cast<int>(base); bit >= 0 && bit < 32; bit += step) {
    if ((mask >> bit & 1u) != 0 && --left == 0) {
      return static_cast<unsigned int>(bit);
    }
  }
  return kNone;
}

// The lanes below, up to, above and from the caller's. Templates, so that a source's own function of the name wins.
template <class = void>
unsigned int __lanemask_lt() {
  return (1u << kvwitness::simt::detail::lane_id()) - 1;
}
template <class = void>
unsigned int __lanemask_le() {
  return 0xFFFFFFFFu >> (31u - kvwitness::simt::detail::lane_id());
}
template <class = void>
unsigned int __lanemask_gt() {
  return ~__lanemask_le();
}
template <class = void>
unsigned int __lanemask_ge() {
  return ~__lanemask_lt();
}
template <class = void>
unsigned int __lanemask_eq() {
  return 1u << kvwitness::simt::detail::lane_id();
}

// A clock that a schedule fixes: it counts the calls. Polling it lets other threads go on.
inline long long clock64() {
  return static_cast<long long>(kvwitness::simt::detail::clock_ticks());
}
// A barrier of all threads of the block, by number. The executor tells barriers apart by their place in the source.
inline void __barrier_sync(unsigned int, const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  __syncthreads(file, line);
}
inline void __brkpt(const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  __trap(file, line);
}
#if !defined(__clang__)
#define __builtin_assume(condition) static_cast<void>(0)
#endif

// ---- Atomics of a scope: those of the device, which every scope is contained in --------------------------------------------------------

#define KVWITNESS_SIMT_SCOPED(name)                                                        \
  template <class T>                                                                       \
  T name##_block(T* address, typename kvwitness::simt::detail::Identity<T>::type value) {  \
    return name(address, value);                                                           \
  }                                                                                        \
  template <class T>                                                                       \
  T name##_system(T* address, typename kvwitness::simt::detail::Identity<T>::type value) { \
    return name(address, value);                                                           \
  }
KVWITNESS_SIMT_SCOPED(atomicAdd)
KVWITNESS_SIMT_SCOPED(atomicSub)
KVWITNESS_SIMT_SCOPED(atomicAnd)
KVWITNESS_SIMT_SCOPED(atomicOr)
KVWITNESS_SIMT_SCOPED(atomicXor)
KVWITNESS_SIMT_SCOPED(atomicMin)
KVWITNESS_SIMT_SCOPED(atomicMax)
KVWITNESS_SIMT_SCOPED(atomicExch)
KVWITNESS_SIMT_SCOPED(atomicInc)
KVWITNESS_SIMT_SCOPED(atomicDec)
#undef KVWITNESS_SIMT_SCOPED
template <class T>
T atomicCAS_block(T* address, typename kvwitness::simt::detail::Identity<T>::type expected,
                  typename kvwitness::simt::detail::Identity<T>::type value) {
  return atomicCAS(address, expected, value);
}
template <class T>
T atomicCAS_system(T* address, typename kvwitness::simt::detail::Identity<T>::type expected,
                   typename kvwitness::simt::detail::Identity<T>::type value) {
  return atomicCAS(address, expected, value);
}

// ---- What is refused -------------------------------------------------------------------------------------------------------------------

namespace kvwitness::simt::detail {
template <class...>
inline constexpr bool never = false;
// Stands for the result, so that the static_assert is the only error.
struct NotServed {
  template <class T>
  operator T() const noexcept;
};
}  // namespace kvwitness::simt::detail
#define KVWITNESS_SIMT_REFUSE(name, words)                                                 \
  template <class... Arguments>                                                            \
  kvwitness::simt::detail::NotServed name(Arguments&&...) {                                \
    static_assert(kvwitness::simt::detail::never<Arguments...>, "kvwitness simt: " words); \
    return {};                                                                             \
  }
KVWITNESS_SIMT_REFUSE(__barrier_sync_count, "barriers of a part of a block (__barrier_sync_count) are not served")
KVWITNESS_SIMT_REFUSE(__shfl, "__shfl without a mask is not served; CUDA removed it, write __shfl_sync")
KVWITNESS_SIMT_REFUSE(__shfl_up, "__shfl_up without a mask is not served; CUDA removed it, write __shfl_up_sync")
KVWITNESS_SIMT_REFUSE(__shfl_down, "__shfl_down without a mask is not served; CUDA removed it, write __shfl_down_sync")
KVWITNESS_SIMT_REFUSE(__shfl_xor, "__shfl_xor without a mask is not served; CUDA removed it, write __shfl_xor_sync")
KVWITNESS_SIMT_REFUSE(__ballot, "__ballot without a mask is not served; CUDA removed it, write __ballot_sync")
KVWITNESS_SIMT_REFUSE(__cvta_generic_to_shared,
                      "addresses of shared memory for PTX (__cvta_generic_to_shared) are not served")

// NOLINTEND(bugprone-reserved-identifier, bugprone-macro-parentheses, bugprone-signed-char-misuse)

#endif  // KVWITNESS_SIMT_INTRINSICS_H
