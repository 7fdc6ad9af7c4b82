// The segment arithmetic, stated once for the library, the CUDA kernels and whoever fuses the pass into a
// kernel of their own.
//
// A context of L tokens is cut into S_eff = min(S, L) segments:
//
//     e_s      = ceil(s * L / S_eff)     the edge of segment s: its first token
//     sigma(x) = floor(x * S_eff / L)    the segment that token offset x lies in
//
// The two are inverse in the sense that sigma(e_s) = s for every segment. Rounding the edge down instead of
// up breaks that: L = 10, S = 4 gives floor 2 for e_1, and sigma(2) = 0.
//
// C++17, no dependency, usable from device code. Every function here is exact: no floating point and no
// product that can wrap. All are O(1) but SegmentReciprocal::by_long_division, allocate nothing and may be
// called from any thread. What they require of their arguments is checked where KVWITNESS_ASSERTIONS is on
// (assertions.h). Throughout, n is S_eff. Source of the rule: vllm-project/vllm#47942.
#ifndef KVWITNESS_SEGMENTS_H
#define KVWITNESS_SEGMENTS_H

#include <kvwitness/assertions.h>

#include <cstdint>

#if defined(__CUDA_ARCH__)
#define KVWITNESS_NO_UNROLL _Pragma("unroll 1")
#else
#define KVWITNESS_NO_UNROLL
#endif

