// The row pass on vectors: one body for every instruction set, included by vector_row_pass.cc once for
// each. No include guard, and no include: that file has them.
//
// The includer defines:
//
// - KVWITNESS_TIER: the namespace of this inclusion.
// - KVWITNESS_TIER_HAS_IFMA: whether the 52-bit products of AVX-512 IFMA and the byte permutations of VBMI
//   may be used, beside HWY_AVX3.
//
// The attributes that let the compiler use the instructions are the includer's too.
//
// A row's occupancy is a set, so its slots may be read in any order and more than once. A row is read from
// both ends in turn at first, because a row in score order is clustered at its head and spread at its tail,
// so that the two together show most segments early; then straight through what is left. Each stretch of it
// is handled in one of two ways:
//
// - Marked: each token's segment by multiplication, its bit by a variable shift, all bits ORed.
// - Hunted, once the missing segments form a few runs of neighbours: the stretch is only searched for a
//   token inside one of those runs, by a subtraction and an unsigned minimum a run. Where one is found, the
//   stretch is marked.
//
// The pass ends as soon as no segment is missing.

namespace kvwitness::detail {
namespace KVWITNESS_TIER {
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

// How the tokens of a vector of slots come to the products below: those of even number in even lanes, and those of odd
// number in even lanes too. A load one slot on moves the odd ones on a unit that is idle; where no slot may be read on,
// a shift does.
struct PairedLoads {
  static constexpr bool kReadsOn = true;

  static HWY_INLINE TokenVector even(const std::int32_t* slots) { return load(slots); }
  static HWY_INLINE TokenVector odd(const std::int32_t* slots) { return odd_to_even(load(slots)); }
  static HWY_INLINE TokenVector odd_reading_on(const std::int32_t* slots) { return load(slots + 1); }
};

// sigma by one product a token: where NarrowSegmentReciprocal is exact.
class NarrowSegments : public PairedLoads {
 public:
  explicit HWY_INLINE NarrowSegments(NarrowSegmentReciprocal reciprocal)
      : multiplier_(reciprocal.multiplier()), shift_(reciprocal.shift()) {}

  // floor(2^shift * n / L) for a shift up to the reciprocal's: floor(floor(2^k * n / L) / 2^(k - shift)).
  HWY_INLINE std::uint32_t floor_of_ratio(int shift) const {
    return (multiplier_ - 1) >> (static_cast<int>(shift_) - shift);
  }

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

// sigma by two products a token: for every length below 2^31. With M = high * 2^32 + low:
//
//     floor(x * M / 2^62) = floor((x * high + floor(x * low / 2^32)) / 2^30)
//
// high is at most 2^30, so the sum stays below 2^63 for every 32-bit x.
class WideSegments : public PairedLoads {
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

#if KVWITNESS_TIER_HAS_IFMA

// sigma by one product a token and no shift: where SegmentReciprocal52 is exact. The product takes the lowest 52 bits
// of a 64-bit lane, so the other token of each pair is cleared, at the load or by the shift.
class IfmaSegments {
 public:
  explicit HWY_INLINE IfmaSegments(SegmentReciprocal52 reciprocal) : multiplier_(reciprocal.multiplier()) {}

  // As that of NarrowSegments, where it fits 32 bits.
  HWY_INLINE std::uint32_t floor_of_ratio(int shift) const {
    return static_cast<std::uint32_t>((multiplier_ - 1) >> (52 - shift));
  }

  static HWY_INLINE TokenVector even(const std::int32_t* slots) {
    return TokenVector{_mm512_maskz_loadu_epi32(0x5555, slots)};
  }

  static constexpr bool kReadsOn = false;
  static HWY_INLINE TokenVector odd(const std::int32_t* slots) { return odd_to_even(load(slots)); }

  HWY_INLINE TokenVector first_factor() const { return hn::BitCast(Tokens(), hn::Set(Words(), multiplier_)); }
  HWY_INLINE TokenVector second_factor() const { return hn::Zero(Tokens()); }

