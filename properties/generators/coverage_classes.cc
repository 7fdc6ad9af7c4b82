#include "properties/generators/coverage_classes.h"

#include <kvwitness/legality.h>

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>

#include "properties/case/status.h"
#include "properties/generators/case_drawing.h"

namespace kvwitness::harness {

// What the classes ask about: of the case as a whole, and whether any of its rows is such a row.
struct CaseTraits {
  const Case* value = nullptr;
  std::int32_t status = 0;
  int faults = 0;  // how many of the refusal's conditions hold at once

  bool empty = false, zero = false, negative_length = false, least_length = false, one = false;
  bool short_row = false, at_segments = false, at_topk = false, power_of_two = false;
  bool above_24 = false, above_26 = false, near_31 = false;
  bool at_edge = false, below_edge = false, at_length = false, past_length = false, past_short_row = false;
  bool garbage = false, absolute = false, hole = false, all_padding = false, odd_negative = false, least_token = false;
  bool duplicate = false, even_segment = false, full = false, one_missing = false, last_alone = false,
       last_missing = false;
  bool upper_half_alone = false, lower_half_alone = false, head_alone = false, tail_alone = false, rising = false,
       falling = false;
  bool lone_in_wide_row = false, lone_past_end = false;
  bool in_range = false, dropped = false, uncovered_by_merge = false, differing = false;

  bool legal() const { return status == 0; }
  bool is(Operation operation) const { return value->operation == operation; }
  // A call that the operation really works on; scatter with S = 0 is not.
  bool works() const { return legal() && value->num_segments > 0; }
};

namespace {

constexpr std::int64_t kMaxLength = std::numeric_limits<std::int32_t>::max();

bool strictly_monotone(std::span<const std::int32_t> row, bool rising) {
  return row.size() >= 3 && std::ranges::adjacent_find(row, [&](std::int32_t a, std::int32_t b) {
                              return rising ? a >= b : a <= b;
                            }) == row.end();
}

// Reads one row after another and notes what they are.
class TraitsReader {
 public:
  explicit TraitsReader(CaseTraits& traits) : traits_(traits), value_(*traits.value) {
    const std::int64_t topk = value_.topk, segments = value_.num_segments;
    const bool apply = value_.operation == Operation::kApply;
    keep_ = apply ? value_.learned_keep : std::max<std::int64_t>(0, topk - segments);
    budget_ = std::min(apply ? value_.max_replacements : segments, topk - keep_);
  }

  void read_length(std::int32_t len) {
    CaseTraits& t = traits_;
    t.empty |= len <= 0;
    t.zero |= len == 0;
    t.negative_length |= len < 0;
    t.least_length |= len == std::numeric_limits<std::int32_t>::min();
    t.one |= len == 1;
    t.short_row |= len > 0 && len < value_.num_segments;
    t.at_segments |= len > 0 && std::abs(len - value_.num_segments) <= 1;
    t.at_topk |= len > 0 && value_.topk > 0 && std::abs(len - value_.topk) <= 1;
    t.above_24 |= len > 1 << 24;
    t.above_26 |= len > 1 << 26;
    t.near_31 |= len >= kMaxLength - (1 << 20);
    for (int k = 3; k < 32; ++k) t.power_of_two |= std::abs(len - (std::int64_t{1} << k)) <= 1;
  }

  void read_row(std::span<const std::int32_t> row, std::int32_t len) {
    read_padding(row);
    traits_.rising |= strictly_monotone(row, true);
    traits_.falling |= strictly_monotone(row, false);
    if (len <= 0) return;
    len_ = len;
    segments_ = std::min<std::int64_t>(value_.num_segments, len);
    count_tokens(row);
    read_range(row);
    read_duplicates(row);
    read_cover(row);
    read_lone(row);
  }

 private:
  std::int64_t edge(std::int64_t segment) const { return (segment * len_ + segments_ - 1) / segments_; }
  std::int64_t segment_of(std::int64_t token) const { return token * segments_ / len_; }

