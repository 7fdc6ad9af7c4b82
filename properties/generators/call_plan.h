// How a whole call is drawn from a plan: what a scenario asks for, the rest left to a swarm.
#ifndef PROPERTIES_GENERATORS_CALL_PLAN_H
#define PROPERTIES_GENERATORS_CALL_PLAN_H

#include <kvwitness/case.h>
#include <kvwitness/rapidcheck.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "properties/generators/domain.h"

namespace kvwitness::harness {

// Inside: 1 to topk - 1, where there are two slots. The last two need a topk of 1 and one above 65,536.
enum class KeepKind : std::uint8_t { kAny, kNothing, kInside, kAll, kAllButOne, kPast16Bits };
enum class BudgetKind : std::uint8_t { kAny, kNone, kSome, kBelowSegments, kAboveSegments, kUnbounded };
enum class RowOrder : std::uint8_t { kAsDrawn, kRising, kFalling };

// What makes a call one that must be refused.
enum class Malformation : std::uint8_t {
  kLearnedLength,
  kOverflow,
  kSegments,
  kKeep,
  kNegative,
  kNegativeStride,
  kStride
};

// Whether a call of the operation can be made malformed so without leaving the domain: a list of widths or segment counts
// holds a value that must be refused, or there is none.
bool can_be_malformed(const Domain& domain, Operation operation, Malformation malformation);

// The classes and structures that a call usually has, each as often as it is likely.
const std::vector<LengthClass>& usual_length_classes();
const std::vector<RowStructure>& usual_row_structures();

struct CallPlan {
  const Domain* domain = nullptr;  // that the call is drawn for
  std::vector<Operation> operations = {};
  Range rows{-1, -1};  // drawn where low is negative
  Range topk = kAnyTopk;
  Range segments = kAnySegments;
  bool segments_fit_slots = false;     // S <= topk
  bool segments_exceed_slots = false;  // S > topk

  std::optional<LengthClass> length = {};  // of one row at least
  bool length_in_every_row = false;
  bool length_below_topk = false;              // 1 <= L < topk in every row
  std::optional<RowStructure> structure = {};  // of one row at least
  bool in_range_only = false;                  // every token is in [0, L) or -1
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
  bool prior_calls = false;

  std::vector<Malformation> malformations = {};
};

// Draws the call, choice by choice; for use inside rc::gen::exec. Needs a plan that the domain admits: an operation, and
// a topk and an S of the asked ranges.
Case draw_call(const CallPlan& plan, const Domain& domain);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_GENERATORS_CALL_PLAN_H
