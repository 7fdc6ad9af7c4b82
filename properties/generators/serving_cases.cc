#include "properties/generators/serving_cases.h"

#include <kvwitness/legality.h>
#include <rapidcheck/Random.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>
#include <utility>

#include "properties/generators/domain.h"
#include "properties/generators/random_source.h"

namespace kvwitness::harness {
namespace {

enum Factor : std::size_t { kRows, kTopk, kSegments, kLength, kPlacement, kStride, kBase, kMissing, kFactorCount };

// Up to so many tokens all triples of rows, topk and S meet.
constexpr std::int64_t kMostTokensOfTriples = std::int64_t{1} << 20;
constexpr std::int64_t kMostDistinctRows = 257;  // no divisor of a block's or a grid's size
constexpr std::int64_t kManyRows = 2048;

const std::vector<std::int64_t> kServingRows = {1, 16, 64, 512, kManyRows, 16384};
const std::vector<std::int64_t> kServingTopk = {512, 1024, 2048, 2051, 4096};
const std::vector<std::int64_t> kServingSegments = {16, 32, 33, 48, 64};
constexpr std::int64_t kLeastWidth = 192;

// At most `most` of the values, the first and the last among them.
std::vector<std::int64_t> spread(std::vector<std::int64_t> values, std::size_t most) {
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
  if (values.size() <= most) return values;
  std::vector<std::int64_t> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(values[i * (values.size() - 1) / (most - 1)]);
  return some;
}

// The usual values, or those that the domain lists within the range.
std::vector<std::int64_t> levels_of(const std::vector<std::int64_t>& usual, const std::vector<std::int64_t>& listed,
                                    const Range& range) {
  return listed.empty() ? values_within(usual, range) : spread(values_within(listed, range), 6);
}

ServingLevels levels_in(const Domain& domain) {
  ServingLevels levels;
  levels.rows = levels_of(kServingRows, domain.rows, {1, std::min(domain.max_rows, kServingRows.back())});
  levels.topk = levels_of(kServingTopk, domain.topk, {kLeastWidth, kServingTopk.back()});
  levels.num_segments = levels_of(kServingSegments, domain.num_segments, {2, kMaxMergeSegments});
  levels.lengths = {LengthClass::kMiddle, LengthClass::kAroundTopk, LengthClass::kBelowSegments};
  if (domain.max_context > 1 << 24) levels.lengths.push_back(LengthClass::kAbove24);
  if (domain.max_context > 1 << 26) levels.lengths.push_back(LengthClass::kAbove26);
  if (domain.max_context >= (std::int64_t{1} << 31) - (1 << 20)) levels.lengths.push_back(LengthClass::kNear31);
  for (const Operation operation : domain.operations) {
    levels.placements.push_back({operation, false});
    if (operation == Operation::kApply) levels.placements.push_back({operation, true});
  }
  levels.strides = {ServingStride::kPacked};
  if (!domain.contiguous) levels.strides.push_back(ServingStride::kNextBoundary);
  if (!domain.contiguous && domain.align_bytes == 4) levels.strides.push_back(ServingStride::kOdd);
  for (const std::int32_t offset : {0, 4, 8, 1}) {
    if (offset * 4 % domain.align_bytes == 0) levels.base_offsets.push_back(offset);
  }
  levels.missing = {MissingSegments::kNone, MissingSegments::kFirst,       MissingSegments::kLast, MissingSegments::k31,
                    MissingSegments::k32,   MissingSegments::kEverySecond, MissingSegments::kAll};
  return levels;
}

// The segment that must exist for the level to mean anything.
std::int64_t segment_of(MissingSegments missing) {
  return missing == MissingSegments::k31 ? 31 : missing == MissingSegments::k32 ? 32 : 0;
}

bool lacks(MissingSegments missing, std::int64_t segment, std::int64_t segments) {
  switch (missing) {
    case MissingSegments::kNone:
      return false;
    case MissingSegments::kFirst:
      return segment == 0;
    case MissingSegments::kLast:
      return segment == segments - 1;
    case MissingSegments::k31:
      return segment == 31;
    case MissingSegments::k32:
      return segment == 32;
    case MissingSegments::kEverySecond:
      return segment % 2 == 1;
    case MissingSegments::kAll:
      break;
  }
  return true;
}

// How the tokens of a row lie within the segments that it has.
enum class Spread : std::uint8_t { kAnywhere, kBlockStarts, kHoles, kCrowded };

// A row that has a token in each segment but those that it lacks.
class ServingRow {
 public:
  ServingRow(RandomSource& random, std::int64_t len, std::int64_t num_segments, MissingSegments missing)
      : random_(random), len_(len), segments_(std::min(num_segments, len)) {
    for (std::int64_t segment = 0; segment < segments_; ++segment) {
      if (!lacks(missing, segment, segments_)) occupied_.push_back(segment);
    }
  }

