// The row pass on vectors: one body for every instruction set. Highway includes this file once for each of them.
//
// A row's occupancy is a set, so its slots may be read in any order and more than once. A row is read from both ends in turn at first,
// because a row in score order is clustered at its head and spread at its tail, so that the two together show most segments early; then
// straight through what is left. Each stretch of it is either
//  - marked: each token's segment by multiplication, its bit by a variable shift, all bits ORed; or
//  - hunted: once the missing segments form a few runs of neighbours, it is only searched for a token inside one of those runs, by a
//    subtraction and an unsigned minimum a run. Where one is found, the stretch is marked.
// The pass ends as soon as no segment is missing.
#include "lib/src/simd/compiled_in.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "lib/src/simd/vector_row_pass.cc"
// Highway's variants of SVE for one register width bring nothing here.
#ifndef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (HWY_SVE_256 | HWY_SVE2_128)
#endif
#include <hwy/foreach_target.h>
// After foreach_target.h.
#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kvwitness/segments.h"
#include "lib/src/row.h"
#include "lib/src/scalar.h"

HWY_BEFORE_NAMESPACE();
namespace kvwitness::detail {
namespace HWY_NAMESPACE {
// Without vectors there is the scalar backend, which needs no Highway.
#if HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128

namespace hn = hwy::HWY_NAMESPACE;

// Vectors of 32-bit and 64-bit lanes, at most 1,024 bits. No vector is a member: those of SVE have no size.
constexpr std::size_t kMaxLanes = 32;
using Tokens = hn::CappedTag<std::uint32_t, kMaxLanes>;
using SignedTokens = hn::RebindToSigned<Tokens>;
using Words = hn::RepartitionToWide<Tokens>;
using TokenVector = hn::Vec<Tokens>;
using SignedVector = hn::Vec<SignedTokens>;
using WordVector = hn::Vec<Words>;

// Vectors that a loop takes at a time.
constexpr std::size_t kUnrolled = 4;
// Rows are read in stretches of whole blocks.
constexpr std::size_t kBlockTokens = kUnrolled * kMaxLanes;
// The blocks that are read from both ends in turn; on rows of a real model a few more or fewer cost up to a tenth.
constexpr std::size_t kEndVisits = 3;
// A block of evenly spread tokens shows so many segments mostly; of more, the first stretch is two blocks.
constexpr std::uint32_t kFewSegments = 32;
// The longest stretches of the rest, in tokens: a look at the missing segments costs as much as marking some 30 tokens.
constexpr std::size_t kMarkedStretch = 4 * kBlockTokens;
constexpr std::size_t kFirstHuntedStretch = 2 * kBlockTokens;  // doubled after each hunt that finds nothing

HWY_INLINE TokenVector load(const std::int32_t* slot) {
  return hn::BitCast(Tokens(), hn::LoadU(SignedTokens(), slot));
}

// Moves the odd-numbered tokens to even lanes.
HWY_INLINE TokenVector odd_to_even(TokenVector tokens) {
  return hn::BitCast(Tokens(), hn::ShiftRight<32>(hn::BitCast(Words(), tokens)));
}

// sigma by one product a token: where NarrowSegmentReciprocal is exact.
class NarrowSegments {
 public:
  explicit HWY_INLINE NarrowSegments(NarrowSegmentReciprocal reciprocal)
      : multiplier_(reciprocal.multiplier()), shift_(reciprocal.shift()) {}

  HWY_INLINE std::uint32_t multiplier() const { return multiplier_; }
  HWY_INLINE std::uint32_t shift() const { return shift_; }

  HWY_INLINE TokenVector first_factor() const { return hn::Set(Tokens(), multiplier_); }
  HWY_INLINE TokenVector second_factor() const { return hn::BitCast(Tokens(), hn::Set(Words(), shift_)); }

  // The segments of the even-numbered tokens.
  HWY_INLINE WordVector of_even(TokenVector tokens, TokenVector multiplier, TokenVector shift) const {
    const WordVector product = hn::MulEven(tokens, multiplier);
#if HWY_TARGET == HWY_SSSE3 || HWY_TARGET == HWY_SSE4  // no shift of each lane by its own count
    (void)shift;
    return hn::ShiftRightSame(product, static_cast<int>(shift_));
#else
    return hn::Shr(product, hn::BitCast(Words(), shift));
#endif
  }

 private:
  std::uint32_t multiplier_;
  std::uint32_t shift_;
};

// sigma by two products a token: for every length below 2^31. With M = high * 2^32 + low, floor(x * M / 2^62) = floor((x * high +
// floor(x * low / 2^32)) / 2^30). high is at most 2^30, so the sum stays below 2^63 for every 32-bit x.
class WideSegments {
 public:
  explicit HWY_INLINE WideSegments(SegmentReciprocal reciprocal) : multiplier_(reciprocal.multiplier()) {}

  HWY_INLINE TokenVector first_factor() const { return hn::Set(Tokens(), static_cast<std::uint32_t>(multiplier_)); }
  HWY_INLINE TokenVector second_factor() const {
    return hn::Set(Tokens(), static_cast<std::uint32_t>(multiplier_ >> 32));
  }

  HWY_INLINE WordVector of_even(TokenVector tokens, TokenVector low, TokenVector high) const {
    const WordVector carry = hn::ShiftRight<32>(hn::MulEven(tokens, low));
    return hn::ShiftRight<30>(hn::Add(hn::MulEven(tokens, high), carry));
  }

