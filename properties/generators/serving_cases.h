// Cases of the shapes that serving engines run, in a covering array: decode and prefill batches of wide rows.
#ifndef PROPERTIES_GENERATORS_SERVING_CASES_H
#define PROPERTIES_GENERATORS_SERVING_CASES_H

#include <kvwitness/case.h>
#include <kvwitness/domain.h>
#include <kvwitness/rapidcheck.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "properties/generators/covering_array.h"

namespace kvwitness::harness {

// Which segments a row lacks.
enum class MissingSegments : std::uint8_t { kNone, kFirst, kLast, k31, k32, kEverySecond, kAll };
// How a call is made: the operation, and for apply whether its output is its input.
struct ServingPlacement {
  Operation operation;
  bool in_place;
};
enum class ServingStride : std::uint8_t { kPacked, kNextBoundary, kOdd };

// The levels of each factor that the domain admits.
struct ServingLevels {
  std::vector<std::int64_t> rows;  // 1 to 16,384; one of 2,048 stands for 2,048, 4,096 and 8,192
  std::vector<std::int64_t> topk;  // 512 to 4,096, or what the domain lists from 192 on
  std::vector<std::int64_t> num_segments;
  std::vector<LengthClass> lengths;
  std::vector<ServingPlacement> placements;
  std::vector<ServingStride> strides;
  std::vector<std::int32_t> base_offsets;  // elements
  std::vector<MissingSegments> missing;
};

// The cases of one run. All pairs of levels of all factors meet in them where rows * topk is within `most_tokens`, and
// all triples of rows, topk and num_segments where it is small. A batch has a few hundred distinct rows at most, which
// come again and again in changing neighbourhoods; what a row lacks is the case's level in half of them.
class ServingCases {
 public:
  // @param most_tokens  rows * topk of the largest case
  ServingCases(const Domain& domain, std::int64_t most_tokens, std::uint64_t seed);

  // Cases, the smallest first; none where the domain has no such shape.
  std::size_t size() const { return combinations_.size(); }
  // Linear in its size; the same for the same domain, seed and index.
  Case draw(std::size_t index) const;
  // Its rows * topk, or where that is drawn, the least of it.
  std::int64_t least_tokens(std::size_t index) const { return tokens_of(combinations_[index]); }
  const ServingLevels& levels() const { return levels_; }
  const Combination& combination(std::size_t index) const { return combinations_[index]; }
  // The pairs of levels that are possible, and those that a case has.
  const std::set<LevelTuple>& pairs() const { return pairs_; }
  std::set<LevelTuple> pairs_of(std::size_t index) const;

 private:
  std::int64_t tokens_of(const Combination& combination) const;
  bool admits(const Combination& combination) const;

  Domain domain_;
  std::int64_t most_tokens_;
  std::uint64_t seed_;
  ServingLevels levels_;
  std::vector<Combination> combinations_;
  std::set<LevelTuple> pairs_;
};

}  // namespace kvwitness::harness

#endif  // PROPERTIES_GENERATORS_SERVING_CASES_H
