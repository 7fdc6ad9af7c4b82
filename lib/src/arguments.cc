#include "lib/src/arguments.h"

#include <cinttypes>

#include "lib/src/checks.h"
#include "lib/src/last_error.h"

namespace kvwitness::detail {

kvw_status check_counts(std::initializer_list<Count> counts) noexcept {
  for (const Count& count : counts) {
    if (count.value < count.minimum) {
      return refuse(KVW_NEGATIVE_COUNT, "%s is %" PRId64 "; it must be at least %" PRId64, count.name, count.value,
                    count.minimum);
    }
  }
  return KVW_OK;
}

kvw_status check_contiguous_span(const char* name, std::size_t len) noexcept {
  if (len > kMaxElements<std::int32_t>) {
    return refuse(KVW_ROWS_MISMATCH, "%s is %zu int32 elements; a buffer holds at most PTRDIFF_MAX bytes, %zu elements",
                  name, len, kMaxElements<std::int32_t>);
  }
  return KVW_OK;
}

kvw_status check_packed_span(const Count& len, std::size_t topk, std::size_t rows) noexcept {
  const auto learned_len = static_cast<std::size_t>(len.value);
  if (!check_packed_rows(learned_len, topk, rows)) {
    return refuse(KVW_ROWS_MISMATCH, "%s is %zu; it must be rows * topk, and rows is %zu and topk %zu", len.name,
                  learned_len, rows, topk);
  }
  const kvw_status status = check_contiguous_span(len.name, learned_len);
  return status == KVW_OK ? check_contiguous_span("rows", rows) : status;
}

kvw_status check_single_row_span(std::size_t topk, std::size_t rows) noexcept {
  const kvw_status status = check_contiguous_span("topk", rows == 1 ? topk : 0);
  return status == KVW_OK ? check_contiguous_span("rows", rows) : status;
}

kvw_status check_num_witness_segments(std::size_t num_segments, std::size_t rows) noexcept {
  if (check_witness_segments(num_segments, rows)) {
    return KVW_OK;
  }
  if (num_segments == 0) {
    return refuse(KVW_SEGMENTS_OUT_OF_RANGE, "num_segments is 0; it must be at least 1");
  }
  return refuse(KVW_SEGMENTS_OUT_OF_RANGE,
                "num_segments is %zu; rows * num_segments int32 elements must fit PTRDIFF_MAX bytes, and rows is %zu",
                num_segments, rows);
}

kvw_status check_num_merge_segments(std::size_t num_segments) noexcept {
  if (!check_merge_segments(num_segments)) {
    return refuse(KVW_SEGMENTS_OUT_OF_RANGE, "num_segments is %zu; it must be 1 to %" PRIu64, num_segments,
                  kMaxMergeSegments);
  }
  return KVW_OK;
}

kvw_status check_keep(std::size_t learned_keep, std::size_t topk) noexcept {
  if (!check_learned_keep(learned_keep, topk)) {
    return refuse(KVW_LEARNED_KEEP_OUT_OF_RANGE, "learned_keep is %zu; it must be at most topk, which is %zu",
                  learned_keep, topk);
  }
  return KVW_OK;
}

kvw_status check_context_len(const char* name, std::int64_t value) noexcept {
  if (value > INT32_MAX) {
    return refuse(KVW_CONTEXT_LEN_OUT_OF_RANGE, "%s is %" PRId64 "; it must be at most %" PRId32, name, value,
                  INT32_MAX);
  }
  return KVW_OK;
}

kvw_status check_pointers(std::initializer_list<Buffer> buffers) noexcept {
  for (const Buffer& buffer : buffers) {
    if (buffer.data == nullptr && buffer.bytes != 0) {
      return refuse(KVW_NULL_POINTER, "%s is null; it may be null only where the call neither reads nor writes it",
                    buffer.name);
    }
  }
  return KVW_OK;
}

kvw_status check_stride(std::size_t row_stride, std::size_t topk, std::size_t rows) noexcept {
  if (!check_row_stride(row_stride, topk, rows)) {
    return refuse(KVW_ROW_STRIDE, "row_stride is %zu; with %zu rows it must be at least topk, which is %zu", row_stride,
                  rows, topk);
  }
  if (row_span(rows, row_stride, topk) > kMaxElements<std::int32_t>) {
    return refuse(KVW_ROW_STRIDE, "row_stride is %zu; %zu rows of topk %zu then span more than PTRDIFF_MAX bytes",
                  row_stride, rows, topk);
  }
  return KVW_OK;
}

kvw_status check_overlap(const Buffer& output, std::initializer_list<Buffer> others) noexcept {
  for (const Buffer& other : others) {
    if (overlap(output.data, output.bytes, other.data, other.bytes)) {
      return refuse(KVW_BUFFER_OVERLAP, "%s at %p (%zu bytes) shares bytes with %s at %p (%zu bytes)", output.name,
                    output.data, output.bytes, other.name, other.data, other.bytes);
    }
  }
  return KVW_OK;
}

kvw_status check_capacity(const Count& capacity, std::size_t needed) noexcept {
  if (static_cast<std::size_t>(capacity.value) < needed) {
    return refuse(KVW_BUFFER_TOO_SMALL, "%s is %" PRId64 "; it must be at least %zu", capacity.name, capacity.value,
                  needed);
  }
  return KVW_OK;
}

}  // namespace kvwitness::detail
