// __half, __nv_bfloat16 and their vectors: conversions, arithmetic, comparisons and shuffles, by wider arithmetic and
// one rounding to nearest even.
//
// Source of the meaning of each name: NVIDIA, "CUDA Math API", chapters "Half Precision Intrinsics" and "Bfloat16
// Precision Intrinsics". The formats: IEEE 754-2019, binary16, and the upper half of binary32.
//
// A sum, product, quotient or root of two operands is exact enough in binary32 (24 bits, at least twice the format's 11
// or 8 and two more) that the second rounding changes nothing (Figueroa, "When is double rounding innocuous?", SIGNUM
// 1995). A fused multiply-add is not; it is rounded to odd in binary64 first (Boldo and Melquiond, "Emulation of a FMA
// and correctly rounded sums: proved algorithms using rounding to odd", IEEE TC 2008).
//
// C++17.
#ifndef KVWITNESS_SIMT_HALF_H
#define KVWITNESS_SIMT_HALF_H

#include <kvwitness/simt/device.h>

#include <cmath>
#include <cstdint>
#include <type_traits>

// NOLINTBEGIN(bugprone-reserved-identifier, bugprone-macro-parentheses): CUDA's own names, and types as arguments of
// macros.

namespace kvwitness::simt::detail {

// A binary format of 16 bits: the significand's bits without the leading one, and the exponent's.
template <int kFractionBits, int kExponentBits>
struct Format16 {
  static constexpr int kBias = (1 << (kExponentBits - 1)) - 1;
  static constexpr std::uint16_t kInfinity = static_cast<std::uint16_t>(((1 << kExponentBits) - 1) << kFractionBits);
  static constexpr std::uint16_t kNan = 0x7FFF;  // what NVIDIA's arithmetic gives

