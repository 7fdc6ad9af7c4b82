#include "properties/generators/row_structures.h"

#include <kvwitness/assertions.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace kvwitness::harness {
namespace {

constexpr std::int64_t kMaxToken = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t kMinToken = std::numeric_limits<std::int32_t>::min();

std::int32_t clamped(std::int64_t value) {
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(value, kMinToken, kMaxToken));
}

// An empty row is filled as if it had 64 tokens: what a stale buffer would hold.
class RowFiller {
 public:
  RowFiller(RandomSource& random, const RowShape& shape, std::span<std::int32_t> row)
      : random_(random),
        row_(row),
        len_(shape.context_len > 0 ? shape.context_len : 64),
        segments_(std::min<std::int64_t>(std::max<std::int64_t>(shape.num_segments, 1), len_)),
        keep_(static_cast<std::size_t>(
            std::clamp<std::int64_t>(shape.learned_keep, 0, static_cast<std::int64_t>(row.size())))) {}

  std::int64_t edge(std::int64_t segment) const {
    return segment >= segments_ ? len_ : (segment * len_ + segments_ - 1) / segments_;
  }
  std::int32_t anywhere() { return static_cast<std::int32_t>(random_.between(0, len_ - 1)); }
  std::int32_t inside(std::int64_t segment) {
    const std::int64_t first = edge(segment), last = edge(segment + 1) - 1;
    return static_cast<std::int32_t>(random_.chance(40)   ? first
                                     : random_.chance(40) ? last
                                                          : random_.between(first, last));
  }
  std::int32_t past_end() {
    return clamped(random_.chance(60) ? len_ + random_.between(0, 3) : random_.between(len_, kMaxToken));
  }

  // Every negative entry is padding, whatever its bits.
  std::int32_t negative() {
    if (random_.chance(25)) return -1;
    if (random_.chance(50)) return static_cast<std::int32_t>(random_.between(-256, -2));
    const std::int64_t power = std::int64_t{1} << random_.between(0, 31);
    return clamped(
        random_.pick<std::int64_t>({-7, kMinToken, kMinToken + 1, -power, -power - 1, random_.between(kMinToken, -1)}));
  }