 private:
  std::uint64_t multiplier_;
};

// 2^segment, and 0 for a segment of 64 or more.
HWY_INLINE WordVector one_hot(WordVector segment) {
  const Words d;
  const WordVector one = hn::Set(d, 1);
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  return hn::Shl(one, segment);  // the instruction gives 0 for such counts
#else
  // Elsewhere such a count is undefined. Segments stay below 2^34, so a signed comparison serves.
  const hn::RebindToSigned<Words> signed_d;
  const auto within = hn::RebindMask(d, hn::Lt(hn::BitCast(signed_d, segment), hn::Set(signed_d, 64)));
  return hn::IfThenElseZero(within, hn::Shl(one, hn::IfThenElseZero(within, segment)));
#endif
}

HWY_INLINE std::uint64_t or_of_lanes(WordVector value) {
#if HWY_HAVE_SCALABLE
  HWY_ALIGN std::uint64_t lanes[hn::MaxLanes(Words())];
  hn::Store(value, Words(), lanes);
  std::uint64_t all = 0;
  for (std::size_t lane = 0; lane < hn::Lanes(Words()); ++lane) {
    all |= lanes[lane];
  }
  return all;
#elif HWY_TARGET == HWY_AVX3
  const hn::Half<Words> half;
  const hn::Half<hn::Half<Words>> quarter;
  const auto four = hn::Or(hn::LowerHalf(half, value), hn::UpperHalf(half, value));
  const auto two = hn::Or(hn::LowerHalf(quarter, four), hn::UpperHalf(quarter, four));
  return hn::GetLane(hn::Or(two, hn::Shuffle01(two)));
#elif HWY_TARGET == HWY_AVX2
  const hn::Half<Words> half;
  const auto two = hn::Or(hn::LowerHalf(half, value), hn::UpperHalf(half, value));
  return hn::GetLane(hn::Or(two, hn::Shuffle01(two)));
#else
  return hn::GetLane(hn::Or(value, hn::Shuffle01(value)));
#endif
}

HWY_INLINE bool any_at_most(TokenVector tokens, std::uint32_t bound) {
  const Tokens d;
  return !hn::AllFalse(d, hn::Eq(hn::Min(tokens, hn::Set(d, bound)), tokens));
}

HWY_INLINE bool any_above(TokenVector tokens, std::uint32_t bound) {
  const Tokens d;
  return !hn::AllTrue(d, hn::Eq(hn::Min(tokens, hn::Set(d, bound)), tokens));
}

HWY_INLINE bool any_at_least(SignedVector tokens, std::int32_t bound) {
  const SignedTokens d;
  return !hn::AllFalse(d, hn::Eq(hn::Max(tokens, hn::Set(d, bound)), tokens));
}

// What marking some slots yields.
struct Marks {
  std::uint64_t segments;  // bit s for each token in segment s < 64; bits at S_eff and above are noise
  bool past_end;           // whether a token was at or past the context's end; false where that was not asked for
};

// Adds the bits of a vector's tokens; `odd_tokens` has the odd-numbered ones in even lanes.
template <bool kFindPastEnd, class Segments>
HWY_INLINE void mark_vector(const Segments& segments, TokenVector first_factor, TokenVector second_factor,
                            TokenVector tokens, TokenVector odd_tokens, WordVector& marks, SignedVector& largest) {
  marks = hn::Or3(marks, one_hot(segments.of_even(tokens, first_factor, second_factor)),
                  one_hot(segments.of_even(odd_tokens, first_factor, second_factor)));
  if constexpr (kFindPastEnd) {
    largest = hn::Max(largest, hn::BitCast(SignedTokens(), tokens));
  }
}

// Whole blocks. Not inlined: the loop needs the registers, and is called from many places.
template <bool kFindPastEnd, class Segments>
HWY_NOINLINE Marks mark_blocks(const Segments& segments, std::int32_t context_len, const std::int32_t* slots,
                               std::size_t count) {
  const std::size_t lanes = hn::Lanes(Tokens());
  const TokenVector first = segments.first_factor();
  const TokenVector second = segments.second_factor();
  // Two of each, for every other vector: an operation on one alone would wait for the one before it.
  WordVector marks0 = hn::Zero(Words()), marks1 = marks0;
  SignedVector largest0 = hn::Set(SignedTokens(), -1), largest1 = largest0;
  // A second load, one slot on, moves the odd tokens to even lanes on a unit that is idle; the last vector's would read past the slots.
  const std::int32_t* const last = slots + count - lanes;
  for (; slots < last - lanes; slots += 2 * lanes) {
    mark_vector<kFindPastEnd>(segments, first, second, load(slots), load(slots + 1), marks0, largest0);
    mark_vector<kFindPastEnd>(segments, first, second, load(slots + lanes), load(slots + lanes + 1), marks1, largest1);
  }
  const TokenVector tokens = load(last);
  mark_vector<kFindPastEnd>(segments, first, second, load(slots), load(slots + 1), marks0, largest0);
  mark_vector<kFindPastEnd>(segments, first, second, tokens, odd_to_even(tokens), marks1, largest1);
  return {or_of_lanes(hn::Or(marks0, marks1)),
          kFindPastEnd && any_at_least(hn::Max(largest0, largest1), context_len)};
}

// Fewer slots than a block: whole vectors, the last of which may overlap the one before it.
template <class Segments>
HWY_INLINE Marks mark_few(const Segments& segments, std::int32_t context_len, const std::int32_t* slots,
                          std::size_t count) {
  const std::size_t lanes = hn::Lanes(Tokens());
  HWY_ALIGN std::int32_t padded[hn::MaxLanes(Tokens())];
  if (count < lanes) {
    std::fill_n(padded, lanes, -1);
    std::copy_n(slots, count, padded);
    slots = padded;
    count = lanes;
  }
  const TokenVector first = segments.first_factor();
  const TokenVector second = segments.second_factor();
  WordVector marks = hn::Zero(Words());
  SignedVector largest = hn::Set(SignedTokens(), -1);
  for (std::size_t slot = 0; slot < count; slot += lanes) {
    const TokenVector tokens = load(slots + std::min(slot, count - lanes));
    marks = hn::Or(marks, one_hot(segments.of_even(tokens, first, second)));
    marks = hn::Or(marks, one_hot(segments.of_even(odd_to_even(tokens), first, second)));
    largest = hn::Max(largest, hn::BitCast(SignedTokens(), tokens));
  }
  return {or_of_lanes(marks), any_at_least(largest, context_len)};
}

// A row with a context, taken apart.
struct RowShape {
  HWY_INLINE RowShape(std::int32_t context_len, std::size_t num_segments)
      : length(static_cast<std::uint32_t>(context_len)),
        segments(std::min(static_cast<std::uint32_t>(num_segments), length)),
        all_segments(~std::uint64_t{0} >> (64 - segments)),
        past_end_segment(segments == num_segments ? std::uint64_t{1} << (segments - 1) : 0) {}