  // The nearest value, half to even; beyond the largest and half a unit, infinity.
  static constexpr std::uint16_t from_double(double x) noexcept {
    const auto bits = __builtin_bit_cast(std::uint64_t, x);
    const auto sign = static_cast<std::uint16_t>(bits >> 48 & 0x8000u);
    const int exponent = static_cast<int>(bits >> 52 & 0x7FFu);
    if (exponent == 0x7FF) {
      return (bits << 12) != 0 ? kNan : static_cast<std::uint16_t>(sign | kInfinity);
    }
    if (exponent == 0) {
      return sign;  // far below half of the smallest
    }
    const std::uint64_t significand = (bits & ((std::uint64_t{1} << 52) - 1)) | std::uint64_t{1} << 52;
    const int target = exponent - 1023 + kBias;
    // Subnormal values have the exponent of the smallest normal one and fewer bits.
    const int dropped = 52 - kFractionBits + (target < 1 ? 1 - target : 0);
    if (dropped > 54) {
      return sign;
    }
    std::uint64_t kept = significand >> dropped;
    const std::uint64_t rest = significand & ((std::uint64_t{1} << dropped) - 1),
                        half = std::uint64_t{1} << (dropped - 1);
    kept += rest > half || (rest == half && (kept & 1) != 0) ? 1 : 0;
    // A carry runs into the exponent, as it should.
    const std::uint64_t result = target < 1 ? kept : kept + (static_cast<std::uint64_t>(target - 1) << kFractionBits);
    return static_cast<std::uint16_t>(sign | (result >= kInfinity ? kInfinity : result));
  }
  static constexpr float to_float(std::uint16_t bits) noexcept {
    const std::uint32_t sign = static_cast<std::uint32_t>(bits & 0x8000u) << 16;
    const std::uint32_t fraction = bits & ((1u << kFractionBits) - 1);
    const std::uint32_t exponent = (bits & 0x7FFFu) >> kFractionBits;
    if (exponent == (1u << kExponentBits) - 1) {
      return __builtin_bit_cast(float, sign | 0x7F800000u | fraction << (23 - kFractionBits));
    }
    if (exponent == 0) {
      if constexpr (kExponentBits == 8) {
        return __builtin_bit_cast(float, sign | fraction << (23 - kFractionBits));
      }
      float unit = 1.0f;  // of the subnormal values
      for (int i = 0; i < kBias - 1 + kFractionBits; ++i) {
        unit *= 0.5f;
      }
      const float magnitude = static_cast<float>(fraction) * unit;
      return sign != 0 ? -magnitude : magnitude;
    }
    const std::uint32_t wide = exponent + static_cast<std::uint32_t>(127 - kBias);
    return __builtin_bit_cast(float, sign | wide << 23 | fraction << (23 - kFractionBits));
  }
};

// x * y + z, rounded to odd in binary64: the product of two values of 11 bits is exact there.
inline double fma_to_odd(double x, double y, double z) noexcept {
  const double product = x * y, sum = product + z;
  if (!std::isfinite(sum)) {
    return sum;
  }
  const double part = sum - product, error = (product - (sum - part)) + (z - part);  // Knuth's sum: exact
  const auto bits = __builtin_bit_cast(std::uint64_t, sum);
  if (error == 0 || (bits & 1) != 0) {
    return sum;
  }
  return __builtin_bit_cast(double, (error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

}  // namespace kvwitness::simt::detail

// ---- The types -----------------------------------------------------------------------------------------------------------------------

#define KVWITNESS_SIMT_REAL16(name, raw_name, format)                                                   \
  struct raw_name {                                                                                     \
    unsigned short x;                                                                                   \
  };                                                                                                    \
  struct name {                                                                                         \
    using KvwitnessFormat = kvwitness::simt::detail::format;                                            \
    unsigned short __x;                                                                                 \
    name() = default;                                                                                   \
    constexpr name(const raw_name& raw) noexcept : __x(raw.x) {}                                        \
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>                               \
    constexpr name(T value) noexcept : __x(KvwitnessFormat::from_double(static_cast<double>(value))) {} \
    constexpr operator raw_name() const noexcept {                                                      \
      return {__x};                                                                                     \
    }                                                                                                   \
    constexpr operator float() const noexcept {                                                         \
      return KvwitnessFormat::to_float(__x);                                                            \
    }                                                                                                   \
    constexpr explicit operator bool() const noexcept {                                                 \
      return (__x & 0x7FFFu) != 0;                                                                      \
    }                                                                                                   \
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T> && !std::is_same_v<T, float> && \
                                                !std::is_same_v<T, bool>>>                              \
    constexpr explicit operator T() const noexcept {                                                    \
      return static_cast<T>(static_cast<float>(*this));                                                 \
    }                                                                                                   \
  };
namespace kvwitness::simt::detail {
using Binary16 = Format16<10, 5>;
using Bfloat16 = Format16<7, 8>;
}  // namespace kvwitness::simt::detail
KVWITNESS_SIMT_REAL16(__half, __half_raw, Binary16)
KVWITNESS_SIMT_REAL16(__nv_bfloat16, __nv_bfloat16_raw, Bfloat16)
#undef KVWITNESS_SIMT_REAL16
struct alignas(4) __half2 {
  __half x, y;
  __half2() = default;
  constexpr __half2(const __half& low, const __half& high) noexcept : x(low), y(high) {}
};
struct alignas(4) __nv_bfloat162 {
  __nv_bfloat16 x, y;
  __nv_bfloat162() = default;
  constexpr __nv_bfloat162(const __nv_bfloat16& low, const __nv_bfloat16& high) noexcept : x(low), y(high) {}
};
using half = __half;
using half2 = __half2;
using nv_half = __half;
using nv_half2 = __half2;
using nv_bfloat16 = __nv_bfloat16;
using nv_bfloat162 = __nv_bfloat162;
using __nv_half = __half;
using __nv_half2 = __half2;

// ---- What both formats have, by the same names -----------------------------------------------------------------------------------------

#define KVWITNESS_SIMT_ARITHMETIC16(scalar, vector)                                                           \
  inline scalar __hadd(scalar a, scalar b) noexcept {                                                         \
    return scalar(float(a) + float(b));                                                                       \
  }                                                                                                           \
  inline scalar __hsub(scalar a, scalar b) noexcept {                                                         \
    return scalar(float(a) - float(b));                                                                       \
  }                                                                                                           \
  inline scalar __hmul(scalar a, scalar b) noexcept {                                                         \
    return scalar(float(a) * float(b));                                                                       \
  }                                                                                                           \
  inline scalar __hdiv(scalar a, scalar b) noexcept {                                                         \
    return scalar(float(a) / float(b));                                                                       \
  }                                                                                                           \
  inline scalar __hadd_rn(scalar a, scalar b) noexcept {                                                      \
    return __hadd(a, b);                                                                                      \
  }                                                                                                           \
  inline scalar __hsub_rn(scalar a, scalar b) noexcept {                                                      \
    return __hsub(a, b);                                                                                      \
  }                                                                                                           \
  inline scalar __hmul_rn(scalar a, scalar b) noexcept {                                                      \
    return __hmul(a, b);                                                                                      \
  }                                                                                                           \
  inline scalar __hfma(scalar a, scalar b, scalar c) noexcept {                                               \
    return scalar(kvwitness::simt::detail::fma_to_odd(double(float(a)), double(float(b)), double(float(c)))); \
  }                                                                                                           \
  inline scalar __hneg(scalar a) noexcept {                                                                   \
    a.__x = static_cast<unsigned short>(a.__x ^ 0x8000u);                                                     \
    return a;                                                                                                 \
  }                                                                                                           \
  inline scalar __habs(scalar a) noexcept {                                                                   \
    a.__x = static_cast<unsigned short>(a.__x & 0x7FFFu);                                                     \
    return a;                                                                                                 \
  }                                                                                                           \
  inline bool __hisnan(scalar a) noexcept {                                                                   \
    return float(a) != float(a);                                                                              \
  }                                                                                                           \
  inline int __hisinf(scalar a) noexcept {                                                                    \
    return std::isinf(float(a)) ? (float(a) < 0 ? -1 : 1) : 0;                                                \
  }                                                                                                           \
  inline bool __heq(scalar a, scalar b) noexcept {                                                            \
    return float(a) == float(b);                                                                              \
  }                                                                                                           \
  inline bool __hne(scalar a, scalar b) noexcept {                                                            \
    return float(a) < float(b) || float(a) > float(b);                                                        \
  }                                                                                                           \
  inline bool __hlt(scalar a, scalar b) noexcept {                                                            \
    return float(a) < float(b);                                                                               \
  }                                                                                                           \
  inline bool __hle(scalar a, scalar b) noexcept {                                                            \
    return float(a) <= float(b);                                                                              \
  }                                                                                                           \
  inline bool __hgt(scalar a, scalar b) noexcept {                                                            \
    return float(a) > float(b);                                                                               \
  }                                                                                                           \
  inline bool __hge(scalar a, scalar b) noexcept {                                                            \
    return float(a) >= float(b);                                                                              \
  }                                                                                                           \
  inline scalar __hmax(scalar a, scalar b) noexcept {                                                         \
    return __hisnan(a) ? b : __hisnan(b) || __hge(a, b) ? a : b;                                              \
  }                                                                                                           \
  inline scalar __hmin(scalar a, scalar b) noexcept {                                                         \
    return __hisnan(a) ? b : __hisnan(b) || __hle(a, b) ? a : b;                                              \
  }                                                                                                           \
  inline scalar operator+(scalar a, scalar b) noexcept {                                                      \
    return __hadd(a, b);                                                                                      \
  }                                                                                                           \
  inline scalar operator-(scalar a, scalar b) noexcept {                                                      \
    return __hsub(a, b);                                                                                      \
  }                                                                                                           \
  inline scalar operator*(scalar a, scalar b) noexcept {                                                      \
    return __hmul(a, b);                                                                                      \
  }                                                                                                           \
  inline scalar operator/(scalar a, scalar b) noexcept {                                                      \
    return __hdiv(a, b);                                                                                      \
  }                                                                                                           \
  inline scalar operator-(scalar a) noexcept {                                                                \
    return __hneg(a);                                                                                         \
  }                                                                                                           \
  inline scalar operator+(scalar a) noexcept {                                                                \
    return a;                                                                                                 \
  }                                                                                                           \
  inline scalar& operator+=(scalar& a, scalar b) noexcept {                                                   \
    return a = a + b;                                                                                         \
  }                                                                                                           \
  inline scalar& operator-=(scalar& a, scalar b) noexcept {                                                   \
    return a = a - b;                                                                                         \
  }                                                                                                           \
  inline scalar& operator*=(scalar& a, scalar b) noexcept {                                                   \
    return a = a * b;                                                                                         \
  }                                                                                                           \
  inline scalar& operator/=(scalar& a, scalar b) noexcept {                                                   \
    return a = a / b;                                                                                         \
  }                                                                                                           \
  inline bool operator==(scalar a, scalar b) noexcept {                                                       \
    return __heq(a, b);                                                                                       \
  }                                                                                                           \
  inline bool operator!=(scalar a, scalar b) noexcept {                                                       \
    return !__heq(a, b);                                                                                      \
  }                                                                                                           \
  inline bool operator<(scalar a, scalar b) noexcept {                                                        \
    return __hlt(a, b);                                                                                       \
  }                                                                                                           \
  inline bool operator<=(scalar a, scalar b) noexcept {                                                       \
    return __hle(a, b);                                                                                       \
  }                                                                                                           \
  inline bool operator>(scalar a, scalar b) noexcept {                                                        \
    return __hgt(a, b);                                                                                       \
  }                                                                                                           \
  inline bool operator>=(scalar a, scalar b) noexcept {                                                       \
    return __hge(a, b);                                                                                       \
  }                                                                                                           \
  inline scalar hsqrt(scalar a) noexcept {                                                                    \
    return scalar(std::sqrt(float(a)));                                                                       \
  }                                                                                                           \
  inline scalar hrcp(scalar a) noexcept {                                                                     \
    return scalar(1.0f / float(a));                                                                           \
  }                                                                                                           \
  inline scalar hrsqrt(scalar a) noexcept {                                                                   \
    return scalar(1.0 / std::sqrt(double(float(a))));                                                         \
  }                                                                                                           \
  inline scalar hexp(scalar a) noexcept {                                                                     \
    return scalar(std::exp(double(float(a))));                                                                \
  }                                                                                                           \
  inline scalar hexp2(scalar a) noexcept {                                                                    \
    return scalar(std::exp2(double(float(a))));                                                               \
  }                                                                                                           \
  inline scalar hlog(scalar a) noexcept {                                                                     \
    return scalar(std::log(double(float(a))));                                                                \
  }                                                                                                           \
  inline scalar hlog2(scalar a) noexcept {                                                                    \
    return scalar(std::log2(double(float(a))));                                                               \
  }                                                                                                           \
  inline scalar hfloor(scalar a) noexcept {                                                                   \
    return scalar(std::floor(float(a)));                                                                      \
  }                                                                                                           \
  inline scalar hceil(scalar a) noexcept {                                                                    \
    return scalar(std::ceil(float(a)));                                                                       \
  }                                                                                                           \
  inline scalar htrunc(scalar a) noexcept {                                                                   \
    return scalar(std::trunc(float(a)));                                                                      \
  }                                                                                                           \
  inline scalar hrint(scalar a) noexcept {                                                                    \
    return scalar(kvwitness::simt::detail::round_to_even(float(a)));                                          \
  }                                                                                                           \
  inline vector __hadd2(vector a, vector b) noexcept {                                                        \
    return {__hadd(a.x, b.x), __hadd(a.y, b.y)};                                                              \
  }                                                                                                           \
  inline vector __hsub2(vector a, vector b) noexcept {                                                        \
    return {__hsub(a.x, b.x), __hsub(a.y, b.y)};                                                              \
  }                                                                                                           \
  inline vector __hmul2(vector a, vector b) noexcept {                                                        \
    return {__hmul(a.x, b.x), __hmul(a.y, b.y)};                                                              \
  }                                                                                                           \
  inline vector __h2div(vector a, vector b) noexcept {                                                        \
    return {__hdiv(a.x, b.x), __hdiv(a.y, b.y)};                                                              \
  }                                                                                                           \
  inline vector __hfma2(vector a, vector b, vector c) noexcept {                                              \
    return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};                                                    \
  }                                                                                                           \
  inline vector __hneg2(vector a) noexcept {                                                                  \
    return {__hneg(a.x), __hneg(a.y)};                                                                        \
  }                                                                                                           \
  inline vector __habs2(vector a) noexcept {                                                                  \
    return {__habs(a.x), __habs(a.y)};                                                                        \
  }                                                                                                           \
  inline vector __hmax2(vector a, vector b) noexcept {                                                        \
    return {__hmax(a.x, b.x), __hmax(a.y, b.y)};                                                              \
  }                                                                                                           \
  inline vector __hmin2(vector a, vector b) noexcept {                                                        \
    return {__hmin(a.x, b.x), __hmin(a.y, b.y)};                                                              \
  }                                                                                                           \
  inline bool __hbeq2(vector a, vector b) noexcept {                                                          \
    return __heq(a.x, b.x) && __heq(a.y, b.y);                                                                \
  }                                                                                                           \
  inline vector operator+(vector a, vector b) noexcept {                                                      \
    return __hadd2(a, b);                                                                                     \
  }                                                                                                           \
  inline vector operator-(vector a, vector b) noexcept {                                                      \
    return __hsub2(a, b);                                                                                     \
  }                                                                                                           \
  inline vector operator*(vector a, vector b) noexcept {                                                      \
    return __hmul2(a, b);                                                                                     \
  }                                                                                                           \
  inline vector operator/(vector a, vector b) noexcept {                                                      \
    return __h2div(a, b);                                                                                     \
  }                                                                                                           \
  inline vector& operator+=(vector& a, vector b) noexcept {                                                   \
    return a = a + b;                                                                                         \
  }                                                                                                           \
  inline vector& operator*=(vector& a, vector b) noexcept {                                                   \
    return a = a * b;                                                                                         \
  }                                                                                                           \
  inline bool operator==(vector a, vector b) noexcept {                                                       \
    return __hbeq2(a, b);                                                                                     \
  }
KVWITNESS_SIMT_ARITHMETIC16(__half, __half2)
KVWITNESS_SIMT_ARITHMETIC16(__nv_bfloat16, __nv_bfloat162)
#undef KVWITNESS_SIMT_ARITHMETIC16

// ---- Conversions, whose names carry the format ---------------------------------------------------------------------------------------

#define KVWITNESS_SIMT_CONVERSIONS16(scalar, vector, word, word2)  \
  inline scalar __float2##word(float x) noexcept {                 \
    return scalar(x);                                              \
  }                                                                \
  inline scalar __float2##word##_rn(float x) noexcept {            \
    return scalar(x);                                              \
  }                                                                \
  inline scalar __double2##word(double x) noexcept {               \
    return scalar(x);                                              \
  }                                                                \
  inline float __##word##2float(scalar x) noexcept {               \
    return float(x);                                               \
  }                                                                \
  inline scalar __int2##word##_rn(int x) noexcept {                \
    return scalar(x);                                              \
  }                                                                \
  inline scalar __uint2##word##_rn(unsigned int x) noexcept {      \
    return scalar(x);                                              \
  }                                                                \
  inline scalar __short2##word##_rn(short x) noexcept {            \
    return scalar(x);                                              \
  }                                                                \
  inline scalar __ushort2##word##_rn(unsigned short x) noexcept {  \
    return scalar(x);                                              \
  }                                                                \
  inline int __##word##2int_rn(scalar x) noexcept {                \
    return __float2int_rn(float(x));                               \
  }                                                                \
  inline int __##word##2int_rz(scalar x) noexcept {                \
    return __float2int_rz(float(x));                               \
  }                                                                \
  inline int __##word##2int_rd(scalar x) noexcept {                \
    return __float2int_rd(float(x));                               \
  }                                                                \
  inline int __##word##2int_ru(scalar x) noexcept {                \
    return __float2int_ru(float(x));                               \
  }                                                                \
  inline unsigned int __##word##2uint_rn(scalar x) noexcept {      \
    return __float2uint_rn(float(x));                              \
  }                                                                \
  inline unsigned int __##word##2uint_rz(scalar x) noexcept {      \
    return __float2uint_rz(float(x));                              \
  }                                                                \
  inline short __##word##_as_short(scalar x) noexcept {            \
    return static_cast<short>(x.__x);                              \
  }                                                                \
  inline unsigned short __##word##_as_ushort(scalar x) noexcept {  \
    return x.__x;                                                  \
  }                                                                \
  inline scalar __short_as_##word(short x) noexcept {              \
    return scalar##_raw{static_cast<unsigned short>(x)};           \
  }                                                                \
  inline scalar __ushort_as_##word(unsigned short x) noexcept {    \
    return scalar##_raw{x};                                        \
  }                                                                \
  inline vector __float2##word2##_rn(float x) noexcept {           \
    return {scalar(x), scalar(x)};                                 \
  }                                                                \
  inline vector __floats2##word2##_rn(float x, float y) noexcept { \
    return {scalar(x), scalar(y)};                                 \
  }                                                                \
  inline vector __float22##word2##_rn(float2 x) noexcept {         \
    return {scalar(x.x), scalar(x.y)};                             \
  }                                                                \
  inline float2 __##word##22float2(vector x) noexcept {            \
    return {float(x.x), float(x.y)};                               \
  }                                                                \
  inline vector __##word##2##word2(scalar x) noexcept {            \
    return {x, x};                                                 \
  }                                                                \
  inline vector make_##word2(scalar x, scalar y) noexcept {        \
    return {x, y};                                                 \
  }
