#include "properties/generators/scenarios.h"

#include <kvwitness/legality.h>
#include <rapidcheck/seq/Create.h>
#include <rapidcheck/seq/Transform.h>
#include <rapidcheck/shrinkable/Transform.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "properties/case/status.h"
#include "properties/generators/call_plan.h"
#include "properties/generators/case_traits.h"
#include "properties/generators/choices.h"
#include "properties/generators/domain.h"
#include "properties/shrinking/shrinking.h"

namespace kvwitness::harness {
namespace {

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
  return admits(domain, kAnySegments, {1, kMostDrawnTopk});
}
bool two_segments(const Domain& domain) {
  return admits(domain, {2, kMostDrawnSegments}, {1, kMostDrawnTopk});
}
bool three_segments(const Domain& domain) {
  return admits(domain, {3, kMostDrawnSegments}, {2, kMostDrawnTopk});
}
// Whether a call of one operation can have all these faults.
bool refusable(const Domain& domain, const std::vector<Malformation>& malformations, const Range& topk = kAnyTopk) {
  const bool by_segments = std::ranges::find(malformations, Malformation::kSegments) != malformations.end();
  return admits_value(domain.topk, topk) && std::ranges::any_of(domain.operations, [&](Operation operation) {
           return (by_segments || admits_value(domain.num_segments, legal_segments(operation, kAnySegments))) &&
                  std::ranges::all_of(malformations, [&](Malformation malformation) {
                    return can_be_malformed(domain, operation, malformation);
                  });
         });
}

// Whether some S of at least `least` fits the slots (S <= topk) in a legal call.
bool segments_fit(const Domain& domain, std::int64_t least) {
  const std::int64_t most = greatest_value(domain.topk, kAnyTopk);
  return most >= least && admits(domain, {least, std::min(most, kMostDrawnSegments)}, {least, kMostDrawnTopk});
}
bool segments_exceed_slots(const Domain& domain) {
  const std::int64_t least = least_value(domain.topk, {1, kMostDrawnTopk});
  return least < kMostDrawnSegments && admits(domain, {least + 1, kMostDrawnSegments}, {1, kMostDrawnTopk});
}
bool admits_rows(const Domain& domain, const Range& rows) {
  return admits_value(domain.rows, rows) && rows.low <= domain.max_rows;
}
// Whether batches of any number up to so many rows may be drawn.
bool batches_up_to(const Domain& domain, std::int64_t rows) {
  return domain.rows.empty() && rows <= domain.max_rows;
}
// Whether so many rows can be so narrow that the batch stays cheap.
bool narrow_rows(const Domain& domain, std::int64_t rows) {
  return batches_up_to(domain, rows) && least_value(domain.topk, {1, kMostDrawnTopk}) <= 16 && some_slots(domain);
}
bool many_segments_of_wide_rows(const Domain& domain) {
  return admits(domain, {8, 64}, {512, kMostDrawnTopk});
}
bool any_shape(const Domain& domain) {
  return domain.topk.empty() && anything(domain);
}
bool any_batch(const Domain& domain, std::int64_t rows) {
  return batches_up_to(domain, rows) && any_shape(domain);
}
// Whether tokens at or past the end of their row may be drawn.
bool past_the_end(const Domain& domain) {
  return !domain.in_range && some_slots(domain);
}
bool longer_than(const Domain& domain, std::int64_t length) {
  return domain.max_context > length && anything(domain);
}
// Combinations of faults in one call.
std::vector<std::vector<Malformation>> possible_combinations(const Domain& domain) {
  using enum Malformation;
  std::vector<std::vector<Malformation>> list;
  for (const Malformation length : {kLearnedLength, kOverflow}) {
    list.push_back({length, kSegments});
    list.push_back({length, kStride});
    list.push_back({length, kSegments, kKeep, kNegative});
  }
  list.push_back({kSegments, kStride});
  list.push_back({kSegments, kKeep});
  std::erase_if(list, [&](const auto& faults) { return !refusable(domain, faults, {1, kMostDrawnTopk}); });
  return list;
}
// Whether some S of at least 2 fits the slots of an apply.
bool apply_fits(const Domain& domain) {
  const std::int64_t most = std::min(greatest_value(domain.topk, kAnyTopk), kMaxMergeSegments);
  return most >= 2 && has(domain, Operation::kApply) && admits_value(domain.topk, {2, kMostDrawnTopk}) &&
         admits_value(domain.num_segments, legal_segments(Operation::kApply, {2, most}));
}
bool apply_with(const Domain& domain, const Range& segments, const Range& topk) {
  return has(domain, Operation::kApply) && admits_value(domain.topk, topk) &&
         admits_value(domain.num_segments, legal_segments(Operation::kApply, segments));
}

void length_in_some(CallPlan& plan, LengthClass length_class) {
  plan.length = length_class;
}
void length_in_every(CallPlan& plan, LengthClass length_class) {
  plan.length = length_class;
  plan.length_in_every_row = true;
}
void structure_in_some(CallPlan& plan, RowStructure structure) {
  plan.structure = structure;
  plan.topk.low = std::max<std::int64_t>(plan.topk.low, 1);
}
void long_enough(CallPlan& plan) {
  length_in_every(plan, *one_of<LengthClass>({LengthClass::kMiddle, LengthClass::kMiddle, LengthClass::kAbove24,
                                              LengthClass::kAbove26, LengthClass::kNear31}));
}
// Wide rows cost, so batches of them are small, most of them very small.
void few_rows(CallPlan& plan) {
  plan.rows = *chance(85) ? Range{1, 3} : *chance(75) ? Range{4, 9} : Range{10, 32};
}
void refused(CallPlan& plan, Malformation malformation) {
  plan.malformations = {malformation};
}

using T = const CaseTraits&;

// clang-format off
const Scenario kScenarios[] = {
    {.name = "anything small", .cards = 36,
     .possible = anything,
     .shape = [](CallPlan&) {},
     .classes = {}},

    // Lengths.
    {.name = "empty rows", .cards = 3, .focus = Focus::kEmptyRows,
     .possible = anything,
     .shape = [](CallPlan& plan) { length_in_some(plan, LengthClass::kEmpty); },
     .classes = {{.name = "empty row", .what = "a length of 0 or less", .floor_per_mille = 6,
                  .contains = [](T t) { return t.works() && t.empty; }},
                 {.name = "length zero", .what = "a length of 0", .floor_per_mille = 2,
                  .contains = [](T t) { return t.works() && t.zero; }},
                 {.name = "length negative", .what = "a length below 0: a padded request", .floor_per_mille = 2,
                  .contains = [](T t) { return t.works() && t.negative_length; }}}},
    {.name = "length one", .cards = 1,
     .possible = anything,
     .shape = [](CallPlan& plan) { length_in_some(plan, LengthClass::kOne); },
     .classes = {{.name = "length one", .what = "a context of one token", .floor_per_mille = 2,
                  .contains = [](T t) { return t.one; }}}},
    {.name = "rows shorter than S", .cards = 3, .focus = Focus::kShortRows,
     .possible = two_segments,
     .shape = [](CallPlan& plan) { plan.segments.low = 2; plan.topk.low = 1; length_in_some(plan, LengthClass::kBelowSegments); },
     .classes = {{.name = "length below S", .what = "each token is its own segment", .floor_per_mille = 6,
                  .contains = [](T t) { return t.short_row; }}}},
    {.name = "length at S", .cards = 2, .focus = Focus::kShortRows,
     .possible = anything,
     .shape = [](CallPlan& plan) { length_in_some(plan, LengthClass::kAtSegments); },
     .classes = {{.name = "length at S", .what = "S - 1, S or S + 1", .floor_per_mille = 4,
                  .contains = [](T t) { return t.at_segments; }}}},
    {.name = "length at topk", .cards = 2,
     .possible = some_slots,
     .shape = [](CallPlan& plan) { plan.topk.low = 1; length_in_some(plan, LengthClass::kAroundTopk); },
     .classes = {{.name = "length at topk", .what = "topk - 1, topk or topk + 1", .floor_per_mille = 4,
                  .contains = [](T t) { return t.at_topk; }}}},
    {.name = "length at a power of two", .cards = 3,
     .possible = anything,
     .shape = [](CallPlan& plan) { length_in_some(plan, LengthClass::kPowerOfTwo); },
     .classes = {{.name = "length at a power of two", .what = "2^k or one beside it, from 8 on", .floor_per_mille = 6,
                  .contains = [](T t) { return t.power_of_two; }}}},
    {.name = "length above 2^24", .cards = 2,
     .possible = [](const Domain& domain) { return longer_than(domain, 1 << 24); },
     .shape = [](CallPlan& plan) { length_in_some(plan, LengthClass::kAbove24); },
     .classes = {{.name = "length above 2^24", .what = "no longer exact in single precision", .floor_per_mille = 4,
                  .contains = [](T t) { return t.above_24; }}}},
    {.name = "length above 2^26", .cards = 2,
     .possible = [](const Domain& domain) { return longer_than(domain, 1 << 26); },
     .shape = [](CallPlan& plan) { length_in_some(plan, LengthClass::kAbove26); },
     .classes = {{.name = "length above 2^26", .what = "64 times the length passes 2^32", .floor_per_mille = 4,
                  .contains = [](T t) { return t.above_26; }}}},
    {.name = "length near 2^31", .cards = 3,
     .possible = [](const Domain& domain) { return longer_than(domain, (std::int64_t{1} << 31) - (1 << 20)); },
     .shape = [](CallPlan& plan) { length_in_some(plan, LengthClass::kNear31); },
     .classes = {{.name = "length near 2^31", .what = "within 2^20 of INT32_MAX", .floor_per_mille = 6,
                  .contains = [](T t) { return t.near_31; }}}},

    // Shapes.
    {.name = "topk 2,048", .cards = 2,
     .possible = [](const Domain& domain) { return admits(domain, kAnySegments, {2048, 2048}); },
     .shape = [](CallPlan& plan) { plan.topk = {2048, 2048}; few_rows(plan); },
     .classes = {{.name = "topk 2,048", .what = "the width that models serve", .floor_per_mille = 4,
                  .contains = [](T t) { return t.works() && t.value->topk == 2048; }}}},
    {.name = "topk beside 2,048", .cards = 1,
     .possible = [](const Domain& domain) {
        return admits(domain, kAnySegments, {2047, 2047}) && admits(domain, kAnySegments, {2049, 2049}) &&
               admits(domain, kAnySegments, {2051, 2051}); },
     .shape = [](CallPlan& plan) {
       const auto topk = *one_of<std::int64_t>({2047, 2049, 2051});
       plan.topk = {topk, topk}; few_rows(plan); },
     .classes = {{.name = "topk beside 2,048", .what = "2,047, 2,049 or 2,051", .floor_per_mille = 2,
                  .contains = [](T t) { return t.works() && (t.value->topk == 2047 || t.value->topk == 2049 || t.value->topk == 2051); }}}},
    {.name = "topk 192 to 1,024", .cards = 2,
     .possible = [](const Domain& domain) {
        return admits(domain, kAnySegments, {192, 192}) && admits(domain, kAnySegments, {512, 512}) &&
               admits(domain, kAnySegments, {1024, 1024}); },
     .shape = [](CallPlan& plan) {
       const auto topk = *one_of<std::int64_t>({192, 512, 1024});
       plan.topk = {topk, topk}; few_rows(plan); },
     .classes = {{.name = "topk 192, 512 or 1,024", .what = "other widths of serving", .floor_per_mille = 4,
                  .contains = [](T t) { return t.works() && (t.value->topk == 192 || t.value->topk == 512 || t.value->topk == 1024); }}}},
    {.name = "width beside a power of two", .cards = 2,
     .possible = any_shape,
     .shape = [](CallPlan& plan) {
       const std::int64_t topk = (std::int64_t{1} << *between(7, 11)) + *between(-1, 1);
       plan.rows = {1, 2}; plan.topk = {topk, topk}; long_enough(plan); structure_in_some(plan, RowStructure::kLast); },
     .classes = {{.name = "width beside a power of two", .what = "what tiles make of a row's last slots", .floor_per_mille = 4,
                  .contains = [](T t) {
       const auto topk = static_cast<std::uint64_t>(t.value->topk);
       return t.works() && topk >= 127 && topk <= 2049 &&
              (std::has_single_bit(topk - 1) || std::has_single_bit(topk) || std::has_single_bit(topk + 1));
     }}}},
    {.name = "any width", .cards = 6,
     .possible = any_shape,
     .shape = [](CallPlan& plan) {
       plan.rows = {1, 2}; plan.any_width = true; plan.topk = {66, 2100};
       if (*chance(75)) { long_enough(plan); structure_in_some(plan, RowStructure::kFew); } },
     .classes = {{.name = "topk of another width above 65", .what = "no width of serving, nor beside one", .floor_per_mille = 3,
                  .contains = [](T t) {
       return t.works() && t.value->topk > 65 && t.value->topk < 2047 && t.value->topk != 192 && t.value->topk != 512 &&
              t.value->topk != 1024;
     }}}},
    {.name = "topk above 2,051", .cards = 3,
     .possible = any_shape,
     .shape = [](CallPlan& plan) {
       plan.rows = {1, 2}; plan.any_width = true; plan.topk = {2052, 8192}; long_enough(plan); structure_in_some(plan, RowStructure::kFew); },
     .classes = {{.name = "topk above 2,051", .what = "wider than any model serves", .floor_per_mille = 3,
                  .contains = [](T t) { return t.works() && t.value->topk > 2051; }}}},
    {.name = "topk below S", .cards = 2,
     .possible = segments_exceed_slots,
     .shape = [](CallPlan& plan) { plan.topk.low = 1; plan.segments_exceed_slots = true; },
     .classes = {{.name = "topk below S", .what = "fewer slots than segments", .floor_per_mille = 4,
                  .contains = [](T t) { return t.works() && t.value->topk > 0 && t.value->topk < t.value->num_segments; }}}},
    {.name = "topk zero", .cards = 1,
     .possible = [](const Domain& domain) { return admits(domain, kAnySegments, {0, 0}); },
     .shape = [](CallPlan& plan) {
       plan.topk = {0, 0};
       if (*chance(30)) plan.rows = {41, 600};
       plan.operations.insert(plan.operations.end(), 3, Operation::kWitnesses); },
     .classes = {{.name = "topk zero", .what = "rows without slots", .floor_per_mille = 2,
                  .contains = [](T t) { return t.works() && t.value->topk == 0; }}}},
    // the one that has something to write
    {.name = "no rows", .cards = 1,
     .possible = [](const Domain& domain) { return admits_rows(domain, {0, 0}) && anything(domain); },
     .shape = [](CallPlan& plan) { plan.rows = {0, 0}; },
     .classes = {{.name = "no rows", .what = "an empty batch", .floor_per_mille = 2,
                  .contains = [](T t) { return t.works() && t.value->rows() == 0; }}}},
    {.name = "4 to 32 wide rows", .cards = 1,
     .possible = [](const Domain& domain) { return admits_rows(domain, {4, 32}) && admits(domain, kAnySegments, {512, kMostDrawnTopk}); },
     .shape = [](CallPlan& plan) { plan.topk = {512, kMostDrawnTopk}; plan.rows = {4, 32}; },
     .classes = {{.name = "4 to 32 wide rows", .what = "a decode batch: rows of 512 slots and more", .floor_per_mille = 2,
                  .contains = [](T t) { return t.works() && t.value->topk >= 512 && t.value->rows() >= 4 && t.value->rows() <= 32; }}}},
    {.name = "41 to 512 rows", .cards = 1,
     .possible = [](const Domain& domain) { return narrow_rows(domain, 512); },
     .shape = [](CallPlan& plan) {
       const auto rows = *one_of<std::int64_t>({*between(41, 200), *between(41, 200), *between(201, 512), 63, 64, 64, 65, 127,
                                                   128, 129, 192, 255, 256, 257, 300, 512});
       plan.rows = {rows, rows}; plan.topk.low = 1; plan.many_rows = true; plan.few_segments = *chance(50); },
     .classes = {{.name = "41 to 512 rows", .what = "more rows than a few blocks serve", .floor_per_mille = 2,
                  .contains = [](T t) { return t.works() && t.value->rows() > 40 && t.value->rows() <= 512; }}}},
    {.name = "S of 31 to 33", .cards = 3,
     .possible = [](const Domain& domain) { return admits(domain, {31, 33}); },
     .shape = [](CallPlan& plan) { plan.segments = {31, 33}; },
     .classes = {{.name = "S of 31 to 33", .what = "the boundary of a 32-bit mask", .floor_per_mille = 6,
                  .contains = [](T t) { return t.works() && t.value->num_segments >= 31 && t.value->num_segments <= 33; }}}},
    {.name = "S of 63 or 64", .cards = 4,
     .possible = [](const Domain& domain) { return admits(domain, {63, 64}); },
     .shape = [](CallPlan& plan) { plan.segments = {63, 64}; },
     .classes = {{.name = "S of 63 or 64", .what = "the boundary of a 64-bit mask", .floor_per_mille = 8,
                  .contains = [](T t) { return t.works() && t.value->num_segments >= 63 && t.value->num_segments <= 64; }}}},
    {.name = "S of one", .cards = 1,
     .possible = [](const Domain& domain) { return admits(domain, {1, 1}); },
     .shape = [](CallPlan& plan) { plan.segments = {1, 1}; },
     .classes = {{.name = "S of one", .what = "one segment: the whole context", .floor_per_mille = 2,
                  .contains = [](T t) { return t.works() && t.value->num_segments == 1; }}}},
    {.name = "more than 64 segments", .cards = 3,
     .possible = [](const Domain& domain) {
        return has(domain, Operation::kWitnesses) && admits_value(domain.num_segments, {65, kMostDrawnSegments}); },
     .shape = [](CallPlan& plan) { plan.operations = {Operation::kWitnesses}; plan.segments = {65, kMostDrawnSegments}; },
     .classes = {{.name = "more than 64 segments", .what = "witness indices beyond a 64-bit mask", .floor_per_mille = 6,
                  .contains = [](T t) { return t.works() && t.value->num_segments > kMaxMergeSegments; }}}},

    // Tokens.
    {.name = "tokens at edges", .cards = 6,
     .possible = two_segments,
     .shape = [](CallPlan& plan) { plan.segments.low = 2; long_enough(plan); structure_in_some(plan, RowStructure::kEdges); },
     .classes = {{.name = "token at an edge", .what = "the first token of a segment other than 0", .floor_per_mille = 10,
                  .contains = [](T t) { return t.at_edge; }},
                 {.name = "token just below an edge", .what = "the last token of a segment", .floor_per_mille = 6,
                  .contains = [](T t) { return t.below_edge; }}}},
    {.name = "tokens at the length", .cards = 2, .focus = Focus::kOutOfRange,
     .possible = past_the_end,
     .shape = [](CallPlan& plan) {
       length_in_every(plan, *one_of<LengthClass>({LengthClass::kSmall, LengthClass::kMiddle, LengthClass::kAtSegments}));
       structure_in_some(plan, *chance(50) ? RowStructure::kBoundary : RowStructure::kPastLength); },
     .classes = {{.name = "token at the length", .what = "the first token outside the context", .floor_per_mille = 2,
                  .contains = [](T t) { return t.at_length; }},
                 {.name = "token past the length", .what = "at or past the length", .floor_per_mille = 4,
                  .contains = [](T t) { return t.past_length; }}}},
    {.name = "tokens past a short row", .cards = 3, .focus = Focus::kOutOfRange,
     .possible = [](const Domain& domain) { return past_the_end(domain) && two_segments(domain); },
     .shape = [](CallPlan& plan) {
       plan.segments.low = 2; length_in_every(plan, LengthClass::kBelowSegments); structure_in_some(plan, RowStructure::kPastShortRow); },
     .classes = {{.name = "token past a short row", .what = "marks a number outside the partition", .floor_per_mille = 6,
                  .contains = [](T t) { return t.past_short_row; }}}},
    {.name = "length at a multiple of S", .cards = 2,
     .possible = two_segments,
     .shape = [](CallPlan& plan) {
       plan.segments.low = 2; length_in_every(plan, LengthClass::kMultiple); structure_in_some(plan, RowStructure::kEdges); },
     .classes = {}},
    {.name = "few tokens", .cards = 2, .focus = Focus::kManyWitnesses,
     .possible = three_segments,
     .shape = [](CallPlan& plan) { plan.segments.low = 3; plan.topk.low = 2; long_enough(plan); structure_in_some(plan, RowStructure::kFew); },
     .classes = {}},
    {.name = "a lone token in a wide row", .cards = 3, .focus = Focus::kManyWitnesses,
     .possible = many_segments_of_wide_rows,
     .shape = [](CallPlan& plan) {
       plan.segments = {8, 64}; plan.topk = {512, kMostDrawnTopk}; plan.rows = {1, 2}; long_enough(plan); structure_in_some(plan, RowStructure::kLone); },
     .classes = {{.name = "lone token in a wide row", .what = "the only mark of its segment, late in 512 slots or more, many segments missing", .floor_per_mille = 4,
                  .contains = [](T t) { return t.lone_in_wide_row; }}}},
    {.name = "a lone token past the end of a wide row", .cards = 3, .focus = Focus::kOutOfRange,
     .possible = [](const Domain& domain) { return past_the_end(domain) && many_segments_of_wide_rows(domain); },
     .shape = [](CallPlan& plan) {
       plan.segments = {8, 64}; plan.topk = {512, kMostDrawnTopk}; plan.rows = {1, 2}; structure_in_some(plan, RowStructure::kLonePastEnd);
       length_in_every(plan, *one_of<LengthClass>({LengthClass::kMiddle, LengthClass::kMiddle, LengthClass::kAbove24, LengthClass::kNear31})); },
     .classes = {{.name = "lone token past the end of a wide row", .what = "the same of the last segment, by a token at or past the length", .floor_per_mille = 3,
                  .contains = [](T t) { return t.lone_past_end; }}}},
    {.name = "garbage beyond the length", .cards = 2, .focus = Focus::kOutOfRange,
     .possible = [](const Domain& domain) { return past_the_end(domain) && admits(domain, kAnySegments, {2, kMostDrawnTopk}); },
     .shape = [](CallPlan& plan) {
       plan.topk.low = 2; plan.length_below_topk = true; structure_in_some(plan, RowStructure::kGarbage); },
     .classes = {{.name = "garbage beyond the length", .what = "L valid tokens, then stale ones", .floor_per_mille = 4,
                  .contains = [](T t) { return t.garbage; }}}},
    {.name = "absolute offsets", .cards = 1, .focus = Focus::kOutOfRange,
     .possible = past_the_end,
     .shape = [](CallPlan& plan) {
       length_in_every(plan, *one_of<LengthClass>({LengthClass::kSmall, LengthClass::kMiddle})); structure_in_some(plan, RowStructure::kAbsolute); },
     .classes = {{.name = "absolute offsets", .what = "every token at or past the length", .floor_per_mille = 2,
                  .contains = [](T t) { return t.absolute; }}}},
    {.name = "holes of padding", .cards = 2, .focus = Focus::kPadding,
     .possible = [](const Domain& domain) { return admits(domain, kAnySegments, {2, kMostDrawnTopk}); },
     .shape = [](CallPlan& plan) { plan.topk.low = 2; structure_in_some(plan, RowStructure::kHoles); },
     .classes = {{.name = "hole of padding", .what = "a negative entry before a valid one", .floor_per_mille = 4,
                  .contains = [](T t) { return t.hole; }}}},
    {.name = "all padding", .cards = 2, .focus = Focus::kPadding,
     .possible = some_slots,
     .shape = [](CallPlan& plan) { structure_in_some(plan, RowStructure::kAllPadding); },
     .classes = {{.name = "all padding", .what = "no valid entry", .floor_per_mille = 4,
                  .contains = [](T t) { return t.all_padding; }}}},
    {.name = "negatives other than -1", .cards = 2, .focus = Focus::kPadding,
     .possible = some_slots,
     .shape = [](CallPlan& plan) { structure_in_some(plan, RowStructure::kNegatives); },
     .classes = {{.name = "negative other than -1", .what = "padding is any negative entry", .floor_per_mille = 4,
                  .contains = [](T t) { return t.odd_negative; }},
                 {.name = "token of INT32_MIN", .what = "its negation overflows", .floor_per_mille = 2,
                  .contains = [](T t) { return t.least_token; }}}},
    {.name = "tokens in pairs", .cards = 3,
     .possible = [](const Domain& domain) { return admits(domain, kAnySegments, {2, kMostDrawnTopk}); },
     .shape = [](CallPlan& plan) { plan.topk.low = 2; structure_in_some(plan, RowStructure::kPairs); },
     .classes = {{.name = "duplicate token", .what = "the same token twice", .floor_per_mille = 6,
                  .contains = [](T t) { return t.duplicate; }},
                 {.name = "even number of tokens in a segment", .what = "they cancel in an exclusive or", .floor_per_mille = 6,
                  .contains = [](T t) { return t.even_segment; }}}},
    {.name = "every segment", .cards = 2, .focus = Focus::kInRange,
     .possible = [](const Domain& domain) { return segments_fit(domain, 1); },
     .shape = [](CallPlan& plan) { plan.segments_fit_slots = true; long_enough(plan); structure_in_some(plan, RowStructure::kFullCover); },
     .classes = {{.name = "every segment occupied", .what = "no witness", .floor_per_mille = 4,
                  .contains = [](T t) { return t.full; }}}},
    {.name = "every segment but one", .cards = 4, .focus = Focus::kInRange,
     .possible = [](const Domain& domain) { return segments_fit(domain, 2); },
     .shape = [](CallPlan& plan) {
       plan.segments.low = 2; plan.segments_fit_slots = true; long_enough(plan); structure_in_some(plan, RowStructure::kOneMissing); },
     .classes = {{.name = "one segment missing", .what = "one witness", .floor_per_mille = 8,
                  .contains = [](T t) { return t.one_missing; }},
                 {.name = "last segment missing", .what = "the mask's highest bit alone is clear", .floor_per_mille = 2,
                  .contains = [](T t) { return t.last_missing; }}}},
    {.name = "one segment alone", .cards = 2, .focus = Focus::kManyWitnesses,
     .possible = three_segments,
     .shape = [](CallPlan& plan) { plan.segments.low = 3; plan.topk.low = 2; long_enough(plan); structure_in_some(plan, RowStructure::kOneSegment); },
     .classes = {{.name = "last segment alone", .what = "the mask's highest bit alone", .floor_per_mille = 2,
                  .contains = [](T t) { return t.last_alone; }}}},
    {.name = "the upper or the lower half of 64 segments", .cards = 3, .focus = Focus::kManyWitnesses,
     .possible = [](const Domain& domain) { return admits(domain, {34, 64}, {1, kMostDrawnTopk}); },
     .shape = [](CallPlan& plan) { plan.segments = {34, 64}; long_enough(plan); structure_in_some(plan, RowStructure::kHalf); },
     .classes = {{.name = "lower half alone", .what = "no segment from 32 on", .floor_per_mille = 2,
                  .contains = [](T t) { return t.lower_half_alone; }},
                 {.name = "upper half alone", .what = "no segment below 32", .floor_per_mille = 2,
                  .contains = [](T t) { return t.upper_half_alone; }}}},
    {.name = "the head alone", .cards = 2, .focus = Focus::kManyWitnesses,
     .possible = [](const Domain& domain) { return apply_with(domain, kAnySegments, {2, kMostDrawnTopk}); },
     .shape = [](CallPlan& plan) {
       plan.operations = {Operation::kApply}; plan.topk.low = 2; plan.keep = KeepKind::kInside; long_enough(plan);
       structure_in_some(plan, RowStructure::kHeadOnly); },
     .classes = {{.name = "head alone", .what = "tokens below learned_keep alone", .floor_per_mille = 4,
                  .contains = [](T t) { return t.head_only; }}}},
    {.name = "the tail alone", .cards = 2, .focus = Focus::kManyWitnesses,
     .possible = [](const Domain& domain) { return apply_with(domain, kAnySegments, {2, kMostDrawnTopk}); },
     .shape = [](CallPlan& plan) {
       plan.operations = {Operation::kApply}; plan.topk.low = 2; plan.keep = KeepKind::kInside; long_enough(plan);
       structure_in_some(plan, RowStructure::kTailOnly); },
     .classes = {{.name = "tail alone", .what = "tokens from learned_keep on alone", .floor_per_mille = 4,
                  .contains = [](T t) { return t.tail_only; }}}},
    {.name = "a sole token that is overwritten", .cards = 2, .focus = Focus::kManyWitnesses,
     .possible = [](const Domain& domain) { return apply_with(domain, {2, 64}, {2, kMostDrawnTopk}); },
     .shape = [](CallPlan& plan) {
       plan.operations = {Operation::kApply}; plan.segments = {2, 64}; plan.topk.low = 2; plan.keep = KeepKind::kInside;
       plan.budget = BudgetKind::kSome; long_enough(plan); structure_in_some(plan, RowStructure::kSoleInTail); },
     .classes = {{.name = "segment uncovered by the merge", .what = "its sole tokens are overwritten", .floor_per_mille = 4,
                  .contains = [](T t) { return t.uncovered_by_merge; }}}},
    {.name = "like a model's row", .cards = 3, .focus = Focus::kInRange,
     .possible = some_slots,
     .shape = [](CallPlan& plan) { plan.in_range_only = true; length_in_every(plan, LengthClass::kMiddle); structure_in_some(plan, RowStructure::kModelLike); },
     .classes = {}},
    {.name = "tokens in range alone", .cards = 3, .focus = Focus::kInRange,
     .possible = some_slots,
     .shape = [](CallPlan& plan) { plan.in_range_only = true; plan.topk.low = 1; },
     .classes = {{.name = "tokens in range alone", .what = "a row for which coverage holds", .floor_per_mille = 6,
                  .contains = [](T t) { return t.in_range; }}}},
    {.name = "sorted rows", .cards = 2,
     .possible = [](const Domain& domain) { return admits(domain, kAnySegments, {3, kMostDrawnTopk}); },
     .shape = [](CallPlan& plan) {
       plan.topk.low = 3; plan.order = *chance(50) ? RowOrder::kRising : RowOrder::kFalling; structure_in_some(plan, RowStructure::kUniform);
       if (*chance(85)) length_in_every(plan, LengthClass::kNear31); },
     .classes = {{.name = "sorted row", .what = "rising or falling strictly", .floor_per_mille = 3,
                  .contains = [](T t) { return t.rising || t.falling; }}}},
    {.name = "rows that differ", .cards = 4,
     .possible = [](const Domain& domain) { return admits_rows(domain, {2, 9}) && segments_fit(domain, 2); },
     .shape = [](CallPlan& plan) { plan.segments.low = 2; plan.segments_fit_slots = true; plan.rows = {2, 9}; plan.rows_differ = true; },
     .classes = {{.name = "several rows", .what = "a batch of two rows or more", .floor_per_mille = 8,
                  .contains = [](T t) { return t.works() && t.value->rows() > 1; }},
                 {.name = "rows that differ", .what = "a full row beside a bare one", .floor_per_mille = 8,
                  .contains = [](T t) { return t.differing; }}}},

    // Budgets.
    {.name = "more witnesses than the budget", .cards = 3, .focus = Focus::kManyWitnesses,
     .possible = [](const Domain& domain) { return apply_with(domain, {3, 64}, {2, kMostDrawnTopk}); },
     .shape = [](CallPlan& plan) {
       plan.operations = {Operation::kApply}; plan.segments = {3, 64}; plan.topk.low = 2; long_enough(plan);
       plan.keep = KeepKind::kInside; plan.budget = BudgetKind::kBelowSegments;
       structure_in_some(plan, *chance(50) ? RowStructure::kAllPadding : RowStructure::kOneSegment); },
     .classes = {{.name = "dropped witness", .what = "more witnesses than the budget", .floor_per_mille = 6,
                  .contains = [](T t) { return t.dropped; }}}},
    {.name = "one slot for the last witness", .cards = 2, .focus = Focus::kManyWitnesses,
     .possible = apply_fits,
     .shape = [](CallPlan& plan) {
       plan.operations = {Operation::kApply}; plan.segments = {2, kMaxMergeSegments}; plan.segments_fit_slots = true; long_enough(plan);
       plan.keep = KeepKind::kAllButOne; plan.budget = *one_of<BudgetKind>({BudgetKind::kSome, BudgetKind::kUnbounded});
       structure_in_some(plan, RowStructure::kOneMissing); },
     .classes = {{.name = "one slot for a witness", .what = "all but the last slot is kept", .floor_per_mille = 4,
                  .contains = [](T t) {
       return t.works() && t.is(Operation::kApply) && t.value->topk - t.value->learned_keep == 1 &&
              t.value->max_replacements > 0;
     }}}},
    {.name = "room for every witness", .cards = 2, .focus = Focus::kManyWitnesses,
     .possible = apply_fits,
     .shape = [](CallPlan& plan) {
       plan.operations = {Operation::kApply}; plan.segments = {2, kMaxMergeSegments}; plan.segments_fit_slots = true; long_enough(plan);
       plan.keep = KeepKind::kNothing; plan.budget = BudgetKind::kAboveSegments; structure_in_some(plan, RowStructure::kAllPadding); },
     .classes = {{.name = "room for every witness", .what = "neither slots nor budget run out", .floor_per_mille = 4,
                  .contains = [](T t) {
       return t.works() && t.is(Operation::kApply) && t.value->num_segments > 1 &&
              t.value->topk - t.value->learned_keep >= t.value->num_segments &&
              t.value->max_replacements > t.value->num_segments;
     }}}},
    {.name = "no budget", .cards = 1,
     .possible = [](const Domain& domain) { return apply_with(domain, kAnySegments, {1, kMostDrawnTopk}); },
     .shape = [](CallPlan& plan) {
       plan.operations = {Operation::kApply}; plan.topk.low = 1; plan.budget = BudgetKind::kNone; },
     .classes = {{.name = "no budget", .what = "max_replacements of 0", .floor_per_mille = 2,
                  .contains = [](T t) { return t.works() && t.is(Operation::kApply) && t.value->max_replacements == 0; }}}},
    {.name = "everything kept", .cards = 1,
     .possible = [](const Domain& domain) { return apply_with(domain, kAnySegments, {1, kMostDrawnTopk}); },
     .shape = [](CallPlan& plan) {
       plan.operations = {Operation::kApply}; plan.topk.low = 1; plan.keep = KeepKind::kAll; },
     .classes = {{.name = "everything kept", .what = "learned_keep of topk", .floor_per_mille = 2,
                  .contains = [](T t) {
       return t.works() && t.is(Operation::kApply) && t.value->topk > 0 && t.value->learned_keep == t.value->topk;
     }}}},
    {.name = "nothing kept", .cards = 1, .focus = Focus::kManyWitnesses,
     .possible = [](const Domain& domain) { return apply_with(domain, kAnySegments, {1, kMostDrawnTopk}); },
     .shape = [](CallPlan& plan) {
       plan.operations = {Operation::kApply}; plan.topk.low = 1; plan.keep = KeepKind::kNothing; },
     .classes = {{.name = "nothing kept", .what = "learned_keep of 0", .floor_per_mille = 2,
                  .contains = [](T t) { return t.works() && t.is(Operation::kApply) && t.value->learned_keep == 0; }}}},
    {.name = "an unbounded budget", .cards = 1,
     .possible = [](const Domain& domain) { return apply_with(domain, kAnySegments, {1, kMostDrawnTopk}); },
     .shape = [](CallPlan& plan) {
       plan.operations = {Operation::kApply}; plan.topk.low = 1; plan.budget = BudgetKind::kUnbounded; },
     .classes = {{.name = "unbounded budget", .what = "more than S and topk together", .floor_per_mille = 2,
                  .contains = [](T t) {
       return t.works() && t.is(Operation::kApply) &&
              t.value->max_replacements - t.value->topk >= t.value->num_segments;
     }}}},
    {.name = "scatter switched off", .cards = 2, .focus = Focus::kRefusals,
     .possible = [](const Domain& domain) {
        return has(domain, Operation::kScatter) && admits_value(domain.num_segments, {0, 0}) &&
               admits_value(domain.topk, kAnyTopk); },
     .shape = [](CallPlan& plan) {
       plan.operations = {Operation::kScatter}; plan.segments = {0, 0}; plan.nonsense_when_off = *chance(60); },
     .classes = {{.name = "scatter switched off", .what = "S of 0 does nothing", .floor_per_mille = 2,
                  .contains = [](T t) { return t.legal() && t.is(Operation::kScatter) && t.value->num_segments == 0; }}}},

    // How the call is made.
    {.name = "row stride above topk", .cards = 4,
     .possible = [](const Domain& domain) { return admits_rows(domain, {2, 9}) && !domain.contiguous && some_slots(domain); },
     .shape = [](CallPlan& plan) { plan.topk.low = 1; plan.rows = {2, 9}; plan.strided = true; },
     .classes = {{.name = "row stride above topk", .what = "spare columns between rows", .floor_per_mille = 8,
                  .contains = [](T t) {
       return t.works() && t.value->rows() > 1 && t.value->row_stride && *t.value->row_stride > t.value->topk;
     }}}},
    {.name = "in place", .cards = 3,
     .possible = [](const Domain& domain) { return apply_with(domain, kAnySegments, {1, kMostDrawnTopk}); },
     .shape = [](CallPlan& plan) {
       plan.operations = {Operation::kApply}; plan.topk.low = 1; plan.in_place = true; },
     .classes = {{.name = "in place", .what = "apply's output is its input", .floor_per_mille = 6,
                  .contains = [](T t) { return t.works() && t.value->in_place; }}}},
    {.name = "off the 64-byte boundary", .cards = 4,
     .possible = [](const Domain& domain) { return domain.align_bytes < 64 && some_slots(domain); },
     .shape = [](CallPlan& plan) { plan.topk.low = 1; plan.off_boundary = true; },
     .classes = {{.name = "off the 64-byte boundary", .what = "a base that wide loads must not assume aligned", .floor_per_mille = 8,
                  .contains = [](T t) { return t.works() && t.value->base_offset != 0; }}}},
    {.name = "off the boundary in a wide row", .cards = 1,
     .possible = [](const Domain& domain) {
        return domain.align_bytes < 64 && admits(domain, kAnySegments, {192, kMostDrawnTopk}); },
     .shape = [](CallPlan& plan) { plan.topk = {192, kMostDrawnTopk}; plan.rows = {1, 3}; plan.off_boundary = true; },
     .classes = {{.name = "wide row off the boundary", .what = "topk of 192 or more too", .floor_per_mille = 2,
                  .contains = [](T t) { return t.works() && t.value->base_offset != 0 && t.value->topk >= 192; }}}},
    {.name = "earlier calls", .cards = 6,
     .possible = some_slots,
     .shape = [](CallPlan& plan) { plan.topk.low = 1; plan.prior_calls = true; },
     .classes = {{.name = "earlier calls", .what = "the process has made other calls before", .floor_per_mille = 12,
                  .contains = [](T t) { return !t.value->prior_calls.empty(); }}}},

    // Calls that must be refused.
    {.name = "rows mismatch", .cards = 2, .focus = Focus::kRefusals,
     .possible = [](const Domain& domain) { return refusable(domain, {Malformation::kLearnedLength}); },
     .shape = [](CallPlan& plan) { refused(plan, Malformation::kLearnedLength); },
     .classes = {{.name = "rows mismatch", .what = "learned has another length than rows * topk", .floor_per_mille = 4,
                  .contains = [](T t) { return t.status == status::kRowsMismatch; }}}},
    {.name = "rows times topk overflows", .cards = 1, .focus = Focus::kRefusals,
     .possible = [](const Domain& domain) { return refusable(domain, {Malformation::kOverflow}); },
     .shape = [](CallPlan& plan) { refused(plan, Malformation::kOverflow); },
     .classes = {{.name = "rows times topk overflows", .what = "the product passes 2^63", .floor_per_mille = 2,
                  .contains = [](T t) { return t.status == status::kRowsMismatch && t.value->topk > (std::int64_t{1} << 32); }}}},
    {.name = "too many or no segments", .cards = 2, .focus = Focus::kRefusals,
     .possible = [](const Domain& domain) { return refusable(domain, {Malformation::kSegments}); },
     .shape = [](CallPlan& plan) { refused(plan, Malformation::kSegments); },
     .classes = {{.name = "segments out of range", .what = "0, or above 64", .floor_per_mille = 4,
                  .contains = [](T t) { return t.status == status::kSegmentsOutOfRange; }}}},
    {.name = "keep above topk", .cards = 2, .focus = Focus::kRefusals,
     .possible = [](const Domain& domain) { return refusable(domain, {Malformation::kKeep}) && apply_with(domain, kAnySegments, kAnyTopk); },
     .shape = [](CallPlan& plan) { plan.operations = {Operation::kApply}; refused(plan, Malformation::kKeep); },
     .classes = {{.name = "learned keep out of range", .what = "above topk", .floor_per_mille = 4,
                  .contains = [](T t) { return t.status == status::kLearnedKeepOutOfRange; }}}},
    {.name = "negative counts", .cards = 3, .focus = Focus::kRefusals,
     .possible = [](const Domain& domain) { return refusable(domain, {Malformation::kNegative}); },
     .shape = [](CallPlan& plan) { refused(plan, Malformation::kNegative); },
     .classes = {{.name = "negative count", .what = "topk, S, keep, budget or stride below 0", .floor_per_mille = 4,
                  .contains = [](T t) { return t.status == status::kNegativeCount; }}}},
    {.name = "row stride below topk", .cards = 2, .focus = Focus::kRefusals,
     .possible = [](const Domain& domain) { return admits_rows(domain, {2, 5}) && refusable(domain, {Malformation::kStride}, {1, kMostDrawnTopk}); },
     .shape = [](CallPlan& plan) {
       plan.topk.low = 1; plan.rows = {2, 5}; refused(plan, Malformation::kStride); },
     .classes = {{.name = "row stride below topk", .what = "rows that overlap", .floor_per_mille = 4,
                  .contains = [](T t) { return t.status == status::kRowStride; }}}},
    {.name = "negative row stride", .cards = 1, .focus = Focus::kRefusals,
     .possible = [](const Domain& domain) { return refusable(domain, {Malformation::kNegativeStride}); },
     .shape = [](CallPlan& plan) { plan.rows = {1, *between(1, 2)}; refused(plan, Malformation::kNegativeStride); },
     .classes = {}},
    {.name = "several faults at once", .cards = 4, .focus = Focus::kRefusals,
     .possible = [](const Domain& domain) { return admits_rows(domain, {2, 4}) && !possible_combinations(domain).empty(); },
     .shape = [](CallPlan& plan) {
       plan.rows = {2, 4}; plan.topk.low = 1;
       plan.malformations = *one_of(possible_combinations(*plan.domain)); },
     .classes = {{.name = "several faults at once", .what = "the first in the order of checks wins", .floor_per_mille = 3,
                  .contains = [](T t) { return t.malformations > 1; }}}},

    // Costly ones, shared by all properties.
    {.name = "more than 1,024 rows", .cards = 1, .shared = true,
     .possible = [](const Domain& domain) { return narrow_rows(domain, 1500); },
     .shape = [](CallPlan& plan) { plan.rows = {1025, 1500}; plan.topk = {1, kMostDrawnTopk}; plan.many_rows = true; },
     .classes = {{.name = "more than 1,024 rows", .what = "more rows than a block has threads",
                  .contains = [](T t) { return t.works() && t.value->rows() > 1024; }}}},
    {.name = "more than 65,535 rows", .cards = 1, .shared = true,
     .possible = [](const Domain& domain) { return narrow_rows(domain, 65650); },
     .shape = [](CallPlan& plan) {
       plan.rows = {65600, 65650}; plan.topk = {1, kMostDrawnTopk}; plan.many_rows = plan.sparse_rows = true; plan.keep = KeepKind::kInside; },
     .classes = {{.name = "more than 65,535 rows", .what = "more rows than a grid's second axis holds",
                  .contains = [](T t) { return t.works() && t.value->rows() > 65535; }}}},
    // Too much for an executor of another machine's code; of the second one relations are spared.
    {.name = "65,536 rows", .cards = 1, .shared = true,
     .possible = [](const Domain& domain) { return any_batch(domain, 65536); },
     .shape = [](CallPlan& plan) {
       plan.rows = {65536, 65536}; plan.topk = {5, kMostDrawnTopk}; plan.many_rows = plan.sparse_rows = true; plan.keep = KeepKind::kInside; },
     .classes = {{.name = "65,536 rows", .what = "a number of rows that 16 bits take for none",
                  .contains = [](T t) { return t.works() && t.value->rows() == 65536; }}}},
    {.name = "more than 131,072 rows", .cards = 1, .shared = true,
     .possible = [](const Domain& domain) { return any_batch(domain, 131400); },
     .shape = [](CallPlan& plan) {
       plan.rows = {131073, 131400}; plan.topk = {8, kMostDrawnTopk}; plan.many_rows = plan.sparse_rows = true; plan.keep = KeepKind::kInside; },
     .classes = {{.name = "more than 131,072 rows", .what = "more than two grids of 65,535",
                  .contains = [](T t) { return t.works() && t.value->rows() > 131072; }}}},
    {.name = "topk above 65,536", .cards = 1, .shared = true,
     .possible = [](const Domain& domain) { return any_batch(domain, 3) && admits(domain, {2, kMostDrawnSegments}); },
     .shape = [](CallPlan& plan) {
       plan.rows = {2, 3}; plan.topk = {65537, kMostDrawnTopk}; plan.segments.low = 2; plan.keep = KeepKind::kPast16Bits;
       plan.budget = BudgetKind::kUnbounded; long_enough(plan); structure_in_some(plan, RowStructure::kLast); },
     .classes = {{.name = "topk above 65,536", .what = "slots and a kept head past 16 bits",
                  .contains = [](T t) { return t.works() && t.value->topk > 65536; }}}},
    {.name = "a serving batch", .cards = 1, .shared = true,
     .possible = [](const Domain& domain) { return batches_up_to(domain, 40) && admits(domain, kAnySegments, {1024, kMostDrawnTopk}); },
     .shape = [](CallPlan& plan) { plan.rows = {33, 40}; plan.topk = {1024, kMostDrawnTopk}; },
     .classes = {{.name = "batch of wide rows", .what = "33 rows or more of 1,024 slots or more",
                  .contains = [](T t) { return t.works() && t.value->rows() > 32 && t.value->topk >= 1024; }}}},
    {.name = "row stride above 2^30", .cards = 1, .shared = true,
     .possible = [](const Domain& domain) { return batches_up_to(domain, 5) && !domain.contiguous && two_segments(domain); },
     .shape = [](CallPlan& plan) {
       plan.rows = {5, 5}; plan.segments.low = 2; plan.huge_stride = true; length_in_every(plan, LengthClass::kMiddle);
       structure_in_some(plan, RowStructure::kCluster); },
     .classes = {{.name = "row stride above 2^30", .what = "row times stride passes 2^31",
                  .contains = [](T t) { return t.works() && t.value->rows() > 2 && t.value->row_stride.value_or(0) > (std::int64_t{1} << 30); }}}},
    {.name = "more than 1,024 rows of many segments", .cards = 1, .shared = true,
     .possible = [](const Domain& domain) { return narrow_rows(domain, 1100) && admits(domain, {33, 64}, {1, kMostDrawnTopk}); },
     .shape = [](CallPlan& plan) {
       plan.rows = {1025, 1100}; plan.topk = {1, kMostDrawnTopk}; plan.segments = {33, 64}; plan.many_rows = plan.sparse_rows = true;
       plan.few_segments = false; },
     .classes = {{.name = "more than 1,024 rows, S above 32", .what = "more rows than threads, and marks in the upper half of a mask",
                  .contains = [](T t) { return t.works() && t.value->rows() > 1024 && t.value->num_segments > 32; }}}},
    {.name = "a prefill batch", .cards = 1, .shared = true,
     .possible = [](const Domain& domain) { return batches_up_to(domain, 270) && admits(domain, kAnySegments, {512, kMostDrawnTopk}); },
     .shape = [](CallPlan& plan) { plan.rows = {257, 270}; plan.topk = {512, kMostDrawnTopk}; },
     .classes = {{.name = "prefill batch", .what = "257 rows or more of 512 slots or more",
                  .contains = [](T t) { return t.works() && t.value->rows() > 256 && t.value->topk >= 512; }}}},
    {.name = "more than 2^21 tokens", .cards = 1, .shared = true,
     .possible = [](const Domain& domain) {
        return batches_up_to(domain, 1040) && has(domain, Operation::kScatter) && admits_value(domain.topk, {2048, kMostDrawnTopk}) &&
               admits_value(domain.num_segments, legal_segments(Operation::kScatter, kAnySegments)); },
     .shape = [](CallPlan& plan) {
       plan.operations = {Operation::kScatter}; plan.rows = {1030, 1040}; plan.topk = {2048, kMostDrawnTopk}; plan.many_rows = plan.sparse_rows = true; },
     .classes = {{.name = "more than 2^21 tokens", .what = "a batch that no stack holds",
                  .contains = [](T t) { return t.works() && t.value->rows() * t.value->topk > 1 << 21; }}}},
    {.name = "more than a million segments", .cards = 1, .shared = true,
     .possible = [](const Domain& domain) {
        return admits_rows(domain, {1, 1}) && has(domain, Operation::kWitnesses) && domain.num_segments.empty(); },
     .shape = [](CallPlan& plan) {
       plan.operations = {Operation::kWitnesses}; plan.segments = {1500000, 1500009}; plan.rows = {1, 1};
       length_in_every(plan, LengthClass::kNear31); },
     .classes = {{.name = "more than a million segments", .what = "more than 16 bits number, and more than a stack holds",
                  .contains = [](T t) { return t.works() && t.value->num_segments > 1 << 20; }}}},
};
// clang-format on

// A case of the scenario, choice by choice.
Case draw(const Domain& domain, const Scenario& scenario) {
  CallPlan plan;
  plan.domain = &domain;
  plan.operations = domain.operations;
  scenario.shape(plan);
  std::erase_if(plan.operations, [&](Operation operation) { return !has(domain, operation); });
  return draw_call(plan, domain);
}

// Of the shrinks those that lie in the domain and have the case's own status: a legal call stays legal, a refused one is
// refused for the same reason.
rc::Gen<Case> shrinking_within(const Domain& domain, rc::Gen<Case> generator) {
  return [domain, generator = std::move(generator)](const rc::Random& random, int size) {
    const rc::Shrinkable<Case> drawn = generator(random, size);
    return rc::shrinkable::shrink(
        [drawn] { return drawn.value(); },
        [drawn, domain](const Case& value) {
          const std::int32_t status = expected_status(value, true);
          return rc::seq::mapMaybe(drawn.shrinks(), [status, domain](rc::Shrinkable<Case>&& shrink) {
            return rc::shrinkable::filter(std::move(shrink), [status, domain](const Case& simpler) {
              return expected_status(simpler, true) == status && admits_case(domain, simpler);
            });
          });
        });
  };
}

}  // namespace

