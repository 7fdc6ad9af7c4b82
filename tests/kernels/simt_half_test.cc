// __half and __nv_bfloat16 against the compiler's own half precision and against rounding of a binary64 by its bits; and
// the intrinsics that no small file of strangers/ calls.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace {

std::uint64_t next(std::uint64_t& state) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 32;
}

std::uint16_t bits_of(_Float16 x) {
  std::uint16_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  return bits;
}
_Float16 float16_of(std::uint16_t bits) {
  _Float16 x;
  std::memcpy(&x, &bits, sizeof(bits));
  return x;
}
bool same(__half x, _Float16 expected) {
  return x.__x == bits_of(expected) || (float(x) != float(x) && float(expected) != float(expected));
}

TEST(SimtHalf, EveryValueConvertsAsTheCompilersDoes) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const __half value = __ushort_as_half(static_cast<unsigned short>(bits));
    const _Float16 expected = float16_of(static_cast<std::uint16_t>(bits));
    ASSERT_TRUE(same(value, expected)) << bits;
    if (__hisnan(value)) {
      ASSERT_TRUE(__hisnan(__float2half(__half2float(value)))) << bits;
      continue;
    }
    ASSERT_EQ(float(value), static_cast<float>(expected)) << bits;
    ASSERT_EQ(__float2half(float(value)).__x, bits) << bits;
  }
}

TEST(SimtHalf, OperationsRoundAsTheCompilersDo) {
  std::uint64_t state = 1;
  for (int i = 0; i < 300000; ++i) {
    const auto x = static_cast<std::uint16_t>(next(state)), y = static_cast<std::uint16_t>(next(state)),
               z = static_cast<std::uint16_t>(next(state));
    const __half a = __ushort_as_half(x), b = __ushort_as_half(y), c = __ushort_as_half(z);
    const _Float16 p = float16_of(x), q = float16_of(y), r = float16_of(z);
    ASSERT_TRUE(same(a + b, p + q)) << x << " " << y;
    ASSERT_TRUE(same(a - b, p - q)) << x << " " << y;
    ASSERT_TRUE(same(a * b, p * q)) << x << " " << y;
    ASSERT_TRUE(same(a / b, p / q)) << x << " " << y;
    const auto wide = static_cast<float>(__uint_as_float(static_cast<unsigned int>(next(state))));
    ASSERT_TRUE(same(__float2half(wide), static_cast<_Float16>(wide))) << wide;
    ASSERT_EQ(a < b, p < q);
    ASSERT_EQ(a <= b, p <= q);
    ASSERT_EQ(a > b, p > q);
    ASSERT_EQ(a >= b, p >= q);
    ASSERT_EQ(a == b, p == q);
    ASSERT_EQ(a != b, p != q);
#if defined(__SIZEOF_FLOAT128__) && !defined(__clang__)
    const auto exact = static_cast<__float128>(static_cast<float>(p)) * static_cast<float>(q) + static_cast<float>(r);
    ASSERT_TRUE(same(__hfma(a, b, c), static_cast<_Float16>(exact))) << x << " " << y << " " << z;
#else
    static_cast<void>(r);
    static_cast<void>(c);
#endif
  }
}

// The nearest binary64 of 8 bits, for values that are normal in bfloat16.
double to_8_bits(double x) {
  std::uint64_t bits;
  std::memcpy(&bits, &x, sizeof(bits));
  bits += (std::uint64_t{1} << 44) - 1 + (bits >> 45 & 1);
  bits &= ~((std::uint64_t{1} << 45) - 1);
  std::memcpy(&x, &bits, sizeof(bits));
  return x;
}

TEST(SimtHalf, Bfloat16OperationsRoundOnce) {
  std::uint64_t state = 2;
  for (int i = 0; i < 300000; ++i) {
    const auto draw = [&] {
      return __ushort_as_bfloat16(static_cast<unsigned short>((next(state) & 0x87FFu) + 0x3C00u));
    };
    const __nv_bfloat16 a = draw(), b = draw(), c = draw();
    const double x = float(a), y = float(b), z = float(c);
    ASSERT_EQ(double(float(a * b)), to_8_bits(x * y));
    ASSERT_EQ(double(float(a + b)), x + y == 0 ? 0.0 : to_8_bits(x + y));
    ASSERT_EQ(double(float(a - b)), x - y == 0 ? 0.0 : to_8_bits(x - y));
    ASSERT_EQ(double(float(a / b)), to_8_bits(x / y));
    ASSERT_EQ(double(float(__hfma(a, b, c))), x * y + z == 0 ? 0.0 : to_8_bits(x * y + z));
  }
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const __nv_bfloat16 value = __ushort_as_bfloat16(static_cast<unsigned short>(bits));
    const float expected = __uint_as_float(bits << 16);
    ASSERT_TRUE(float(value) == expected || (expected != expected && __hisnan(value))) << bits;
    if (expected == expected) {
      ASSERT_EQ(__float2bfloat16(expected).__x, bits);
    }
  }
}