// NOLINTBEGIN(performance-unnecessary-value-param): by value, as in CUDA.
KVWITNESS_SIMT_CONVERSIONS16(__half, __half2, half, half2)
KVWITNESS_SIMT_CONVERSIONS16(__nv_bfloat16, __nv_bfloat162, bfloat16, bfloat162)
// NOLINTEND(performance-unnecessary-value-param)
#undef KVWITNESS_SIMT_CONVERSIONS16
inline __half2 __halves2half2(__half x, __half y) noexcept {
  return {x, y};
}
inline __nv_bfloat162 __halves2bfloat162(__nv_bfloat16 x, __nv_bfloat16 y) noexcept {
  return {x, y};
}
#define KVWITNESS_SIMT_PARTS16(scalar, vector, suffix)             \
  inline scalar __low2##suffix(vector x) noexcept {                \
    return x.x;                                                    \
  }                                                                \
  inline scalar __high2##suffix(vector x) noexcept {               \
    return x.y;                                                    \
  }                                                                \
  inline float __low2float(vector x) noexcept {                    \
    return float(x.x);                                             \
  }                                                                \
  inline float __high2float(vector x) noexcept {                   \
    return float(x.y);                                             \
  }                                                                \
  inline vector __low2##suffix##2(vector x) noexcept {             \
    return {x.x, x.x};                                             \
  }                                                                \
  inline vector __high2##suffix##2(vector x) noexcept {            \
    return {x.y, x.y};                                             \
  }                                                                \
  inline vector __lowhigh2highlow(vector x) noexcept {             \
    return {x.y, x.x};                                             \
  }                                                                \
  inline vector __lows2##suffix##2(vector x, vector y) noexcept {  \
    return {x.x, y.x};                                             \
  }                                                                \
  inline vector __highs2##suffix##2(vector x, vector y) noexcept { \
    return {x.y, y.y};                                             \
  }
KVWITNESS_SIMT_PARTS16(__half, __half2, half)
KVWITNESS_SIMT_PARTS16(__nv_bfloat16, __nv_bfloat162, bfloat16)
#undef KVWITNESS_SIMT_PARTS16

// NOLINTEND(bugprone-reserved-identifier, bugprone-macro-parentheses)

#endif  // KVWITNESS_SIMT_HALF_H