  void fill(std::span<std::int32_t> row, Spread spread) {
    if (occupied_.empty()) {
      for (std::int32_t& token : row)
        token = random_.chance(90) ? -1 : -static_cast<std::int32_t>(random_.between(2, 99));
      return;
    }
    // In a crowd one segment has nearly all tokens, and each of the others the only one it needs.
    const std::int64_t crowd = random_.pick(occupied_);
    for (std::size_t slot = 0; slot < row.size(); ++slot) {
      const bool is_needed = slot < occupied_.size();
      if (!is_needed && spread == Spread::kHoles && random_.chance(40)) {
        row[slot] = -1;
        continue;
      }
      const std::int64_t segment = is_needed                    ? occupied_[slot]
                                   : spread == Spread::kCrowded ? crowd
                                                                : random_.pick(occupied_);
      row[slot] = token_in(segment, spread == Spread::kBlockStarts && random_.chance(60));
    }
    random_.shuffle(row);
  }

 private:
  std::int64_t edge(std::int64_t segment) const { return (segment * len_ + segments_ - 1) / segments_; }

  // At the start of a block of a paged cache where the segment has one.
  std::int32_t token_in(std::int64_t segment, bool at_block_start) {
    constexpr std::int64_t kBlock = 128;
    const std::int64_t first = edge(segment), last = edge(segment + 1) - 1;
    const std::int64_t first_block = (first + kBlock - 1) / kBlock, last_block = last / kBlock;
    if (at_block_start && first_block <= last_block) {
      return static_cast<std::int32_t>(kBlock * random_.between(first_block, last_block));
    }
    return static_cast<std::int32_t>(random_.chance(20)   ? first
                                     : random_.chance(20) ? last
                                                          : random_.between(first, last));
  }

