#include "properties/generators/case_traits.h"

#include <kvwitness/legality.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace kvwitness::harness {
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
    t.last_missing |= segments_ > 1 && occupied == segments_ - 1 && counts_.back() == 0;
    t.lower_half_alone |= segments_ > 33 && low && !high;
    t.upper_half_alone |= segments_ > 33 && high && !low;
    full_rows_ += occupied == segments_ && segments_ > 1;
    bare_rows_ += segments_ > 1 && 2 * occupied <= segments_;
    t.differing |= full_rows_ > 0 && bare_rows_ > 0;
    if (value_.operation == Operation::kWitnesses) return;
    const auto kept = segments_ - std::ranges::count(kept_counts_, 0);
    t.head_only |= keep_ > 0 && keep_ < value_.topk && occupied > 0 && counts_ == kept_counts_;
    t.tail_only |= keep_ > 0 && keep_ < value_.topk && occupied > 0 && kept == 0;
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
int malformation_count(const Case& value) {
  const auto size = static_cast<std::int64_t>(value.learned.size());
  const bool negative = value.topk < 0 || value.num_segments < 0 || value.learned_keep < 0 ||
                        value.max_replacements < 0 || value.row_stride.value_or(0) < 0;
  const bool mismatch = value.topk > 0 ? size % value.topk != 0 || size / value.topk != value.rows() : size != 0;
  const bool segments = value.operation == Operation::kWitnesses ? value.num_segments == 0
                        : value.operation == Operation::kApply
                            ? value.num_segments == 0 || value.num_segments > kMaxMergeSegments
                            : value.num_segments > kMaxMergeSegments;
  const bool keep = value.topk >= 0 && value.learned_keep > value.topk;
  const bool stride = value.rows() > 1 && value.row_stride && *value.row_stride >= 0 && *value.row_stride < value.topk;
  return negative + mismatch + segments + keep + stride;
}

}  // namespace

CaseTraits traits_of(const Case& value) {
  CaseTraits traits;
  traits.value = &value;
  traits.status = expected_status(value, true);
  if (!traits.legal()) traits.malformations = malformation_count(value);
  if (!traits.works()) return traits;
  TraitsReader reader(traits);
  const auto topk = static_cast<std::size_t>(value.topk);
  for (std::size_t r = 0; r < value.context_lens.size(); ++r) {
    reader.read_length(value.context_lens[r]);
    reader.read_row(std::span(value.learned).subspan(r * topk, topk), value.context_lens[r]);
  }
  return traits;
}

}  // namespace kvwitness::harness