namespace kvwitness {

// The largest segment count of apply and scatter: one bit a segment in a 64-bit occupancy mask.
inline constexpr std::uint64_t kMaxMergeSegments = 64;

// Tokens and lengths that int32 holds are below this.
inline constexpr std::uint64_t kInt32Limit = std::uint64_t{1} << 31;

// S_eff = min(S, L), with an empty context read as one token long. 0 where num_segments is 0.
//
// @param context_len   L in tokens
// @param num_segments  S
KVWITNESS_HOST_DEVICE constexpr std::uint64_t effective_segments(std::uint64_t context_len,
                                                                 std::uint64_t num_segments) noexcept {
  const std::uint64_t len = context_len == 0 ? 1 : context_len;
  return num_segments < len ? num_segments : len;
}

namespace detail {

#if defined(__SIZEOF_INT128__)
__extension__ typedef unsigned __int128 Uint128;  // an extension that -pedantic would report
#endif

struct Product128 {
  std::uint64_t high;
  std::uint64_t low;
};

// a * b in full, by four 32-bit products: the same text for every compiler, host and device.
KVWITNESS_HOST_DEVICE constexpr Product128 multiply(std::uint64_t a, std::uint64_t b) noexcept {
  constexpr std::uint64_t kLow = 0xFFFFFFFFu;
  const std::uint64_t a0 = a & kLow, a1 = a >> 32, b0 = b & kLow, b1 = b >> 32;
  const std::uint64_t low = a0 * b0;
  const std::uint64_t middle = a1 * b0 + (low >> 32);     // below 2^64: (2^32-1)^2 + 2^32-1
  const std::uint64_t carry = a0 * b1 + (middle & kLow);  // likewise
  return {a1 * b1 + (middle >> 32) + (carry >> 32), (carry << 32) | (low & kLow)};
}

struct Quotient {
  std::uint64_t value;
  bool inexact;
};

// floor((high * 2^64 + low) / divisor) and whether a remainder is left.
//
// @param dividend  high * 2^64 + low
// @param divisor   above dividend.high, so that the quotient fits
KVWITNESS_HOST_DEVICE constexpr Quotient divide(Product128 dividend, std::uint64_t divisor) noexcept {
  KVWITNESS_ASSERT(dividend.high < divisor, dividend.high, divisor);
  if (dividend.high == 0) {
    return {dividend.low / divisor, dividend.low % divisor != 0};
  }
  std::uint64_t remainder = dividend.high;  // below divisor throughout
  std::uint64_t quotient = 0;
  for (int bit = 63; bit >= 0; --bit) {
    const bool carry = (remainder >> 63) != 0;
    remainder = (remainder << 1) | ((dividend.low >> bit) & 1u);
    if (carry || remainder >= divisor) {
      remainder -= divisor;
      quotient |= std::uint64_t{1} << bit;
    }
  }
  return {quotient, remainder != 0};
}

// Whether a context whose tokens int32 holds can be cut into n segments; and into so few that a mask has a
// bit for each.
KVWITNESS_HOST_DEVICE constexpr bool is_int32_partition(std::uint64_t context_len,
                                                        std::uint64_t effective_segments) noexcept {
  return effective_segments >= 1 && effective_segments <= context_len && context_len < kInt32Limit;
}
KVWITNESS_HOST_DEVICE constexpr bool is_masked_partition(std::uint64_t context_len,
                                                         std::uint64_t effective_segments) noexcept {
  return is_int32_partition(context_len, effective_segments) && effective_segments <= kMaxMergeSegments;
}

}  // namespace detail

// sigma(token) = floor(token * S_eff / L), not clamped: a token at or past the context's end gets a number
// of S_eff or more. Exact for every input; the result is at most `token`.
//
// @param token         offset in tokens
// @param context_len   L in tokens; 0 is read as 1
// @param num_segments  S; the result is 0 where it is 0
KVWITNESS_HOST_DEVICE constexpr std::uint64_t segment_of(std::uint64_t token, std::uint64_t context_len,
                                                         std::uint64_t num_segments) noexcept {
  const std::uint64_t len = context_len == 0 ? 1 : context_len;
  const std::uint64_t segments = effective_segments(context_len, num_segments);
  if (segments == len) {
    return token;  // each token its own segment
  }
  // segments < len and token < 2^64, so the product's high word is below len and the quotient fits 64 bits.
  return detail::divide(detail::multiply(token, segments), len).value;
}

// e_s = ceil(s * L / S_eff), the first token of segment s. From s = S_eff on it is L, the end of the last
// segment.
//
// @param segment       s
// @param context_len   L in tokens; 0 is read as 1
// @param num_segments  S; the result is 0 where it is 0
KVWITNESS_HOST_DEVICE constexpr std::uint64_t segment_edge(std::uint64_t segment, std::uint64_t context_len,
                                                           std::uint64_t num_segments) noexcept {
  const std::uint64_t len = context_len == 0 ? 1 : context_len;
  const std::uint64_t segments = effective_segments(context_len, num_segments);
  if (segments == 0) {
    return 0;
  }
  if (segment >= segments) {
    return len;
  }
  // segment < segments, so the product's high word is below segments; the ceiling is at most len.
  const detail::Quotient quotient = detail::divide(detail::multiply(segment, len), segments);
  return quotient.value + (quotient.inexact ? 1u : 0u);
}

// sigma for int32 tokens and lengths by one multiplication instead of a division:
//
//     M = floor(2^62 * n / L) + 1
//     sigma(x) = floor(x * M / 2^62) for every 0 <= x < 2^31 and 1 <= n <= L < 2^31.
//
// Proof. M * L = 2^62 * n + e with 1 <= e <= L. Write x * n = q * L + r with 0 <= r <= L - 1, so
// q = sigma(x). Then:
//
//     x * M / 2^62 = q + (r + x * e / 2^62) / L
//
// Its floor is q exactly when r + x * e / 2^62 < L. Since r <= L - 1, x * e < 2^62 suffices, and that
// follows from x < 2^31 and e <= L < 2^31. The bound is needed: at n = 64, L = 2628965051 > 2^31, the token
// x = 2094956525 gets segment 51 and lies in segment 50. M <= 2^62 + 1 because n <= L, so (x << 2) * M is a
// 64 x 64 product whose high word is the answer.
//
// Past the range of x the result is still monotone in x, for every x < 2^62: a token at or past the
// context's end never gets a number below n.
class SegmentReciprocal {
 public:
  // The range of the proof: tokens and lengths below 2^31.
  static constexpr std::uint64_t kTokenLimit = kInt32Limit;
  static constexpr std::uint64_t kContextLimit = kInt32Limit;

