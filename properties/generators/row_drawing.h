// How one row is drawn: its length and its tokens. The vocabulary of the generators' scenarios and swarms.
#ifndef PROPERTIES_GENERATORS_ROW_DRAWING_H
#define PROPERTIES_GENERATORS_ROW_DRAWING_H

#include <cstdint>
#include <span>

#include "properties/generators/draws.h"

namespace kvwitness::harness {

enum class LengthKind : std::uint8_t {
  kEmpty,          // 0, -1, -7, INT32_MIN
  kOne,            // 1
  kBelowSegments,  // 1 to S - 1
  kAtSegments,     // S - 1, S, S + 1
  kAroundTopk,     // topk - 1, topk, topk + 1
  kSmall,          // 1 to 200
  kMiddle,         // 201 to 131,072
  kPowerOfTwo,     // 2^k - 1, 2^k, 2^k + 1 for k = 3 to 31, at most INT32_MAX
  kMultiple,       // k * S - 1, k * S, k * S + 1: every edge exact, or just not
  kAbove24,        // 2^24 + 1 to 2^26
  kAbove26,        // 2^26 + 1 to 2^30
  kNear31,         // the last 2^20 below 2^31
};
inline constexpr int kLengthKinds = 12;

enum class TokenKind : std::uint8_t {
  kUniform,       // anywhere in the context
  kEdges,         // e_s - 1, e_s, e_s + 1
  kBoundary,      // 0, L - 1, L, L + 1, INT32_MAX
  kFullCover,     // one token a segment, then anything
  kOneMissing,    // every segment but one
  kCluster,       // a window of some topk tokens
  kOneSegment,    // one segment alone, often the last
  kHalf,          // only the segments below 32, or only those from 32 on
  kAllPadding,    // nothing but negative entries
  kPaddedTail,    // a valid prefix, then -1
  kHoles,         // -1 among valid tokens
  kNegatives,     // -1, -7, INT32_MIN and any others below 0 among valid tokens
  kHeadAlone,     // valid slots below learned_keep alone
  kTailAlone,     // valid slots from learned_keep on alone
  kSoleInTail,    // one token in all, in the slot of learned_keep
  kPairs,         // each token an even number of times
  kPastLength,    // L, L + 1, ... among valid tokens
  kPastShortRow,  // tokens in [L, S] in a row shorter than S
  kGarbage,       // min(L, topk) valid tokens, then others at or past the length
  kAbsolute,      // every token moved by one large base
  kLast,          // one token in all, in the last slot or near it
  kFew,           // one to three tokens, in slots where loops begin and end; padding elsewhere
  kLone,          // a crowd in some of the segments, and in one slot, mostly a late one, the only token of another
  kLonePastEnd,   // the same, the last segment being that of the only token, which lies at or past the length
  kModelLike,     // recent tokens, a few sinks and scattered clusters, distinct, in order of score, then -1
};
inline constexpr int kTokenKinds = 25;

// What the tokens of a row depend on.
struct RowShape {
  std::int32_t context_len;
  std::int64_t num_segments;
  std::int64_t learned_keep;
};

std::int32_t draw_length(Draws& draws, LengthKind kind, std::int64_t num_segments, std::int64_t topk);
void draw_tokens(Draws& draws, TokenKind kind, const RowShape& shape, std::span<std::int32_t> row);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_GENERATORS_ROW_DRAWING_H