// What both formats have by the same names.
template <class T, class Vector>
void check_common(T (*make)(float)) {
  const T one = make(1), two = make(2), three = make(3), zero = make(0), infinity = one / zero, nan = zero / zero;
  EXPECT_EQ(float(__hadd_rn(one, two)), 3);
  EXPECT_EQ(float(__hsub_rn(one, two)), -1);
  EXPECT_EQ(float(__hmul_rn(three, two)), 6);
  EXPECT_EQ(float(__habs(__hneg(two))), 2);
  EXPECT_EQ(float(-two), -2);
  EXPECT_EQ(float(+two), 2);
  EXPECT_EQ(__hisinf(infinity), 1);
  EXPECT_EQ(__hisinf(-infinity), -1);
  EXPECT_EQ(__hisinf(one), 0);
  EXPECT_TRUE(__hisnan(nan));
  EXPECT_TRUE(__hne(one, two) && __hne(two, one) && !__hne(one, one) && !__hne(one, nan));
  EXPECT_TRUE(__hle(one, one) && __hgt(two, one) && __hge(two, two) && one != two && one >= one && one <= one);
  EXPECT_TRUE(two > one && one == one);
  EXPECT_EQ(float(__hmax(nan, two)), 2);
  EXPECT_EQ(float(__hmax(two, nan)), 2);
  EXPECT_EQ(float(__hmax(one, two)), 2);
  EXPECT_EQ(float(__hmin(nan, two)), 2);
  EXPECT_EQ(float(__hmin(two, nan)), 2);
  EXPECT_EQ(float(__hmin(two, one)), 1);
  T sum = one;
  sum += three;
  sum -= one;
  sum *= two;
  sum /= three;
  EXPECT_EQ(float(sum), 2);
  EXPECT_EQ(float(hrcp(two)), 0.5f);
  EXPECT_EQ(float(hsqrt(make(4))), 2);
  EXPECT_EQ(float(hrsqrt(make(4))), 0.5f);
  EXPECT_EQ(float(hexp(zero)), 1);
  EXPECT_EQ(float(hexp2(three)), 8);
  EXPECT_EQ(float(hlog(one)), 0);
  EXPECT_EQ(float(hlog2(make(8))), 3);
  EXPECT_EQ(float(hfloor(make(-1.5f))), -2);
  EXPECT_EQ(float(hceil(make(-1.5f))), -1);
  EXPECT_EQ(float(htrunc(make(-1.5f))), -1);
  EXPECT_EQ(float(hrint(make(2.5f))), 2);
  EXPECT_EQ(static_cast<int>(make(-2.75f)), -2);
  EXPECT_TRUE(static_cast<bool>(one) && !static_cast<bool>(-zero));
  Vector pair(one, two);
  pair += Vector(two, two);
  pair *= Vector(two, two);
  EXPECT_TRUE(pair == Vector(make(6), make(8)) && !(pair == Vector(make(6), one)) && !(pair == Vector(one, one)));
  EXPECT_TRUE(pair - Vector(one, one) == Vector(make(5), make(7)));
  EXPECT_TRUE(pair / Vector(two, two) == Vector(three, make(4)));
  EXPECT_TRUE(__hneg2(__habs2(__hneg2(pair))) == Vector(make(-6), make(-8)));
  EXPECT_TRUE(__hmax2(pair, Vector(make(7), one)) == Vector(make(7), make(8)));
  EXPECT_TRUE(__hmin2(pair, Vector(make(7), one)) == Vector(make(6), one));
  EXPECT_TRUE(__lowhigh2highlow(pair) == Vector(make(8), make(6)));
  EXPECT_EQ(__low2float(pair) + __high2float(pair), 14);
}
TEST(SimtHalf, BothFormatsHaveTheSameOperations) {
  check_common<__half, __half2>(__float2half);
  check_common<__nv_bfloat16, __nv_bfloat162>(__float2bfloat16);
}