  // Two 64-bit divisions.
  //
  // @param context_len         L, n to 2^31 - 1 tokens
  // @param effective_segments  n, 1 or more
  KVWITNESS_HOST_DEVICE constexpr SegmentReciprocal(std::uint64_t context_len,
                                                    std::uint64_t effective_segments) noexcept
      // floor(2^62 * n / L): the quotient of 2^31 * n < 2^62 first, then that of its remainder times 2^31.
      : multiplier_((KVWITNESS_ASSERT(detail::is_int32_partition(context_len, effective_segments), context_len,
                                      effective_segments),
                     (((effective_segments << 31) / context_len) << 31) +
                         ((((effective_segments << 31) % context_len) << 31) / context_len) + 1)) {}

  // sigma(token), unclamped, for token < 2^31; a number of n or more for every other token below 2^62.
  KVWITNESS_HOST_DEVICE constexpr std::uint64_t segment_of(std::uint64_t token) const noexcept {
    KVWITNESS_ASSERT(token < std::uint64_t{1} << 62, token);
#if defined(__CUDA_ARCH__)
    return __umul64hi(token << 2, multiplier_);
#elif defined(__SIZEOF_INT128__)
    return static_cast<std::uint64_t>((static_cast<detail::Uint128>(token << 2) * multiplier_) >> 64);
#else
    return detail::multiply(token << 2, multiplier_).high;
#endif
  }

  KVWITNESS_HOST_DEVICE constexpr std::uint64_t multiplier() const noexcept { return multiplier_; }

  // The same object by one bit of the quotient at a time, in 32-bit steps: for processors without a
  // divider, where a rare row must not cost the common one a call.
  KVWITNESS_HOST_DEVICE static constexpr SegmentReciprocal by_long_division(std::uint32_t context_len,
                                                                            std::uint32_t effective_segments) noexcept {
    KVWITNESS_ASSERT(detail::is_int32_partition(context_len, effective_segments), context_len, effective_segments);
    const bool whole = effective_segments >= context_len;  // n = L, where the quotient has its 63rd bit
    std::uint32_t remainder = whole ? effective_segments - context_len : effective_segments;
    std::uint64_t quotient = whole ? 1 : 0;
    KVWITNESS_NO_UNROLL
    for (int bit = 0; bit < 62; ++bit) {
      remainder <<= 1;  // below 2^32: remainder < L < 2^31
      const bool goes = remainder >= context_len;
      remainder -= goes ? context_len : 0;
      quotient = (quotient << 1) | (goes ? 1u : 0u);
    }
    return SegmentReciprocal(quotient + 1);
  }

 private:
  KVWITNESS_HOST_DEVICE constexpr explicit SegmentReciprocal(std::uint64_t multiplier) noexcept
      : multiplier_(multiplier) {}

  std::uint64_t multiplier_;
};

namespace detail {

// The number of bits that value >= 1 takes: floor(log2(value)) + 1.
KVWITNESS_HOST_DEVICE constexpr std::uint32_t bit_width(std::uint32_t value) noexcept {
  KVWITNESS_ASSERT(value >= 1);
#if defined(__CUDA_ARCH__)
  return 32u - static_cast<std::uint32_t>(__clz(static_cast<int>(value)));
#elif defined(__GNUC__)
  return 32u - static_cast<std::uint32_t>(__builtin_clz(value));
#else
  std::uint32_t width = 0;
  for (std::uint32_t half = 16; half != 0; half >>= 1) {
    if ((value >> half) != 0) {
      value >>= half;
      width += half;
    }
  }
  return width + 1;
#endif
}

}  // namespace detail

// sigma by one 32 x 32 -> 64 bit product, where that is exact: the form for vector units and GPUs.
//
//     b = floor(log2(L / n))
//     k = 31 + b where L = n * 2^b, else 32 + b
//     M = floor(2^k * n / L) + 1
//     sigma(x) = floor(x * M / 2^k) for every x in [0, L) if (L - 1) * e < 2^k, where e = M * L - 2^k * n
//
// That is the argument of SegmentReciprocal, with 1 <= e <= L; exact() says whether the condition holds.
// M < 2^32: where L > n * 2^b, 2^k * n / L < 2^32, and where L = n * 2^b it is 2^31.
//
// The condition holds whenever n * L <= 2^31: 2^k > 2^31 * L / n >= L * L in the first case, and
// 2^k = 2^31 * L / n >= L * L in the second. Above that it depends on e. For n = 64 the first L that fails
// is 47458303, and at L = 47872575 the token 47124566 does get segment 63 and lies in segment 62. (The
// condition errs on the safe side: some L that fail it are exact all the same.)
//
// Whether exact or not, and for every 32-bit x at or above L: M > 2^k * n / L, so the result is at least n.
// A token past the context's end, and a negative one read as unsigned, never gets the number of a segment.
class NarrowSegmentReciprocal {
 public:
  // One 64-bit division.
  //
  // @param context_len         L, n to 2^31 - 1 tokens
  // @param effective_segments  n, 1 to 64
  KVWITNESS_HOST_DEVICE constexpr NarrowSegmentReciprocal(std::uint32_t context_len,
                                                          std::uint32_t effective_segments) noexcept
      : shift_((KVWITNESS_ASSERT(detail::is_masked_partition(context_len, effective_segments), context_len,
                                 effective_segments),
                choose_shift(context_len, effective_segments))),
        multiplier_(static_cast<std::uint32_t>((std::uint64_t{effective_segments} << shift_) / context_len + 1)),
        exact_((context_len - std::uint64_t{1}) * excess(context_len, effective_segments) <
               (std::uint64_t{1} << shift_)) {}