  void uniform() {
    for (auto& token : row_) token = anywhere();
  }
  void edges() {
    for (auto& token : row_) {
      const std::int64_t segment = random_.between(0, segments_);
      token = clamped(std::clamp<std::int64_t>(edge(segment) + random_.between(-1, 1), 0, len_ - 1));
    }
    if (!row_.empty() && segments_ > 1) {  // one exact edge at least, and the token before it
      const std::int64_t segment = random_.between(1, segments_ - 1);
      row_[random_.below(row_.size())] = clamped(edge(segment) - (random_.chance(50) ? 1 : 0));
      row_[random_.below(row_.size())] = clamped(edge(segment));
    }
  }
  void boundary() {
    for (auto& token : row_) {
      token = clamped(random_.pick<std::int64_t>({0, len_ - 1, len_, len_ + 1, kMaxToken, anywhere()}));
    }
    if (!row_.empty()) row_[random_.below(row_.size())] = clamped(len_);
  }
  // One token in each segment but `missing`, as far as the slots reach, at the front; then tokens of the same segments.
  void cover_all_but(std::int64_t missing) {
    std::size_t slot = 0;
    for (std::int64_t segment = 0; segment < segments_ && slot < row_.size(); ++segment) {
      if (segment != missing) row_[slot++] = inside(segment);
    }
    for (const std::size_t covered = slot; slot < row_.size(); ++slot) {
      row_[slot] = covered == 0 || random_.chance(30) ? -1 : row_[random_.below(covered)];
    }
    shuffle_half_the_time();
  }
  void one_missing() {
    cover_all_but(random_.chance(30) ? segments_ - 1 : random_.chance(20) ? 0 : random_.between(0, segments_ - 1));
  }
  void cluster() {
    const auto width = static_cast<std::int64_t>(row_.size()) + random_.between(0, 8);
    const std::int64_t first = random_.between(0, std::max<std::int64_t>(len_ - width, 0));
    for (auto& token : row_) token = clamped(std::min(first + random_.between(0, width), len_ - 1));
  }
  void one_segment() {
    const std::int64_t segment = random_.chance(50) ? segments_ - 1 : random_.between(0, segments_ - 1);
    for (auto& token : row_) token = inside(segment);
  }
  void half() {
    const std::int64_t middle = std::min<std::int64_t>(32, segments_);
    const bool low = middle == segments_ || random_.chance(50);
    for (auto& token : row_) {
      token = inside(low ? random_.between(0, middle - 1) : random_.between(middle, segments_ - 1));
    }
  }
  void all_padding() {
    const bool plain = random_.chance(50);
    for (auto& token : row_) token = plain ? -1 : negative();
  }
  void padded_tail() {
    uniform();
    if (row_.empty()) return;
    std::fill(row_.begin() + static_cast<std::ptrdiff_t>(random_.below(row_.size())), row_.end(), -1);
  }
  void holes() {
    uniform();
    for (auto& token : row_) {
      if (random_.chance(30)) token = -1;
    }
    if (row_.size() > 1) {  // one hole at least, with a valid token after it
      row_[random_.below(row_.size() - 1)] = -1;
      row_.back() = anywhere();
    }
  }
  void negatives() {
    uniform();
    for (auto& token : row_) {
      if (random_.chance(40)) token = negative();
    }
    if (!row_.empty()) row_[random_.below(row_.size())] = random_.pick<std::int32_t>({-7, kMinToken});
  }
  void valid_between(std::size_t first, std::size_t end) {
    for (std::size_t slot = 0; slot < row_.size(); ++slot) {
      row_[slot] = slot >= first && slot < end ? anywhere() : -1;
    }
  }
  void head_only() { valid_between(0, keep_); }
  void tail_only() { valid_between(keep_, row_.size()); }
  void sole_in_tail() {
    valid_between(0, 0);
    if (keep_ < row_.size()) row_[keep_] = anywhere();
  }
  void last() {
    valid_between(0, 0);
    if (row_.empty()) return;
    const std::size_t back = random_.chance(70) ? 0 : random_.below(std::min<std::size_t>(row_.size(), 40));
    row_[row_.size() - 1 - back] = anywhere();
  }
  // Each token decides about its segment alone, so a slot that is not read shows.
  void few() {
    valid_between(0, 0);
    if (row_.empty()) return;
    const auto width = static_cast<std::int64_t>(row_.size());
    for (std::int64_t count = random_.between(1, 3); count > 0; --count) {
      const std::int64_t step = random_.pick<std::int64_t>({32, 128, 256, 256, 1024, 1024});
      const std::int64_t slot = random_.pick<std::int64_t>(
          {0, width - 1, width - random_.between(1, 16), random_.between(0, width - 1), random_.between(0, width - 1),
           random_.between(0, width / step) * step, random_.between(0, width / step) * step - 1});
      row_[static_cast<std::size_t>(std::clamp<std::int64_t>(slot, 0, width - 1))] = anywhere();
    }
  }
  // A pass over a wide row may change its way on the way, when it knows what is still missing: whatever it does then
  // must meet the lone token.
  void lone_token(bool past) {
    if (row_.empty()) return;
    const std::int64_t lone = past || random_.chance(30) ? segments_ - 1 : random_.between(0, segments_ - 1);
    const std::int64_t step = std::min(random_.pick<std::int64_t>({2, 2, 3, 7}), segments_);
    const std::int64_t phase = random_.between(0, step - 1);
    for (auto& token : row_) {
      const std::int64_t segment = phase + step * random_.between(0, (segments_ - 1 - phase) / step);
      token = segment == lone ? -1 : inside(segment);
    }
    const auto width = static_cast<std::int64_t>(row_.size());
    const std::int64_t slot =
        random_.pick<std::int64_t>({width - 1, random_.between(width / 2, width - 1),
                                    random_.between(std::min<std::int64_t>(256, width - 1), width - 1)});
    row_[static_cast<std::size_t>(slot)] = past ? past_end() : inside(lone);
  }
  void pairs() {
    const std::int64_t copies = random_.pick<std::int64_t>({2, 2, 2, 4});
    for (std::size_t slot = 0; slot < row_.size(); ++slot) {
      row_[slot] = slot % static_cast<std::size_t>(copies) == 0 ? anywhere() : row_[slot - 1];
    }
    if (row_.size() % static_cast<std::size_t>(copies) == 1) row_.back() = -1;
    shuffle_half_the_time();
  }
  void past_length() {
    uniform();
    for (auto& token : row_) {
      if (random_.chance(30)) token = past_end();
    }
    if (!row_.empty()) row_[random_.below(row_.size())] = clamped(len_ + random_.between(0, 1));
  }
  void past_short_row(std::int64_t num_segments) {
    const std::int64_t last = std::max(len_, std::min<std::int64_t>(num_segments, kMaxToken));
    for (auto& token : row_) token = random_.chance(50) ? anywhere() : clamped(random_.between(len_, last));
    if (!row_.empty()) row_[random_.below(row_.size())] = clamped(random_.between(len_, last));
  }
  void garbage() {
    const auto valid = static_cast<std::size_t>(std::min<std::int64_t>(len_, static_cast<std::int64_t>(row_.size())));
    for (std::size_t slot = 0; slot < row_.size(); ++slot) row_[slot] = slot < valid ? anywhere() : past_end();
    if (!row_.empty()) row_.back() = past_end();
  }
  void absolute() {
    const std::int64_t base = std::min(len_ + random_.between(0, len_), kMaxToken - 1);
    for (auto& token : row_) token = clamped(base + anywhere());
  }
  void model_like();

