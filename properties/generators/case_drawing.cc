#include "properties/generators/case_drawing.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace kvwitness::harness {
namespace {

constexpr std::int64_t kInt64Max = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kInt64Min = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kInt32Min = std::numeric_limits<std::int32_t>::min();

std::vector<std::int64_t> within(const std::vector<std::int64_t>& values, const Range& range) {
  std::vector<std::int64_t> list;
  std::ranges::copy_if(values, std::back_inserter(list),
                       [&](std::int64_t value) { return value >= range.low && value <= range.high; });
  return list;
}

// A value of the range: of the person's list where there is one, else one of the preferred or one near the range's
// lower end.
std::int64_t draw_value(Draws& draws, const std::vector<std::int64_t>& admitted, const Range& range,
                        const std::vector<std::int64_t>& preferred, std::int64_t usual_width) {
  if (!admitted.empty()) return draws.pick(within(admitted, range));
  const auto choices = within(preferred, range);
  if (!choices.empty() && draws.chance(70)) return draws.pick(choices);
  return draws.between(range.low, std::min(range.high, std::max(range.low, usual_width)));
}

// The kinds that this case may use. Few at a time, so that they meet.
template <typename Kind>
std::vector<Kind> draw_swarm(Draws& draws, const std::vector<Kind>& all) {
  std::vector<Kind> some;
  for (std::int64_t count = draws.between(1, 4); count > 0; --count) some.push_back(draws.pick(all));
  return some;
}

const std::vector<LengthKind> kUsualLengths = {
    LengthKind::kSmall,      LengthKind::kSmall,         LengthKind::kSmall,      LengthKind::kMiddle,
    LengthKind::kMiddle,     LengthKind::kBelowSegments, LengthKind::kAtSegments, LengthKind::kAroundTopk,
    LengthKind::kPowerOfTwo, LengthKind::kAbove24,       LengthKind::kAbove26,    LengthKind::kNear31,
    LengthKind::kOne,        LengthKind::kEmpty,         LengthKind::kMultiple};
const std::vector<LengthKind> kPositiveLengths = {
    LengthKind::kSmall,      LengthKind::kSmall,      LengthKind::kMiddle,
    LengthKind::kMiddle,     LengthKind::kAtSegments, LengthKind::kAroundTopk,
    LengthKind::kPowerOfTwo, LengthKind::kNear31,     LengthKind::kMultiple};
const std::vector<TokenKind> kInRangeTokens = {
    TokenKind::kUniform,   TokenKind::kUniform,    TokenKind::kEdges,      TokenKind::kEdges,
    TokenKind::kFullCover, TokenKind::kCluster,    TokenKind::kOneMissing, TokenKind::kOneSegment,
    TokenKind::kHalf,      TokenKind::kPaddedTail, TokenKind::kHoles,      TokenKind::kHeadAlone,
    TokenKind::kTailAlone, TokenKind::kModelLike,  TokenKind::kPairs,      TokenKind::kFew};
const std::vector<TokenKind> kUsualTokens = [] {
  std::vector<TokenKind> list = kInRangeTokens;
  for (int kind = 0; kind < kTokenKinds; ++kind) list.push_back(static_cast<TokenKind>(kind));
  return list;
}();

class CaseDrawing {
 public:
  CaseDrawing(const Plan& plan, const Domain& domain, Draws& draws) : plan_(plan), domain_(domain), draws_(draws) {}

  Case drawn() {
    draw_shape();
    draw_merge();
    draw_rows();
    draw_placement();
    if (plan_.nonsense_when_off && !domain_.legal_only) draw_nonsense();
    if (plan_.earlier_calls || (plan_.faults.empty() && !plan_.many_rows && !plan_.huge_stride && draws_.chance(4))) {
      draw_earlier_calls();
    }
    for (const Fault fault : plan_.faults) spoil(fault);
    return std::move(case_);
  }

 private:
  void draw_shape();
  Range topk_range() const;
  std::int64_t draw_row_count();
  void draw_merge();
  void draw_rows();
  void draw_lengths(std::size_t chosen);
  void fill_rows(std::size_t chosen);
  void fill_sparse_rows();
  void fill_differing_rows();
  void draw_placement();
  void draw_nonsense();
  void draw_earlier_calls();
  Case draw_earlier_call();
  void spoil(Fault fault);
  void spoil_keep();
  void spoil_learned_length();
  void spoil_by_overflow();
  void spoil_segments();
  void spoil_by_negative();