  // Whether segment_of is sigma for every token of the context.
  KVWITNESS_HOST_DEVICE constexpr bool exact() const noexcept { return exact_; }

  // sigma(token), unclamped, for token < L where exact(); a number of n or more for every token from L on.
  // The result takes more than 32 bits for some tokens outside a context of n = L.
  KVWITNESS_HOST_DEVICE constexpr std::uint64_t segment_of(std::uint32_t token) const noexcept {
    return (std::uint64_t{token} * multiplier_) >> shift_;
  }

  // M and k. k is at least 32, so that the segment is the product's high word shifted by k - 32, unless
  // n = L, where k is 31 and sigma(x) = x.
  KVWITNESS_HOST_DEVICE constexpr std::uint32_t multiplier() const noexcept { return multiplier_; }
  KVWITNESS_HOST_DEVICE constexpr std::uint32_t shift() const noexcept { return shift_; }

 private:
  KVWITNESS_HOST_DEVICE static constexpr std::uint32_t choose_shift(std::uint32_t context_len,
                                                                    std::uint32_t effective_segments) noexcept {
    std::uint32_t ratio = detail::bit_width(context_len) - detail::bit_width(effective_segments);
    if ((std::uint64_t{effective_segments} << ratio) > context_len) {
      --ratio;
    }
    return (std::uint64_t{effective_segments} << ratio) == context_len ? 31 + ratio : 32 + ratio;
  }

  // e = M * L - 2^k * n. Both are below 2^63 + 2^31: 2^k * n < 2^32 * L.
  KVWITNESS_HOST_DEVICE constexpr std::uint64_t excess(std::uint32_t context_len,
                                                       std::uint32_t effective_segments) const noexcept {
    return std::uint64_t{multiplier_} * context_len - (std::uint64_t{effective_segments} << shift_);
  }

