#include "properties/generators/row_drawing.h"

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

// A row as the drawing functions see it. An empty row is filled as if it had 64 tokens: what a stale buffer would hold.
class RowDrawing {
 public:
  RowDrawing(Draws& draws, const RowShape& shape, std::span<std::int32_t> row)
      : draws_(draws),
        row_(row),
        len_(shape.context_len > 0 ? shape.context_len : 64),
        segments_(std::min<std::int64_t>(std::max<std::int64_t>(shape.num_segments, 1), len_)),
        keep_(static_cast<std::size_t>(
            std::clamp<std::int64_t>(shape.learned_keep, 0, static_cast<std::int64_t>(row.size())))) {}

  std::int64_t edge(std::int64_t segment) const {
    return segment >= segments_ ? len_ : (segment * len_ + segments_ - 1) / segments_;
  }
  std::int32_t anywhere() { return static_cast<std::int32_t>(draws_.between(0, len_ - 1)); }
  std::int32_t inside(std::int64_t segment) {
    const std::int64_t first = edge(segment), last = edge(segment + 1) - 1;
    return static_cast<std::int32_t>(draws_.chance(40)   ? first
                                     : draws_.chance(40) ? last
                                                         : draws_.between(first, last));
  }
  std::int32_t past_end() {
    return clamped(draws_.chance(60) ? len_ + draws_.between(0, 3) : draws_.between(len_, kMaxToken));
  }

  // Every negative entry is padding, whatever its bits.
  std::int32_t negative() {
    if (draws_.chance(25)) return -1;
    if (draws_.chance(50)) return static_cast<std::int32_t>(draws_.between(-256, -2));
    const std::int64_t power = std::int64_t{1} << draws_.between(0, 31);
    return clamped(
        draws_.pick<std::int64_t>({-7, kMinToken, kMinToken + 1, -power, -power - 1, draws_.between(kMinToken, -1)}));
  }