  std::uint32_t length;            // L, below 2^31
  std::uint32_t segments;          // S_eff
  std::uint64_t all_segments;      // one bit each
  std::uint64_t past_end_segment;  // the bit that a token at or past L marks: segment S - 1, where the partition has it
};

// A run of missing segments as the interval of its tokens, [first, first + last_distance].
struct TokenRun {
  std::uint32_t first;
  std::uint32_t last_distance;
};

// With more missing runs than this, marking is cheaper.
constexpr int kMaxHuntedRuns = 2;

// A hunt for many runs: each token's segment as a byte, looked up in a table of the missing ones. It takes two thirds of the instructions
// of marking, and on processors without a shift of each lane by its own count a fifth.
#if HWY_ARCH_X86
#define KVWITNESS_HUNTS_BY_TABLE 1
#else
#define KVWITNESS_HUNTS_BY_TABLE 0
#endif

// With k = 32 + shift and M = floor(2^k * n / L) + 1 < 2^31, the high word of x * M is the segment of x with `shift` bits of its fraction
// below it. A shift of 8 at most leaves room in 16 bits: 127 and a fraction are below 2^15, where larger ones are cut off.
struct SegmentTable {
  std::uint32_t multiplier;
  int shift;
  // Bit h of entry l: whether segment 16 * h + l is missing. Bits 4 to 7 stand for numbers above 63, and are set where tokens past the
  // context's end count; then padding is found too: a needless mark, never a missed one.
  alignas(16) std::uint8_t missing[16];
};

#if KVWITNESS_HUNTS_BY_TABLE

// Fills in the multiplier and the shift; false where the segments do not fit or (L - 1) * e < 2^k, as in NarrowSegmentReciprocal, fails.
// They fit from L = 4 * n on, and hold for every L below 2^20.
HWY_INLINE bool fit_bytes(const NarrowSegments& segments, const RowShape& shape, SegmentTable& table) {
  const int widest = static_cast<int>(segments.shift());
  table.shift = std::min(8, widest - 33);
  if (table.shift < 0) {
    return false;
  }
  const int shift = 32 + table.shift;
  // floor(floor(2^widest * n / L) / 2^(widest - k)) = floor(2^k * n / L); it halves a number below 2^32 at least once.
  table.multiplier = ((segments.multiplier() - 1) >> (widest - shift)) + 1;
  const std::uint64_t excess =
      std::uint64_t{table.multiplier} * shape.length - (std::uint64_t{shape.segments} << shift);
  return (shape.length - std::uint64_t{1}) * excess < std::uint64_t{1} << shift;
}

HWY_INLINE bool fit_bytes(const WideSegments&, const RowShape&, SegmentTable&) {
  return false;
}

using Bytes16 = hn::Full128<std::uint8_t>;

// Fills in the table's entries: bit h of entry l is bit 16 * h + l.
HWY_INLINE void tabulate(std::uint64_t missing, bool past_end_counts, SegmentTable& table) {
  const Bytes16 d;
  alignas(16) static constexpr std::uint8_t kByteOfEntry[16] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
  alignas(16) static constexpr std::uint8_t kBitOfEntry[16] = {1, 2, 4, 8, 16, 32, 64, 128,
                                                               1, 2, 4, 8, 16, 32, 64, 128};
  const auto words = hn::BitCast(d, hn::Set(hn::Full128<std::uint64_t>(), missing));
  auto entries = hn::Set(d, past_end_counts ? 0xF0 : 0);
  for (int group = 0; group < 4; ++group) {
    const auto index = hn::Add(hn::Load(d, kByteOfEntry), hn::Set(d, static_cast<std::uint8_t>(2 * group)));
    const auto is_missing = hn::TestBit(hn::TableLookupBytes(words, index), hn::Load(d, kBitOfEntry));
    entries = hn::Or(entries, hn::IfThenElseZero(is_missing, hn::Set(d, static_cast<std::uint8_t>(1 << group))));
  }
  hn::Store(entries, d, table.missing);
}

using Halves = hn::Repartition<std::uint16_t, Tokens>;
using SignedHalves = hn::RebindToSigned<Halves>;
using Bytes = hn::Repartition<std::uint8_t, Tokens>;

// The high words of both vectors' products, in some order.
HWY_INLINE SignedVector high_words(WordVector a, WordVector b) {
#if HWY_TARGET == HWY_AVX3
  return SignedVector{_mm512_castps_si512(
      _mm512_shuffle_ps(_mm512_castsi512_ps(a.raw), _mm512_castsi512_ps(b.raw), _MM_SHUFFLE(3, 1, 3, 1)))};
#elif HWY_TARGET == HWY_AVX2  // Highway's ConcatOdd keeps the order, for another instruction
  return SignedVector{_mm256_castps_si256(
      _mm256_shuffle_ps(_mm256_castsi256_ps(a.raw), _mm256_castsi256_ps(b.raw), _MM_SHUFFLE(3, 1, 3, 1)))};
#else
  const SignedTokens d;
  return hn::ConcatOdd(d, hn::BitCast(d, b), hn::BitCast(d, a));
#endif
}

// The lanes of both vectors as bytes, in some order; 255 for larger ones.
HWY_INLINE hn::Vec<Bytes> narrow(hn::Vec<Halves> a, hn::Vec<Halves> b) {
#if HWY_TARGET == HWY_AVX3
  return hn::Vec<Bytes>{_mm512_packus_epi16(a.raw, b.raw)};
#elif HWY_TARGET == HWY_AVX2
  return hn::Vec<Bytes>{_mm256_packus_epi16(a.raw, b.raw)};
#else
  return hn::Vec<Bytes>{_mm_packus_epi16(a.raw, b.raw)};
#endif
}

// The segments of two vectors of tokens, in 16 bits each.
HWY_INLINE hn::Vec<Halves> segments_of(TokenVector multiplier, int shift, TokenVector tokens0, TokenVector odd_tokens0,
                                       TokenVector tokens1, TokenVector odd_tokens1) {
  const SignedVector high0 = high_words(hn::MulEven(tokens0, multiplier), hn::MulEven(odd_tokens0, multiplier));
  const SignedVector high1 = high_words(hn::MulEven(tokens1, multiplier), hn::MulEven(odd_tokens1, multiplier));
  const auto both = hn::BitCast(Halves(), hn::ReorderDemote2To(SignedHalves(), high0, high1));
  return hn::ShiftRightSame(both, shift);
}

// Bits of missing segments, in the lanes of four vectors of tokens.
HWY_INLINE hn::Vec<Bytes> look_up(hn::Vec<Bytes> segments, hn::Vec<Bytes> missing) {
  const Bytes d;
  alignas(16) static constexpr std::uint8_t kBits[16] = {1, 2, 4, 8, 16, 32, 64, 128};
  // Numbers above 127 are cut down to 127, because the look-up gives 0 where the top bit is set. It looks at the lowest four bits.
  const auto low = hn::Min(segments, hn::Set(d, 127));
  const auto high = hn::And(hn::BitCast(d, hn::ShiftRight<4>(hn::BitCast(Halves(), low))), hn::Set(d, 15));
  return hn::And(hn::TableLookupBytes(missing, low), hn::TableLookupBytes(hn::LoadDup128(d, kBits), high));
}

#endif  // KVWITNESS_HUNTS_BY_TABLE

// The missing segments as what slots are searched for: some runs and, where both the first and the last segment are missing, all that
// lies outside of the interval between those two runs; or a table of them.
struct Hunt {
  TokenRun runs[kMaxHuntedRuns];
  TokenRun between_ends;
  SegmentTable table;
};

HWY_INLINE TokenVector distance_from(std::uint32_t minus_first, const std::int32_t* slot) {
  // Added rather than subtracted, so that the tokens can come straight from memory.
  return hn::Add(hn::Set(Tokens(), minus_first), load(slot));
}

// Whether whole blocks hold a token that is searched for. Where ends are, padding counts as one: a needless mark, never a missed one.
template <int kRuns, bool kBothEnds>
bool found_in_blocks(const Hunt& hunt, const std::int32_t* slots, std::size_t count) {
  const Tokens d;
  const std::size_t lanes = hn::Lanes(d);
  const std::uint32_t minus0 = kRuns >= 1 ? 0 - hunt.runs[0].first : 0;
  const std::uint32_t minus1 = kRuns >= 2 ? 0 - hunt.runs[1].first : 0;
  const std::uint32_t minus_between = kBothEnds ? 0 - hunt.between_ends.first : 0;
  // The smallest unsigned distance from each run's first token: within the run for its tokens, beyond it for all others. One for each of
  // the vectors of a step: fewer would be chains that wait for themselves.
  TokenVector near0 = hn::Set(d, ~std::uint32_t{0}), near1 = near0, near2 = near0, near3 = near0;
  TokenVector also_near0 = near0, also_near1 = near0, also_near2 = near0, also_near3 = near0;
  TokenVector far0 = hn::Zero(d), far1 = far0, far2 = far0, far3 = far0;
  for (const std::int32_t* const end = slots + count; slots != end; slots += kUnrolled * lanes) {
    if constexpr (kRuns >= 1) {
      near0 = hn::Min(near0, distance_from(minus0, slots));
      near1 = hn::Min(near1, distance_from(minus0, slots + lanes));
      near2 = hn::Min(near2, distance_from(minus0, slots + 2 * lanes));
      near3 = hn::Min(near3, distance_from(minus0, slots + 3 * lanes));
    }
    if constexpr (kRuns >= 2) {
      also_near0 = hn::Min(also_near0, distance_from(minus1, slots));
      also_near1 = hn::Min(also_near1, distance_from(minus1, slots + lanes));
      also_near2 = hn::Min(also_near2, distance_from(minus1, slots + 2 * lanes));
      also_near3 = hn::Min(also_near3, distance_from(minus1, slots + 3 * lanes));
    }
    if constexpr (kBothEnds) {
      far0 = hn::Max(far0, distance_from(minus_between, slots));
      far1 = hn::Max(far1, distance_from(minus_between, slots + lanes));
      far2 = hn::Max(far2, distance_from(minus_between, slots + 2 * lanes));
      far3 = hn::Max(far3, distance_from(minus_between, slots + 3 * lanes));
    }
  }
  bool found = false;
  if constexpr (kRuns >= 1) {
    found |= any_at_most(hn::Min(hn::Min(near0, near1), hn::Min(near2, near3)), hunt.runs[0].last_distance);
  }
  if constexpr (kRuns >= 2) {
    found |= any_at_most(hn::Min(hn::Min(also_near0, also_near1), hn::Min(also_near2, also_near3)),
                         hunt.runs[1].last_distance);
  }
  if constexpr (kBothEnds) {
    found |= any_above(hn::Max(hn::Max(far0, far1), hn::Max(far2, far3)), hunt.between_ends.last_distance);
  }
  return found;
}

using FoundInBlocks = bool (*)(const Hunt&, const std::int32_t*, std::size_t);

#if KVWITNESS_HUNTS_BY_TABLE

// Whether whole blocks hold a token of a segment in the table.
bool found_in_blocks_by_table(const Hunt& hunt, const std::int32_t* slots, std::size_t count) {
  static_assert(kUnrolled == 4);
  const std::size_t lanes = hn::Lanes(Tokens());
  const TokenVector multiplier = hn::Set(Tokens(), hunt.table.multiplier);
  const auto missing = hn::LoadDup128(Bytes(), hunt.table.missing);
  auto found = hn::Zero(Bytes());
  for (const std::int32_t* const end = slots + count; slots != end; slots += kUnrolled * lanes) {
    const TokenVector last = load(slots + 3 * lanes);  // one slot on would be past the end of the last step
    const auto segments01 = segments_of(multiplier, hunt.table.shift, load(slots), load(slots + 1), load(slots + lanes),
                                        load(slots + lanes + 1));
    const auto segments23 = segments_of(multiplier, hunt.table.shift, load(slots + 2 * lanes),
                                        load(slots + 2 * lanes + 1), last, odd_to_even(last));
    found = hn::Or(found, look_up(narrow(segments01, segments23), missing));
  }
  return !hn::AllTrue(Bytes(), hn::Eq(found, hn::Zero(Bytes())));
}

#endif  // KVWITNESS_HUNTS_BY_TABLE

// The hunt by table, or null where it is not to be had.
template <class Segments>
HWY_INLINE FoundInBlocks plan_hunt_by_table(std::uint64_t missing, const RowShape& shape, const Segments& segments,
                                            Hunt& hunt) {
#if KVWITNESS_HUNTS_BY_TABLE
  if (fit_bytes(segments, shape, hunt.table)) {
    tabulate(missing, (missing & shape.past_end_segment) != 0, hunt.table);
    return found_in_blocks_by_table;
  }
#endif
  return nullptr;
}

// After a stretch that showed more segments than this for the first time, the next one is marked again, not hunted.
constexpr int kRareNews = 2;

// Takes the run that starts at the lowest bit out of `missing`.
HWY_INLINE TokenRun take_run(std::uint64_t& missing, const RowShape& shape, const SegmentEdges& edges) {
  const int start = std::countr_zero(missing);
  const int end = start + std::countr_one(missing >> start);
  const std::uint64_t last = std::uint64_t{1} << (end - 1);
  missing &= ~(last | (last - 1));
  const std::uint32_t first_token = edges.edge(static_cast<std::uint32_t>(start));
  const std::uint32_t last_token =
      (last & shape.past_end_segment) != 0 ? 0x7FFFFFFFu : edges.edge(static_cast<std::uint32_t>(end)) - 1;
  return {first_token, last_token - first_token};
}

// What to search blocks for while these segments are missing, by their runs; null where there are too many.
HWY_INLINE FoundInBlocks plan_hunt_by_runs(std::uint64_t missing, const RowShape& shape, Hunt& hunt) {
  constexpr FoundInBlocks kFound[2][kMaxHuntedRuns + 1] = {
      {nullptr, found_in_blocks<1, false>, found_in_blocks<2, false>},
      {found_in_blocks<0, true>, found_in_blocks<1, true>, nullptr}};
  const int run_count = std::popcount(missing & ~(missing << 1));
  const bool both_ends = run_count >= 2 && (missing & 1) != 0 && (missing & shape.past_end_segment) != 0;
  const int inner_runs = both_ends ? run_count - 2 : run_count;
  if (inner_runs > (both_ends ? kMaxHuntedRuns - 1 : kMaxHuntedRuns)) {
    return nullptr;
  }
  const SegmentEdges edges(shape.length, shape.segments);
  if (both_ends) {
    const TokenRun low_end = take_run(missing, shape, edges);
    hunt.between_ends.first = low_end.first + low_end.last_distance + 1;
  }
  for (int run = 0; run < inner_runs; ++run) {
    hunt.runs[run] = take_run(missing, shape, edges);
  }
  if (both_ends) {
    hunt.between_ends.last_distance = take_run(missing, shape, edges).first - 1 - hunt.between_ends.first;
  }
  return kFound[both_ends ? 1 : 0][inner_runs];
}

HWY_INLINE void strike_out(std::uint64_t& missing, const Marks& marks, const RowShape& shape) {
  missing &= ~(marks.segments | (marks.past_end ? shape.past_end_segment : 0));
}

// Where the next stretch of a row lies: some blocks from both ends in turn, then from front to back.
class Itinerary {
 public:
  HWY_INLINE Itinerary(const std::int32_t* row, std::size_t count, std::size_t first_stretch)
      : front_(row), back_(row + count), at_end_(first_stretch) {}