  void read_padding(std::span<const std::int32_t> row) {
    std::size_t negatives = 0;
    for (std::size_t slot = 0; slot < row.size(); ++slot) {
      const std::int32_t token = row[slot];
      negatives += token < 0;
      traits_.odd_negative |= token < -1;
      traits_.least_token |= token == std::numeric_limits<std::int32_t>::min();
      traits_.hole |= token < 0 && slot + 1 < row.size() && row[slot + 1] >= 0;
    }
    traits_.all_padding |= !row.empty() && negatives == row.size();
  }

  // Tokens a segment, in the whole row and in its slots that stay.
  void count_tokens(std::span<const std::int32_t> row) {
    counts_.assign(static_cast<std::size_t>(segments_), 0);
    kept_counts_ = counts_;
    for (std::size_t slot = 0; slot < row.size(); ++slot) {
      const std::int64_t token = row[slot];
      if (token < 0 || token >= len_) continue;
      const auto segment = static_cast<std::size_t>(segment_of(token));
      ++counts_[segment];
      if (static_cast<std::int64_t>(slot) < keep_) ++kept_counts_[segment];
      traits_.at_edge |= segment > 0 && token == edge(static_cast<std::int64_t>(segment));
      traits_.below_edge |= segment + 1 < counts_.size() && token + 1 == edge(static_cast<std::int64_t>(segment) + 1);
    }
  }

  void read_range(std::span<const std::int32_t> row) {
    const auto in_range = [&](std::int32_t token) { return token >= 0 && token < len_; };
    const auto past = [&](std::int32_t token) { return token >= len_; };
    const auto valid = std::ranges::count_if(row, in_range), beyond = std::ranges::count_if(row, past);
    traits_.in_range |= valid > 0 && beyond == 0;
    traits_.past_length |= beyond > 0;
    traits_.at_length |= std::ranges::find(row, len_) != row.end();
    traits_.absolute |= beyond == static_cast<std::ptrdiff_t>(row.size()) && beyond > 0;
    traits_.past_short_row |= beyond > 0 && len_ < value_.num_segments;
    const auto prefix = std::min<std::size_t>(row.size(), static_cast<std::size_t>(len_));
    traits_.garbage |= prefix < row.size() && std::ranges::all_of(row.first(prefix), in_range) &&
                       std::ranges::all_of(row.subspan(prefix), past);
  }

  void read_duplicates(std::span<const std::int32_t> row) {
    sorted_.assign(row.begin(), row.end());
    std::ranges::sort(sorted_);
    const auto first = std::ranges::lower_bound(sorted_, 0);
    traits_.duplicate |= std::adjacent_find(first, sorted_.end()) != sorted_.end();
    traits_.even_segment |= std::ranges::any_of(counts_, [](int count) { return count > 0 && count % 2 == 0; });
  }

  void read_cover(std::span<const std::int32_t> row) {
    CaseTraits& t = traits_;
    const auto occupied = segments_ - std::ranges::count(counts_, 0);
    const bool clean = std::ranges::all_of(row, [&](std::int32_t token) { return token < len_; });
    const auto low_end = counts_.begin() + std::min<std::int64_t>(32, segments_);
    const bool low = std::any_of(counts_.begin(), low_end, [](int count) { return count > 0; });
    const bool high = std::any_of(low_end, counts_.end(), [](int count) { return count > 0; });
    t.full |= clean && occupied == segments_;
    t.one_missing |= clean && segments_ > 1 && occupied == segments_ - 1;
    t.last_alone |= segments_ > 2 && occupied == 1 && counts_.back() > 0;
    t.last_missing |= segments_ > 2 && occupied == segments_ - 1 && counts_.back() == 0;
    t.lower_half_alone |= segments_ > 33 && low && !high;
    t.upper_half_alone |= segments_ > 33 && high && !low;
    full_rows_ += occupied == segments_ && segments_ > 1;
    bare_rows_ += segments_ > 1 && 2 * occupied <= segments_;
    t.differing |= full_rows_ > 0 && bare_rows_ > 0;
    if (value_.operation == Operation::kWitnesses) return;
    const auto kept = segments_ - std::ranges::count(kept_counts_, 0);
    t.head_alone |= keep_ > 0 && keep_ < value_.topk && occupied > 0 && counts_ == kept_counts_;
    t.tail_alone |= keep_ > 0 && keep_ < value_.topk && occupied > 0 && kept == 0;
    const std::int64_t witnesses = segments_ - occupied;
    t.dropped |= clean && budget_ > 0 && witnesses > budget_;
    t.uncovered_by_merge |= clean && uncovers(row, std::min(witnesses, budget_));
  }

