// How a whole case is drawn from a plan: what a scenario asks for, the rest left to a swarm.
#ifndef PROPERTIES_GENERATORS_CASE_DRAWING_H
#define PROPERTIES_GENERATORS_CASE_DRAWING_H

#include <kvwitness/case.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "properties/generators/draws.h"
#include "properties/generators/generators.h"
#include "properties/generators/row_drawing.h"

namespace kvwitness::harness {

struct Range {  // both ends included
  std::int64_t low;
  std::int64_t high;
};

// The shapes that are ever drawn. A person's lists may go beyond.
inline constexpr std::int64_t kMaxTopk = std::int64_t{1} << 20;
inline constexpr std::int64_t kMaxSegments = std::int64_t{1} << 21;
inline constexpr std::int64_t kMaxMerge = 64;  // the most segments of apply and scatter
inline constexpr Range kAnyTopk{0, kMaxTopk};
inline constexpr Range kAnySegments{1, kMaxSegments};

// The part of the range that a legal call of the operation may have; empty (high below low) where there is none. Zero
// segments switch scatter off and are legal there.
Range legal_segments(Operation operation, const Range& segments);

// Lists as Domain has them: an empty one admits every value.
bool admits_value(const std::vector<std::int64_t>& list, const Range& range);
std::int64_t least_value(const std::vector<std::int64_t>& list,
                         const Range& range);  // range.high + 1 where there is none
std::int64_t greatest_value(const std::vector<std::int64_t>& list,
                            const Range& range);  // range.low - 1 where there is none

// Inside: 1 to topk - 1, where there are two slots. The last two need a topk of 1 and one above 65,536.
enum class KeepKind : std::uint8_t { kAny, kNothing, kInside, kAll, kAllButOne, kPast16Bits };
enum class BudgetKind : std::uint8_t { kAny, kNone, kSome, kBelowSegments, kAboveSegments, kUnbounded };
enum class RowOrder : std::uint8_t { kAsDrawn, kRising, kFalling };

// What makes a call one that must be refused.
enum class Fault : std::uint8_t { kLearnedLength, kOverflow, kSegments, kKeep, kNegative, kNegativeStride, kStride };

struct Plan {
  std::vector<Operation> operations;
  Range rows{-1, -1};  // drawn where low is negative
  Range topk = kAnyTopk;
  Range segments = kAnySegments;
  bool segments_fit_slots = false;     // S <= topk
  bool segments_exceed_slots = false;  // S > topk

  std::optional<LengthKind> length;  // of one row at least
  bool length_in_every_row = false;
  bool length_below_topk = false;   // 1 <= L < topk in every row
  std::optional<TokenKind> tokens;  // of one row at least
  bool in_range_alone = false;      // every token is in [0, L) or -1
  RowOrder order = RowOrder::kAsDrawn;
  bool rows_differ = false;  // full rows beside empty ones
  bool many_rows = false;    // few slots and cheap tokens
  bool few_segments = true;  // of many rows
  bool sparse_rows = false;  // nearly all rows hold padding alone, so that what a row left behind long ago shows
  bool any_width = false;    // topk of the plan's range, also widths that no model serves

  KeepKind keep = KeepKind::kAny;
  BudgetKind budget = BudgetKind::kAny;
  bool nonsense_when_off = false;  // scatter with S = 0 and a malformed rest, where the domain admits refusals

  bool strided = false;
  bool huge_stride = false;
  bool in_place = false;
  bool off_boundary = false;
  bool earlier_calls = false;

  std::vector<Fault> faults;
};

// Needs a plan that the domain admits: an operation, and a topk and an S of the asked ranges.
Case draw_case(const Plan& plan, const Domain& domain, Draws& draws);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_GENERATORS_CASE_DRAWING_H
