// The operations on arguments that have been checked: what the C++ interface and the C ABI share below
// their checks.
#ifndef LIB_SRC_ROW_PASS_H
#define LIB_SRC_ROW_PASS_H

#include <cstddef>
#include <cstdint>

#include "kvwitness/backend.h"

namespace kvwitness::detail {

// Witness indices.
//
// @param backend       one that can run here
// @param batch         may have no rows; at topk 0 its learned pointer and stride count for nothing
// @param num_segments  1 or more
// @param witnesses     [rows, num_segments]
void pass_witness_indices(const Backend& backend, const RowBatch& batch, std::size_t num_segments,
                          std::int32_t* witnesses) noexcept;

// Apply into `out`, in place where out == batch.learned.
//
// @param backend           one that can run here
// @param batch             may have no rows; at topk 0 no pointer counts
// @param learned_keep      at most topk
// @param num_segments      1 to 64
// @param max_replacements  any
// @param out               row r starts at out + r * out_row_stride
// @param out_row_stride    elements
void pass_apply(const Backend& backend, const RowBatch& batch, std::size_t learned_keep, std::size_t num_segments,
                std::size_t max_replacements, std::int32_t* out, std::size_t out_row_stride) noexcept;

// Scatter: apply in place with learned_keep = max(0, topk - num_segments) and
// max_replacements = num_segments, for num_segments of 1 to 64.
void pass_scatter(const Backend& backend, const RowBatch& batch, std::size_t num_segments,
                  std::int32_t* topk_indices) noexcept;

}  // namespace kvwitness::detail

#endif  // LIB_SRC_ROW_PASS_H
