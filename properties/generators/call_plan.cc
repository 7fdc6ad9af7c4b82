#include "properties/generators/call_plan.h"

#include <kvwitness/assertions.h>
#include <kvwitness/legality.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <utility>

#include "properties/generators/choices.h"
#include "properties/generators/random_source.h"
#include "properties/generators/row_structures.h"
#include "properties/generators/shapes.h"

namespace kvwitness::harness {
namespace {

constexpr std::int64_t kInt64Max = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kInt64Min = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kInt32Min = std::numeric_limits<std::int32_t>::min();

// The kinds that this case may use. Few at a time, so that they meet.
template <typename Kind>
std::vector<Kind> draw_swarm(const std::vector<Kind>& all) {
  std::vector<Kind> some;
  for (std::int64_t count = *between(1, 4); count > 0; --count) some.push_back(*one_of(all));
  return some;
}

const std::vector<LengthClass> kUsualLengths = {
    LengthClass::kSmall,      LengthClass::kSmall,         LengthClass::kSmall,      LengthClass::kMiddle,
    LengthClass::kMiddle,     LengthClass::kBelowSegments, LengthClass::kAtSegments, LengthClass::kAroundTopk,
    LengthClass::kPowerOfTwo, LengthClass::kAbove24,       LengthClass::kAbove26,    LengthClass::kNear31,
    LengthClass::kOne,        LengthClass::kEmpty,         LengthClass::kMultiple};
const std::vector<LengthClass> kPositiveLengths = {
    LengthClass::kSmall,      LengthClass::kSmall,      LengthClass::kMiddle,
    LengthClass::kMiddle,     LengthClass::kAtSegments, LengthClass::kAroundTopk,
    LengthClass::kPowerOfTwo, LengthClass::kNear31,     LengthClass::kMultiple};
const std::vector<RowStructure> kInRangeStructures = {
    RowStructure::kUniform,   RowStructure::kUniform,    RowStructure::kEdges,      RowStructure::kEdges,
    RowStructure::kFullCover, RowStructure::kCluster,    RowStructure::kOneMissing, RowStructure::kOneSegment,
    RowStructure::kHalf,      RowStructure::kPaddedTail, RowStructure::kHoles,      RowStructure::kHeadOnly,
    RowStructure::kTailOnly,  RowStructure::kModelLike,  RowStructure::kPairs,      RowStructure::kFew};
const std::vector<RowStructure> kUsualStructures = [] {
  std::vector<RowStructure> list = kInRangeStructures;
  for (int kind = 0; kind < kRowStructureCount; ++kind) list.push_back(static_cast<RowStructure>(kind));
  return list;
}();

// Values that must be refused, where no list of the domain says which ones there are.
const std::vector<std::int64_t> kSegmentsAboveMost = {
    65, 65, 66, 128, 4096, std::int64_t{1} << 31, std::int64_t{1} << 32, (std::int64_t{1} << 32) + 4, kInt64Max};

// Those of the domain's segment counts that the operation must refuse.
std::vector<std::int64_t> refused_segments(const Domain& domain, Operation operation) {
  if (operation == Operation::kWitnesses) return values_within(domain.num_segments, {0, 0});
  std::vector<std::int64_t> list = values_within(domain.num_segments, {kMaxMergeSegments + 1, kInt64Max});
  if (operation == Operation::kApply && admits_value(domain.num_segments, {0, 0})) list.push_back(0);
  return list;
}

// The exponents for which 2^k rows of 2^(64 - k) slots are in the domain.
std::vector<int> overflow_shifts(const Domain& domain) {
  std::vector<int> shifts;
  for (const int shift : {2, 3, 4}) {
    const std::int64_t rows = std::int64_t{1} << shift;
    if (rows <= domain.max_rows && admits_value(domain.rows, {rows, rows})) shifts.push_back(shift);
  }
  return shifts;
}

// Changes the tokens at or past the end of their rows to others of the same context, and to padding in empty rows.
void bring_into_range(Case& value) {
  if (value.topk <= 0) return;
  const auto topk = static_cast<std::size_t>(value.topk);
  for (std::size_t index = 0; index < value.learned.size() && index / topk < value.context_lens.size(); ++index) {
    const std::int32_t len = value.context_lens[index / topk];
    std::int32_t& token = value.learned[index];
    if (token >= std::max(len, 0)) token = len > 0 ? token % len : -1;
  }
}

class CallDrawing {
 public:
  CallDrawing(const CallPlan& plan, const Domain& domain) : plan_(plan), domain_(domain), bulk_(*random_source()) {}