 private:
  void shuffle_half_the_time() {
    if (random_.chance(50)) random_.shuffle(row_);
  }

  RandomSource& random_;
  std::span<std::int32_t> row_;
  std::int64_t len_;
  std::int64_t segments_;
  std::size_t keep_;
};

// Distances from the newest token grow geometrically, a few sinks lead, clusters lie between: the shape that learned
// indexers give.
void RowFiller::model_like() {
  const std::size_t wanted =
      static_cast<std::size_t>(std::min<std::int64_t>(len_, static_cast<std::int64_t>(row_.size())));
  std::vector<std::int32_t> picks;
  picks.reserve(2 * row_.size() + 8);
  for (std::int64_t sink = 0; sink < std::min<std::int64_t>(len_, 2); ++sink) {
    picks.push_back(static_cast<std::int32_t>(sink));
  }
  std::int64_t at = len_ - 1;
  while (picks.size() < 2 * wanted && at >= 0) {
    picks.push_back(static_cast<std::int32_t>(at));
    const std::int64_t reach = std::max<std::int64_t>((len_ - at) / 4, 1);
    at -= random_.chance(85) ? 1 : random_.between(1, reach * 8);
  }
  std::ranges::sort(picks);
  picks.erase(std::unique(picks.begin(), picks.end()), picks.end());
  random_.shuffle(picks);
  for (std::size_t slot = 0; slot < row_.size(); ++slot) {
    row_[slot] = slot < std::min(wanted, picks.size()) ? picks[slot] : -1;
  }
}

}  // namespace

void fill_row(RandomSource& random, RowStructure structure, const RowShape& shape, std::span<std::int32_t> row) {
  KVWITNESS_ASSERT(std::ssize(row) == shape.topk, std::ssize(row), shape.topk);
  RowFiller filler(random, shape, row);
  switch (structure) {
    case RowStructure::kUniform:
      filler.uniform();
      break;
    case RowStructure::kEdges:
      filler.edges();
      break;
    case RowStructure::kBoundary:
      filler.boundary();
      break;
    case RowStructure::kFullCover:
      filler.cover_all_but(-1);
      break;
    case RowStructure::kOneMissing:
      filler.one_missing();
      break;
    case RowStructure::kCluster:
      filler.cluster();
      break;
    case RowStructure::kOneSegment:
      filler.one_segment();
      break;
    case RowStructure::kHalf:
      filler.half();
      break;
    case RowStructure::kAllPadding:
      filler.all_padding();
      break;
    case RowStructure::kPaddedTail:
      filler.padded_tail();
      break;
    case RowStructure::kHoles:
      filler.holes();
      break;
    case RowStructure::kNegatives:
      filler.negatives();
      break;
    case RowStructure::kHeadOnly:
      filler.head_only();
      break;
    case RowStructure::kTailOnly:
      filler.tail_only();
      break;
    case RowStructure::kSoleInTail:
      filler.sole_in_tail();
      break;
    case RowStructure::kPairs:
      filler.pairs();
      break;
    case RowStructure::kPastLength:
      filler.past_length();
      break;
    case RowStructure::kPastShortRow:
      filler.past_short_row(shape.num_segments);
      break;
    case RowStructure::kGarbage:
      filler.garbage();
      break;
    case RowStructure::kAbsolute:
      filler.absolute();
      break;
    case RowStructure::kLast:
      filler.last();
      break;
    case RowStructure::kFew:
      filler.few();
      break;
    case RowStructure::kLone:
      filler.lone_token(false);
      break;
    case RowStructure::kLonePastEnd:
      filler.lone_token(true);
      break;
    case RowStructure::kModelLike:
      filler.model_like();
      break;
  }
}

}  // namespace kvwitness::harness
