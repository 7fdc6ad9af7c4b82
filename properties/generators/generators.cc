#include "properties/generators/generators.h"

#include <rapidcheck/Random.h>
#include <rapidcheck/Shrinkable.h>
#include <rapidcheck/seq/Create.h>
#include <rapidcheck/shrinkable/Create.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "properties/generators/case_drawing.h"
#include "properties/generators/draws.h"
#include "properties/shrinking/shrinking.h"

namespace kvwitness::harness {
namespace {

// One line of the table below: what the scenario asks of a plan.
struct ScenarioEntry {
  Scenario scenario;
  Focus focus;  // the focus whose deck it fills further; kEverything for none
  void (*shape)(Plan&, Draws&);
};

bool has(const Domain& domain, Operation operation) {
  return std::ranges::find(domain.operations, operation) != domain.operations.end();
}
// Whether a legal call with S in [low, high] and topk in [topk_low, topk_high] is in the domain, for one of the
// operations.
bool admits(const Domain& domain, const Range& segments, const Range& topk = kAnyTopk) {
  return std::ranges::any_of(domain.operations, [&](Operation operation) {
    return admits_value(domain.topk, topk) && admits_value(domain.num_segments, legal_segments(operation, segments));
  });
}
bool anything(const Domain& domain) {
  return admits(domain, kAnySegments);
}
bool some_slots(const Domain& domain) {
  return admits(domain, kAnySegments, {1, kMaxTopk});
}
bool two_segments(const Domain& domain) {
  return admits(domain, {2, kMaxSegments}, {1, kMaxTopk});
}
bool three_segments(const Domain& domain) {
  return admits(domain, {3, kMaxSegments}, {2, kMaxTopk});
}
bool refusable(const Domain& domain) {
  return !domain.legal_only && anything(domain);
}

// Whether some S of at least `least` fits the slots (S <= topk) in a legal call.
bool segments_fit(const Domain& domain, std::int64_t least) {
  const std::int64_t most = greatest_value(domain.topk, kAnyTopk);
  return most >= least && admits(domain, {least, std::min(most, kMaxSegments)}, {least, kMaxTopk});
}
bool segments_exceed_slots(const Domain& domain) {
  const std::int64_t least = least_value(domain.topk, {1, kMaxTopk});
  return least < kMaxSegments && admits(domain, {least + 1, kMaxSegments}, {1, kMaxTopk});
}
// Whether rows can be so narrow that a batch of very many of them stays cheap.
bool narrow_rows(const Domain& domain) {
  return domain.rows.empty() && least_value(domain.topk, {1, kMaxTopk}) <= 16 && some_slots(domain);
}
bool many_segments_of_wide_rows(const Domain& domain) {
  return admits(domain, {8, 64}, {512, kMaxTopk});
}
bool admits_rows(const Domain& domain, const Range& rows) {
  return admits_value(domain.rows, rows);
}
bool any_shape(const Domain& domain) {
  return domain.topk.empty() && anything(domain);
}
bool any_batch(const Domain& domain) {
  return domain.rows.empty() && any_shape(domain);
}
// Whether some S of at least 2 fits the slots of an apply.
bool apply_fits(const Domain& domain) {
  const std::int64_t most = std::min(greatest_value(domain.topk, kAnyTopk), kMaxMerge);
  return most >= 2 && has(domain, Operation::kApply) && admits_value(domain.topk, {2, kMaxTopk}) &&
         admits_value(domain.num_segments, legal_segments(Operation::kApply, {2, most}));
}
bool apply_with(const Domain& domain, const Range& segments, const Range& topk) {
  return has(domain, Operation::kApply) && admits_value(domain.topk, topk) &&
         admits_value(domain.num_segments, legal_segments(Operation::kApply, segments));
}

void length_in_some(Plan& plan, LengthKind kind) {
  plan.length = kind;
}
void length_in_every(Plan& plan, LengthKind kind) {
  plan.length = kind;
  plan.length_in_every_row = true;
}
void tokens_in_some(Plan& plan, TokenKind kind) {
  plan.tokens = kind;
  plan.topk.low = std::max<std::int64_t>(plan.topk.low, 1);
}
void long_enough(Plan& plan, Draws& draws) {
  length_in_every(plan, draws.pick({LengthKind::kMiddle, LengthKind::kMiddle, LengthKind::kAbove24,
                                    LengthKind::kAbove26, LengthKind::kNear31}));
}
// Wide rows cost, so batches of them are small, most of them very small.
void few_rows(Plan& plan, Draws& draws) {
  plan.rows = draws.chance(85) ? Range{1, 3} : draws.chance(75) ? Range{4, 9} : Range{10, 32};
}
void refused(Plan& plan, Fault fault) {
  plan.faults = {fault};
}

// clang-format off
const ScenarioEntry kScenarios[] = {
    {{"anything small", 36, false, anything}, Focus::kEverything, [](Plan&, Draws&) {}},

    // Lengths.
    {{"empty rows", 3, false, anything}, Focus::kEmptyRows,
     [](Plan& plan, Draws&) { length_in_some(plan, LengthKind::kEmpty); }},
    {{"length one", 1, false, anything}, Focus::kEverything, [](Plan& plan, Draws&) { length_in_some(plan, LengthKind::kOne); }},
    {{"rows shorter than S", 3, false, two_segments}, Focus::kShortRows,
     [](Plan& plan, Draws&) { plan.segments.low = 2; plan.topk.low = 1; length_in_some(plan, LengthKind::kBelowSegments); }},
    {{"length at S", 2, false, anything}, Focus::kShortRows,
     [](Plan& plan, Draws&) { length_in_some(plan, LengthKind::kAtSegments); }},
    {{"length at topk", 2, false, some_slots}, Focus::kEverything,
     [](Plan& plan, Draws&) { plan.topk.low = 1; length_in_some(plan, LengthKind::kAroundTopk); }},
    {{"length at a power of two", 3, false, anything}, Focus::kEverything,
     [](Plan& plan, Draws&) { length_in_some(plan, LengthKind::kPowerOfTwo); }},
    {{"length above 2^24", 2, false, anything}, Focus::kEverything,
     [](Plan& plan, Draws&) { length_in_some(plan, LengthKind::kAbove24); }},
    {{"length above 2^26", 2, false, anything}, Focus::kEverything,
     [](Plan& plan, Draws&) { length_in_some(plan, LengthKind::kAbove26); }},
    {{"length near 2^31", 3, false, anything}, Focus::kEverything,
     [](Plan& plan, Draws&) { length_in_some(plan, LengthKind::kNear31); }},

    // Shapes.
    {{"topk 2,048", 2, false, [](const Domain& domain) { return admits(domain, kAnySegments, {2048, 2048}); }},
     Focus::kEverything, [](Plan& plan, Draws& draws) { plan.topk = {2048, 2048}; few_rows(plan, draws); }},
    {{"topk beside 2,048", 1, false, [](const Domain& domain) {
        return admits(domain, kAnySegments, {2047, 2047}) && admits(domain, kAnySegments, {2049, 2049}) &&
               admits(domain, kAnySegments, {2051, 2051}); }},
     Focus::kEverything, [](Plan& plan, Draws& draws) {
       const auto topk = draws.pick<std::int64_t>({2047, 2049, 2051});
       plan.topk = {topk, topk}; few_rows(plan, draws); }},
    {{"topk 192 to 1,024", 2, false, [](const Domain& domain) {
        return admits(domain, kAnySegments, {192, 192}) && admits(domain, kAnySegments, {512, 512}) &&
               admits(domain, kAnySegments, {1024, 1024}); }},
     Focus::kEverything, [](Plan& plan, Draws& draws) {
       const auto topk = draws.pick<std::int64_t>({192, 512, 1024});
       plan.topk = {topk, topk}; few_rows(plan, draws); }},
    {{"width beside a power of two", 2, false, any_shape}, Focus::kEverything,
     [](Plan& plan, Draws& draws) {
       const std::int64_t topk = (std::int64_t{1} << draws.between(7, 11)) + draws.between(-1, 1);
       plan.rows = {1, 2}; plan.topk = {topk, topk}; long_enough(plan, draws); tokens_in_some(plan, TokenKind::kLast); }},
    {{"any width", 6, false, any_shape}, Focus::kEverything,
     [](Plan& plan, Draws& draws) {
       plan.rows = {1, 2}; plan.any_width = true; plan.topk = {66, 2100};
       if (draws.chance(75)) { long_enough(plan, draws); tokens_in_some(plan, TokenKind::kFew); } }},
    {{"topk above 2,051", 3, false, any_shape}, Focus::kEverything,
     [](Plan& plan, Draws& draws) {
       plan.rows = {1, 2}; plan.any_width = true; plan.topk = {2052, 8192}; long_enough(plan, draws); tokens_in_some(plan, TokenKind::kFew); }},
    {{"topk below S", 2, false, segments_exceed_slots}, Focus::kEverything,
     [](Plan& plan, Draws&) { plan.topk.low = 1; plan.segments_exceed_slots = true; }},
    {{"topk zero", 1, false, [](const Domain& domain) { return admits(domain, kAnySegments, {0, 0}); }},
     Focus::kEverything, [](Plan& plan, Draws& draws) {
       plan.topk = {0, 0};
       if (draws.chance(30)) plan.rows = {41, 600};
       plan.operations.insert(plan.operations.end(), 3, Operation::kWitnesses); }},  // the one that has something to write
    {{"no rows", 1, false, [](const Domain& domain) { return admits_rows(domain, {0, 0}) && anything(domain); }}, Focus::kEverything, [](Plan& plan, Draws&) { plan.rows = {0, 0}; }},
    {{"4 to 32 wide rows", 1, false, [](const Domain& domain) { return admits_rows(domain, {4, 32}) && admits(domain, kAnySegments, {512, kMaxTopk}); }},
     Focus::kEverything, [](Plan& plan, Draws&) { plan.topk = {512, kMaxTopk}; plan.rows = {4, 32}; }},
    {{"41 to 512 rows", 1, false, narrow_rows}, Focus::kEverything,
     [](Plan& plan, Draws& draws) {
       const auto rows = draws.pick<std::int64_t>({draws.between(41, 200), draws.between(41, 200), draws.between(201, 512), 63, 64, 64, 65, 127,
                                                   128, 129, 192, 255, 256, 257, 300, 512});
       plan.rows = {rows, rows}; plan.topk.low = 1; plan.many_rows = true; plan.few_segments = draws.chance(50); }},
    {{"S of 31 to 33", 3, false, [](const Domain& domain) { return admits(domain, {31, 33}); }}, Focus::kEverything,
     [](Plan& plan, Draws&) { plan.segments = {31, 33}; }},
    {{"S of 63 or 64", 4, false, [](const Domain& domain) { return admits(domain, {63, 64}); }}, Focus::kEverything,
     [](Plan& plan, Draws&) { plan.segments = {63, 64}; }},
    {{"S of one", 1, false, [](const Domain& domain) { return admits(domain, {1, 1}); }}, Focus::kEverything,
     [](Plan& plan, Draws&) { plan.segments = {1, 1}; }},
    {{"more than 64 segments", 3, false, [](const Domain& domain) {
        return has(domain, Operation::kWitnesses) && admits_value(domain.num_segments, {65, kMaxSegments}); }},
     Focus::kEverything,
     [](Plan& plan, Draws&) { plan.operations = {Operation::kWitnesses}; plan.segments = {65, kMaxSegments}; }},

    // Tokens.
    {{"tokens at edges", 6, false, two_segments}, Focus::kEverything,
     [](Plan& plan, Draws& draws) { plan.segments.low = 2; long_enough(plan, draws); tokens_in_some(plan, TokenKind::kEdges); }},
    {{"tokens at the length", 2, false, some_slots}, Focus::kOutOfRange,
     [](Plan& plan, Draws& draws) {
       length_in_every(plan, draws.pick({LengthKind::kSmall, LengthKind::kMiddle, LengthKind::kAtSegments}));
       tokens_in_some(plan, draws.chance(50) ? TokenKind::kBoundary : TokenKind::kPastLength); }},
    {{"tokens past a short row", 3, false, two_segments}, Focus::kOutOfRange,
     [](Plan& plan, Draws&) {
       plan.segments.low = 2; length_in_every(plan, LengthKind::kBelowSegments); tokens_in_some(plan, TokenKind::kPastShortRow); }},
    {{"length at a multiple of S", 2, false, two_segments}, Focus::kEverything,
     [](Plan& plan, Draws&) {
       plan.segments.low = 2; length_in_every(plan, LengthKind::kMultiple); tokens_in_some(plan, TokenKind::kEdges); }},
    {{"few tokens", 2, false, three_segments}, Focus::kManyWitnesses,
     [](Plan& plan, Draws& draws) { plan.segments.low = 3; plan.topk.low = 2; long_enough(plan, draws); tokens_in_some(plan, TokenKind::kFew); }},
    {{"a lone token in a wide row", 3, false, many_segments_of_wide_rows}, Focus::kManyWitnesses,
     [](Plan& plan, Draws& draws) {
       plan.segments = {8, 64}; plan.topk = {512, kMaxTopk}; plan.rows = {1, 2}; long_enough(plan, draws); tokens_in_some(plan, TokenKind::kLone); }},
    {{"a lone token past the end of a wide row", 3, false, many_segments_of_wide_rows}, Focus::kOutOfRange,
     [](Plan& plan, Draws& draws) {
       plan.segments = {8, 64}; plan.topk = {512, kMaxTopk}; plan.rows = {1, 2}; tokens_in_some(plan, TokenKind::kLonePastEnd);
       length_in_every(plan, draws.pick({LengthKind::kMiddle, LengthKind::kMiddle, LengthKind::kAbove24, LengthKind::kNear31})); }},
    {{"garbage beyond the length", 2, false, [](const Domain& domain) { return admits(domain, kAnySegments, {2, kMaxTopk}); }},
     Focus::kOutOfRange, [](Plan& plan, Draws&) {
       plan.topk.low = 2; plan.length_below_topk = true; tokens_in_some(plan, TokenKind::kGarbage); }},
    {{"absolute offsets", 1, false, some_slots}, Focus::kOutOfRange,
     [](Plan& plan, Draws& draws) {
       length_in_every(plan, draws.pick({LengthKind::kSmall, LengthKind::kMiddle})); tokens_in_some(plan, TokenKind::kAbsolute); }},
    {{"holes of padding", 2, false, [](const Domain& domain) { return admits(domain, kAnySegments, {2, kMaxTopk}); }},
     Focus::kPadding, [](Plan& plan, Draws&) { plan.topk.low = 2; tokens_in_some(plan, TokenKind::kHoles); }},
    {{"all padding", 2, false, some_slots}, Focus::kPadding,
     [](Plan& plan, Draws&) { tokens_in_some(plan, TokenKind::kAllPadding); }},
    {{"negatives other than -1", 2, false, some_slots}, Focus::kPadding,
     [](Plan& plan, Draws&) { tokens_in_some(plan, TokenKind::kNegatives); }},
    {{"tokens in pairs", 3, false, [](const Domain& domain) { return admits(domain, kAnySegments, {2, kMaxTopk}); }},
     Focus::kEverything, [](Plan& plan, Draws&) { plan.topk.low = 2; tokens_in_some(plan, TokenKind::kPairs); }},
    {{"every segment", 2, false, [](const Domain& domain) { return segments_fit(domain, 1); }}, Focus::kInRange,
     [](Plan& plan, Draws& draws) { plan.segments_fit_slots = true; long_enough(plan, draws); tokens_in_some(plan, TokenKind::kFullCover); }},
    {{"every segment but one", 4, false, [](const Domain& domain) { return segments_fit(domain, 2); }}, Focus::kInRange,
     [](Plan& plan, Draws& draws) {
       plan.segments.low = 2; plan.segments_fit_slots = true; long_enough(plan, draws); tokens_in_some(plan, TokenKind::kOneMissing); }},
    {{"one segment alone", 2, false, three_segments}, Focus::kManyWitnesses,
     [](Plan& plan, Draws& draws) { plan.segments.low = 3; plan.topk.low = 2; long_enough(plan, draws); tokens_in_some(plan, TokenKind::kOneSegment); }},
    {{"the upper or the lower half of 64 segments", 3, false,
      [](const Domain& domain) { return admits(domain, {34, 64}, {1, kMaxTopk}); }}, Focus::kManyWitnesses,
     [](Plan& plan, Draws& draws) { plan.segments = {34, 64}; long_enough(plan, draws); tokens_in_some(plan, TokenKind::kHalf); }},
    {{"the head alone", 2, false, [](const Domain& domain) { return apply_with(domain, kAnySegments, {2, kMaxTopk}); }},
     Focus::kManyWitnesses, [](Plan& plan, Draws& draws) {
       plan.operations = {Operation::kApply}; plan.topk.low = 2; plan.keep = KeepKind::kInside; long_enough(plan, draws);
       tokens_in_some(plan, TokenKind::kHeadAlone); }},
    {{"the tail alone", 2, false, [](const Domain& domain) { return apply_with(domain, kAnySegments, {2, kMaxTopk}); }},
     Focus::kManyWitnesses, [](Plan& plan, Draws& draws) {
       plan.operations = {Operation::kApply}; plan.topk.low = 2; plan.keep = KeepKind::kInside; long_enough(plan, draws);
       tokens_in_some(plan, TokenKind::kTailAlone); }},
    {{"a sole token that is overwritten", 2, false, [](const Domain& domain) { return apply_with(domain, {2, 64}, {2, kMaxTopk}); }},
     Focus::kManyWitnesses, [](Plan& plan, Draws& draws) {
       plan.operations = {Operation::kApply}; plan.segments = {2, 64}; plan.topk.low = 2; plan.keep = KeepKind::kInside;
       plan.budget = BudgetKind::kSome; long_enough(plan, draws); tokens_in_some(plan, TokenKind::kSoleInTail); }},
    {{"like a model's row", 3, false, some_slots}, Focus::kInRange,
     [](Plan& plan, Draws&) { plan.in_range_alone = true; length_in_every(plan, LengthKind::kMiddle); tokens_in_some(plan, TokenKind::kModelLike); }},
    {{"tokens in range alone", 3, false, some_slots}, Focus::kInRange,
     [](Plan& plan, Draws&) { plan.in_range_alone = true; plan.topk.low = 1; }},
    {{"sorted rows", 2, false, [](const Domain& domain) { return admits(domain, kAnySegments, {3, kMaxTopk}); }},
     Focus::kEverything, [](Plan& plan, Draws& draws) {
       plan.topk.low = 3; plan.order = draws.chance(50) ? RowOrder::kRising : RowOrder::kFalling; tokens_in_some(plan, TokenKind::kUniform);
       if (draws.chance(85)) length_in_every(plan, LengthKind::kNear31); }},
    {{"rows that differ", 4, false, [](const Domain& domain) { return admits_rows(domain, {2, 9}) && segments_fit(domain, 2); }}, Focus::kEverything,
     [](Plan& plan, Draws&) { plan.segments.low = 2; plan.segments_fit_slots = true; plan.rows = {2, 9}; plan.rows_differ = true; }},

    // Budgets.
    {{"more witnesses than the budget", 3, false,
      [](const Domain& domain) { return apply_with(domain, {3, 64}, {2, kMaxTopk}); }}, Focus::kManyWitnesses,
     [](Plan& plan, Draws& draws) {
       plan.operations = {Operation::kApply}; plan.segments = {3, 64}; plan.topk.low = 2; long_enough(plan, draws);
       plan.keep = KeepKind::kInside; plan.budget = BudgetKind::kBelowSegments;
       tokens_in_some(plan, draws.chance(50) ? TokenKind::kAllPadding : TokenKind::kOneSegment); }},
    {{"one slot for the last witness", 2, false, apply_fits}, Focus::kManyWitnesses,
     [](Plan& plan, Draws& draws) {
       plan.operations = {Operation::kApply}; plan.segments = {2, kMaxMerge}; plan.segments_fit_slots = true; long_enough(plan, draws);
       plan.keep = KeepKind::kAllButOne; plan.budget = draws.pick({BudgetKind::kSome, BudgetKind::kUnbounded});
       tokens_in_some(plan, TokenKind::kOneMissing); }},
    {{"room for every witness", 2, false, apply_fits}, Focus::kManyWitnesses,
     [](Plan& plan, Draws& draws) {
       plan.operations = {Operation::kApply}; plan.segments = {2, kMaxMerge}; plan.segments_fit_slots = true; long_enough(plan, draws);
       plan.keep = KeepKind::kNothing; plan.budget = BudgetKind::kAboveSegments; tokens_in_some(plan, TokenKind::kAllPadding); }},
    {{"no budget", 1, false, [](const Domain& domain) { return apply_with(domain, kAnySegments, {1, kMaxTopk}); }},
     Focus::kEverything, [](Plan& plan, Draws&) {
       plan.operations = {Operation::kApply}; plan.topk.low = 1; plan.budget = BudgetKind::kNone; }},
    {{"everything kept", 1, false, [](const Domain& domain) { return apply_with(domain, kAnySegments, {1, kMaxTopk}); }},
     Focus::kEverything, [](Plan& plan, Draws&) {
       plan.operations = {Operation::kApply}; plan.topk.low = 1; plan.keep = KeepKind::kAll; }},
    {{"nothing kept", 1, false, [](const Domain& domain) { return apply_with(domain, kAnySegments, {1, kMaxTopk}); }},
     Focus::kManyWitnesses, [](Plan& plan, Draws&) {
       plan.operations = {Operation::kApply}; plan.topk.low = 1; plan.keep = KeepKind::kNothing; }},
    {{"an unbounded budget", 1, false, [](const Domain& domain) { return apply_with(domain, kAnySegments, {1, kMaxTopk}); }},
     Focus::kEverything, [](Plan& plan, Draws&) {
       plan.operations = {Operation::kApply}; plan.topk.low = 1; plan.budget = BudgetKind::kUnbounded; }},
    {{"scatter switched off", 2, false, [](const Domain& domain) {
        return has(domain, Operation::kScatter) && admits_value(domain.num_segments, {0, 0}) && anything(domain); }},
     Focus::kRefusals, [](Plan& plan, Draws& draws) {
       plan.operations = {Operation::kScatter}; plan.segments = {0, 0}; plan.nonsense_when_off = draws.chance(60); }},

    // How the call is made.
    {{"row stride above topk", 4, false, [](const Domain& domain) { return admits_rows(domain, {2, 9}) && !domain.contiguous && some_slots(domain); }},
     Focus::kEverything, [](Plan& plan, Draws&) { plan.topk.low = 1; plan.rows = {2, 9}; plan.strided = true; }},
    {{"in place", 3, false, [](const Domain& domain) { return apply_with(domain, kAnySegments, {1, kMaxTopk}); }},
     Focus::kEverything, [](Plan& plan, Draws&) {
       plan.operations = {Operation::kApply}; plan.topk.low = 1; plan.in_place = true; }},
    {{"off the 64-byte boundary", 4, false, [](const Domain& domain) { return domain.align_bytes < 64 && some_slots(domain); }},
     Focus::kEverything, [](Plan& plan, Draws&) { plan.topk.low = 1; plan.off_boundary = true; }},
    {{"off the boundary in a wide row", 1, false, [](const Domain& domain) {
        return domain.align_bytes < 64 && admits(domain, kAnySegments, {192, kMaxTopk}); }},
     Focus::kEverything, [](Plan& plan, Draws&) { plan.topk = {192, kMaxTopk}; plan.rows = {1, 3}; plan.off_boundary = true; }},
    {{"earlier calls", 6, false, some_slots}, Focus::kEverything, [](Plan& plan, Draws&) { plan.topk.low = 1; plan.earlier_calls = true; }},

    // Calls that must be refused.
    {{"rows mismatch", 2, false, refusable}, Focus::kRefusals, [](Plan& plan, Draws&) { refused(plan, Fault::kLearnedLength); }},
    {{"rows times topk overflows", 1, false, refusable}, Focus::kRefusals, [](Plan& plan, Draws&) { refused(plan, Fault::kOverflow); }},
    {{"too many or no segments", 2, false, refusable}, Focus::kRefusals, [](Plan& plan, Draws&) { refused(plan, Fault::kSegments); }},
    {{"keep above topk", 2, false, [](const Domain& domain) { return refusable(domain) && apply_with(domain, kAnySegments, kAnyTopk); }},
     Focus::kRefusals, [](Plan& plan, Draws&) { plan.operations = {Operation::kApply}; refused(plan, Fault::kKeep); }},
    {{"negative counts", 3, false, refusable}, Focus::kRefusals, [](Plan& plan, Draws&) { refused(plan, Fault::kNegative); }},
    {{"row stride below topk", 2, false, [](const Domain& domain) { return admits_rows(domain, {2, 5}) && refusable(domain) && !domain.contiguous && some_slots(domain); }},
     Focus::kRefusals, [](Plan& plan, Draws&) {
       plan.topk.low = 1; plan.rows = {2, 5}; refused(plan, Fault::kStride); }},
    {{"negative row stride", 1, false, [](const Domain& domain) { return refusable(domain) && !domain.contiguous; }},
     Focus::kRefusals, [](Plan& plan, Draws& draws) { plan.rows = {1, draws.between(1, 2)}; refused(plan, Fault::kNegativeStride); }},
    {{"several faults at once", 4, false, [](const Domain& domain) { return admits_rows(domain, {2, 4}) && refusable(domain) && some_slots(domain); }}, Focus::kRefusals, [](Plan& plan, Draws& draws) {
       plan.rows = {2, 4}; plan.topk.low = 1;
       const Fault length = draws.pick({Fault::kLearnedLength, Fault::kOverflow});
       switch (draws.between(0, 4)) {
         case 0: plan.faults = {length, Fault::kSegments}; break;
         case 3: plan.faults = {Fault::kSegments, Fault::kStride}; break;
         case 1: plan.faults = {length, Fault::kStride}; break;
         case 2: plan.faults = {Fault::kSegments, Fault::kKeep}; break;
         default: plan.faults = {length, Fault::kSegments, Fault::kKeep, Fault::kNegative}; break;
       } }},

    // Costly ones, shared by all properties.
    {{"more than 1,024 rows", 1, true, narrow_rows}, Focus::kEverything,
     [](Plan& plan, Draws&) { plan.rows = {1025, 1500}; plan.topk = {1, kMaxTopk}; plan.many_rows = true; }},
    {{"more than 65,535 rows", 1, true, narrow_rows}, Focus::kEverything,
     [](Plan& plan, Draws&) {
       plan.rows = {65600, 65650}; plan.topk = {1, kMaxTopk}; plan.many_rows = plan.sparse_rows = true; plan.keep = KeepKind::kInside; }},
    // Too much for an executor of another machine's code; of the second one relations are spared.
    {{"65,536 rows", 1, true, any_batch}, Focus::kEverything,
     [](Plan& plan, Draws&) {
       plan.rows = {65536, 65536}; plan.topk = {5, kMaxTopk}; plan.many_rows = plan.sparse_rows = true; plan.keep = KeepKind::kInside; }},
    {{"more than 131,072 rows", 1, true, any_batch}, Focus::kEverything,
     [](Plan& plan, Draws&) {
       plan.rows = {131073, 131400}; plan.topk = {8, kMaxTopk}; plan.many_rows = plan.sparse_rows = true; plan.keep = KeepKind::kInside; }},
    {{"topk above 65,536", 1, true, [](const Domain& domain) { return any_batch(domain) && admits(domain, {2, kMaxSegments}); }}, Focus::kEverything,
     [](Plan& plan, Draws& draws) {
       plan.rows = {2, 3}; plan.topk = {65537, kMaxTopk}; plan.segments.low = 2; plan.keep = KeepKind::kPast16Bits;
       plan.budget = BudgetKind::kUnbounded; long_enough(plan, draws); tokens_in_some(plan, TokenKind::kLast); }},
    {{"a serving batch", 1, true, [](const Domain& domain) { return domain.rows.empty() && admits(domain, kAnySegments, {1024, kMaxTopk}); }},
     Focus::kEverything, [](Plan& plan, Draws&) { plan.rows = {33, 40}; plan.topk = {1024, kMaxTopk}; }},
    {{"row stride above 2^30", 1, true, [](const Domain& domain) { return domain.rows.empty() && !domain.contiguous && two_segments(domain); }},
     Focus::kEverything, [](Plan& plan, Draws&) {
       plan.rows = {5, 5}; plan.segments.low = 2; plan.huge_stride = true; length_in_every(plan, LengthKind::kMiddle);
       tokens_in_some(plan, TokenKind::kCluster); }},
    {{"more than 1,024 rows of many segments", 1, true,
      [](const Domain& domain) { return narrow_rows(domain) && admits(domain, {33, 64}, {1, kMaxTopk}); }},
     Focus::kEverything, [](Plan& plan, Draws&) {
       plan.rows = {1025, 1100}; plan.topk = {1, kMaxTopk}; plan.segments = {33, 64}; plan.many_rows = plan.sparse_rows = true;
       plan.few_segments = false; }},
    {{"a prefill batch", 1, true, [](const Domain& domain) { return domain.rows.empty() && admits(domain, kAnySegments, {512, kMaxTopk}); }},
     Focus::kEverything, [](Plan& plan, Draws&) { plan.rows = {257, 270}; plan.topk = {512, kMaxTopk}; }},
    {{"more than 2^21 tokens", 1, true, [](const Domain& domain) {
        return domain.rows.empty() && has(domain, Operation::kScatter) && admits_value(domain.topk, {2048, kMaxTopk}) &&
               admits_value(domain.num_segments, legal_segments(Operation::kScatter, kAnySegments)); }},
     Focus::kEverything, [](Plan& plan, Draws&) {
       plan.operations = {Operation::kScatter}; plan.rows = {1030, 1040}; plan.topk = {2048, kMaxTopk}; plan.many_rows = plan.sparse_rows = true; }},
    {{"more than a million segments", 1, true, [](const Domain& domain) {
        return admits_rows(domain, {1, 1}) && has(domain, Operation::kWitnesses) && domain.num_segments.empty(); }},
     Focus::kEverything, [](Plan& plan, Draws&) {
       plan.operations = {Operation::kWitnesses}; plan.segments = {1500000, 1500009}; plan.rows = {1, 1};
       length_in_every(plan, LengthKind::kNear31); }},
};
// clang-format on

constexpr std::size_t kThemeCount = std::size(kScenarios);

Case draw(const Domain& domain, std::size_t scenario, std::uint64_t seed) {
  Draws draws(seed);
  Plan plan;
  plan.operations = domain.operations;
  kScenarios[scenario].shape(plan, draws);
  std::erase_if(plan.operations, [&](Operation operation) { return !has(domain, operation); });
  return draw_case(plan, domain, draws);
}

rc::Shrinkable<Case> shrinkable(Case value) {
  return rc::shrinkable::shrinkRecur(
      std::move(value), [](const Case& failing) { return rc::seq::fromContainer(shrink_candidates(failing)); });
}

}  // namespace

std::span<const Scenario> all_scenarios() {
  static const std::vector<Scenario> scenarios = [] {
    std::vector<Scenario> list;
    for (const ScenarioEntry& entry : kScenarios) list.push_back(entry.scenario);
    return list;
  }();
  return scenarios;
}

std::vector<std::size_t> deck_for(const Domain& domain) {
  std::vector<std::size_t> general, focused;
  for (std::size_t i = 0; i < kThemeCount; ++i) {
    const auto& [scenario, focus, shape] = kScenarios[i];
    if (scenario.shared || !scenario.possible(domain)) continue;
    general.insert(general.end(), static_cast<std::size_t>(scenario.cards), i);
    if (focus == domain.focus) focused.insert(focused.end(), static_cast<std::size_t>(scenario.cards), i);
  }
  if (domain.focus == Focus::kEverything || focused.empty()) return general;
  const std::size_t general_count = general.size();
  for (std::size_t i = 0; i < general_count; ++i) general.push_back(focused[i % focused.size()]);
  return general;
}

std::vector<std::size_t> shared_scenarios(const Domain& domain) {
  std::vector<std::size_t> list;
  for (std::size_t i = 0; i < kThemeCount; ++i) {
    if (kScenarios[i].scenario.shared && kScenarios[i].scenario.possible(domain)) list.push_back(i);
  }
  return list;
}

rc::Gen<Case> case_generator(const Domain& domain, std::size_t scenario) {
  return [domain, scenario](const rc::Random& random, int) {
    return shrinkable(draw(domain, scenario, rc::Random(random).next()));
  };
}

rc::Gen<Case> case_generator(const Domain& domain) {
  return [domain, deck = deck_for(domain)](const rc::Random& random, int) {
    rc::Random source(random);
    const std::size_t scenario = deck[source.next() % deck.size()];
    return shrinkable(draw(domain, scenario, source.next()));
  };
}

CaseStream::CaseStream(Domain domain, std::uint64_t seed)
    : domain_(std::move(domain)), deck_(deck_for(domain_)), seed_(seed) {}

Case CaseStream::next() {
  Draws draws(seed_ + (drawn_ << 32));
  ++drawn_;
  if (left_.empty()) {
    left_ = deck_;
    draws.shuffle(left_);
  }
  const std::size_t scenario = left_.back();
  left_.pop_back();
  return case_generator(domain_, scenario)(rc::Random(draws.next())).value();
}

std::vector<Case> shared_cases(const Domain& domain, std::uint64_t seed) {
  Draws draws(seed);
  std::vector<Case> cases;
  for (const Operation operation : domain.operations) {
    Domain one = domain;
    one.operations = {operation};
    for (const std::size_t scenario : shared_scenarios(one)) {
      cases.push_back(case_generator(one, scenario)(rc::Random(draws.next())).value());
    }
  }
  return cases;
}

}  // namespace kvwitness::harness