  HWY_INLINE WordVector of_even(TokenVector tokens, TokenVector multiplier, TokenVector zero) const {
    return WordVector{_mm512_madd52hi_epu64(zero.raw, tokens.raw, multiplier.raw)};
  }

 private:
  std::uint64_t multiplier_;
};

#endif  // KVWITNESS_TIER_HAS_IFMA

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

// Adds the bits of a vector of slots.
template <bool kFindPastEnd, bool kReadsOn, class Segments>
HWY_INLINE void mark_vector(const Segments& segments, TokenVector first_factor, TokenVector second_factor,
                            const std::int32_t* slots, WordVector& marks, SignedVector& largest) {
  TokenVector odd;
  if constexpr (kReadsOn) {
    odd = Segments::odd_reading_on(slots);
  } else {
    odd = Segments::odd(slots);
  }
  marks = hn::Or3(marks, one_hot(segments.of_even(Segments::even(slots), first_factor, second_factor)),
                  one_hot(segments.of_even(odd, first_factor, second_factor)));
  if constexpr (kFindPastEnd) {
    largest = hn::Max(largest, hn::LoadU(SignedTokens(), slots));
  }
}

// Whole blocks. Not inlined: the loop needs the registers, and is called from many places.
template <bool kFindPastEnd, class Segments>
HWY_NOINLINE Marks mark_blocks(const Segments& segments, std::int32_t context_len, const std::int32_t* slots,
                               std::size_t count) {
  constexpr bool kReadsOn = Segments::kReadsOn;
  const std::size_t lanes = hn::Lanes(Tokens());
  const TokenVector first = segments.first_factor();
  const TokenVector second = segments.second_factor();
  // Two of each, for every other vector: operations on a single one would wait for the one before it.
  WordVector marks0 = hn::Zero(Words()), marks1 = marks0;
  SignedVector largest0 = hn::Set(SignedTokens(), -1), largest1 = largest0;
  // The last two vectors apart, where reading on would be past the slots. A block has four at least.
  const std::int32_t* const end = slots + count - (kReadsOn ? 2 * lanes : 0);
  do {
    mark_vector<kFindPastEnd, kReadsOn>(segments, first, second, slots, marks0, largest0);
    mark_vector<kFindPastEnd, kReadsOn>(segments, first, second, slots + lanes, marks1, largest1);
    slots += 2 * lanes;
  } while (slots != end);
  if constexpr (kReadsOn) {
    mark_vector<kFindPastEnd, true>(segments, first, second, slots, marks0, largest0);
    mark_vector<kFindPastEnd, false>(segments, first, second, slots + lanes, marks1, largest1);
  }
  return {or_of_lanes(hn::Or(marks0, marks1)), kFindPastEnd && any_at_least(hn::Max(largest0, largest1), context_len)};
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
    mark_vector<true, false>(segments, first, second, slots + std::min(slot, count - lanes), marks, largest);
  }
  return {or_of_lanes(marks), any_at_least(largest, context_len)};
}

// A row with a context, taken apart.
struct RowShape {
  HWY_INLINE RowShape(std::int32_t context_len, const SegmentCount& segment_count)
      : count(segment_count),
        length(static_cast<std::uint32_t>(context_len)),
        segments(std::min(count.num_segments(), length)),
        all_segments(~std::uint64_t{0} >> (64 - segments)),
        past_end_segment(segments == count.num_segments() ? std::uint64_t{1} << (segments - 1) : 0) {}

  HWY_INLINE SegmentEdges edges() const { return count.edges(length); }