std::span<const Scenario> all_scenarios() {
  return kScenarios;
}

std::span<const CoverageClass> all_coverage_classes() {
  static const std::vector<CoverageClass> all = [] {
    std::vector<CoverageClass> list;
    for (const Scenario& scenario : kScenarios) {
      for (const ScenarioClass& entry : scenario.classes) list.push_back({entry, &scenario});
    }
    return list;
  }();
  return all;
}

std::vector<std::size_t> classes_of(const Case& value) {
  return classes_of(value, all_coverage_classes());
}

std::vector<std::size_t> classes_of(const Case& value, std::span<const CoverageClass> classes) {
  const CaseTraits traits = traits_of(value);
  std::vector<std::size_t> list;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (classes[i].contains(traits)) list.push_back(i);
  }
  return list;
}

std::int64_t class_floor(const CoverageClass& coverage_class, Focus focus, std::int64_t cases) {
  if (coverage_class.scenario->shared) return 1;
  const std::int64_t whole = cases * coverage_class.floor_per_mille;
  return std::max<std::int64_t>((focus == Focus::kEverything ? whole : whole / 2) / 1000, 1);
}

rc::Gen<Case> case_generator(const Domain& domain, const Scenario& scenario) {
  return shrinking_within(
      domain, rc::gen::shrink(rc::gen::exec([domain, &scenario] { return draw(domain, scenario); }),
                              [](const Case& failing) { return rc::seq::fromContainer(shrink_candidates(failing)); }));
}

}  // namespace kvwitness::harness