  HWY_INLINE std::size_t left() const { return static_cast<std::size_t>(back_ - front_); }

  // The next stretch's first slot and, in `count`, its length: at most `most` once both ends have been visited. There must be some left.
  HWY_INLINE const std::int32_t* next(std::size_t most, std::size_t& count) {
    const bool visits_end = visits_ < kEndVisits;
    count = std::min(visits_end ? at_end_ : most, left());
    at_end_ = kBlockTokens;
    if (visits_end && visits_++ % 2 == 0) {
      return back_ -= count;
    }
    front_ += count;
    return front_ - count;
  }

 private:
  const std::int32_t* front_;
  const std::int32_t* back_;
  std::size_t at_end_;  // the length of the next stretch at an end
  std::size_t visits_ = 0;
};

// Asks for slots [first, first + count) to be brought close.
HWY_INLINE void prefetch(const std::int32_t* first, std::size_t count) {
  constexpr std::size_t kLineTokens = 64 / sizeof(std::int32_t);
  for (std::size_t slot = 0; slot < count; slot += kLineTokens) {
    hwy::Prefetch(first + slot);
  }
}

// The unoccupied segments of a row, one bit each. Unless it is 0, the row `ahead` elements on is read next, so its slots are fetched
// where this row's are read: the hardware does not foresee the jumps between and within rows.
template <class Segments>
HWY_INLINE std::uint64_t missing_segments(const Segments& segments, const RowShape& shape, const std::int32_t* row,
                                          std::size_t topk, std::size_t ahead) {
  const auto context_len = static_cast<std::int32_t>(shape.length);
  const std::size_t rest = topk % kBlockTokens;
  Itinerary itinerary(row, topk - rest, shape.segments > kFewSegments ? 2 * kBlockTokens : kBlockTokens);
  std::uint64_t missing = shape.all_segments;
  if (rest != 0) {
    strike_out(missing, mark_few(segments, context_len, row + (topk - rest), rest), shape);
  }
  Hunt hunt;
  FoundInBlocks found_in_blocks = nullptr;
  std::size_t hunted_stretch = kFirstHuntedStretch;
  while (missing != 0 && itinerary.left() != 0) {
    std::size_t count;
    const std::int32_t* const slots =
        itinerary.next(found_in_blocks != nullptr ? hunted_stretch : kMarkedStretch, count);
    if (ahead != 0) {
      prefetch(slots + ahead, count);
    }
    if (found_in_blocks != nullptr && !found_in_blocks(hunt, slots, count)) {
      hunted_stretch *= 2;
      continue;
    }
    hunted_stretch = kFirstHuntedStretch;
    const Marks marks = (missing & shape.past_end_segment) != 0
                            ? mark_blocks<true>(segments, context_len, slots, count)
                            : mark_blocks<false>(segments, context_len, slots, count);
    const std::uint64_t missing_before = missing;
    strike_out(missing, marks, shape);
    // What the last stretch showed is what to expect of the next one.
    const int shown = std::popcount(missing_before & ~missing);
    found_in_blocks = nullptr;
    if (shown <= kRareNews && missing != 0 && itinerary.left() != 0) {
      found_in_blocks = plan_hunt_by_runs(missing, shape, hunt);
      if (found_in_blocks == nullptr && shown == 0) {
        found_in_blocks = plan_hunt_by_table(missing, shape, segments, hunt);
      }
    }
  }
  return missing;
}

HWY_INLINE std::uint64_t missing_segments(const RowShape& shape, const std::int32_t* row, std::size_t topk,
                                          std::size_t ahead) {
  const NarrowSegmentReciprocal narrow(shape.length, shape.segments);
  if (narrow.exact()) {
    return missing_segments(NarrowSegments(narrow), shape, row, topk, ahead);
  }
  return missing_segments(WideSegments(SegmentReciprocal(shape.length, shape.segments)), shape, row, topk, ahead);
}

// A batch of more bytes than this is taken not to lie in the nearest caches.
constexpr std::size_t kNearBytes = std::size_t{1} << 18;

// The distance to the row after `row`, where fetching that one ahead can pay, else 0.
HWY_INLINE std::size_t distance_to_fetch(const RowBatch& batch, std::size_t row) {
  const bool far = batch.rows * batch.topk > kNearBytes / sizeof(std::int32_t);
  return far && row + 1 < batch.rows ? batch.row_stride : 0;
}

// The edges of neighbouring segments, a vector of at most eight at a time.
using Edges = hn::CappedTag<std::uint32_t, 8>;
using EdgeVector = hn::Vec<Edges>;
constexpr std::size_t kMaxEdgeLanes = 8;

HWY_INLINE EdgeVector edges_from(std::uint32_t first_segment, const SegmentEdges& edges, std::uint32_t segments) {
  const Edges d;
  alignas(32) static constexpr std::uint32_t kSteps[kMaxEdgeLanes] = {0, 1, 2, 3, 4, 5, 6, 7};
  const EdgeVector segment = hn::Add(hn::Set(d, first_segment), hn::Load(d, kSteps));  // hn::Iota goes through memory
  const EdgeVector dividend = hn::Add(hn::Mul(segment, hn::Set(d, edges.remainder())), hn::Set(d, segments - 1));
  const EdgeVector rounded_up = hn::ShiftRight<18>(hn::Mul(dividend, hn::Set(d, edges.multiplier())));
  return hn::Add(hn::Mul(segment, hn::Set(d, edges.quotient())), rounded_up);
}

// The edges of `count` neighbouring segments.
HWY_INLINE void store_edges(std::uint32_t first_segment, std::size_t count, const SegmentEdges& edges,
                            std::uint32_t segments, std::int32_t* slots) {
  const hn::RebindToSigned<Edges> signed_d;
  const std::size_t lanes = hn::Lanes(Edges());
  if (count < lanes) {
    for (std::size_t slot = 0; slot < count; ++slot) {
      slots[slot] = static_cast<std::int32_t>(edges.edge(first_segment + static_cast<std::uint32_t>(slot)));
    }
    return;
  }
  for (std::size_t slot = 0; slot < count; slot += lanes) {
    const std::size_t first = std::min(slot, count - lanes);  // the last vector may overlap the one before it
    const EdgeVector vector = edges_from(first_segment + static_cast<std::uint32_t>(first), edges, segments);
    hn::StoreU(hn::BitCast(signed_d, vector), signed_d, slots + first);
  }
}

// merge_witnesses for long runs of missing segments, whose edges are neighbours.
void merge_runs_of_witnesses(std::uint64_t missing, const RowShape& shape, std::size_t budget, std::int32_t* slots) {
  const SegmentEdges edges(shape.length, shape.segments);
  while (missing != 0 && budget != 0) {
    const int start = std::countr_zero(missing);
    const std::size_t count = std::min(static_cast<std::size_t>(std::countr_one(missing >> start)), budget);
    store_edges(static_cast<std::uint32_t>(start), count, edges, shape.segments, slots);
    slots += count;
    budget -= count;
    missing &= missing + (missing & (~missing + 1));  // without its lowest run
  }
}

// merge_witnesses for many short runs: all edges first.
void merge_scattered_witnesses(std::uint64_t missing, const RowShape& shape, std::size_t budget, std::int32_t* slots) {
  std::int32_t edges[kMaxMergeSegments];
  store_edges(0, shape.segments, SegmentEdges(shape.length, shape.segments), shape.segments, edges);
  const std::size_t count = std::min(budget, static_cast<std::size_t>(std::popcount(missing)));
  for (std::size_t slot = 0; slot < count; ++slot) {
    slots[slot] = edges[std::countr_zero(missing)];
    missing &= missing - 1;
  }
}

// Runs of this many segments on average are merged one run at a time; of shorter ones, up to this many witnesses one by one.
constexpr int kLongRun = 4;
constexpr int kFewWitnesses = 8;

HWY_INLINE void merge(std::uint64_t missing, const RowShape& shape, std::size_t budget, std::int32_t* slots) {
  const int count = std::popcount(missing);
  if (count >= kLongRun * std::popcount(missing & ~(missing << 1))) {
    merge_runs_of_witnesses(missing, shape, budget, slots);
  } else if (count <= kFewWitnesses) {
    merge_witnesses(missing, SegmentEdges(shape.length, shape.segments), budget, slots);
  } else {
    merge_scattered_witnesses(missing, shape, budget, slots);
  }
}

// e_s where bit s of `missing` is set, else -1, for segments [first_segment, first_segment + lanes).
HWY_INLINE void store_witness_indices(std::uint64_t missing, std::uint32_t first_segment, const SegmentEdges& edges,
                                      std::uint32_t segments, std::int32_t* witnesses) {
  const Edges d;
  alignas(32) static constexpr std::uint32_t kBits[kMaxEdgeLanes] = {1, 2, 4, 8, 16, 32, 64, 128};
  const auto bits = hn::Set(d, static_cast<std::uint32_t>(missing >> first_segment));
  const auto is_missing = hn::TestBit(bits, hn::Load(d, kBits));
  const auto indices =
      hn::IfThenElse(is_missing, edges_from(first_segment, edges, segments), hn::Set(d, ~std::uint32_t{0}));
  const hn::RebindToSigned<Edges> signed_d;
  hn::StoreU(hn::BitCast(signed_d, indices), signed_d, witnesses);
}

HWY_INLINE void write_witness_row(std::uint64_t missing, const RowShape& shape, std::size_t num_segments,
                                  std::int32_t* witnesses) {
  const SegmentEdges edges(shape.length, shape.segments);
  const std::size_t lanes = hn::Lanes(Edges());
  if (num_segments < lanes) {
    write_witness_indices(missing, edges, num_segments, witnesses);
    return;
  }
  for (std::size_t segment = 0; segment < num_segments; segment += lanes) {
    const std::size_t first = std::min(segment, num_segments - lanes);  // the last vector may overlap the one before it
    store_witness_indices(missing, static_cast<std::uint32_t>(first), edges, shape.segments, witnesses + first);
  }
}

void write_rows_of_witness_indices(const RowBatch& batch, std::size_t num_segments, std::int32_t* witnesses) noexcept {
  for (std::size_t row = 0; row < batch.rows; ++row) {
    std::int32_t* const out = witnesses + row * num_segments;
    if (batch.context_lens[row] <= 0) {
      std::fill_n(out, num_segments, -1);
      continue;
    }
    const RowShape shape(batch.context_lens[row], num_segments);
    const std::uint64_t missing =
        missing_segments(shape, batch.learned + row * batch.row_stride, batch.topk, distance_to_fetch(batch, row));
    write_witness_row(missing, shape, num_segments, out);
  }
}

void apply_to_rows(const RowBatch& batch, const MergePlan& plan, std::int32_t* out,
                   std::size_t out_row_stride) noexcept {
  const bool in_place = out == batch.learned;
  for (std::size_t row = 0; row < batch.rows; ++row) {
    const std::int32_t* const learned = batch.learned + row * batch.row_stride;
    std::int32_t* const merged = out + row * out_row_stride;
    if (!in_place) {
      std::memcpy(merged, learned, batch.topk * sizeof(std::int32_t));
    }
    if (batch.context_lens[row] <= 0) {
      continue;
    }
    const RowShape shape(batch.context_lens[row], plan.num_segments);
    const std::uint64_t missing = missing_segments(shape, learned, batch.topk, distance_to_fetch(batch, row));
    if (missing != 0) {
      merge(missing, shape, plan.budget, merged + plan.learned_keep);
    }
  }
}

#endif  // a target with vectors
}  // namespace HWY_NAMESPACE
}  // namespace kvwitness::detail
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

