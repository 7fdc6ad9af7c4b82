// RapidCheck generators of calls of the segment-witness rule, for the test suite of any implementation.
//
//     #include <kvwitness/oracle.h>
//     #include <kvwitness/rapidcheck.h>
//     #include <rapidcheck/gtest.h>
//
//     RC_GTEST_PROP(MyScatter, LeavesTheRowsOfTheRule, ()) {
//       const auto call = *kvwitness::gen::legal_call(kvwitness::harness::Operation::kScatter);
//       RC_ASSERT(my_scatter(call) == kvwitness::harness::expected_rows(call));
//     }
//
// The generators compose: segment counts, widths, context lengths around them, rows by structure, batches of such rows,
// whole calls. RapidCheck chooses every small value (operation, shape, lengths, structures, placement), so that it
// shrinks each of them and its reproduce string brings all of them back. The tokens of a row come from one seeded draw,
// because thousands of recorded choices a case would dominate a run; a row shrinks as a row. None of the generators
// depends on RapidCheck's size: the first case of a run is as likely to be an edge as the hundredth.
//
// `kvwitness verify` draws its cases from the same generators. Link kvwitness::rapidcheck, a static library:
//
//     find_package(kvwitness REQUIRED COMPONENTS rapidcheck)
//     target_link_libraries(my_test PRIVATE kvwitness::rapidcheck)
#ifndef KVWITNESS_RAPIDCHECK_H
#define KVWITNESS_RAPIDCHECK_H

#include <kvwitness/case.h>
#include <kvwitness/domain.h>
#include <rapidcheck.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kvwitness::harness {

// What a context length L is about. S is the segment count, topk the width of a row.
enum class LengthClass : std::uint8_t {
  kEmpty,          // 0, -1, -7, INT32_MIN: a row without a context
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
inline constexpr int kLengthClassCount = 12;

// How the tokens of a row lie in its context.
enum class RowStructure : std::uint8_t {
  kUniform,       // anywhere in the context
  kEdges,         // e_s - 1, e_s, e_s + 1
  kBoundary,      // 0, L - 1, L, L + 1, INT32_MAX
  kFullCover,     // one token a segment, then anything
  kOneMissing,    // every segment but one
  kCluster,       // a window of some topk tokens
  kOneSegment,    // one segment, often the last
  kHalf,          // only the segments below 32, or only those from 32 on
  kAllPadding,    // nothing but negative entries
  kPaddedTail,    // a valid prefix, then -1
  kHoles,         // -1 among valid tokens
  kNegatives,     // -1, -7, INT32_MIN and any others below 0 among valid tokens
  kHeadOnly,      // valid slots below learned_keep, padding behind them
  kTailOnly,      // padding, then valid slots from learned_keep on
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
inline constexpr int kRowStructureCount = 25;

// What the tokens of a row depend on.
struct RowShape {
  std::int64_t topk = 0;         // slots
  std::int32_t context_len = 1;  // L; a row of 0 or less is filled as a stale buffer would be
  std::int64_t num_segments = 1;
  std::int64_t learned_keep = 0;  // kHeadOnly, kTailOnly and kSoleInTail alone look at it
};

// Rows and their lengths.
struct Batch {
  std::int64_t topk = 0;
  std::vector<std::int32_t> context_lens;  // [rows]
  std::vector<std::int32_t> learned;       // [rows, topk], row-major

  friend bool operator==(const Batch&, const Batch&) = default;
};

}  // namespace kvwitness::harness

namespace kvwitness::gen {

// S of a legal call: 1 to 64, with weight on 1 to 4, 31 to 33, 63 and 64; witness indices also 65 to some thousands.
// Shrinks towards 1.
rc::Gen<std::int64_t> num_segments(harness::Operation operation);

// Slots of a row: 0 to 65 with weight around S, and seldom a width of serving (512, 1,024, 2,048, 2,051) or one beside
// it. Shrinks towards 0.
rc::Gen<std::int64_t> topk(std::int64_t num_segments);

// A length of the class. `num_segments` is at least 1, `topk` at least 0. Shrinks within the class, towards its plainest
// length.
rc::Gen<std::int32_t> context_len(harness::LengthClass length_class, std::int64_t num_segments, std::int64_t topk);
// A length of any class, small and middle ones most often.
rc::Gen<std::int32_t> context_len(std::int64_t num_segments, std::int64_t topk);

// shape.topk tokens of the structure. Shrinks slot by slot towards padding, then towards small tokens, and leaves the
// structure behind.
rc::Gen<std::vector<std::int32_t>> row(harness::RowStructure structure, const harness::RowShape& shape);
// Of any structure.
rc::Gen<std::vector<std::int32_t>> row(const harness::RowShape& shape);

// `rows` rows of `topk` slots for `num_segments` segments: few classes of lengths and few structures at a time, so that
// they meet ("swarms", Groce et al. 2012).
rc::Gen<harness::Batch> batch(std::int64_t rows, std::int64_t topk, std::int64_t num_segments);

// A call of the domain, which must admit one: of a scenario drawn from the deck, as `kvwitness verify` draws them. One
// in about six must be refused, unless the domain is of legal calls. Shrinks choice by choice, then as a case (fewer
// rows, fewer slots, smaller numbers), and keeps its status: a legal call stays legal.
rc::Gen<harness::Case> call(const harness::Domain& domain = harness::whole_domain());
// A call that every implementation must accept.
rc::Gen<harness::Case> legal_call();
rc::Gen<harness::Case> legal_call(harness::Operation operation);

// A call of one scenario of the domain: "rows shorter than S", "every segment but one", ... Fails by
// rc::GenerationFailure where there is no scenario of that name or the domain does not admit it.
rc::Gen<harness::Case> call_of(std::string_view scenario, const harness::Domain& domain = harness::whole_domain());
// The names of all scenarios.
std::vector<std::string_view> scenario_names();

// The names of the coverage classes into which the call falls, for RC_TAG and RC_CLASSIFY: "short row", "dropped
// witness", "row stride above topk", ... Linear in the call's size.
std::vector<std::string> coverage_classes(const harness::Case& call);

}  // namespace kvwitness::gen

template <>
struct rc::Arbitrary<kvwitness::harness::Case> {
  static rc::Gen<kvwitness::harness::Case> arbitrary() { return kvwitness::gen::call(); }
};

#endif  // KVWITNESS_RAPIDCHECK_H