  std::uint32_t shift_;
  std::uint32_t multiplier_;
  bool exact_;
};

namespace detail {

// The high word of a 32 x 32 product.
KVWITNESS_HOST_DEVICE constexpr std::uint32_t multiply_high(std::uint32_t a, std::uint32_t b) noexcept {
#if defined(__CUDA_ARCH__)
  return __umulhi(a, b);
#else
  return static_cast<std::uint32_t>((static_cast<std::uint64_t>(a) * b) >> 32);
#endif
}

// w with 2^63 / d - 5 < w < 2^63 / d, without a division.
//
// Newton's iteration for the reciprocal from the linear start of least relative error, 48/17 - (32/17) * y
// for y = d / 2^32, which is off by 1/17 at most. A step squares the relative error and always ends below;
// three leave 17^-8 < 2^-32.7 of a value of at most 2^32, which is 0.62. The last step's roundings add
// below 4: ~t is at most 2 below 2^32 - w * d / 2^32, which costs w / 2^31 < 2 each, and doubling the
// truncated product loses less than 2. Complementing t instead of negating it keeps every step below the
// exact value.
//
// @param d  2^31 to 2^32 - 1
KVWITNESS_HOST_DEVICE constexpr std::uint32_t reciprocal_below(std::uint32_t d) noexcept {
  KVWITNESS_ASSERT(d >= kInt32Limit, d);
  constexpr std::uint32_t kStart = 1768515945u;  // 2^31 * 48 / 17, less 2^32: the difference below is back in range
  constexpr std::uint32_t kSlope = 4042322161u;  // 2^31 * 32 / 17
  std::uint32_t w = kStart - multiply_high(d, kSlope);
  w = multiply_high(w, ~multiply_high(w, d)) << 1;
  w = multiply_high(w, ~multiply_high(w, d)) << 1;
  return multiply_high(w, ~multiply_high(w, d)) << 1;
}

}  // namespace detail

// sigma by the high word of one 52 x 52 bit product, with no shift: the form for AVX-512 IFMA, and for
// contexts of up to 2^26 tokens that have more tokens than segments:
//
//     M = floor(2^52 * n / L) + 1
//     sigma(x) = floor(x * M / 2^52) for every x in [0, L), where n < L <= 2^26
//
// M * L = 2^52 * n + e with 1 <= e <= L, and by the argument of SegmentReciprocal (L - 1) * e < 2^52
// suffices, which L <= 2^26 gives. M < 2^52 because n < L, so that 2^52 * n / L <= 2^52 - 2^52 / L. A token
// at or past the context's end, up to 2^32 - 1, never gets a number below n, since M > 2^52 * n / L; nor
// one of more than 32 bits.
class SegmentReciprocal52 {
 public:
  static constexpr std::uint32_t kContextLimit = std::uint32_t{1} << 26;  // the longest context

  // Whether a row of L >= 1 tokens in n >= 1 segments is in the range.
  KVWITNESS_HOST_DEVICE static constexpr bool covers(std::uint32_t context_len,
                                                     std::uint32_t effective_segments) noexcept {
    return effective_segments < context_len && context_len <= kContextLimit;
  }

  // For arguments that covers(). One 64-bit division.
  KVWITNESS_HOST_DEVICE constexpr SegmentReciprocal52(std::uint32_t context_len,
                                                      std::uint32_t effective_segments) noexcept
      : multiplier_((KVWITNESS_ASSERT(effective_segments >= 1 && covers(context_len, effective_segments), context_len,
                                      effective_segments),
                     (std::uint64_t{effective_segments} << 52) / context_len + 1)) {}

  // sigma(token) for token < L; a number of at least n for every other.
  KVWITNESS_HOST_DEVICE constexpr std::uint64_t segment_of(std::uint32_t token) const noexcept {
    const detail::Product128 product = detail::multiply(token, multiplier_);
    return (product.high << 12) | (product.low >> 52);
  }

  KVWITNESS_HOST_DEVICE constexpr std::uint64_t multiplier() const noexcept { return multiplier_; }

 private:
  std::uint64_t multiplier_;
};

// NarrowSegmentReciprocal without a division to set up, for processors that have no divider: the high word
// of one 32 x 32 product and a shift, for contexts of up to some millions of tokens and of more bits than
// n.
//
// Let b(v) be the number of bits of v, k = 31 + b(L) - b(n) >= 32 and T = 2^k * n / L. For an integer M in
// (T, T + 6]:
//
//     sigma(x) = floor(x * M / 2^k) for every 0 <= x < L, where 6 * L * 2^b(n) <= 2^31
//
// M * L = 2^k * n + e with 0 < e <= 6 * L, and by the argument of SegmentReciprocal x * e < 2^k suffices:
// x * e < 6 * L^2 < 6 * L * 2^b(L), which the condition keeps at or below 2^k. A token at or past the
// context's end, up to 2^32 - 1, never gets a number below n, since M > T.
//
// M comes from a lower bound w of 2^63 / (L << (32 - b(L))) that is off by less than 5:
// floor(n * w / 2^b(n)) lies in (T - 6, T), because n < 2^b(n). M fits 32 bits: T <= 2^32 - 2^(32 - b(n)).
class NewtonSegmentReciprocal {
 public:
  // Whether the proof covers a row of L tokens in n segments, for 1 <= n <= L < 2^31.
  KVWITNESS_HOST_DEVICE static constexpr bool covers(std::uint32_t context_len,
                                                     std::uint32_t effective_segments) noexcept {
    KVWITNESS_ASSERT(detail::is_int32_partition(context_len, effective_segments), context_len, effective_segments);
    const std::uint32_t segment_bits = detail::bit_width(effective_segments);
    return detail::bit_width(context_len) > segment_bits &&
           context_len <= ((std::uint32_t{1} << 31) / 6 >> segment_bits);
  }

