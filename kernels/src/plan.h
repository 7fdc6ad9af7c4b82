// What a call of kvwitness_cuda.h comes to: a refusal, nothing to do, or the arguments of one launch. Decided on the
// host, without a GPU.
//
// C++17. The same plans serve the CUDA library and the CPU executor's implementations in the harness, so that both
// refuse alike.
#ifndef KERNELS_SRC_PLAN_H
#define KERNELS_SRC_PLAN_H

#include <kvwitness/kvwitness_cuda.h>

#include <cstdint>
#include <optional>

#include "kernels/src/arguments.h"

namespace kvwitness::kernels {

// Which collective works on a row.
enum class Variant { kBlock, kWarp };

// The variant for a call: a block to a row up to as many rows as its speed outweighs its instructions, else a warp.
Variant choose_variant(std::int64_t rows, std::int64_t topk) noexcept;

// The number of blocks for a grid whose blocks take rows_per_block rows at a time, rows >= 1: as many as there are
// rows, up to what grid.x can be.
unsigned int grid_blocks(std::int64_t rows, std::int64_t rows_per_block) noexcept;

// At most one of the two is there; neither where the call is refused or has nothing to write.
struct IndicesPlan {
  std::optional<IndicesArguments<SegmentCount>> few;  // up to 64 segments
  std::optional<IndicesArguments<FixedDivisor>> many;
};
using MergePlan = std::optional<MergeArguments>;

// The checks of kvwitness_cuda.h in their order, the message of a refusal left in last_error(), and the plan where they
// pass.
kvw_status plan_witness_indices(const std::int32_t* learned, std::int64_t learned_len, std::int64_t row_stride,
                                std::int64_t topk, const kvw_cuda_lengths* lengths, std::int64_t rows,
                                std::int64_t num_segments, std::int32_t* witnesses, std::int64_t witnesses_len,
                                IndicesPlan& plan) noexcept;
kvw_status plan_apply(const std::int32_t* learned, std::int64_t learned_len, std::int64_t row_stride, std::int64_t topk,
                      const kvw_cuda_lengths* lengths, std::int64_t rows, std::int64_t learned_keep,
                      std::int64_t num_segments, std::int64_t max_replacements, std::int32_t* out, std::int64_t out_len,
                      std::int64_t out_row_stride, MergePlan& plan) noexcept;
kvw_status plan_scatter(std::int32_t* topk_indices, std::int64_t topk_indices_len, std::int64_t row_stride,
                        std::int64_t topk, const kvw_cuda_lengths* lengths, std::int64_t rows,
                        std::int64_t num_segments, MergePlan& plan) noexcept;

// This thread's last message; "" before the first.
const char* last_error() noexcept;

// Leaves a message for last_error() and returns the status.
kvw_status refuse(kvw_status status, const char* format, ...) noexcept __attribute__((format(printf, 2, 3)));

}  // namespace kvwitness::kernels

#endif  // KERNELS_SRC_PLAN_H