  // Tokens in late slots of a wide row that alone mark their segment, while many segments are missing.
  void read_lone(std::span<const std::int32_t> row) {
    constexpr std::size_t kWideSlots = 512, kLateSlot = 256;
    if (row.size() < kWideSlots || segments_ < 8) return;
    auto marks = counts_;
    const bool past_end_marks = segments_ == value_.num_segments;
    if (past_end_marks) {
      marks.back() += static_cast<int>(std::ranges::count_if(row, [&](std::int32_t token) { return token >= len_; }));
    }
    if (4 * std::ranges::count(marks, 0) < segments_) return;
    for (std::size_t slot = kLateSlot; slot < row.size(); ++slot) {
      const std::int64_t token = row[slot];
      if (token >= 0 && token < len_) {
        traits_.lone_in_wide_row |= marks[static_cast<std::size_t>(segment_of(token))] == 1;
      } else if (token >= len_) {
        traits_.lone_past_end |= past_end_marks && marks.back() == 1;
      }
    }
  }

  // Whether the `written` slots from learned_keep on hold the sole tokens of some segment.
  bool uncovers(std::span<const std::int32_t> row, std::int64_t written) const {
    auto left = counts_;
    for (std::int64_t slot = keep_; slot < keep_ + written; ++slot) {
      const std::int32_t token = row[static_cast<std::size_t>(slot)];
      if (token >= 0 && --left[static_cast<std::size_t>(segment_of(token))] == 0) return true;
    }
    return false;
  }