  Case drawn() {
    draw_shape();
    draw_merge();
    draw_rows();
    draw_placement();
    if (plan_.nonsense_when_off && !domain_.legal_only) draw_nonsense();
    if (plan_.prior_calls || (plan_.malformations.empty() && !plan_.many_rows && !plan_.huge_stride && *chance(4))) {
      draw_prior_calls();
    }
    for (const Malformation malformation : plan_.malformations) malform(malformation);
    return std::move(case_);
  }

 private:
  void draw_shape();
  Range topk_range() const;
  std::int64_t draw_row_count();
  std::int64_t draw_usual_row_count();
  void draw_merge();
  void draw_rows();
  void draw_lengths(std::size_t chosen);
  void fill_rows(std::size_t chosen);
  void fill_sparse_rows();
  void fill_differing_rows();
  void draw_placement();
  void draw_nonsense();
  void draw_prior_calls();
  Case draw_prior_call();
  void malform(Malformation malformation);
  void malform_keep();
  void malform_learned_length();
  void malform_by_overflow();
  void malform_segments();
  void malform_by_negative();

  std::span<std::int32_t> row(std::size_t index) {
    const auto topk = static_cast<std::size_t>(case_.topk);
    return std::span(case_.learned).subspan(index * topk, topk);
  }
  std::int64_t keep() const {  // what the merge keeps, for every operation
    return case_.operation == Operation::kApply ? case_.learned_keep
                                                : std::max<std::int64_t>(0, case_.topk - case_.num_segments);
  }
  void fill(std::size_t index, RowStructure structure) {
    fill_row(bulk_, structure, {case_.topk, case_.context_lens[index], case_.num_segments, keep()}, row(index));
  }

  std::int64_t step() const { return domain_.align_bytes / 4; }  // elements between two admitted bases
  bool is_malformed_by(Malformation malformation) const {
    return std::ranges::find(plan_.malformations, malformation) != plan_.malformations.end();
  }
  // The length, or where it is too long for the domain, one up to the longest, often that.
  std::int32_t bounded(std::int32_t len) {
    if (len <= domain_.max_context) return len;
    return static_cast<std::int32_t>(bulk_.chance(50) ? domain_.max_context : bulk_.between(1, domain_.max_context));
  }

  // Choices that are made once a row: by RapidCheck for as many rows as a person looks at, of a longer batch from the
  // bulk stream.
  bool has_few_rows() const { return case_.rows() <= 40; }
  bool row_chance(int percent) { return has_few_rows() ? *chance(percent) : bulk_.chance(percent); }
  template <typename T>
  T one_for_row(const std::vector<T>& values) {
    return has_few_rows() ? *one_of(values) : bulk_.pick(values);
  }

