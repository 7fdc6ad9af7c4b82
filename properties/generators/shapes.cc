#include "properties/generators/shapes.h"

#include <kvwitness/legality.h>
#include <kvwitness/rapidcheck.h>

#include <algorithm>

#include "properties/generators/choices.h"

namespace kvwitness::harness {

std::int64_t draw_value(const std::vector<std::int64_t>& admitted, const Range& range,
                        const std::vector<std::int64_t>& preferred, std::int64_t usual_width) {
  if (!admitted.empty()) return *one_of(values_within(admitted, range));
  const auto choices = values_within(preferred, range);
  if (!choices.empty() && *chance(70)) return *one_of(choices);
  return *between(range.low, std::min(range.high, std::max(range.low, usual_width)));
}

std::int64_t draw_num_segments(const std::vector<std::int64_t>& admitted, const Range& legal) {
  static const std::vector<std::int64_t> kPreferred = {1, 2, 3, 4, 4, 5, 7, 8, 8, 16, 31, 32, 33, 48, 63, 64, 64};
  static const std::vector<std::int64_t> kBeyond = {65,  66,  100,  127,  128,  128,  129,  192,
                                                    256, 512, 1000, 1024, 1025, 2049, 4096, 5000};
  if (legal.low > 4096) return draw_value(admitted, legal, {}, legal.high);
  const bool beyond = legal.low > kMaxMergeSegments || (legal.high > kMaxMergeSegments && *chance(6));
  return beyond ? draw_value(admitted, legal, kBeyond, 300)
                : draw_value(admitted, legal, kPreferred, kMaxMergeSegments);
}

std::int64_t draw_topk(const std::vector<std::int64_t>& admitted, const Range& range, std::int64_t num_segments) {
  if (range.low >= 192) return draw_value(admitted, range, {192, 512, 1024, 2047, 2048, 2048, 2051}, range.low);
  const std::int64_t width = *chance(55) ? 12 : *chance(60) ? 33 : 65;
  const std::int64_t s = num_segments;
  const std::vector<std::int64_t> near_segments =
      s <= 65 ? std::vector{s - 1, s, s + 1, width / 2, width} : std::vector{width / 2, width};
  return draw_value(admitted, range, near_segments, width);
}

std::int64_t draw_odd_width(const Range& range) {
  if (range.low > 2051) return *chance(67) ? *between(4097, range.high) : *between(2052, 4095);
  switch (*between(0, 7)) {
    case 0:
      return *between(66, 191);
    case 1:
      return *between(129, 191);
    case 2:
      return *between(193, 1023);
    case 3:
      return *between(1025, 2046);
    case 4:
      return *between(2049, 2100);
    case 5:
      return 32 * *between(3, 64) + *one_of<std::int64_t>({-1, 1});
    default:  // what tiles of 32 and more slots make of the last one
      return 32 * *between(3, 65);
  }
}

}  // namespace kvwitness::harness

namespace kvwitness::gen {

using harness::Operation;

rc::Gen<std::int64_t> num_segments(Operation operation) {
  return rc::gen::exec([operation] {
    return harness::draw_num_segments({}, harness::legal_segments(operation, harness::kAnySegments));
  });
}

rc::Gen<std::int64_t> topk(std::int64_t num_segments) {
  return rc::gen::exec([num_segments] {
    if (*harness::chance(8)) {
      return *harness::one_of<std::int64_t>({512, 1024, 2047, 2048, 2049, 2051});
    }
    return harness::draw_topk({}, {0, 65}, num_segments);
  });
}

}  // namespace kvwitness::gen