  void uniform() {
    for (auto& token : row_) token = anywhere();
  }
  void edges() {
    for (auto& token : row_) {
      const std::int64_t segment = draws_.between(0, segments_);
      token = clamped(std::clamp<std::int64_t>(edge(segment) + draws_.between(-1, 1), 0, len_ - 1));
    }
    if (!row_.empty() && segments_ > 1) {  // one exact edge at least, and the token before it
      const std::int64_t segment = draws_.between(1, segments_ - 1);
      row_[draws_.below(row_.size())] = clamped(edge(segment) - (draws_.chance(50) ? 1 : 0));
      row_[draws_.below(row_.size())] = clamped(edge(segment));
    }
  }
  void boundary() {
    for (auto& token : row_) {
      token = clamped(draws_.pick<std::int64_t>({0, len_ - 1, len_, len_ + 1, kMaxToken, anywhere()}));
    }
    if (!row_.empty()) row_[draws_.below(row_.size())] = clamped(len_);
  }
  // One token in each segment but `missing`, as far as the slots reach, at the front; then tokens of the same segments.
  void cover_all_but(std::int64_t missing) {
    std::size_t slot = 0;
    for (std::int64_t segment = 0; segment < segments_ && slot < row_.size(); ++segment) {
      if (segment != missing) row_[slot++] = inside(segment);
    }
    for (const std::size_t covered = slot; slot < row_.size(); ++slot) {
      row_[slot] = covered == 0 || draws_.chance(30) ? -1 : row_[draws_.below(covered)];
    }
    shuffle_half_the_time();
  }
  void one_missing() {
    cover_all_but(draws_.chance(30) ? segments_ - 1 : draws_.chance(20) ? 0 : draws_.between(0, segments_ - 1));
  }
  void cluster() {
    const auto width = static_cast<std::int64_t>(row_.size()) + draws_.between(0, 8);
    const std::int64_t first = draws_.between(0, std::max<std::int64_t>(len_ - width, 0));
    for (auto& token : row_) token = clamped(std::min(first + draws_.between(0, width), len_ - 1));
  }
  void one_segment() {
    const std::int64_t segment = draws_.chance(50) ? segments_ - 1 : draws_.between(0, segments_ - 1);
    for (auto& token : row_) token = inside(segment);
  }
  void half() {
    const std::int64_t middle = std::min<std::int64_t>(32, segments_);
    const bool low = middle == segments_ || draws_.chance(50);
    for (auto& token : row_)
      token = inside(low ? draws_.between(0, middle - 1) : draws_.between(middle, segments_ - 1));
  }
  void all_padding() {
    const bool plain = draws_.chance(50);
    for (auto& token : row_) token = plain ? -1 : negative();
  }
  void padded_tail() {
    uniform();
    if (row_.empty()) return;
    std::fill(row_.begin() + static_cast<std::ptrdiff_t>(draws_.below(row_.size())), row_.end(), -1);
  }
  void holes() {
    uniform();
    for (auto& token : row_) {
      if (draws_.chance(30)) token = -1;
    }
    if (row_.size() > 1) {  // one hole at least, with a valid token after it
      row_[draws_.below(row_.size() - 1)] = -1;
      row_.back() = anywhere();
    }
  }
  void negatives() {
    uniform();
    for (auto& token : row_) {
      if (draws_.chance(40)) token = negative();
    }
    if (!row_.empty()) row_[draws_.below(row_.size())] = draws_.pick<std::int32_t>({-7, kMinToken});
  }
  void valid_between(std::size_t first, std::size_t end) {
    for (std::size_t slot = 0; slot < row_.size(); ++slot) {
      row_[slot] = slot >= first && slot < end ? anywhere() : -1;
    }
  }
  void head_alone() { valid_between(0, keep_); }
  void tail_alone() { valid_between(keep_, row_.size()); }
  void sole_in_tail() {
    valid_between(0, 0);
    if (keep_ < row_.size()) row_[keep_] = anywhere();
  }
  void last() {
    valid_between(0, 0);
    if (row_.empty()) return;
    const std::size_t back = draws_.chance(70) ? 0 : draws_.below(std::min<std::size_t>(row_.size(), 40));
    row_[row_.size() - 1 - back] = anywhere();
  }
  // Each token decides about its segment alone, so a slot that is not read shows.
  void few() {
    valid_between(0, 0);
    if (row_.empty()) return;
    const auto width = static_cast<std::int64_t>(row_.size());
    for (std::int64_t count = draws_.between(1, 3); count > 0; --count) {
      const std::int64_t step = draws_.pick<std::int64_t>({32, 128, 256, 256, 1024, 1024});
      const std::int64_t slot = draws_.pick<std::int64_t>(
          {0, width - 1, width - draws_.between(1, 16), draws_.between(0, width - 1), draws_.between(0, width - 1),
           draws_.between(0, width / step) * step, draws_.between(0, width / step) * step - 1});
      row_[static_cast<std::size_t>(std::clamp<std::int64_t>(slot, 0, width - 1))] = anywhere();
    }
  }
  // A pass over a wide row may change its way on the way, when it knows what is still missing: whatever it does then
  // must meet the lone token.
  void lone_token(bool past) {
    if (row_.empty()) return;
    const std::int64_t lone = past || draws_.chance(30) ? segments_ - 1 : draws_.between(0, segments_ - 1);
    const std::int64_t step = std::min(draws_.pick<std::int64_t>({2, 2, 3, 7}), segments_);
    const std::int64_t phase = draws_.between(0, step - 1);
    for (auto& token : row_) {
      const std::int64_t segment = phase + step * draws_.between(0, (segments_ - 1 - phase) / step);
      token = segment == lone ? -1 : inside(segment);
    }
    const auto width = static_cast<std::int64_t>(row_.size());
    const std::int64_t slot =
        draws_.pick<std::int64_t>({width - 1, draws_.between(width / 2, width - 1),
                                   draws_.between(std::min<std::int64_t>(256, width - 1), width - 1)});
    row_[static_cast<std::size_t>(slot)] = past ? past_end() : inside(lone);
  }
  void pairs() {
    const std::int64_t copies = draws_.pick<std::int64_t>({2, 2, 2, 4});
    for (std::size_t slot = 0; slot < row_.size(); ++slot) {
      row_[slot] = slot % static_cast<std::size_t>(copies) == 0 ? anywhere() : row_[slot - 1];
    }
    if (row_.size() % static_cast<std::size_t>(copies) == 1) row_.back() = -1;
    shuffle_half_the_time();
  }
  void past_length() {
    uniform();
    for (auto& token : row_) {
      if (draws_.chance(30)) token = past_end();
    }
    if (!row_.empty()) row_[draws_.below(row_.size())] = clamped(len_ + draws_.between(0, 1));
  }
  void past_short_row(std::int64_t num_segments) {
    const std::int64_t last = std::max(len_, std::min<std::int64_t>(num_segments, kMaxToken));
    for (auto& token : row_) token = draws_.chance(50) ? anywhere() : clamped(draws_.between(len_, last));
    if (!row_.empty()) row_[draws_.below(row_.size())] = clamped(draws_.between(len_, last));
  }
  void garbage() {
    const auto valid = static_cast<std::size_t>(std::min<std::int64_t>(len_, static_cast<std::int64_t>(row_.size())));
    for (std::size_t slot = 0; slot < row_.size(); ++slot) row_[slot] = slot < valid ? anywhere() : past_end();
    if (!row_.empty()) row_.back() = past_end();
  }
  void absolute() {
    const std::int64_t base = std::min(len_ + draws_.between(0, len_), kMaxToken - 1);
    for (auto& token : row_) token = clamped(base + anywhere());
  }
  void model_like();

 private:
  void shuffle_half_the_time() {
    if (draws_.chance(50)) draws_.shuffle(row_);
  }

