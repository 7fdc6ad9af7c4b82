#include "properties/sandbox/call.h"

#include <kvwitness/assertions.h>

namespace kvwitness::harness {

CallShape call_shape_of(const Case& value, bool strided) {
  KVWITNESS_ASSERT(!strided || value.row_stride.has_value());
  return {.operation = value.operation,
          .rows = value.rows(),
          .topk = value.topk,
          .row_stride = strided ? *value.row_stride : value.topk,
          .num_segments = value.num_segments,
          .base_offset_bytes = std::int64_t{value.base_offset} * static_cast<std::int64_t>(sizeof(std::int32_t))};
}

}  // namespace kvwitness::harness
