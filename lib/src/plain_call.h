// The calls that serving makes, told apart by a few comparisons: every count positive and far from any limit, every
// pointer given, rows in order, nothing shared. Such a call is legal, and its checks need not be worded. One that is
// not plain may be legal all the same: it goes through the checks of checks.h.
#ifndef LIB_SRC_PLAIN_CALL_H
#define LIB_SRC_PLAIN_CALL_H

#include <cstddef>
#include <cstdint>

#include "lib/src/checks.h"

namespace kvwitness::detail {

// Any product of two counts up to this one, in bytes, is far below PTRDIFF_MAX.
inline constexpr std::uint64_t kPlainCount = std::uint64_t{1} << 28;

// Rows and lengths of a plain call.
inline bool are_plain_rows(const std::int32_t* learned, std::int64_t row_stride, std::int64_t topk,
                           const std::int32_t* context_lens, std::int64_t rows) noexcept {
  // A count of 0 or below wraps to a large number; an OR of numbers is below a power of two exactly where each is.
  const std::uint64_t counts = (static_cast<std::uint64_t>(row_stride) - 1) | (static_cast<std::uint64_t>(topk) - 1) |
                               (static_cast<std::uint64_t>(rows) - 1);
  return counts < kPlainCount && row_stride >= topk && learned != nullptr && context_lens != nullptr;
}

// The bytes from the first row's start to the last row's last slot.
inline std::size_t plain_span(std::int64_t row_stride, std::int64_t topk, std::int64_t rows) noexcept {
  return static_cast<std::size_t>((rows - 1) * row_stride + topk) * sizeof(std::int32_t);
}

inline bool is_plain_scatter(const std::int32_t* topk_indices, std::int64_t row_stride, std::int64_t topk,
                             const std::int32_t* context_lens, std::int64_t rows, std::int64_t num_segments) noexcept {
  return are_plain_rows(topk_indices, row_stride, topk, context_lens, rows) &&
         static_cast<std::uint64_t>(num_segments) - 1 < kMaxMergeSegments &&
         !overlap(topk_indices, plain_span(row_stride, topk, rows), context_lens,
                  static_cast<std::size_t>(rows) * sizeof(std::int32_t));
}

// Packed rows, in place or into rows that share nothing with the inputs.
inline bool is_plain_apply(const std::int32_t* learned, std::int64_t topk, const std::int32_t* context_lens,
                           std::int64_t rows, std::int64_t learned_keep, std::int64_t num_segments,
                           std::int64_t max_replacements, const std::int32_t* out) noexcept {
  if (!are_plain_rows(learned, topk, topk, context_lens, rows) || out == nullptr || learned_keep < 0 ||
      learned_keep > topk || static_cast<std::uint64_t>(num_segments) - 1 >= kMaxMergeSegments ||
      max_replacements < 0) {
    return false;
  }
  const std::size_t span = plain_span(topk, topk, rows);
  return (out == learned || !overlap(out, span, learned, span)) &&
         !overlap(out, span, context_lens, static_cast<std::size_t>(rows) * sizeof(std::int32_t));
}

inline bool is_plain_witness_indices(const std::int32_t* learned, std::int64_t topk, const std::int32_t* context_lens,
                                     std::int64_t rows, std::int64_t num_segments,
                                     const std::int32_t* witnesses) noexcept {
  if (!are_plain_rows(learned, topk, topk, context_lens, rows) || witnesses == nullptr ||
      static_cast<std::uint64_t>(num_segments) - 1 >= kPlainCount) {
    return false;
  }
  const std::size_t out_span = plain_span(num_segments, num_segments, rows);
  return !overlap(witnesses, out_span, learned, plain_span(topk, topk, rows)) &&
         !overlap(witnesses, out_span, context_lens, static_cast<std::size_t>(rows) * sizeof(std::int32_t));
}

}  // namespace kvwitness::detail

#endif  // LIB_SRC_PLAIN_CALL_H