  Draws& draws_;
  std::span<std::int32_t> row_;
  std::int64_t len_;
  std::int64_t segments_;
  std::size_t keep_;
};

// Distances from the newest token grow geometrically, a few sinks lead, clusters lie between: the shape that learned
// indexers give.
void RowDrawing::model_like() {
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
    at -= draws_.chance(85) ? 1 : draws_.between(1, reach * 8);
  }
  std::ranges::sort(picks);
  picks.erase(std::unique(picks.begin(), picks.end()), picks.end());
  draws_.shuffle(picks);
  for (std::size_t slot = 0; slot < row_.size(); ++slot) {
    row_[slot] = slot < std::min(wanted, picks.size()) ? picks[slot] : -1;
  }
}

}  // namespace

std::int32_t draw_length(Draws& draws, LengthKind kind, std::int64_t num_segments, std::int64_t topk) {
  const auto at_least_one = [](std::int64_t value) { return clamped(std::max<std::int64_t>(value, 1)); };
  switch (kind) {
    case LengthKind::kEmpty:
      return draws.pick<std::int32_t>({0, 0, -1, -7, kMinToken});
    case LengthKind::kOne:
      return 1;
    case LengthKind::kBelowSegments:
      return clamped(draws.between(1, std::max<std::int64_t>(std::min(num_segments, kMaxToken) - 1, 1)));
    case LengthKind::kAtSegments:
      return at_least_one(std::min(num_segments, kMaxToken) + draws.between(-1, 1));
    case LengthKind::kAroundTopk:
      return at_least_one(topk + draws.between(-1, 1));
    case LengthKind::kSmall:
      return clamped(draws.between(1, draws.pick<std::int64_t>({12, 40, 200})));
    case LengthKind::kMiddle:
      return clamped(draws.between(201, draws.pick<std::int64_t>({4096, 131072})));
    case LengthKind::kPowerOfTwo:
      return clamped((std::int64_t{1} << draws.between(3, 31)) + draws.between(-1, 1));
    case LengthKind::kMultiple: {
      const std::int64_t times = draws.between(1, draws.pick<std::int64_t>({8, 200, 200, 1 << 20}));
      return at_least_one(std::min(times * std::min<std::int64_t>(num_segments, 1 << 10), kMaxToken) +
                          draws.between(-1, 1));
    }
    case LengthKind::kAbove24:
      return clamped(draws.between((1 << 24) + 1, 1 << 26));
    case LengthKind::kAbove26:
      return clamped(draws.between((1 << 26) + 1, 1 << 30));
    case LengthKind::kNear31:
      return clamped(kMaxToken - draws.between(0, draws.pick<std::int64_t>({0, 3, 64, 1 << 20})));
  }
  return 1;
}

void draw_tokens(Draws& draws, TokenKind kind, const RowShape& shape, std::span<std::int32_t> row) {
  RowDrawing drawing(draws, shape, row);
  switch (kind) {
    case TokenKind::kUniform:
      drawing.uniform();
      break;
    case TokenKind::kEdges:
      drawing.edges();
      break;
    case TokenKind::kBoundary:
      drawing.boundary();
      break;
    case TokenKind::kFullCover:
      drawing.cover_all_but(-1);
      break;
    case TokenKind::kOneMissing:
      drawing.one_missing();
      break;
    case TokenKind::kCluster:
      drawing.cluster();
      break;
    case TokenKind::kOneSegment:
      drawing.one_segment();
      break;
    case TokenKind::kHalf:
      drawing.half();
      break;
    case TokenKind::kAllPadding:
      drawing.all_padding();
      break;
    case TokenKind::kPaddedTail:
      drawing.padded_tail();
      break;
    case TokenKind::kHoles:
      drawing.holes();
      break;
    case TokenKind::kNegatives:
      drawing.negatives();
      break;
    case TokenKind::kHeadAlone:
      drawing.head_alone();
      break;
    case TokenKind::kTailAlone:
      drawing.tail_alone();
      break;
    case TokenKind::kSoleInTail:
      drawing.sole_in_tail();
      break;
    case TokenKind::kPairs:
      drawing.pairs();
      break;
    case TokenKind::kPastLength:
      drawing.past_length();
      break;
    case TokenKind::kPastShortRow:
      drawing.past_short_row(shape.num_segments);
      break;
    case TokenKind::kGarbage:
      drawing.garbage();
      break;
    case TokenKind::kAbsolute:
      drawing.absolute();
      break;
    case TokenKind::kLast:
      drawing.last();
      break;
    case TokenKind::kFew:
      drawing.few();
      break;
    case TokenKind::kLone:
      drawing.lone_token(false);
      break;
    case TokenKind::kLonePastEnd:
      drawing.lone_token(true);
      break;
    case TokenKind::kModelLike:
      drawing.model_like();
      break;
  }
}

}  // namespace kvwitness::harness
