#include "kvwitness/legality.h"

#include <cstddef>
#include <cstdint>
#include <limits>

#include "properties/case/status.h"

namespace kvwitness::harness {
namespace {

using Wide = __int128;

constexpr Wide kMaxBytes = std::numeric_limits<std::ptrdiff_t>::max();

bool exceeds_address_space(Wide elements) {
  return elements * Wide{sizeof(std::int32_t)} > kMaxBytes;
}

bool has_negative_count(const Case& value, bool honours_stride) {
  return value.topk < 0 || value.num_segments < 0 || value.learned_keep < 0 || value.max_replacements < 0 ||
         (honours_stride && value.row_stride.value_or(0) < 0);
}

bool segments_out_of_range(const Case& value) {
  if (value.operation == Operation::kWitnesses) {
    return value.num_segments == 0 || exceeds_address_space(Wide{value.rows()} * value.num_segments);
  }
  return value.num_segments == 0 || value.num_segments > kMaxMergeSegments;
}

bool rows_overlap_or_span_too_far(const Case& value) {
  if (!value.row_stride || value.rows() < 2) {
    return false;
  }
  const Wide span = value.topk == 0 ? Wide{0} : Wide{value.rows() - 1} * *value.row_stride + value.topk;
  return *value.row_stride < value.topk || exceeds_address_space(span);
}

}  // namespace

std::int32_t expected_status(const Case& value, bool honours_stride) {
  if (value.operation == Operation::kScatter && value.num_segments == 0) {
    return status::kOk;
  }
  if (has_negative_count(value, honours_stride)) {
    return status::kNegativeCount;
  }
  if (Wide{value.rows()} * value.topk != static_cast<Wide>(value.learned.size())) {
    return status::kRowsMismatch;
  }
  if (segments_out_of_range(value)) {
    return status::kSegmentsOutOfRange;
  }
  if (value.operation == Operation::kApply && value.learned_keep > value.topk) {
    return status::kLearnedKeepOutOfRange;
  }
  if (honours_stride && rows_overlap_or_span_too_far(value)) {
    return status::kRowStride;
  }
  return status::kOk;
}

}  // namespace kvwitness::harness