  // 1 <= n <= L < 2^31. Arguments that covers() refuses give an object that means nothing.
  KVWITNESS_HOST_DEVICE constexpr NewtonSegmentReciprocal(std::uint32_t context_len,
                                                          std::uint32_t effective_segments) noexcept
      : multiplier_(multiplier_of(context_len, effective_segments)),
        shift_((detail::bit_width(context_len) - detail::bit_width(effective_segments) - 1) & 31u) {}

  // sigma(token) for token < L; a number of at least n for every other.
  KVWITNESS_HOST_DEVICE constexpr std::uint32_t segment_of(std::uint32_t token) const noexcept {
    return detail::multiply_high(token, multiplier_) >> shift_;
  }

 private:
  KVWITNESS_HOST_DEVICE static constexpr std::uint32_t multiplier_of(std::uint32_t context_len,
                                                                     std::uint32_t effective_segments) noexcept {
    const std::uint32_t normalised = context_len << ((32u - detail::bit_width(context_len)) & 31u);
    const std::uint64_t product = static_cast<std::uint64_t>(effective_segments) * detail::reciprocal_below(normalised);
    return static_cast<std::uint32_t>(product >> (detail::bit_width(effective_segments) & 31u)) + 6;
  }

  std::uint32_t multiplier_;
  std::uint32_t shift_;  // k - 32
};

// floor(x / d) for a divisor d that is fixed in advance, by one product and one correction.
//
// With M = floor((2^64 - 1) / d) > (2^64 - 1) / d - 1 and x < 2^63:
//
//     x * M / 2^64 > x / d - x * (1 + 1/d) / 2^64 >= x / d - 1
//
// So the product's high word is the quotient or one less, and the remainder tells which.
class FixedDivisor {
 public:
  // One 64-bit division. divisor >= 1.
  KVWITNESS_HOST_DEVICE constexpr explicit FixedDivisor(std::uint64_t divisor) noexcept
      : divisor_((KVWITNESS_ASSERT(divisor >= 1), divisor)), reciprocal_(~std::uint64_t{0} / divisor) {}

  // floor(x / divisor), for x < 2^63.
  KVWITNESS_HOST_DEVICE constexpr std::uint64_t quotient(std::uint64_t x) const noexcept {
    KVWITNESS_ASSERT(x < std::uint64_t{1} << 63, x);
#if defined(__CUDA_ARCH__)
    const std::uint64_t estimate = __umul64hi(x, reciprocal_);
#else
    const std::uint64_t estimate = detail::multiply(x, reciprocal_).high;
#endif
    return estimate + (x - estimate * divisor_ >= divisor_ ? 1u : 0u);
  }

  KVWITNESS_HOST_DEVICE constexpr std::uint64_t divisor() const noexcept { return divisor_; }

 private:
  std::uint64_t divisor_;
  std::uint64_t reciprocal_;
};

// Edges of one row by multiplication instead of a division each, for at most 64 segments and int32 lengths.
//
// With L = q * n + r and 0 <= r < n:
//
//     e_s = ceil(s * L / n) = s * q + ceil(s * r / n) = s * q + floor((s * r + n - 1) / n)
//
// The last term's dividend a is at most 64 * 63 + 63 < 2^12, and floor(a / n) = floor(a * m / 2^18) with
// m = floor(2^18 / n) + 1: m * n = 2^18 + e with 1 <= e <= n <= 2^6, so the error a * e stays below 2^18,
// by the argument of SegmentReciprocal. a * m < 2^31 fits 32 bits.
class SegmentEdges {
 public:
  // Three 32-bit divisions.
  //
  // @param context_len         L, n to 2^31 - 1 tokens
  // @param effective_segments  n, 1 to 64
  KVWITNESS_HOST_DEVICE constexpr SegmentEdges(std::uint32_t context_len, std::uint32_t effective_segments) noexcept
      : segments_((KVWITNESS_ASSERT(detail::is_masked_partition(context_len, effective_segments), context_len,
                                    effective_segments),
                   effective_segments)),
        quotient_(context_len / effective_segments),
        remainder_(context_len % effective_segments),
        multiplier_((std::uint32_t{1} << 18) / effective_segments + 1) {}