  const SegmentCount& count;       // S, the same for all rows
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

// A hunt for many runs: each token's segment as a byte, looked up in a table of the missing ones. It takes two thirds
// of the instructions of marking, and on processors without a shift of each lane by its own count a fifth.
//
// With k = 32 + shift and M = floor(2^k * n / L) + 1 <= 2^31, the high word of x * M is the segment of x with `shift`
// bits of its fraction below it. A shift of 8 at most leaves room in 16 bits: 127 and a fraction are below 2^15, where
// larger ones are cut off.
//
// Searched for are the missing segments and, where tokens past the context's end count, every number of S_eff and
// above; then padding is found too: a needless mark, never a missed one.
struct SegmentTable {
  std::uint32_t multiplier;
  int shift;
#if KVWITNESS_TIER_HAS_IFMA
  // Bit s: whether tokens of number s are searched for. Numbers above 63 are cut down to 63.
  std::uint64_t missing;
#else
  // Bit h of entry l: whether tokens of number 16 * h + l are searched for. Bits 4 to 7 stand for numbers above 63.
  alignas(16) std::uint8_t missing[16];
#endif
};

#if HWY_ARCH_X86

// Fills in the multiplier and the shift; false where the segments do not fit or (L - 1) * e < 2^k, as in
// NarrowSegmentReciprocal, fails. They fit from L = 4 * n on, and hold for every L below 2^20. With b(v) the bits of v,
// n * 2^(b(L) - b(n) - 1) < L, so that the shifts taken keep 2^k * n / L below 2^31, and the high word of any 32-bit
// token's product too.
template <class Segments>
HWY_INLINE bool fit_bytes(const Segments& segments, const RowShape& shape, SegmentTable& table) {
  table.shift = std::min(8, std::countl_zero(shape.segments) - std::countl_zero(shape.length) - 2);
  if (table.shift < 0) {
    return false;
  }
  const int shift = 32 + table.shift;
  table.multiplier = segments.floor_of_ratio(shift) + 1;
  const std::uint64_t excess =
      std::uint64_t{table.multiplier} * shape.length - (std::uint64_t{shape.segments} << shift);
  return (shape.length - std::uint64_t{1}) * excess < std::uint64_t{1} << shift;
}

HWY_INLINE bool fit_bytes(const WideSegments&, const RowShape&, SegmentTable&) {
  return false;
}

#if KVWITNESS_TIER_HAS_IFMA

HWY_INLINE void tabulate(std::uint64_t numbers, bool /*beyond_63*/, SegmentTable& table) {
  table.missing = numbers;
}

#else

using Bytes16 = hn::Full128<std::uint8_t>;

// Bit h of entry l is bit 16 * h + l of the numbers below 64; those beyond count together.
HWY_INLINE void tabulate(std::uint64_t numbers, bool beyond_63, SegmentTable& table) {
  const Bytes16 d;
  alignas(16) static constexpr std::uint8_t kByteOfEntry[16] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
  alignas(16) static constexpr std::uint8_t kBitOfEntry[16] = {1, 2, 4, 8, 16, 32, 64, 128,
                                                               1, 2, 4, 8, 16, 32, 64, 128};
  const auto words = hn::BitCast(d, hn::Set(hn::Full128<std::uint64_t>(), numbers));
  auto entries = hn::Set(d, beyond_63 ? 0xF0 : 0);
  for (int group = 0; group < 4; ++group) {
    const auto index = hn::Add(hn::Load(d, kByteOfEntry), hn::Set(d, static_cast<std::uint8_t>(2 * group)));
    const auto is_missing = hn::TestBit(hn::TableLookupBytes(words, index), hn::Load(d, kBitOfEntry));
    entries = hn::Or(entries, hn::IfThenElseZero(is_missing, hn::Set(d, static_cast<std::uint8_t>(1 << group))));
  }
  hn::Store(entries, d, table.missing);
}

#endif  // KVWITNESS_TIER_HAS_IFMA

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

#if KVWITNESS_TIER_HAS_IFMA

// 255 in the lane of each missing segment.
HWY_INLINE hn::Vec<Bytes> missing_of(const SegmentTable& table) {
  return hn::Vec<Bytes>{_mm512_movm_epi8(table.missing)};
}

// Not 0 in the lanes of missing segments, of four vectors of tokens.
HWY_INLINE hn::Vec<Bytes> look_up(hn::Vec<Bytes> segments, hn::Vec<Bytes> missing) {
  return hn::Vec<Bytes>{_mm512_permutexvar_epi8(hn::Min(segments, hn::Set(Bytes(), 63)).raw, missing.raw)};
}

#else

HWY_INLINE hn::Vec<Bytes> missing_of(const SegmentTable& table) {
  return hn::LoadDup128(Bytes(), table.missing);
}

// Bits of missing segments, in the lanes of four vectors of tokens.
HWY_INLINE hn::Vec<Bytes> look_up(hn::Vec<Bytes> segments, hn::Vec<Bytes> missing) {
  const Bytes d;
  alignas(16) static constexpr std::uint8_t kBits[16] = {1, 2, 4, 8, 16, 32, 64, 128};
  // Numbers above 127 are cut down to 127, because the look-up gives 0 where the top bit is set. It looks at the lowest
  // four bits.
  const auto low = hn::Min(segments, hn::Set(d, 127));
  const auto high = hn::And(hn::BitCast(d, hn::ShiftRight<4>(hn::BitCast(Halves(), low))), hn::Set(d, 15));
  return hn::And(hn::TableLookupBytes(missing, low), hn::TableLookupBytes(hn::LoadDup128(d, kBits), high));
}

#endif  // KVWITNESS_TIER_HAS_IFMA

#endif  // HWY_ARCH_X86

// The missing segments as what slots are searched for: some runs and, where both the first and the last segment are
// missing, all that lies outside of the interval between those two runs; or a table of them.
struct Hunt {
  TokenRun runs[kMaxHuntedRuns];
  TokenRun between_ends;
  SegmentTable table;
};

HWY_INLINE TokenVector distance_from(std::uint32_t minus_first, const std::int32_t* slot) {
  // Added rather than subtracted, so that the tokens can come straight from memory.
  return hn::Add(hn::Set(Tokens(), minus_first), load(slot));
}

// Whether whole blocks hold a token that is searched for. Where ends are, padding counts as one: a needless mark, never
// a missed one.
template <int kRuns, bool kBothEnds>
bool found_in_blocks(const Hunt& hunt, const std::int32_t* slots, std::size_t count) {
  const Tokens d;
  const std::size_t lanes = hn::Lanes(d);
  const std::uint32_t minus0 = kRuns >= 1 ? 0 - hunt.runs[0].first : 0;
  const std::uint32_t minus1 = kRuns >= 2 ? 0 - hunt.runs[1].first : 0;
  const std::uint32_t minus_between = kBothEnds ? 0 - hunt.between_ends.first : 0;
  // The smallest unsigned distance from each run's first token: within the run for its tokens, beyond it for all
  // others. One for each of the vectors of a step: fewer would be chains that wait for themselves.
  TokenVector near0 = hn::Set(d, ~std::uint32_t{0}), near1 = near0, near2 = near0, near3 = near0;
  TokenVector also_near0 = near0, also_near1 = near0, also_near2 = near0, also_near3 = near0;
  TokenVector far0 = hn::Zero(d), far1 = far0, far2 = far0, far3 = far0;
  const std::int32_t* const end = slots + count;
  do {
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
    slots += kUnrolled * lanes;
  } while (slots != end);
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

#if HWY_ARCH_X86

// Whether whole blocks hold a token of a segment in the table.
bool found_in_blocks_by_table(const Hunt& hunt, const std::int32_t* slots, std::size_t count) {
  static_assert(kUnrolled == 4);
  const std::size_t lanes = hn::Lanes(Tokens());
  const TokenVector multiplier = hn::Set(Tokens(), hunt.table.multiplier);
  const auto missing = missing_of(hunt.table);
  auto found = hn::Zero(Bytes());
  const std::int32_t* const end = slots + count;
  do {
    const TokenVector last = load(slots + 3 * lanes);  // one slot on would be past the end of the last step
    const auto segments01 = segments_of(multiplier, hunt.table.shift, load(slots), load(slots + 1), load(slots + lanes),
                                        load(slots + lanes + 1));
    const auto segments23 = segments_of(multiplier, hunt.table.shift, load(slots + 2 * lanes),
                                        load(slots + 2 * lanes + 1), last, odd_to_even(last));
    found = hn::Or(found, look_up(narrow(segments01, segments23), missing));
    slots += kUnrolled * lanes;
  } while (slots != end);
  return !hn::AllTrue(Bytes(), hn::Eq(found, hn::Zero(Bytes())));
}

#endif  // HWY_ARCH_X86

// The hunt by table, or null where it is not to be had.
template <class Segments>
HWY_INLINE FoundInBlocks plan_hunt_by_table(std::uint64_t missing, const RowShape& shape, const Segments& segments,
                                            Hunt& hunt) {
#if HWY_ARCH_X86
  if (fit_bytes(segments, shape, hunt.table)) {
    // A token at or past the context's end has some number of S_eff or more.
    const bool past_end_counts = (missing & shape.past_end_segment) != 0;
    tabulate(missing | (past_end_counts ? ~shape.all_segments : 0), past_end_counts, hunt.table);
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
  const SegmentEdges edges = shape.edges();
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

  // The next stretch's first slot and, in `count`, its length: at most `most` once both ends have been visited. There
  // must be some left.
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

// The unoccupied segments of a row, one bit each. Unless it is 0, the row `ahead` elements on is read next, so its
// slots are fetched where this row's are read: the hardware does not foresee the jumps between and within rows.
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
#if KVWITNESS_TIER_HAS_IFMA
  if (SegmentReciprocal52::covers(shape.length, shape.segments)) {
    return missing_segments(IfmaSegments(SegmentReciprocal52(shape.length, shape.segments)), shape, row, topk, ahead);
  }
#endif
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

// The edges of neighbouring segments, a vector of at most 16 at a time.
constexpr std::size_t kMaxEdgeLanes = 16;
using Edges = hn::CappedTag<std::uint32_t, kMaxEdgeLanes>;
using EdgeVector = hn::Vec<Edges>;

HWY_INLINE EdgeVector edges_from(std::uint32_t first_segment, const SegmentEdges& edges, std::uint32_t segments) {
  const Edges d;
  alignas(64) static constexpr std::uint32_t kSteps[kMaxEdgeLanes] = {0, 1, 2,  3,  4,  5,  6,  7,
                                                                      8, 9, 10, 11, 12, 13, 14, 15};
  const EdgeVector segment = hn::Add(hn::Set(d, first_segment), hn::Load(d, kSteps));  // hn::Iota goes through memory
  const EdgeVector dividend = hn::Add(hn::Mul(segment, hn::Set(d, edges.remainder())), hn::Set(d, segments - 1));
  const EdgeVector rounded_up = hn::ShiftRight<18>(hn::Mul(dividend, hn::Set(d, edges.multiplier())));
  return hn::Add(hn::Mul(segment, hn::Set(d, edges.quotient())), rounded_up);
}

#if HWY_TARGET == HWY_AVX3

// merge_witnesses for up to 16 segments at a time, from the first missing one on: their edges, the missing ones moved
// together.
HWY_INLINE void merge(std::uint64_t missing, const RowShape& shape, std::size_t budget, std::int32_t* slots) {
  const SegmentEdges edges = shape.edges();
  while (missing != 0) {
    const int first = std::countr_zero(missing);
    const auto missing_here = static_cast<__mmask16>(missing >> first);
    const std::size_t count = std::min(budget, static_cast<std::size_t>(std::popcount(missing_here)));
    const EdgeVector near_edges = edges_from(static_cast<std::uint32_t>(first), edges, shape.segments);
    _mm512_mask_storeu_epi32(slots, static_cast<__mmask16>((1u << count) - 1),
                             _mm512_maskz_compress_epi32(missing_here, near_edges.raw));
    slots += count;
    budget -= count;
    missing &= ~(std::uint64_t{0xFFFF} << first);
  }
}

#else

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
  const SegmentEdges edges = shape.edges();
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
  store_edges(0, shape.segments, shape.edges(), shape.segments, edges);
  const std::size_t count = std::min(budget, static_cast<std::size_t>(std::popcount(missing)));
  for (std::size_t slot = 0; slot < count; ++slot) {
    slots[slot] = edges[std::countr_zero(missing)];
    missing &= missing - 1;
  }
}

// Runs of this many segments on average are merged one run at a time; of shorter ones, up to this many witnesses one by
// one.
constexpr int kLongRun = 4;
constexpr int kFewWitnesses = 8;

HWY_INLINE void merge(std::uint64_t missing, const RowShape& shape, std::size_t budget, std::int32_t* slots) {
  const int count = std::popcount(missing);
  if (count >= kLongRun * std::popcount(missing & ~(missing << 1))) {
    merge_runs_of_witnesses(missing, shape, budget, slots);
  } else if (count <= kFewWitnesses) {
    merge_witnesses(missing, shape.edges(), budget, slots);
  } else {
    merge_scattered_witnesses(missing, shape, budget, slots);
  }
}

#endif  // HWY_TARGET == HWY_AVX3

// e_s where bit s of `missing` is set, else -1, for segments [first_segment, first_segment + lanes).
HWY_INLINE void store_witness_indices(std::uint64_t missing, std::uint32_t first_segment, const SegmentEdges& edges,
                                      std::uint32_t segments, std::int32_t* witnesses) {
  const Edges d;
  alignas(64) static constexpr std::uint32_t kBits[kMaxEdgeLanes] = {1,   2,   4,    8,    16,   32,   64,    128,
                                                                     256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
  const auto bits = hn::Set(d, static_cast<std::uint32_t>(missing >> first_segment));
  const auto is_missing = hn::TestBit(bits, hn::Load(d, kBits));
  const auto indices =
      hn::IfThenElse(is_missing, edges_from(first_segment, edges, segments), hn::Set(d, ~std::uint32_t{0}));
  const hn::RebindToSigned<Edges> signed_d;
  hn::StoreU(hn::BitCast(signed_d, indices), signed_d, witnesses);
}

HWY_INLINE void write_witness_row(std::uint64_t missing, const RowShape& shape, std::size_t num_segments,
                                  std::int32_t* witnesses) {
  const SegmentEdges edges = shape.edges();
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
  assert_witness_indices_call(batch, num_segments, witnesses);
  const SegmentCount segment_count(static_cast<std::uint32_t>(num_segments));
  for (std::size_t row = 0; row < batch.rows; ++row) {
    std::int32_t* const out = witnesses + row * num_segments;
    if (batch.context_lens[row] <= 0) {
      std::fill_n(out, num_segments, -1);
      continue;
    }
    const RowShape shape(batch.context_lens[row], segment_count);
    const std::uint64_t missing =
        missing_segments(shape, batch.learned + row * batch.row_stride, batch.topk, distance_to_fetch(batch, row));
    write_witness_row(missing, shape, num_segments, out);
  }
}

void apply_to_rows(const RowBatch& batch, const MergePlan& plan, std::int32_t* out,
                   std::size_t out_row_stride) noexcept {
  assert_apply_call(batch, plan, out, out_row_stride);
  const bool in_place = out == batch.learned;
  const SegmentCount segment_count(static_cast<std::uint32_t>(plan.num_segments));
  for (std::size_t row = 0; row < batch.rows; ++row) {
    const std::int32_t* const learned = batch.learned + row * batch.row_stride;
    std::int32_t* const merged = out + row * out_row_stride;
    if (!in_place) {
      std::memcpy(merged, learned, batch.topk * sizeof(std::int32_t));
    }
    if (batch.context_lens[row] <= 0) {
      continue;
    }
    const RowShape shape(batch.context_lens[row], segment_count);
    const std::uint64_t missing = missing_segments(shape, learned, batch.topk, distance_to_fetch(batch, row));
    if (missing != 0) {
      merge(missing, shape, plan.budget, merged + plan.learned_keep);
    }
  }
}

#endif  // a target with vectors
}  // namespace KVWITNESS_TIER
}  // namespace kvwitness::detail