  RandomSource& random_;
  std::int64_t len_, segments_;
  std::vector<std::int64_t> occupied_;
};

// A length of the class in which the segment that the row lacks exists.
std::int64_t length_in(RandomSource& random, const Domain& domain, LengthClass length_class, std::int64_t topk,
                       std::int64_t num_segments, MissingSegments missing) {
  const auto drawn = gen::context_len(length_class, num_segments, topk)(rc::Random(random.next()), 100).value();
  std::int64_t len = drawn;
  if (length_class == LengthClass::kBelowSegments) len = std::max(len, segment_of(missing) + 1);
  return std::min<std::int64_t>(len, domain.max_context);
}

}  // namespace

ServingCases::ServingCases(const Domain& domain, std::int64_t most_tokens, std::uint64_t seed)
    : domain_(domain), most_tokens_(most_tokens), seed_(seed), levels_(levels_in(domain)) {
  if (levels_.rows.empty() || levels_.topk.empty() || levels_.num_segments.empty() || levels_.placements.empty()) {
    return;
  }
  const std::array<std::size_t, kFactorCount> counts = {
      levels_.rows.size(),       levels_.topk.size(),    levels_.num_segments.size(), levels_.lengths.size(),
      levels_.placements.size(), levels_.strides.size(), levels_.base_offsets.size(), levels_.missing.size()};
  std::vector<FactorGroup> groups = factor_pairs(kFactorCount);
  groups.push_back({kRows, kTopk, kSegments});
  CoveringArray array = covering_array(
      counts, groups,
      [this](const LevelTuple& tuple) {
        const auto [factor, level] = tuple.front();
        if (factor != kRows) return true;
        if (tuple.size() == 3) return levels_.rows[level] * levels_.topk[tuple[1].second] <= kMostTokensOfTriples;
        // What the largest batches cost: they meet what a loop over rows may depend on, and have rows of all kinds.
        const std::size_t other = tuple.back().first;
        return levels_.rows[level] <= kManyRows || other == kTopk || other == kSegments || other == kPlacement;
      },
      [this](const Combination& combination) { return admits(combination); });
  combinations_ = std::move(array.combinations);
  std::ranges::sort(combinations_, {}, [this](const Combination& one) { return std::pair(tokens_of(one), one); });
  std::ranges::copy_if(array.tuples, std::inserter(pairs_, pairs_.end()),
                       [](const LevelTuple& tuple) { return tuple.size() == 2; });
}

std::set<LevelTuple> ServingCases::pairs_of(std::size_t index) const {
  return tuples_of(combinations_[index], factor_pairs(kFactorCount));
}

std::int64_t ServingCases::tokens_of(const Combination& combination) const {
  return levels_.rows[combination[kRows]] * levels_.topk[combination[kTopk]];
}

bool ServingCases::admits(const Combination& combination) const {
  const auto known = [&](Factor factor) { return combination[factor] != kOpenLevel; };
  if (known(kRows) && known(kTopk) && tokens_of(combination) > most_tokens_) return false;
  if (known(kStride) && levels_.strides[combination[kStride]] != ServingStride::kPacked) {
    if (known(kRows) && levels_.rows[combination[kRows]] < 2) return false;
    if (known(kPlacement) && levels_.placements[combination[kPlacement]].operation != Operation::kScatter) return false;
  }
  if (!known(kMissing)) return true;
  const std::int64_t segment = segment_of(levels_.missing[combination[kMissing]]);
  const bool is_short = known(kLength) && levels_.lengths[combination[kLength]] == LengthClass::kBelowSegments;
  const std::int64_t least = segment + (is_short ? 2 : 1);
  if (segment >= domain_.max_context) return false;
  return segment == 0 || !known(kSegments) || levels_.num_segments[combination[kSegments]] >= least;
}

Case ServingCases::draw(std::size_t index) const {
  const Combination& levels = combinations_[index];
  RandomSource random(seed_ + (static_cast<std::uint64_t>(index) << 32));
  Case value;
  const auto [operation, in_place] = levels_.placements[levels[kPlacement]];
  value.operation = operation;
  value.in_place = in_place;
  value.topk = levels_.topk[levels[kTopk]];
  value.num_segments = levels_.num_segments[levels[kSegments]];
  value.base_offset = levels_.base_offsets[levels[kBase]];
  std::int64_t rows = levels_.rows[levels[kRows]];
  if (rows == kManyRows && domain_.rows.empty()) {
    const std::int64_t more = rows * random.pick({1, 1, 2, 4});
    if (more <= domain_.max_rows && more * value.topk <= most_tokens_) rows = more;
  }
  if (operation == Operation::kApply) {
    value.learned_keep = random.pick<std::int64_t>({value.topk - value.num_segments, value.topk / 2, 0});
    value.learned_keep = std::max<std::int64_t>(value.learned_keep, 0);
    value.max_replacements = random.pick<std::int64_t>({value.num_segments, value.num_segments / 2, value.topk});
  }
  const std::int64_t step = domain_.align_bytes / 4;
  if (levels_.strides[levels[kStride]] == ServingStride::kNextBoundary) {
    const std::int64_t boundary = std::max<std::int64_t>(step, 16);
    value.row_stride = (value.topk / boundary + 1) * boundary;
  } else if (levels_.strides[levels[kStride]] == ServingStride::kOdd) {
    value.row_stride = value.topk + (value.topk % 2 == 0 ? 1 : 2);
  }

  const std::int64_t distinct = std::min(rows, kMostDistinctRows);
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(distinct * value.topk));
  std::vector<std::int32_t> lengths(static_cast<std::size_t>(distinct));
  for (std::int64_t row = 0; row < distinct; ++row) {
    const bool is_level = row % 2 == 0;
    MissingSegments missing = is_level ? levels_.missing[levels[kMissing]] : random.pick(levels_.missing);
    if (segment_of(missing) >= value.num_segments - 1 && !is_level) missing = MissingSegments::kLast;
    const LengthClass length_class =
        is_level || random.chance(75) ? levels_.lengths[levels[kLength]] : random.pick(levels_.lengths);
    const std::int64_t len = length_in(random, domain_, length_class, value.topk, value.num_segments, missing);
    const auto slots =
        std::span(tokens).subspan(static_cast<std::size_t>(row * value.topk), static_cast<std::size_t>(value.topk));
    ServingRow(random, len, value.num_segments, missing)
        .fill(slots, random.pick({Spread::kAnywhere, Spread::kBlockStarts, Spread::kHoles, Spread::kCrowded}));
    // A padded request, whose slots hold what the row before left there.
    const bool is_padded_request = !is_level && !domain_.in_range && random.chance(6);
    lengths[static_cast<std::size_t>(row)] = is_padded_request ? 0 : static_cast<std::int32_t>(len);
  }
  value.learned.resize(static_cast<std::size_t>(rows * value.topk));
  value.context_lens.resize(static_cast<std::size_t>(rows));
  for (std::int64_t row = 0; row < rows; ++row) {
    const std::int64_t from = (row + row / distinct) % distinct;
    value.context_lens[static_cast<std::size_t>(row)] = lengths[static_cast<std::size_t>(from)];
    std::copy_n(tokens.begin() + from * value.topk, value.topk, value.learned.begin() + row * value.topk);
  }
  return value;
}

}  // namespace kvwitness::harness
