// The refusals of the operations, one function each, shared by the C++ interface and the C ABI. Every function returns
// the refusal or nothing; callers put them in the order that their contract fixes.
#ifndef LIB_SRC_CHECKS_H
#define LIB_SRC_CHECKS_H

#include <cstddef>
#include <cstdint>
#include <expected>
#include <limits>

#include "kvwitness/segments.h"
#include "kvwitness/witness.h"

namespace kvwitness::detail {

using Checked = std::expected<void, Refusal>;

// The largest number of elements that PTRDIFF_MAX bytes hold.
template <typename Element>
inline constexpr std::size_t kMaxElements = std::numeric_limits<std::ptrdiff_t>::max() / sizeof(Element);

// a * b, or SIZE_MAX where that overflows.
inline std::size_t saturating_product(std::size_t a, std::size_t b) noexcept {
  const Product128 product = multiply(a, b);
  return product.high == 0 ? product.low : std::numeric_limits<std::size_t>::max();
}

// Elements from the first row's start to the last row's last slot, or SIZE_MAX where that overflows. 0 without rows or
// topk.
inline std::size_t row_span(std::size_t rows, std::size_t row_stride, std::size_t topk) noexcept {
  if (rows == 0 || topk == 0) {
    return 0;
  }
  const std::size_t lead = saturating_product(rows - 1, row_stride);
  const std::size_t room = std::numeric_limits<std::size_t>::max() - lead;
  return topk > room ? std::numeric_limits<std::size_t>::max() : lead + topk;
}

// learned_len == rows * topk, exactly.
inline Checked check_packed_rows(std::size_t learned_len, std::size_t topk, std::size_t rows) noexcept {
  const Product128 needed = multiply(rows, topk);
  if (needed.high != 0 || needed.low != learned_len) {
    return std::unexpected(RowsMismatch{learned_len, topk, rows});
  }
  return {};
}

// learned_len reaches to the last slot of the last row.
inline Checked check_strided_rows(std::size_t learned_len, std::size_t row_stride, std::size_t topk,
                                  std::size_t rows) noexcept {
  if (learned_len < row_span(rows, row_stride, topk)) {
    return std::unexpected(RowsMismatch{learned_len, topk, rows});
  }
  return {};
}

// witness_indices: num_segments >= 1, and the result has an address.
inline Checked check_witness_segments(std::size_t num_segments, std::size_t rows) noexcept {
  if (num_segments == 0 || saturating_product(rows, num_segments) > kMaxElements<std::int32_t>) {
    return std::unexpected(SegmentsOutOfRange{num_segments});
  }
  return {};
}

// apply and scatter: 1 <= num_segments <= 64. (Scatter never asks with 0.)
inline Checked check_merge_segments(std::size_t num_segments) noexcept {
  if (num_segments == 0 || num_segments > kMaxMergeSegments) {
    return std::unexpected(SegmentsOutOfRange{num_segments});
  }
  return {};
}

inline Checked check_learned_keep(std::size_t learned_keep, std::size_t topk) noexcept {
  if (learned_keep > topk) {
    return std::unexpected(LearnedKeepOutOfRange{learned_keep, topk});
  }
  return {};
}

inline Checked check_row_stride(std::size_t row_stride, std::size_t topk, std::size_t rows) noexcept {
  if (rows >= 2 && row_stride < topk) {
    return std::unexpected(RowStrideOutOfRange{row_stride, topk});
  }
  return {};
}

// Whether two byte ranges share a byte; an empty one shares none. Sizes are at most PTRDIFF_MAX, so the wrapped
// difference of two addresses is below a size exactly where the second lies in the range that starts at the first.
inline bool overlap(const void* a, std::size_t a_bytes, const void* b, std::size_t b_bytes) noexcept {
  const auto a_address = reinterpret_cast<std::uintptr_t>(a);
  const auto b_address = reinterpret_cast<std::uintptr_t>(b);
  if (a_bytes == 0 || b_bytes == 0) {
    return false;
  }
  return b_address - a_address < a_bytes || a_address - b_address < b_bytes;
}

template <typename A, typename B>
Checked check_disjoint(const A* a, std::size_t a_len, const B* b, std::size_t b_len) noexcept {
  if (overlap(a, a_len * sizeof(A), b, b_len * sizeof(B))) {
    return std::unexpected(BufferOverlap{});
  }
  return {};
}

inline Checked check_room(std::size_t len, std::size_t needed_len) noexcept {
  if (len < needed_len) {
    return std::unexpected(BufferTooSmall{len, needed_len});
  }
  return {};
}

}  // namespace kvwitness::detail

#endif  // LIB_SRC_CHECKS_H
