// One call over host pointers: its arguments, its answer and its shape.
#ifndef PROPERTIES_SANDBOX_CALL_H
#define PROPERTIES_SANDBOX_CALL_H

#include <kvwitness/case.h>

#include <compare>
#include <cstdint>
#include <string>

namespace kvwitness::harness {

// A call as the C ABI takes it. `out` is the witnesses, apply's output (equal to `learned` in place) or, for scatter,
// the in-place buffer (equal to `learned` too).
struct Call {
  Operation operation;
  const std::int32_t* learned;
  std::int64_t learned_len;  // elements of `learned` in the case; rows * topk for a legal call, whatever the stride
  std::int64_t row_stride;   // elements; topk where packed
  std::int64_t topk;
  const std::int32_t* context_lens;
  std::int64_t rows;
  std::int64_t learned_keep;
  std::int64_t num_segments;
  std::int64_t max_replacements;
  std::int32_t* out;
};

struct CallAnswer {
  std::int32_t status;  // a kvw_status number
  std::string message;
};

// The shape of a call, which an implementation may decline.
struct CallShape {
  Operation operation;
  std::int64_t rows;
  std::int64_t topk;
  std::int64_t row_stride;  // topk where packed
  std::int64_t num_segments;
  std::int64_t base_offset_bytes;
  friend auto operator<=>(const CallShape&, const CallShape&) = default;
};
// With the case's row stride where `strided`.
CallShape call_shape_of(const Case& value, bool strided);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_SANDBOX_CALL_H