#if HWY_ARCH_ARM_A64
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace kvwitness::detail {
namespace {

#if HWY_ARCH_X86

#if HWY_TARGETS & HWY_SSSE3
const char* why_not_ssse3() noexcept {
  return __builtin_cpu_supports("ssse3") ? nullptr : "this processor lacks SSSE3";
}
constexpr Backend kSsse3{"ssse3", why_not_ssse3, N_SSSE3::write_rows_of_witness_indices, N_SSSE3::apply_to_rows};
#endif

#if HWY_TARGETS & HWY_SSE4
const char* why_not_sse4() noexcept {
  const bool runs =
      __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("aes") && __builtin_cpu_supports("pclmul");
  return runs ? nullptr : "this processor lacks SSE4.2, AES or PCLMUL";
}
constexpr Backend kSse4{"sse4", why_not_sse4, N_SSE4::write_rows_of_witness_indices, N_SSE4::apply_to_rows};
#endif

#if HWY_TARGETS & HWY_AVX2
bool has_avx2() noexcept {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c") && __builtin_cpu_supports("aes") &&
         __builtin_cpu_supports("pclmul");
}
const char* why_not_avx2() noexcept {
  return has_avx2() ? nullptr : "this processor lacks AVX2, BMI, BMI2, FMA, F16C, AES or PCLMUL";
}
constexpr Backend kAvx2{"avx2", why_not_avx2, N_AVX2::write_rows_of_witness_indices, N_AVX2::apply_to_rows};
#endif

#if HWY_TARGETS & HWY_AVX3
const char* why_not_avx512() noexcept {
  const bool runs = has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                    __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                    __builtin_cpu_supports("avx512cd");
  return runs ? nullptr : "this processor lacks AVX2 or one of AVX-512 F, VL, DQ, BW and CD";
}
constexpr Backend kAvx512{"avx512", why_not_avx512, N_AVX3::write_rows_of_witness_indices, N_AVX3::apply_to_rows};
#endif

#elif HWY_ARCH_ARM_A64

#if HWY_TARGETS & HWY_NEON
const char* why_not_neon() noexcept {
  return (getauxval(AT_HWCAP) & HWCAP_AES) != 0 ? nullptr : "this processor lacks AES";
}
constexpr Backend kNeon{"neon", why_not_neon, N_NEON::write_rows_of_witness_indices, N_NEON::apply_to_rows};
#endif

#if HWY_TARGETS & HWY_SVE
const char* why_not_sve() noexcept {
  return (getauxval(AT_HWCAP) & HWCAP_SVE) != 0 ? nullptr : "this processor lacks SVE";
}
constexpr Backend kSve{"sve", why_not_sve, N_SVE::write_rows_of_witness_indices, N_SVE::apply_to_rows};
#endif

#if HWY_TARGETS & HWY_SVE2
const char* why_not_sve2() noexcept {
  const bool runs = (getauxval(AT_HWCAP2) & HWCAP2_SVE2) != 0 && (getauxval(AT_HWCAP2) & HWCAP2_SVEAES) != 0;
  return runs ? nullptr : "this processor lacks SVE2 or its AES";
}
constexpr Backend kSve2{"sve2", why_not_sve2, N_SVE2::write_rows_of_witness_indices, N_SVE2::apply_to_rows};
#endif

#endif

constexpr const Backend* kCompiledIn[] = {
#if HWY_TARGETS & HWY_AVX3
    &kAvx512,
#endif
#if HWY_TARGETS & HWY_AVX2
    &kAvx2,
#endif
#if HWY_TARGETS & HWY_SSE4
    &kSse4,
#endif
#if HWY_TARGETS & HWY_SSSE3
    &kSsse3,
#endif
#if HWY_TARGETS & HWY_SVE2
    &kSve2,
#endif
#if HWY_TARGETS & HWY_SVE
    &kSve,
#endif
#if HWY_TARGETS & HWY_NEON
    &kNeon,
#endif
    &kScalarBackend,
};

}  // namespace

std::span<const Backend* const> compiled_in_backends() noexcept {
  return kCompiledIn;
}

}  // namespace kvwitness::detail

#endif  // HWY_ONCE
