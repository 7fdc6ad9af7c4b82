// The segment count and the width of a call, for use inside rc::gen::exec.
#ifndef PROPERTIES_GENERATORS_SHAPES_H
#define PROPERTIES_GENERATORS_SHAPES_H

#include <cstdint>
#include <vector>

#include "properties/generators/domain.h"

namespace kvwitness::harness {

// A value of the range: one of the admitted ones where there are any, else one of the preferred or one near the range's
// lower end, up to `usual_width`.
std::int64_t draw_value(const std::vector<std::int64_t>& admitted, const Range& range,
                        const std::vector<std::int64_t>& preferred, std::int64_t usual_width);

// S within `legal`, which is not empty.
std::int64_t draw_num_segments(const std::vector<std::int64_t>& admitted, const Range& legal);

// topk within the range, often around S.
std::int64_t draw_topk(const std::vector<std::int64_t>& admitted, const Range& range, std::int64_t num_segments);

// topk above 65 that no model serves: 66 to 2,100, or where the range begins above 2,051, from there to its end.
std::int64_t draw_odd_width(const Range& range);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_GENERATORS_SHAPES_H