#define CHECK_CONVERSIONS(type, word, word2)                                                                           \
  do {                                                                                                                 \
    const type x = __float2##word##_rn(2.5f);                                                                          \
    EXPECT_EQ(float(__double2##word(2.5)) + __##word##2float(x), 5);                                                   \
    EXPECT_EQ(float(__int2##word##_rn(-3)) + float(__uint2##word##_rn(3u)), 0);                                        \
    EXPECT_EQ(float(__short2##word##_rn(short{-3})) + float(__ushort2##word##_rn(static_cast<unsigned short>(3))), 0); \
    EXPECT_EQ(__##word##2int_rn(x), 2);                                                                                \
    EXPECT_EQ(__##word##2int_rz(x), 2);                                                                                \
    EXPECT_EQ(__##word##2int_rd(__hneg(x)), -3);                                                                       \
    EXPECT_EQ(__##word##2int_ru(x), 3);                                                                                \
    EXPECT_EQ(__##word##2uint_rn(x) + __##word##2uint_rz(x), 4u);                                                      \
    EXPECT_EQ(__short_as_##word(__##word##_as_short(x)).__x, __##word##_as_ushort(x));                                 \
    EXPECT_EQ(__##word##22float2(__float2##word2##_rn(2)).y, 2);                                                       \
    EXPECT_EQ(__##word##22float2(__float22##word2##_rn(make_float2(1, 3))).y, 3);                                      \
    const auto pair = make_##word2(__float2##word(1), __float2##word(2));                                              \
    EXPECT_EQ(float(__low2##word(pair)) + 10 * float(__high2##word(pair)), 21);                                        \
    EXPECT_EQ(__high2float(__low2##word##2(pair)) + 10 * __low2float(__high2##word##2(pair)), 21);                     \
    EXPECT_EQ(__high2float(__lows2##word##2(pair, __##word##2##word2(x))), 2.5f);                                      \
    EXPECT_EQ(__low2float(__highs2##word##2(pair, pair)), 2);                                                          \
    const type##_raw raw = x;                                                                                          \
    EXPECT_EQ(type(raw).__x, x.__x);                                                                                   \
  } while (false)
TEST(SimtHalf, ConversionsOfBothFormats) {
  CHECK_CONVERSIONS(__half, half, half2);
  CHECK_CONVERSIONS(__nv_bfloat16, bfloat16, bfloat162);
  EXPECT_EQ(__high2float(__halves2half2(__float2half(1), __float2half(2))), 2);
  EXPECT_EQ(__high2float(__halves2bfloat162(__float2bfloat16(1), __float2bfloat16(2))), 2);
}

TEST(SimtIntrinsics, WhatNoSmallFileCalls) {
  EXPECT_EQ(__int2double_rn(-3) + __uint2double_rn(3u), 0.0);
  EXPECT_EQ(__double2float_rn(0.1), 0.1f);
  EXPECT_EQ(__fsub_rn(3, 1) + static_cast<float>(__dsub_rn(3, 1) + __dadd_rn(1, 1) + __ddiv_rn(4, 2)), 8.0f);
  EXPECT_EQ(__drcp_rn(4) + __dsqrt_rn(4), 2.25);
  EXPECT_EQ(__fmul_rn(2, 3), 6.0f);
  EXPECT_EQ(__fma_rn(2, 3, 4), 10.0);
  EXPECT_EQ(rsqrt(4.0), 0.5);
  EXPECT_EQ(fdividef(1, 4), 0.25f);
  EXPECT_EQ(__dp2a_lo(0x00020003u, 0x0304u, 1u), 1u + 12 + 6);
  EXPECT_EQ(__dp2a_hi(0x00020003u, 0x03040000u, 1u), 1u + 12 + 6);
  EXPECT_EQ(__urhadd(0xFFFFFFFFu, 0u), 0x80000000u);
  EXPECT_EQ(__vsub4(0x00010203u, 0x01010101u), 0xFF000102u);
  EXPECT_EQ(__vabsdiffu4(0x00FF0010u, 0x01000020u), 0x01FF0010u);
  EXPECT_EQ(__vcmpne2(0x00010002u, 0x00010003u), 0x0000FFFFu);
  EXPECT_EQ(__vcmpgtu4(0x02010000u, 0x01020000u), 0xFF000000u);
  EXPECT_EQ(__vcmpltu4(0x02010000u, 0x01020000u), 0x00FF0000u);
  EXPECT_EQ(__float2ull_rn(-1.0f), 0u);
  EXPECT_EQ(__float2ll_rz(std::numeric_limits<float>::quiet_NaN()), std::numeric_limits<long long>::min());
  EXPECT_EQ(__ll2float_rz(-16777217), -16777216.0f);
  EXPECT_EQ(__ull2float_rd(0xFFFFFFFFFFFFFFFFu), 18446742974197923840.0f);
  EXPECT_EQ(__ull2double_ru(0xFFFFFFFFFFFFFFFFu), 18446744073709551616.0);
}

}  // namespace