  std::span<std::int32_t> row(std::size_t index) {
    const auto topk = static_cast<std::size_t>(case_.topk);
    return std::span(case_.learned).subspan(index * topk, topk);
  }
  std::int64_t keep() const {  // what the merge keeps, for every operation
    return case_.operation == Operation::kApply ? case_.learned_keep
                                                : std::max<std::int64_t>(0, case_.topk - case_.num_segments);
  }
  void fill(std::size_t index, TokenKind kind) {
    draw_tokens(draws_, kind, {case_.context_lens[index], case_.num_segments, keep()}, row(index));
  }

  const Plan& plan_;
  const Domain& domain_;
  Draws& draws_;
  Case case_;
};

Range CaseDrawing::topk_range() const {
  Range range = plan_.topk;
  if (plan_.segments_fit_slots) range.low = std::max(range.low, case_.num_segments);
  if (plan_.segments_exceed_slots) range.high = std::min(range.high, case_.num_segments - 1);
  return range;
}

void CaseDrawing::draw_shape() {
  Range segments = plan_.segments;
  if (plan_.segments_fit_slots) {
    segments.high = std::min(segments.high, greatest_value(domain_.topk, plan_.topk));
    if (domain_.num_segments.empty()) segments.high = std::min(segments.high, kMaxMerge);
  }
  if (plan_.segments_exceed_slots) segments.low = std::max(segments.low, least_value(domain_.topk, plan_.topk) + 1);
  std::vector<Operation> operations;
  for (const Operation operation : plan_.operations) {
    if (admits_value(domain_.num_segments, legal_segments(operation, segments))) operations.push_back(operation);
  }
  case_.operation = draws_.pick(operations);
  const Range legal = legal_segments(case_.operation, segments);
  static const std::vector<std::int64_t> kPreferred = {1, 2, 3, 4, 4, 5, 7, 8, 8, 16, 31, 32, 33, 48, 63, 64, 64};
  static const std::vector<std::int64_t> kBeyond = {65,  66,  100,  127,  128,  128,  129,  192,
                                                    256, 512, 1000, 1024, 1025, 2049, 4096, 5000};
  const bool beyond = legal.low > kMaxMerge || (legal.high > kMaxMerge && draws_.chance(6));
  if (plan_.many_rows && plan_.few_segments) {
    case_.num_segments = draw_value(draws_, domain_.num_segments, legal, {1, 2, 3, 4, 5, 8}, 8);
  } else if (plan_.many_rows) {
    case_.num_segments =
        draw_value(draws_, domain_.num_segments, legal, {16, 31, 32, 33, 48, 63, 64, 64, 64, 64}, kMaxMerge);
  } else if (legal.low > 4096) {
    case_.num_segments = draw_value(draws_, domain_.num_segments, legal, {}, legal.high);
  } else if (beyond) {
    case_.num_segments = draw_value(draws_, domain_.num_segments, legal, kBeyond, 300);
  } else {
    case_.num_segments = draw_value(draws_, domain_.num_segments, legal, kPreferred, kMaxMerge);
  }
  const Range topk = topk_range();
  if (plan_.many_rows) {
    const std::int64_t least = plan_.keep == KeepKind::kInside ? std::max<std::int64_t>(topk.low, 2) : topk.low;
    case_.topk = domain_.topk.empty() ? draws_.between(least, topk.low + 2) : least_value(domain_.topk, topk);
  } else if (plan_.any_width) {
    case_.topk =
        topk.low > 2051
            ? draws_.pick<std::int64_t>(
                  {draws_.between(2052, 4095), draws_.between(4097, topk.high), draws_.between(4097, topk.high)})
            : draws_.pick<std::int64_t>({draws_.between(66, 191), draws_.between(129, 191), draws_.between(193, 1023),
                                         draws_.between(1025, 2046), draws_.between(2049, 2100),
                                         // What tiles of 32 and more slots make of the last one.
                                         32 * draws_.between(3, 65), 32 * draws_.between(3, 65),
                                         32 * draws_.between(3, 64) + draws_.pick<std::int64_t>({-1, 1})});
  } else if (topk.low >= 192) {
    case_.topk = draw_value(draws_, domain_.topk, topk, {192, 512, 1024, 2047, 2048, 2048, 2051}, topk.low);
  } else {
    const std::int64_t width = draws_.chance(55) ? 12 : draws_.chance(60) ? 33 : 65;
    const std::int64_t s = case_.num_segments;
    const std::vector<std::int64_t> near_segments =
        s <= 65 ? std::vector{s - 1, s, s + 1, width / 2, width} : std::vector{width / 2, width};
    case_.topk = draw_value(draws_, domain_.topk, topk, near_segments, width);
  }
  case_.context_lens.resize(static_cast<std::size_t>(draw_row_count()));
}

std::int64_t CaseDrawing::draw_row_count() {
  if (!domain_.rows.empty()) {
    const auto wanted = plan_.rows.low < 0 ? domain_.rows : within(domain_.rows, plan_.rows);
    return draws_.pick(wanted.empty() ? domain_.rows : wanted);
  }
  if (!plan_.faults.empty() && plan_.rows.low < 0 && draws_.chance(12)) return 0;
  if (plan_.rows.low >= 0) return draws_.between(plan_.rows.low, plan_.rows.high);
  if (case_.topk > 128 || case_.num_segments > 300) return draws_.between(1, 3);
  if (draws_.chance(45)) return 1;
  if (draws_.chance(55)) return draws_.between(2, 4);
  if (draws_.chance(95) || case_.topk > 33) return draws_.chance(70) ? draws_.between(5, 16) : draws_.between(17, 40);
  return draws_.pick<std::int64_t>({draws_.between(41, 200), 63, 64, 65, 128});
}

void CaseDrawing::draw_merge() {
  if (case_.operation != Operation::kApply) return;
  const std::int64_t topk = case_.topk, segments = case_.num_segments;
  switch (plan_.keep) {
    case KeepKind::kAny:
      case_.learned_keep = draws_.pick<std::int64_t>({0, topk, std::max<std::int64_t>(topk - segments, 0), topk / 2,
                                                      draws_.between(0, topk), draws_.between(0, topk)});
      break;
    case KeepKind::kNothing:
      case_.learned_keep = 0;
      break;
    case KeepKind::kInside:
      case_.learned_keep = topk > 1 ? draws_.between(1, topk - 1) : 0;
      break;
    case KeepKind::kAll:
      case_.learned_keep = topk;
      break;
    case KeepKind::kAllButOne:
      case_.learned_keep = topk - 1;
      break;
    case KeepKind::kPast16Bits:
      case_.learned_keep = draws_.between(1 << 16, topk - 1);
      break;
  }
  switch (plan_.budget) {
    case BudgetKind::kAny:
      case_.max_replacements =
          draws_.pick<std::int64_t>({0, 1, 2, segments, segments, topk, draws_.between(0, segments), kInt64Max});
      break;
    case BudgetKind::kNone:
      case_.max_replacements = 0;
      break;
    case BudgetKind::kSome:
      case_.max_replacements = draws_.between(1, segments);
      break;
    case BudgetKind::kBelowSegments:  // one segment may be occupied, so two below S drops a witness
      case_.max_replacements = draws_.between(1, std::max<std::int64_t>(segments - 2, 1));
      break;
    case BudgetKind::kAboveSegments:
      case_.max_replacements = segments + draws_.pick<std::int64_t>({1, 1, 2, segments, 65});
      break;
    case BudgetKind::kUnbounded:
      case_.max_replacements =
          draws_.pick<std::int64_t>({kInt64Max, kInt64Max - topk, std::int64_t{1} << 32, segments + topk});
      break;
  }
}

void CaseDrawing::draw_rows() {
  const std::size_t rows = case_.context_lens.size();
  case_.learned.resize(rows * static_cast<std::size_t>(case_.topk));
  if (rows == 0) return;
  const std::size_t chosen = draws_.below(rows);
  draw_lengths(chosen);
  if (plan_.rows_differ) {
    fill_differing_rows();
  } else {
    fill_rows(chosen);
  }
  if (plan_.order != RowOrder::kAsDrawn || draws_.chance(8)) {
    const bool rising = plan_.order == RowOrder::kRising || (plan_.order == RowOrder::kAsDrawn && draws_.chance(50));
    for (std::size_t index = 0; index < rows; ++index) {
      rising ? std::ranges::sort(row(index)) : std::ranges::sort(row(index), std::greater<>{});
    }
  }
}

void CaseDrawing::draw_lengths(std::size_t chosen) {
  const bool positive = plan_.in_range_alone || plan_.rows_differ;
  const auto swarm = draw_swarm(draws_, positive ? kPositiveLengths : kUsualLengths);
  const bool alike = draws_.chance(40);
  for (std::size_t index = 0; index < case_.context_lens.size(); ++index) {
    const bool asked = plan_.length && (plan_.length_in_every_row || index == chosen);
    const LengthKind kind = asked ? *plan_.length : draws_.pick(swarm);
    std::int32_t len = alike && index > 0 && !asked ? case_.context_lens[index - 1]
                                                    : draw_length(draws_, kind, case_.num_segments, case_.topk);
    if (plan_.length_below_topk) len = static_cast<std::int32_t>(draws_.between(1, case_.topk - 1));
    if (plan_.rows_differ) len = static_cast<std::int32_t>(std::max<std::int64_t>(len, case_.num_segments));
    case_.context_lens[index] = len;
  }
}

void CaseDrawing::fill_rows(std::size_t chosen) {
  auto swarm = draw_swarm(draws_, plan_.in_range_alone ? kInRangeTokens : kUsualTokens);
  if (plan_.sparse_rows) return fill_sparse_rows();
  if (plan_.many_rows) {
    swarm = {TokenKind::kUniform,  TokenKind::kAllPadding, TokenKind::kEdges,
             TokenKind::kBoundary, TokenKind::kOneSegment, TokenKind::kLast};
  }
  for (std::size_t index = 0; index < case_.context_lens.size(); ++index) {
    if (plan_.tokens && (index == chosen || draws_.chance(60))) {
      fill(index, *plan_.tokens);
    } else if (index > 0 && draws_.chance(10)) {  // the row before once more, perhaps under another length
      std::ranges::copy(row(index - 1), row(index).begin());
      if (plan_.in_range_alone) fill(index, TokenKind::kUniform);
    } else {
      fill(index, draws_.pick(swarm));
    }
  }
}

void CaseDrawing::fill_sparse_rows() {
  for (std::size_t index = 0; index < case_.context_lens.size(); ++index) {
    const bool at_an_end = index < 64 || index + 64 >= case_.context_lens.size();
    const bool marks = at_an_end ? draws_.chance(50) : case_.rows() < 4096 && draws_.chance(1);
    fill(index,
         !marks ? TokenKind::kAllPadding
                : draws_.pick({TokenKind::kUniform, TokenKind::kUniform, TokenKind::kOneSegment, TokenKind::kEdges}));
  }
}

// Full and empty rows in turn: what one row's state would do to the next shows in either order.
void CaseDrawing::fill_differing_rows() {
  const bool full_first = draws_.chance(50);
  for (std::size_t index = 0; index < case_.context_lens.size(); ++index) {
    const bool full = (index % 2 == 0) == full_first;
    fill(index, full ? TokenKind::kFullCover
                     : draws_.pick({TokenKind::kAllPadding, TokenKind::kAllPadding, TokenKind::kOneSegment}));
    if (index >= 2 && draws_.chance(20)) case_.context_lens[index] = draws_.pick<std::int32_t>({0, -1});
  }
}

void CaseDrawing::draw_placement() {
  const std::int64_t step = std::max<std::int64_t>(domain_.align_bytes / 4, 1);  // elements between two admitted bases
  if (step < 16 && (plan_.off_boundary || draws_.chance(30))) {
    case_.base_offset = static_cast<std::int32_t>(step * draws_.between(1, 15 / step));
  }
  if (case_.operation == Operation::kApply) case_.in_place = plan_.in_place || draws_.chance(25);
  if (domain_.contiguous) return;
  if (case_.rows() == 1 && step == 1 && case_.topk > 0 && draws_.chance(25)) {  // no second row that could overlap
    case_.row_stride = draws_.pick<std::int64_t>({0, 1, case_.topk / 2, case_.topk - 1, case_.topk + 1});
  } else if (plan_.huge_stride) {
    case_.row_stride = (std::int64_t{1} << 30) + step * draws_.between(1, 1000);
  } else if (plan_.strided || (case_.topk > 0 && !plan_.many_rows && draws_.chance(12))) {
    const std::int64_t topk = case_.topk;
    const std::int64_t stride = topk + draws_.pick<std::int64_t>({1, 1, 2, 3, 4, 5, 16, 64, topk, 64 - topk % 64});
    case_.row_stride = (stride + step - 1) / step * step;
  }
}

// Scatter with S = 0 returns at once, so whatever else is passed is never looked at.
void CaseDrawing::draw_nonsense() {
  if (draws_.chance(
          30)) {  // a width without meaning that the learned rows still fill, for calls that take no number of them
    case_.context_lens.clear();
    case_.learned.clear();
    case_.row_stride.reset();
    case_.topk = draws_.pick<std::int64_t>({-1, kInt64Min, kInt64Max});
    return;
  }
  case_.form = Form::kFlat;
  case_.learned.resize(static_cast<std::size_t>(draws_.between(0, 5)), 3);
  if (draws_.chance(50)) case_.topk = draws_.pick<std::int64_t>({-1, kInt64Min, kInt64Max, 7});
  if (draws_.chance(30)) case_.row_stride = draws_.pick<std::int64_t>({-1, 0, 1});
}

void CaseDrawing::draw_earlier_calls() {
  const std::int64_t count = draws_.pick<std::int64_t>({1, 1, 2, 3, 4});
  for (std::int64_t i = 0; i < count; ++i) case_.prior_calls.push_back(draw_earlier_call());
}

Case CaseDrawing::draw_earlier_call() {
  Case earlier = case_;
  earlier.prior_calls.clear();
  const std::int64_t kind = draws_.between(0, 3);
  if (kind == 0 || plan_.segments.low == 0) return earlier;  // the same call
  if (kind == 1) {                                           // the same shape with other tokens
    draws_.shuffle(earlier.context_lens);
    const std::int32_t shift = draws_.pick<std::int32_t>({1, 5, 64});
    for (auto& token : earlier.learned) token = token < shift ? -1 : token - shift;
    return earlier;
  }
  Plan plan;  // another call, sometimes a refused one
  plan.operations = kind == 2 ? std::vector{case_.operation} : domain_.operations;
  plan.rows = {1, 6};
  if (!domain_.legal_only && draws_.chance(10)) plan.faults = {draws_.pick({Fault::kLearnedLength, Fault::kSegments})};
  CaseDrawing drawing(plan, domain_, draws_);
  Case other = drawing.drawn();
  other.prior_calls.clear();
  return other;
}

void CaseDrawing::spoil(Fault fault) {
  switch (fault) {
    case Fault::kLearnedLength:
      return spoil_learned_length();
    case Fault::kOverflow:
      return spoil_by_overflow();
    case Fault::kSegments:
      return spoil_segments();
    case Fault::kKeep:
      return case_.operation == Operation::kApply ? spoil_keep() : spoil_learned_length();
    case Fault::kNegative:
      return spoil_by_negative();
    case Fault::kNegativeStride:
      if (domain_.contiguous) return spoil_by_negative();
      case_.row_stride = draws_.pick<std::int64_t>({-1, -case_.topk - 1, kInt32Min, kInt64Min});
      return;
    case Fault::kStride:
      if (domain_.contiguous) return spoil_segments();
      case_.row_stride = draws_.chance(40) ? case_.topk - 1 : draws_.between(0, case_.topk - 1);
      return;
  }
}

void CaseDrawing::spoil_keep() {
  const std::int64_t room = kInt64Max - case_.topk;
  case_.learned_keep =
      case_.topk + std::min(room, draws_.pick<std::int64_t>({1, 1, 2, 64, std::int64_t{1} << 32, kInt64Max}));
}

void CaseDrawing::spoil_learned_length() {
  auto& learned = case_.learned;
  const std::int64_t kind = learned.empty() ? 0 : draws_.between(0, 3);
  if (kind == 0) learned.push_back(draws_.pick<std::int32_t>({-1, 0, 5}));
  if (kind == 1) learned.pop_back();
  if (kind == 2) learned.clear();
  if (kind == 3)
    learned.insert(learned.end(),
                   static_cast<std::size_t>(std::max<std::int64_t>(std::min<std::int64_t>(case_.topk, 64), 1)), 2);
  const bool whole_rows = case_.topk > 0 && static_cast<std::int64_t>(learned.size()) % case_.topk == 0;
  case_.form = whole_rows && draws_.chance(50) ? Form::kNested : Form::kFlat;
}

// rows * topk is learned's length modulo 2^64, and far above it in truth.
void CaseDrawing::spoil_by_overflow() {
  const int shift = draws_.pick({2, 3, 4});
  const std::int64_t extra = draws_.between(0, 1);
  case_.context_lens.assign(std::size_t{1} << shift, draws_.pick<std::int32_t>({0, 1, 16}));
  case_.topk = (std::int64_t{1} << (64 - shift)) + extra;
  case_.learned.assign(case_.context_lens.size() * static_cast<std::size_t>(extra), -1);
  case_.form = Form::kFlat;
  case_.row_stride.reset();
}

void CaseDrawing::spoil_segments() {
  const std::int64_t above = draws_.pick<std::int64_t>(
      {65, 65, 66, 128, 4096, std::int64_t{1} << 31, std::int64_t{1} << 32, (std::int64_t{1} << 32) + 4, kInt64Max});
  switch (case_.operation) {
    case Operation::kWitnesses:
      // With S of 2^63 - 1 not even one row of witnesses fits the address space.
      case_.num_segments = case_.rows() > 0 && draws_.chance(30) ? kInt64Max : 0;
      break;
    case Operation::kApply:
      case_.num_segments = draws_.chance(40) ? 0 : above;
      break;
    case Operation::kScatter:
      case_.num_segments = above;
      break;
  }
}

void CaseDrawing::spoil_by_negative() {
  const std::int64_t value = draws_.pick<std::int64_t>({-1, -1, -64, kInt32Min, kInt64Min, -(std::int64_t{1} << 32)});
  const bool apply = case_.operation == Operation::kApply;
  switch (apply ? draws_.pick<std::int64_t>({0, 1, 2, 3, 3, 3, 4, 4, 4}) : draws_.between(0, 2)) {
    case 0:
      case_.topk = value;
      case_.form = Form::kFlat;
      if (draws_.chance(50))
        case_.learned.clear();  // a scatter that takes no number of elements can be told no other way
      break;
    case 1:
      case_.num_segments = value;
      break;
    case 2:
      if (domain_.contiguous) {
        case_.num_segments = value;
      } else {
        case_.row_stride = value;
      }
      break;
    case 3:
      case_.learned_keep = value;
      break;
    default:
      case_.max_replacements = value;
      break;
  }
}

}  // namespace

Range legal_segments(Operation operation, const Range& segments) {
  if (operation == Operation::kWitnesses) return {std::max<std::int64_t>(segments.low, 1), segments.high};
  if (operation == Operation::kScatter && segments.high == 0) return segments;
  return {std::max<std::int64_t>(segments.low, 1), std::min(segments.high, kMaxMerge)};
}

bool admits_value(const std::vector<std::int64_t>& list, const Range& range) {
  return list.empty() ? range.low <= range.high : !within(list, range).empty();
}

std::int64_t least_value(const std::vector<std::int64_t>& list, const Range& range) {
  if (list.empty()) return range.low;
  const auto choices = within(list, range);
  return choices.empty() ? range.high + 1 : std::ranges::min(choices);
}

std::int64_t greatest_value(const std::vector<std::int64_t>& list, const Range& range) {
  if (list.empty()) return range.high;
  const auto choices = within(list, range);
  return choices.empty() ? range.low - 1 : std::ranges::max(choices);
}

Case draw_case(const Plan& plan, const Domain& domain, Draws& draws) {
  return CaseDrawing(plan, domain, draws).drawn();
}

}  // namespace kvwitness::harness
