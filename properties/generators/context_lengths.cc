// Context lengths by class.
#include <kvwitness/rapidcheck.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "properties/generators/call_plan.h"
#include "properties/generators/choices.h"

namespace kvwitness::gen {
namespace {

using harness::between;
using harness::LengthClass;
using harness::one_of;

constexpr std::int64_t kMaxLength = std::numeric_limits<std::int32_t>::max();
constexpr std::int64_t kMinLength = std::numeric_limits<std::int32_t>::min();

// At least 1, at most INT32_MAX.
rc::Gen<std::int32_t> length(rc::Gen<std::int64_t> value) {
  return rc::gen::map(std::move(value), [](std::int64_t len) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(len, 1, kMaxLength));
  });
}

// 1 to the limit, which is one of these.
rc::Gen<std::int64_t> up_to(std::int64_t low, std::vector<std::int64_t> limits) {
  return rc::gen::mapcat(one_of(std::move(limits)), [low](std::int64_t limit) { return between(low, limit); });
}

// The value, one less, or one more.
rc::Gen<std::int64_t> beside(rc::Gen<std::int64_t> value) {
  return rc::gen::map(rc::gen::pair(std::move(value), one_of<std::int64_t>({0, -1, 1})),
                      [](const std::pair<std::int64_t, std::int64_t>& sum) { return sum.first + sum.second; });
}

}  // namespace

rc::Gen<std::int32_t> context_len(LengthClass length_class, std::int64_t num_segments, std::int64_t topk) {
  const std::int64_t segments = std::min(num_segments, kMaxLength);
  switch (length_class) {
    case LengthClass::kEmpty:
      return one_of<std::int32_t>({0, 0, -1, -7, kMinLength});
    case LengthClass::kOne:
      return rc::gen::just<std::int32_t>(1);
    case LengthClass::kBelowSegments:
      return length(between(1, std::max<std::int64_t>(segments - 1, 1)));
    case LengthClass::kAtSegments:
      return length(beside(rc::gen::just(segments)));
    case LengthClass::kAroundTopk:
      return length(beside(rc::gen::just(topk)));
    case LengthClass::kSmall:
      return length(up_to(1, {12, 40, 200}));
    case LengthClass::kMiddle:
      return length(up_to(201, {4096, 131072}));
    case LengthClass::kPowerOfTwo:
      return length(beside(rc::gen::map(between(3, 31), [](std::int64_t power) { return std::int64_t{1} << power; })));
    case LengthClass::kMultiple: {
      const std::int64_t unit = std::min<std::int64_t>(segments, 1 << 10);
      return length(beside(rc::gen::map(up_to(1, {8, 200, 200, 1 << 20}),
                                        [unit](std::int64_t times) { return std::min(times * unit, kMaxLength); })));
    }
    case LengthClass::kAbove24:
      return length(between((1 << 24) + 1, 1 << 26));
    case LengthClass::kAbove26:
      return length(between((1 << 26) + 1, 1 << 30));
    case LengthClass::kNear31:
      return length(rc::gen::map(up_to(0, {0, 3, 64, 1 << 20}), [](std::int64_t below) { return kMaxLength - below; }));
  }
  return rc::gen::just<std::int32_t>(1);
}

rc::Gen<std::int32_t> context_len(std::int64_t num_segments, std::int64_t topk) {
  return rc::gen::mapcat(one_of(harness::usual_length_classes()), [num_segments, topk](LengthClass length_class) {
    return context_len(length_class, num_segments, topk);
  });
}

}  // namespace kvwitness::gen