  CaseTraits& traits_;
  const Case& value_;
  std::int64_t keep_ = 0, budget_ = 0, len_ = 1, segments_ = 1;
  int full_rows_ = 0, bare_rows_ = 0;
  std::vector<int> counts_, kept_counts_;
  std::vector<std::int32_t> sorted_;
};

// How many of the conditions that make a call refused hold, each by itself.
int fault_count(const Case& value) {
  const auto size = static_cast<std::int64_t>(value.learned.size());
  const bool negative = value.topk < 0 || value.num_segments < 0 || value.learned_keep < 0 ||
                        value.max_replacements < 0 || value.row_stride.value_or(0) < 0;
  const bool mismatch = value.topk > 0 ? size % value.topk != 0 || size / value.topk != value.rows() : size != 0;
  const bool segments = value.operation == Operation::kWitnesses ? value.num_segments == 0
                        : value.operation == Operation::kApply
                            ? value.num_segments == 0 || value.num_segments > kMaxMerge
                            : value.num_segments > kMaxMerge;
  const bool keep = value.topk >= 0 && value.learned_keep > value.topk;
  const bool stride = value.rows() > 1 && value.row_stride && *value.row_stride >= 0 && *value.row_stride < value.topk;
  return negative + mismatch + segments + keep + stride;
}

CaseTraits traits_of(const Case& value) {
  CaseTraits traits;
  traits.value = &value;
  traits.status = expected_status(value, true);
  if (!traits.legal()) traits.faults = fault_count(value);
  if (!traits.works()) return traits;
  TraitsReader reader(traits);
  const auto topk = static_cast<std::size_t>(value.topk);
  for (std::size_t r = 0; r < value.context_lens.size(); ++r) {
    reader.read_length(value.context_lens[r]);
    reader.read_row(std::span(value.learned).subspan(r * topk, topk), value.context_lens[r]);
  }
  return traits;
}

using T = const CaseTraits&;

// A class stands beside the scenario whose cards guarantee it; cases of other scenarios fall into it too. Floors are at most
// a third of what the scenario alone gives. clang-format off
constexpr CoverageClass kClasses[] = {
    // Lengths.
    {"empty row", "a length of 0 or less", "empty rows", 6, [](T t) { return t.works() && t.empty; }},
    {"length zero", "a length of 0", "empty rows", 2, [](T t) { return t.works() && t.zero; }},
    {"length negative", "a length below 0: a padded request", "empty rows", 2,
     [](T t) { return t.works() && t.negative_length; }},
    {"length one", "a context of one token", "length one", 2, [](T t) { return t.one; }},
    {"length below S", "each token is its own segment", "rows shorter than S", 6, [](T t) { return t.short_row; }},
    {"length at S", "S - 1, S or S + 1", "length at S", 4, [](T t) { return t.at_segments; }},
    {"length at topk", "topk - 1, topk or topk + 1", "length at topk", 4, [](T t) { return t.at_topk; }},
    {"length at a power of two", "2^k or one beside it, from 8 on", "length at a power of two", 6,
     [](T t) { return t.power_of_two; }},
    {"length above 2^24", "no longer exact in single precision", "length above 2^24", 4,
     [](T t) { return t.above_24; }},
    {"length above 2^26", "64 times the length passes 2^32", "length above 2^26", 4, [](T t) { return t.above_26; }},
    {"length near 2^31", "within 2^20 of INT32_MAX", "length near 2^31", 6, [](T t) { return t.near_31; }},

    // Shapes.
    {"topk 2,048", "the width that models serve", "topk 2,048", 4,
     [](T t) { return t.works() && t.value->topk == 2048; }},
    {"topk beside 2,048", "2,047, 2,049 or 2,051", "topk beside 2,048", 2,
     [](T t) { return t.works() && (t.value->topk == 2047 || t.value->topk == 2049 || t.value->topk == 2051); }},
    {"topk 192, 512 or 1,024", "other widths of serving", "topk 192 to 1,024", 4,
     [](T t) { return t.works() && (t.value->topk == 192 || t.value->topk == 512 || t.value->topk == 1024); }},
    {"topk above 2,051", "wider than any model serves", "topk above 2,051", 3,
     [](T t) { return t.works() && t.value->topk > 2051; }},
    {"width beside a power of two", "what tiles make of a row's last slots", "width beside a power of two", 4,
     [](T t) {
       const auto topk = static_cast<std::uint64_t>(t.value->topk);
       return t.works() && topk >= 127 && topk <= 2049 &&
              (std::has_single_bit(topk - 1) || std::has_single_bit(topk) || std::has_single_bit(topk + 1));
     }},
    {"topk of another width above 65", "no width of serving, nor beside one", "any width", 3,
     [](T t) {
       return t.works() && t.value->topk > 65 && t.value->topk < 2047 && t.value->topk != 192 && t.value->topk != 512 &&
              t.value->topk != 1024;
     }},
    {"topk below S", "fewer slots than segments", "topk below S", 4,
     [](T t) { return t.works() && t.value->topk > 0 && t.value->topk < t.value->num_segments; }},
    {"topk zero", "rows without slots", "topk zero", 2, [](T t) { return t.works() && t.value->topk == 0; }},
    {"no rows", "an empty batch", "no rows", 2, [](T t) { return t.works() && t.value->rows() == 0; }},
    {"several rows", "a batch of two rows or more", "rows that differ", 8,
     [](T t) { return t.works() && t.value->rows() > 1; }},
    {"4 to 32 wide rows", "a decode batch: rows of 512 slots and more", "4 to 32 wide rows", 2,
     [](T t) { return t.works() && t.value->topk >= 512 && t.value->rows() >= 4 && t.value->rows() <= 32; }},
    {"41 to 512 rows", "more rows than a few blocks serve", "41 to 512 rows", 2,
     [](T t) { return t.works() && t.value->rows() > 40 && t.value->rows() <= 512; }},
    {"S of 31 to 33", "the boundary of a 32-bit mask", "S of 31 to 33", 6,
     [](T t) { return t.works() && t.value->num_segments >= 31 && t.value->num_segments <= 33; }},
    {"S of 63 or 64", "the boundary of a 64-bit mask", "S of 63 or 64", 8,
     [](T t) { return t.works() && t.value->num_segments >= 63 && t.value->num_segments <= 64; }},
    {"S of one", "one segment: the whole context", "S of one", 2,
     [](T t) { return t.works() && t.value->num_segments == 1; }},
    {"more than 64 segments", "witness indices beyond a 64-bit mask", "more than 64 segments", 6,
     [](T t) { return t.works() && t.value->num_segments > kMaxMerge; }},

    // Tokens.
    {"token at an edge", "the first token of a segment other than 0", "tokens at edges", 10,
     [](T t) { return t.at_edge; }},
    {"token just below an edge", "the last token of a segment", "tokens at edges", 6, [](T t) { return t.below_edge; }},
    {"token at the length", "the first token outside the context", "tokens at the length", 2,
     [](T t) { return t.at_length; }},
    {"token past the length", "at or past the length", "tokens at the length", 4, [](T t) { return t.past_length; }},
    {"token past a short row", "marks a number outside the partition", "tokens past a short row", 6,
     [](T t) { return t.past_short_row; }},
    {"lone token in a wide row", "the only mark of its segment, late in 512 slots or more, many segments missing",
     "a lone token in a wide row", 4, [](T t) { return t.lone_in_wide_row; }},
    {"lone token past the end of a wide row", "the same of the last segment, by a token at or past the length",
     "a lone token past the end of a wide row", 3, [](T t) { return t.lone_past_end; }},
    {"garbage beyond the length", "L valid tokens, then stale ones", "garbage beyond the length", 4,
     [](T t) { return t.garbage; }},
    {"absolute offsets", "every token at or past the length", "absolute offsets", 2, [](T t) { return t.absolute; }},
    {"tokens in range alone", "a row for which coverage holds", "tokens in range alone", 6,
     [](T t) { return t.in_range; }},
    {"hole of padding", "a negative entry before a valid one", "holes of padding", 4, [](T t) { return t.hole; }},
    {"all padding", "no valid entry", "all padding", 4, [](T t) { return t.all_padding; }},
    {"negative other than -1", "padding is any negative entry", "negatives other than -1", 4,
     [](T t) { return t.odd_negative; }},
    {"token of INT32_MIN", "its negation overflows", "negatives other than -1", 2, [](T t) { return t.least_token; }},
    {"duplicate token", "the same token twice", "tokens in pairs", 6, [](T t) { return t.duplicate; }},
    {"even number of tokens in a segment", "they cancel in an exclusive or", "tokens in pairs", 6,
     [](T t) { return t.even_segment; }},
    {"every segment occupied", "no witness", "every segment", 4, [](T t) { return t.full; }},
    {"one segment missing", "one witness", "every segment but one", 8, [](T t) { return t.one_missing; }},
    {"last segment alone", "the mask's highest bit alone", "one segment alone", 2, [](T t) { return t.last_alone; }},
    {"last segment missing", "the mask's highest bit alone is clear", "every segment but one", 2,
     [](T t) { return t.last_missing; }},
    {"lower half alone", "no segment from 32 on", "the upper or the lower half of 64 segments", 2,
     [](T t) { return t.lower_half_alone; }},
    {"upper half alone", "no segment below 32", "the upper or the lower half of 64 segments", 2,
     [](T t) { return t.upper_half_alone; }},
    {"head alone", "tokens below learned_keep alone", "the head alone", 4, [](T t) { return t.head_alone; }},
    {"tail alone", "tokens from learned_keep on alone", "the tail alone", 4, [](T t) { return t.tail_alone; }},
    {"sorted row", "rising or falling strictly", "sorted rows", 3, [](T t) { return t.rising || t.falling; }},
    {"rows that differ", "a full row beside a bare one", "rows that differ", 8, [](T t) { return t.differing; }},

    // Budgets.
    {"dropped witness", "more witnesses than the budget", "more witnesses than the budget", 6,
     [](T t) { return t.dropped; }},
    {"segment uncovered by the merge", "its sole tokens are overwritten", "a sole token that is overwritten", 4,
     [](T t) { return t.uncovered_by_merge; }},
    {"one slot for a witness", "all but the last slot is kept", "one slot for the last witness", 4,
     [](T t) {
       return t.works() && t.is(Operation::kApply) && t.value->topk - t.value->learned_keep == 1 &&
              t.value->max_replacements > 0;
     }},
    {"room for every witness", "neither slots nor budget run out", "room for every witness", 4,
     [](T t) {
       return t.works() && t.is(Operation::kApply) && t.value->num_segments > 1 &&
              t.value->topk - t.value->learned_keep >= t.value->num_segments &&
              t.value->max_replacements > t.value->num_segments;
     }},
    {"no budget", "max_replacements of 0", "no budget", 2,
     [](T t) { return t.works() && t.is(Operation::kApply) && t.value->max_replacements == 0; }},
    {"everything kept", "learned_keep of topk", "everything kept", 2,
     [](T t) {
       return t.works() && t.is(Operation::kApply) && t.value->topk > 0 && t.value->learned_keep == t.value->topk;
     }},
    {"nothing kept", "learned_keep of 0", "nothing kept", 2,
     [](T t) { return t.works() && t.is(Operation::kApply) && t.value->learned_keep == 0; }},
    {"unbounded budget", "more than S and topk together", "an unbounded budget", 2,
     [](T t) {
       return t.works() && t.is(Operation::kApply) &&
              t.value->max_replacements - t.value->topk >= t.value->num_segments;
     }},
    {"scatter switched off", "S of 0 does nothing", "scatter switched off", 2,
     [](T t) { return t.legal() && t.is(Operation::kScatter) && t.value->num_segments == 0; }},

    // How the call is made.
    {"row stride above topk", "spare columns between rows", "row stride above topk", 8,
     [](T t) {
       return t.works() && t.value->rows() > 1 && t.value->row_stride && *t.value->row_stride > t.value->topk;
     }},
    {"in place", "apply's output is its input", "in place", 6, [](T t) { return t.works() && t.value->in_place; }},
    {"off the 64-byte boundary", "a base that wide loads must not assume aligned", "off the 64-byte boundary", 8,
     [](T t) { return t.works() && t.value->base_offset != 0; }},
    {"wide row off the boundary", "topk of 192 or more too", "off the boundary in a wide row", 2,
     [](T t) { return t.works() && t.value->base_offset != 0 && t.value->topk >= 192; }},
    {"earlier calls", "the process has made other calls before", "earlier calls", 12,
     [](T t) { return !t.value->prior_calls.empty(); }},

    // Refusals.
    {"rows mismatch", "learned has another length than rows * topk", "rows mismatch", 4,
     [](T t) { return t.status == status::kRowsMismatch; }},
    {"rows times topk overflows", "the product passes 2^63", "rows times topk overflows", 2,
     [](T t) { return t.status == status::kRowsMismatch && t.value->topk > (std::int64_t{1} << 32); }},
    {"segments out of range", "0, or above 64", "too many or no segments", 4,
     [](T t) { return t.status == status::kSegmentsOutOfRange; }},
    {"learned keep out of range", "above topk", "keep above topk", 4,
     [](T t) { return t.status == status::kLearnedKeepOutOfRange; }},
    {"negative count", "topk, S, keep, budget or stride below 0", "negative counts", 4,
     [](T t) { return t.status == status::kNegativeCount; }},
    {"row stride below topk", "rows that overlap", "row stride below topk", 4,
     [](T t) { return t.status == status::kRowStride; }},
    {"several faults at once", "the first in the order of checks wins", "several faults at once", 3,
     [](T t) { return t.faults > 1; }},

    // Shared ones.
    {"more than 1,024 rows", "more rows than a block has threads", "more than 1,024 rows", 0,
     [](T t) { return t.works() && t.value->rows() > 1024; }},
    {"more than 65,535 rows", "more rows than a grid's second axis holds", "more than 65,535 rows", 0,
     [](T t) { return t.works() && t.value->rows() > 65535; }},
    {"65,536 rows", "a number of rows that 16 bits take for none", "65,536 rows", 0,
     [](T t) { return t.works() && t.value->rows() == 65536; }},
    {"more than 131,072 rows", "more than two grids of 65,535", "more than 131,072 rows", 0,
     [](T t) { return t.works() && t.value->rows() > 131072; }},
    {"topk above 65,536", "slots and a kept head past 16 bits", "topk above 65,536", 0,
     [](T t) { return t.works() && t.value->topk > 65536; }},
    {"batch of wide rows", "33 rows or more of 1,024 slots or more", "a serving batch", 0,
     [](T t) { return t.works() && t.value->rows() > 32 && t.value->topk >= 1024; }},
    {"more than 1,024 rows, S above 32", "more rows than threads, and marks in the upper half of a mask",
     "more than 1,024 rows of many segments", 0,
     [](T t) { return t.works() && t.value->rows() > 1024 && t.value->num_segments > 32; }},
    {"prefill batch", "257 rows or more of 512 slots or more", "a prefill batch", 0,
     [](T t) { return t.works() && t.value->rows() > 256 && t.value->topk >= 512; }},
    {"more than 2^21 tokens", "a batch that no stack holds", "more than 2^21 tokens", 0,
     [](T t) { return t.works() && t.value->rows() * t.value->topk > 1 << 21; }},
    {"more than a million segments", "more than 16 bits number, and more than a stack holds",
     "more than a million segments", 0, [](T t) { return t.works() && t.value->num_segments > 1 << 20; }},
    {"row stride above 2^30", "row times stride passes 2^31", "row stride above 2^30", 0,
     [](T t) { return t.works() && t.value->rows() > 2 && t.value->row_stride.value_or(0) > (std::int64_t{1} << 30); }},
};
// clang-format on

}  // namespace

std::span<const CoverageClass> all_coverage_classes() {
  return kClasses;
}

std::vector<std::size_t> classes_of(const Case& value) {
  return classes_of(value, kClasses);
}

std::vector<std::size_t> classes_of(const Case& value, std::span<const CoverageClass> classes) {
  const CaseTraits traits = traits_of(value);
  std::vector<std::size_t> list;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (classes[i].contains(traits)) list.push_back(i);
  }
  return list;
}

const Scenario& scenario_of(const CoverageClass& kind) {
  return *std::ranges::find(all_scenarios(), kind.scenario, &Scenario::name);
}

std::int64_t class_floor(const CoverageClass& kind, const Domain& domain, std::int64_t cases) {
  if (scenario_of(kind).shared) return 1;
  const std::int64_t whole = cases * kind.floor_per_mille;
  return std::max<std::int64_t>((domain.focus == Focus::kEverything ? whole : whole / 2) / 1000, 1);
}

}  // namespace kvwitness::harness
