// Ranges of shapes, and what of them a Domain admits.
#ifndef PROPERTIES_GENERATORS_DOMAIN_H
#define PROPERTIES_GENERATORS_DOMAIN_H

#include <kvwitness/case.h>
#include <kvwitness/domain.h>

#include <cstdint>
#include <vector>

namespace kvwitness::harness {

struct Range {  // both ends included
  std::int64_t low;
  std::int64_t high;
};

// The shapes that are ever drawn. A person's lists may go beyond.
inline constexpr std::int64_t kMostDrawnTopk = std::int64_t{1} << 20;
inline constexpr std::int64_t kMostDrawnSegments = std::int64_t{1} << 21;
inline constexpr Range kAnyTopk{0, kMostDrawnTopk};
inline constexpr Range kAnySegments{1, kMostDrawnSegments};

// The part of the range that a legal call of the operation may have; empty (high below low) where there is none. Zero
// segments switch scatter off and are legal there.
Range legal_segments(Operation operation, const Range& segments);

// Lists as Domain has them: an empty one admits every value.
bool admits_value(const std::vector<std::int64_t>& list, const Range& range);
std::int64_t least_value(const std::vector<std::int64_t>& list,
                         const Range& range);  // range.high + 1 where there is none
std::int64_t greatest_value(const std::vector<std::int64_t>& list,
                            const Range& range);  // range.low - 1 where there is none
// Those values of the list that lie in the range.
std::vector<std::int64_t> values_within(const std::vector<std::int64_t>& list, const Range& range);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_GENERATORS_DOMAIN_H
