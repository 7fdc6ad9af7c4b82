// The checks of the C ABI: one function a step, each with the message that names the argument, its value and the limit.
#ifndef LIB_SRC_ARGUMENTS_H
#define LIB_SRC_ARGUMENTS_H

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "kvwitness/kvwitness.h"

namespace kvwitness::detail {

// A size, count, budget, capacity or stride as it was passed.
struct Count {
  const char* name;
  std::int64_t value;
  std::int64_t minimum = 0;
};

// A buffer as it was passed; `bytes` is its span, 0 where nothing of it is read or written.
struct Buffer {
  const char* name;
  const void* data;
  std::size_t bytes;
};

// Each count is at least its minimum, in the order given.
kvw_status check_counts(std::initializer_list<Count> counts) noexcept;

// The contiguous int32 buffer of `len` elements has at most PTRDIFF_MAX bytes. `name` names the argument that says so.
kvw_status check_contiguous_span(const char* name, std::size_t len) noexcept;

// learned_len == rows * topk, and rows and lengths have at most PTRDIFF_MAX bytes. `len.name` is learned_len or
// topk_indices_len.
kvw_status check_packed_span(const Count& len, std::size_t topk, std::size_t rows) noexcept;

// The lengths, and a single strided row, have at most PTRDIFF_MAX bytes.
kvw_status check_single_row_span(std::size_t topk, std::size_t rows) noexcept;

kvw_status check_num_witness_segments(std::size_t num_segments, std::size_t rows) noexcept;
kvw_status check_num_merge_segments(std::size_t num_segments) noexcept;
kvw_status check_keep(std::size_t learned_keep, std::size_t topk) noexcept;

// A context length (`name` is context_len or seq) is at most INT32_MAX.
kvw_status check_context_len(const char* name, std::int64_t value) noexcept;

// No buffer of a non-empty span is null, in the order given.
kvw_status check_pointers(std::initializer_list<Buffer> buffers) noexcept;

// With two or more rows, row_stride >= topk and the whole span has at most PTRDIFF_MAX bytes.
kvw_status check_stride(std::size_t row_stride, std::size_t topk, std::size_t rows) noexcept;

// `output` shares no byte with any of `others`.
kvw_status check_overlap(const Buffer& output, std::initializer_list<Buffer> others) noexcept;

// A buffer of `capacity.value` elements holds `needed` of them.
kvw_status check_capacity(const Count& capacity, std::size_t needed) noexcept;

}  // namespace kvwitness::detail

#endif  // LIB_SRC_ARGUMENTS_H