  // e_s for segment <= n. From there to 64 the result is defined (nothing overflows) and means nothing.
  KVWITNESS_HOST_DEVICE constexpr std::uint32_t edge(std::uint32_t segment) const noexcept {
    KVWITNESS_ASSERT(segment <= kMaxMergeSegments, segment);
    return segment * quotient_ + ((segment * remainder_ + segments_ - 1) * multiplier_ >> 18);
  }

  // The terms of edge(), for vector units. It is:
  //
  //     segment * quotient() + ((segment * remainder() + n - 1) * multiplier() >> 18)
  KVWITNESS_HOST_DEVICE constexpr std::uint32_t quotient() const noexcept { return quotient_; }
  KVWITNESS_HOST_DEVICE constexpr std::uint32_t remainder() const noexcept { return remainder_; }
  KVWITNESS_HOST_DEVICE constexpr std::uint32_t multiplier() const noexcept { return multiplier_; }

 private:
  friend class SegmentCount;
  KVWITNESS_HOST_DEVICE constexpr SegmentEdges(std::uint32_t segments, std::uint32_t quotient, std::uint32_t remainder,
                                               std::uint32_t multiplier) noexcept
      : segments_(segments), quotient_(quotient), remainder_(remainder), multiplier_(multiplier) {}

  std::uint32_t segments_;
  std::uint32_t quotient_;
  std::uint32_t remainder_;
  std::uint32_t multiplier_;
};

// A segment count S of 1 to 64 with its divisions done once for all rows (on the host, or by the compiler
// where S is a constant): the rows then need none.
class SegmentCount {
 public:
  // Two 32-bit divisions. 1 <= num_segments <= 64.
  KVWITNESS_HOST_DEVICE constexpr explicit SegmentCount(std::uint32_t num_segments) noexcept
      : num_segments_(
            (KVWITNESS_ASSERT(num_segments >= 1 && num_segments <= kMaxMergeSegments, num_segments), num_segments)),
        reciprocal_(~std::uint32_t{0} / num_segments),
        edge_multiplier_((std::uint32_t{1} << 18) / num_segments + 1) {}

  KVWITNESS_HOST_DEVICE constexpr std::uint32_t num_segments() const noexcept { return num_segments_; }

  // SegmentEdges(context_len, min(S, context_len)), for 1 <= context_len < 2^31. The quotient is that of
  // FixedDivisor, in 32-bit words. Where L < S every remainder is 0 and every edge e_s = s, since S's
  // multiplier divides any number below S to 0.
  KVWITNESS_HOST_DEVICE constexpr SegmentEdges edges(std::uint32_t context_len) const noexcept {
    KVWITNESS_ASSERT(context_len >= 1 && context_len < kInt32Limit, context_len);
    if (context_len < num_segments_) {
      return SegmentEdges(context_len, 1, 0, edge_multiplier_);
    }
    const std::uint32_t estimate = detail::multiply_high(context_len, reciprocal_);
    const std::uint32_t remainder = context_len - estimate * num_segments_;
    const bool short_by_one = remainder >= num_segments_;
    return SegmentEdges(num_segments_, estimate + (short_by_one ? 1u : 0u),
                        remainder - (short_by_one ? num_segments_ : 0u), edge_multiplier_);
  }

 private:
  std::uint32_t num_segments_;
  std::uint32_t reciprocal_;
  std::uint32_t edge_multiplier_;
};

}  // namespace kvwitness

#endif  // KVWITNESS_SEGMENTS_H