  const CallPlan& plan_;
  const Domain& domain_;
  RandomSource bulk_;
  Case case_;
};

Range CallDrawing::topk_range() const {
  Range range = plan_.topk;
  if (plan_.segments_fit_slots) range.low = std::max(range.low, case_.num_segments);
  if (plan_.segments_exceed_slots) range.high = std::min(range.high, case_.num_segments - 1);
  return range;
}

void CallDrawing::draw_shape() {
  Range segments = plan_.segments;
  if (plan_.segments_fit_slots) {
    segments.high = std::min(segments.high, greatest_value(domain_.topk, plan_.topk));
    if (domain_.num_segments.empty()) segments.high = std::min(segments.high, kMaxMergeSegments);
  }
  if (plan_.segments_exceed_slots) segments.low = std::max(segments.low, least_value(domain_.topk, plan_.topk) + 1);
  const bool is_refused_for_segments = is_malformed_by(Malformation::kSegments);
  std::vector<Operation> operations;
  for (const Operation operation : plan_.operations) {
    const bool can_be_drawn = is_refused_for_segments
                                  ? can_be_malformed(domain_, operation, Malformation::kSegments)
                                  : admits_value(domain_.num_segments, legal_segments(operation, segments));
    const auto can_be = [&](Malformation malformation) { return can_be_malformed(domain_, operation, malformation); };
    if (can_be_drawn && std::ranges::all_of(plan_.malformations, can_be)) operations.push_back(operation);
  }
  KVWITNESS_ASSERT(!operations.empty());
  case_.operation = *one_of(operations);
  const Range legal = legal_segments(case_.operation, segments);
  if (is_refused_for_segments) {
    case_.num_segments = draw_num_segments({}, legal);  // until the call is made malformed
  } else if (!plan_.many_rows) {
    case_.num_segments = draw_num_segments(domain_.num_segments, legal);
  } else if (plan_.few_segments) {
    case_.num_segments = draw_value(domain_.num_segments, legal, {1, 2, 3, 4, 5, 8}, 8);
  } else {
    case_.num_segments =
        draw_value(domain_.num_segments, legal, {16, 31, 32, 33, 48, 63, 64, 64, 64, 64}, kMaxMergeSegments);
  }
  const Range topk = topk_range();
  if (plan_.many_rows) {
    const std::int64_t least = plan_.keep == KeepKind::kInside ? std::max<std::int64_t>(topk.low, 2) : topk.low;
    case_.topk = domain_.topk.empty() ? *between(least, topk.low + 2) : least_value(domain_.topk, topk);
  } else if (plan_.any_width) {
    case_.topk = draw_odd_width(topk);
  } else {
    case_.topk = draw_topk(domain_.topk, topk, case_.num_segments);
  }
  case_.context_lens.resize(static_cast<std::size_t>(draw_row_count()));
}

std::int64_t CallDrawing::draw_row_count() {
  if (!domain_.rows.empty()) {
    const auto wanted = plan_.rows.low < 0 ? domain_.rows : values_within(domain_.rows, plan_.rows);
    return *one_of(wanted.empty() ? domain_.rows : wanted);
  }
  if (!plan_.malformations.empty() && plan_.rows.low < 0 && *chance(12)) return 0;
  if (plan_.rows.low >= 0) {
    const std::int64_t most = std::min(plan_.rows.high, domain_.max_rows);
    return *between(std::min(plan_.rows.low, most), most);
  }
  return std::min(draw_usual_row_count(), domain_.max_rows);
}

std::int64_t CallDrawing::draw_usual_row_count() {
  if (case_.topk > 128 || case_.num_segments > 300) return *between(1, 3);
  if (*chance(45)) return 1;
  if (*chance(55)) return *between(2, 4);
  if (*chance(95) || case_.topk > 33) return *chance(70) ? *between(5, 16) : *between(17, 40);
  return *one_of<std::int64_t>({*between(41, 200), 63, 64, 65, 128});
}

void CallDrawing::draw_merge() {
  if (case_.operation != Operation::kApply) return;
  const std::int64_t topk = case_.topk, segments = case_.num_segments;
  switch (plan_.keep) {
    case KeepKind::kAny:
      case_.learned_keep = *one_of<std::int64_t>(
          {0, topk, std::max<std::int64_t>(topk - segments, 0), topk / 2, *between(0, topk), *between(0, topk)});
      break;
    case KeepKind::kNothing:
      case_.learned_keep = 0;
      break;
    case KeepKind::kInside:
      case_.learned_keep = topk > 1 ? *between(1, topk - 1) : 0;
      break;
    case KeepKind::kAll:
      case_.learned_keep = topk;
      break;
    case KeepKind::kAllButOne:
      case_.learned_keep = topk - 1;
      break;
    case KeepKind::kPast16Bits:
      case_.learned_keep = *between(1 << 16, topk - 1);
      break;
  }
  switch (plan_.budget) {
    case BudgetKind::kAny:
      case_.max_replacements =
          *one_of<std::int64_t>({0, 1, 2, segments, segments, topk, *between(0, segments), kInt64Max});
      break;
    case BudgetKind::kNone:
      case_.max_replacements = 0;
      break;
    case BudgetKind::kSome:
      case_.max_replacements = *between(1, segments);
      break;
    case BudgetKind::kBelowSegments:  // one segment may be occupied, so two below S drops a witness
      case_.max_replacements = *between(1, std::max<std::int64_t>(segments - 2, 1));
      break;
    case BudgetKind::kAboveSegments:
      case_.max_replacements = segments + *one_of<std::int64_t>({1, 1, 2, segments, 65});
      break;
    case BudgetKind::kUnbounded:
      case_.max_replacements =
          *one_of<std::int64_t>({kInt64Max, kInt64Max - topk, std::int64_t{1} << 32, segments + topk});
      break;
  }
}

void CallDrawing::draw_rows() {
  const std::size_t rows = case_.context_lens.size();
  case_.learned.resize(rows * static_cast<std::size_t>(case_.topk));
  if (rows == 0) return;
  const auto chosen = static_cast<std::size_t>(*between(0, static_cast<std::int64_t>(rows) - 1));
  draw_lengths(chosen);
  if (plan_.rows_differ) {
    fill_differing_rows();
  } else {
    fill_rows(chosen);
  }
  if (domain_.in_range) bring_into_range(case_);
  if (plan_.order != RowOrder::kAsDrawn || *chance(8)) {
    const bool rising = plan_.order == RowOrder::kRising || (plan_.order == RowOrder::kAsDrawn && *chance(50));
    for (std::size_t index = 0; index < rows; ++index) {
      rising ? std::ranges::sort(row(index)) : std::ranges::sort(row(index), std::greater<>{});
    }
  }
}

void CallDrawing::draw_lengths(std::size_t chosen) {
  const bool positive = plan_.in_range_only || plan_.rows_differ;
  const auto swarm = draw_swarm(positive ? kPositiveLengths : kUsualLengths);
  const auto draw_length = [&](LengthClass length_class) {
    return bounded(*gen::context_len(length_class, case_.num_segments, case_.topk));
  };
  const bool alike = *chance(40);
  const bool all_asked = plan_.length && plan_.length_in_every_row;
  std::vector<std::int32_t> pool;  // the lengths of a long batch
  for (std::size_t i = 0; !has_few_rows() && i < 64; ++i) {
    pool.push_back(draw_length(all_asked ? *plan_.length : *one_of(swarm)));
  }
  for (std::size_t index = 0; index < case_.context_lens.size(); ++index) {
    const bool asked = plan_.length && (all_asked || index == chosen);
    std::int32_t& len = case_.context_lens[index];
    if (alike && index > 0 && !asked) {
      len = case_.context_lens[index - 1];
    } else if (has_few_rows() || (asked && !all_asked)) {
      len = draw_length(asked ? *plan_.length : *one_of(swarm));
    } else {
      len = bulk_.pick(pool);
    }
    if (plan_.length_below_topk) len = bounded(static_cast<std::int32_t>(bulk_.between(1, case_.topk - 1)));
    if (plan_.rows_differ) len = bounded(static_cast<std::int32_t>(std::max<std::int64_t>(len, case_.num_segments)));
  }
}

void CallDrawing::fill_rows(std::size_t chosen) {
  if (plan_.sparse_rows) return fill_sparse_rows();
  auto swarm = draw_swarm(plan_.in_range_only ? kInRangeStructures : kUsualStructures);
  if (plan_.many_rows) {
    swarm = {RowStructure::kUniform,  RowStructure::kAllPadding, RowStructure::kEdges,
             RowStructure::kBoundary, RowStructure::kOneSegment, RowStructure::kLast};
  }
  for (std::size_t index = 0; index < case_.context_lens.size(); ++index) {
    if (plan_.structure && (index == chosen || row_chance(60))) {
      fill(index, *plan_.structure);
    } else if (index > 0 && row_chance(10)) {  // the row before once more, perhaps under another length
      std::ranges::copy(row(index - 1), row(index).begin());
      if (plan_.in_range_only) fill(index, RowStructure::kUniform);
    } else {
      fill(index, one_for_row(swarm));
    }
  }
}

void CallDrawing::fill_sparse_rows() {
  const std::vector<RowStructure> marking = {RowStructure::kUniform, RowStructure::kUniform, RowStructure::kOneSegment,
                                             RowStructure::kEdges};
  for (std::size_t index = 0; index < case_.context_lens.size(); ++index) {
    const bool at_an_end = index < 64 || index + 64 >= case_.context_lens.size();
    const bool marks = at_an_end ? row_chance(50) : case_.rows() < 4096 && row_chance(1);
    fill(index, marks ? one_for_row(marking) : RowStructure::kAllPadding);
  }
}

// Full and empty rows in turn: what one row's state would do to the next shows in either order.
void CallDrawing::fill_differing_rows() {
  const std::vector<RowStructure> bare = {RowStructure::kAllPadding, RowStructure::kAllPadding,
                                          RowStructure::kOneSegment};
  const bool full_first = *chance(50);
  for (std::size_t index = 0; index < case_.context_lens.size(); ++index) {
    const bool full = (index % 2 == 0) == full_first;
    fill(index, full ? RowStructure::kFullCover : one_for_row(bare));
    if (index >= 2 && row_chance(20)) case_.context_lens[index] = one_for_row<std::int32_t>({0, -1});
  }
}

void CallDrawing::draw_placement() {
  if (step() < 16 && (plan_.off_boundary || *chance(30))) {
    case_.base_offset = static_cast<std::int32_t>(step() * *between(1, 15 / step()));
  }
  if (case_.operation == Operation::kApply) case_.in_place = plan_.in_place || *chance(25);
  if (domain_.contiguous) return;
  if (case_.rows() == 1 && step() == 1 && case_.topk > 0 && *chance(25)) {  // no second row that could overlap
    case_.row_stride = *one_of<std::int64_t>({0, 1, case_.topk / 2, case_.topk - 1, case_.topk + 1});
  } else if (plan_.huge_stride) {
    case_.row_stride = (std::int64_t{1} << 30) + step() * *between(1, 1000);
  } else if (plan_.strided || (case_.topk > 0 && !plan_.many_rows && *chance(12))) {
    const std::int64_t topk = case_.topk;
    const std::int64_t stride = topk + *one_of<std::int64_t>({1, 1, 2, 3, 4, 5, 16, 64, topk, 64 - topk % 64});
    case_.row_stride = (stride + step() - 1) / step() * step();
  }
}

// Scatter with S = 0 returns at once, so whatever else is passed is never looked at.
void CallDrawing::draw_nonsense() {
  const bool any_width = domain_.topk.empty();
  if (any_width && domain_.rows.empty() &&
      *chance(30)) {  // a width without meaning that the learned rows still fill, for calls that take no number of them
    case_.context_lens.clear();
    case_.learned.clear();
    case_.row_stride.reset();
    case_.topk = *one_of<std::int64_t>({-1, kInt64Min, kInt64Max});
    return;
  }
  case_.form = Form::kFlat;
  case_.learned.assign(static_cast<std::size_t>(*between(0, 5)), domain_.in_range ? -1 : 3);
  if (any_width && *chance(50)) case_.topk = *one_of<std::int64_t>({-1, kInt64Min, kInt64Max, 7});
  if (!domain_.contiguous && *chance(30)) case_.row_stride = step() * *one_of<std::int64_t>({-1, 0, 1});
}

void CallDrawing::draw_prior_calls() {
  const std::int64_t count = *one_of<std::int64_t>({1, 1, 2, 3, 4});
  for (std::int64_t i = 0; i < count; ++i) case_.prior_calls.push_back(draw_prior_call());
}

Case CallDrawing::draw_prior_call() {
  Case earlier = case_;
  earlier.prior_calls.clear();
  const std::int64_t kind = *between(0, 3);
  if (kind == 0 || plan_.segments.low == 0) return earlier;  // the same call
  if (kind == 1) {                                           // the same shape with other tokens
    bulk_.shuffle(earlier.context_lens);
    const std::int32_t shift = *one_of<std::int32_t>({1, 5, 64});
    for (auto& token : earlier.learned) token = token < shift ? -1 : token - shift;
    if (domain_.in_range) bring_into_range(earlier);
    return earlier;
  }
  CallPlan plan;  // another call, sometimes a refused one
  plan.operations = kind == 2 ? std::vector{case_.operation} : domain_.operations;
  plan.rows = {1, 6};
  if (!domain_.legal_only && *chance(10)) {
    plan.malformations = {*one_of<Malformation>({Malformation::kLearnedLength, Malformation::kSegments})};
    const auto can_be = [&](Operation operation) {
      return can_be_malformed(domain_, operation, plan.malformations.front());
    };
    if (std::ranges::none_of(plan.operations, can_be)) plan.malformations.clear();
  }
  CallDrawing drawing(plan, domain_);
  Case other = drawing.drawn();
  other.prior_calls.clear();
  return other;
}

void CallDrawing::malform(Malformation malformation) {
  switch (malformation) {
    case Malformation::kLearnedLength:
      return malform_learned_length();
    case Malformation::kOverflow:
      return malform_by_overflow();
    case Malformation::kSegments:
      return malform_segments();
    case Malformation::kKeep:
      return case_.operation == Operation::kApply ? malform_keep() : malform_learned_length();
    case Malformation::kNegative:
      return malform_by_negative();
    case Malformation::kNegativeStride:
      case_.row_stride = *one_of<std::int64_t>({-step(), -(case_.topk / step() + 1) * step(), kInt32Min, kInt64Min});
      return;
    case Malformation::kStride:
      case_.row_stride = step() * (*chance(40) ? (case_.topk - 1) / step() : *between(0, (case_.topk - 1) / step()));
      return;
  }
}

void CallDrawing::malform_keep() {
  const std::int64_t room = kInt64Max - case_.topk;
  case_.learned_keep =
      case_.topk + std::min(room, *one_of<std::int64_t>({1, 1, 2, 64, std::int64_t{1} << 32, kInt64Max}));
}

void CallDrawing::malform_learned_length() {
  auto& learned = case_.learned;
  const std::int64_t kind = learned.empty() ? 0 : *between(0, 3);
  if (kind == 0) learned.push_back(*one_of<std::int32_t>({-1, 0, 5}));
  if (kind == 1) learned.pop_back();
  if (kind == 2) learned.clear();
  if (kind == 3) {
    learned.insert(learned.end(),
                   static_cast<std::size_t>(std::max<std::int64_t>(std::min<std::int64_t>(case_.topk, 64), 1)), 2);
  }
  if (domain_.in_range) bring_into_range(case_);
  const bool whole_rows = case_.topk > 0 && static_cast<std::int64_t>(learned.size()) % case_.topk == 0;
  case_.form = whole_rows && *chance(50) ? Form::kNested : Form::kFlat;
}

// rows * topk is learned's length modulo 2^64, and far above it in truth.
void CallDrawing::malform_by_overflow() {
  const int shift = *one_of(overflow_shifts(domain_));
  const std::int64_t extra = *between(0, 1);
  case_.context_lens.assign(std::size_t{1} << shift, bounded(*one_of<std::int32_t>({0, 1, 16})));
  case_.topk = (std::int64_t{1} << (64 - shift)) + extra;
  case_.learned.assign(case_.context_lens.size() * static_cast<std::size_t>(extra), -1);
  case_.form = Form::kFlat;
  case_.row_stride.reset();
}

void CallDrawing::malform_segments() {
  if (!domain_.num_segments.empty()) {
    case_.num_segments = *one_of(refused_segments(domain_, case_.operation));
    return;
  }
  switch (case_.operation) {
    case Operation::kWitnesses:
      // With S of 2^63 - 1 not even one row of witnesses fits the address space.
      case_.num_segments = case_.rows() > 0 && *chance(30) ? kInt64Max : 0;
      break;
    case Operation::kApply:
      case_.num_segments = *chance(40) ? 0 : *one_of(kSegmentsAboveMost);
      break;
    case Operation::kScatter:
      case_.num_segments = *one_of(kSegmentsAboveMost);
      break;
  }
}

void CallDrawing::malform_by_negative() {
  enum class Count : std::uint8_t { kTopk, kSegments, kStride, kKeep, kBudget };
  std::vector<Count> counts;
  if (domain_.topk.empty()) counts.push_back(Count::kTopk);
  if (domain_.num_segments.empty()) counts.push_back(Count::kSegments);
  if (!domain_.contiguous) counts.push_back(Count::kStride);
  if (case_.operation == Operation::kApply) {
    counts.insert(counts.end(), 3, Count::kKeep);
    counts.insert(counts.end(), 3, Count::kBudget);
  }
  const std::int64_t value = *one_of<std::int64_t>({-1, -1, -64, kInt32Min, kInt64Min, -(std::int64_t{1} << 32)});
  switch (*one_of(counts)) {
    case Count::kTopk:
      case_.topk = value;
      case_.form = Form::kFlat;
      if (*chance(50)) case_.learned.clear();  // a scatter that takes no number of elements can be told no other way
      // A stride that is the width of packed rows is none of another width.
      if (case_.row_stride && (domain_.contiguous || *case_.row_stride % step() != 0)) case_.row_stride.reset();
      break;
    case Count::kSegments:
      case_.num_segments = value;
      break;
    case Count::kStride:
      case_.row_stride = value % step() == 0 ? value : value * step();
      break;
    case Count::kKeep:
      case_.learned_keep = value;
      break;
    case Count::kBudget:
      case_.max_replacements = value;
      break;
  }
}

}  // namespace

bool can_be_malformed(const Domain& domain, Operation operation, Malformation malformation) {
  if (domain.legal_only) return false;
  switch (malformation) {
    case Malformation::kLearnedLength:
    case Malformation::kKeep:
      return true;
    case Malformation::kOverflow:
      return domain.topk.empty() && !overflow_shifts(domain).empty();
    case Malformation::kSegments:
      return domain.num_segments.empty() || !refused_segments(domain, operation).empty();
    case Malformation::kNegative:
      return operation == Operation::kApply || domain.topk.empty() || domain.num_segments.empty() || !domain.contiguous;
    case Malformation::kNegativeStride:
      return !domain.contiguous;
    case Malformation::kStride:
      return !domain.contiguous && domain.max_rows >= 2;
  }
  return false;
}

const std::vector<LengthClass>& usual_length_classes() {
  return kUsualLengths;
}

const std::vector<RowStructure>& usual_row_structures() {
  return kUsualStructures;
}

Case draw_call(const CallPlan& plan, const Domain& domain) {
  return CallDrawing(plan, domain).drawn();
}

}  // namespace kvwitness::harness
