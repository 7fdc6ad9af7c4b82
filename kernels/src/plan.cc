#include "kernels/src/plan.h"

#include <algorithm>
#include <cinttypes>
#include <cstdarg>
#include <cstddef>

#include "lib/src/checks.h"

namespace kvwitness::kernels {
namespace {

using detail::Buffer;
using detail::bytes;
using detail::Count;
using detail::kMaxElements;
using detail::row_span;
using detail::size;

// Up to how many rows a block to a row takes less time than a warp, by a model of an H200
// (tests/kernels/multiprocessor_model.py; README.md has its figures). Rows that one round of a warp's loads brings gain
// less from a second warp.
constexpr std::int64_t kMaxRowsByBlock = 2048;
constexpr std::int64_t kMaxShortRowsByBlock = 256;
constexpr std::int64_t kMaxTopkOfOneRound = 1024;
constexpr std::int64_t kMaxGridBlocks = 0x7FFFFFFF;  // of grid.x

detail::LastError& thread_error() noexcept {
  thread_local detail::LastError error;
  return error;
}

// Rows of topk slots, as they were passed.
struct Rows {
  const char* name;
  const std::int32_t* data;
  Count len;
  Count stride;

  std::size_t span(std::int64_t topk, std::int64_t rows) const noexcept {
    return row_span(size(rows), size(stride.value), size(topk));
  }
  Buffer buffer(std::int64_t topk, std::int64_t rows) const noexcept { return {name, data, bytes(span(topk, rows))}; }
};

std::int64_t requests_of(const kvw_cuda_lengths& lengths, std::int64_t rows) noexcept {
  return (rows - 1) / lengths.next_n + 1;
}

// The checks of one call.
class CallChecks : public detail::Checks<detail::StatusOutcome> {
 public:
  CallChecks() noexcept : Checks(detail::StatusOutcome(thread_error())) {}

  kvw_status status() const noexcept { return outcome_.status(); }

  // The counts of the struct, where there is one.
  void counts_of(const kvw_cuda_lengths* lengths) noexcept {
    if (lengths != nullptr) {
      counts({{"lengths->count", lengths->count},
              {"lengths->stride", lengths->stride, 1},
              {"lengths->next_n", lengths->next_n, 1}});
    }
  }

  // The rows reach no further than their buffer. Where no buffer could hold them, a single row and packed rows are at
  // fault here, and the stride of others in stride().
  void covers_rows(const Rows& input, std::int64_t topk, std::int64_t rows) noexcept {
    const bool contiguous = rows == 1 || input.stride.value == topk;
    if (contiguous || input.span(topk, rows) <= kMaxElements<std::int32_t>) {
      strided_rows(input.len.name, size(input.len.value), size(input.stride.value), size(topk), size(rows));
    }
  }

  void covers_lengths(const kvw_cuda_lengths* lengths, std::int64_t rows) noexcept {
    if (!passed() || lengths == nullptr || rows == 0) {
      return;
    }
    const std::int64_t requests = requests_of(*lengths, rows);
    if (lengths->count < requests) {
      outcome_.refuse(KVW_ROWS_MISMATCH, {},
                      "lengths->count is %" PRId64 "; %" PRId64 " rows at next_n %" PRId64 " need %" PRId64,
                      lengths->count, rows, lengths->next_n, requests);
    } else if (row_span(size(requests), size(lengths->stride), 1) > kMaxElements<std::int32_t>) {
      outcome_.refuse(KVW_ROWS_MISMATCH, {},
                      "lengths->stride is %" PRId64 "; %" PRId64 " lengths then span more than PTRDIFF_MAX bytes",
                      lengths->stride, requests);
    }
  }

  // The rows, and the lengths where there are rows.
  void not_null_with_lengths(const Rows& input, std::int64_t topk, std::int64_t rows,
                             const kvw_cuda_lengths* lengths) noexcept {
    const std::size_t read = rows > 0 ? sizeof(std::int32_t) : 0;
    not_null({{input.name, input.data, topk > 0 ? read : 0}, {"lengths", lengths, read}});
    if (passed() && lengths != nullptr) {
      not_null({{"lengths->lens", lengths->lens, read}});
    }
  }

  void stride(const Count& stride, std::int64_t topk, std::int64_t rows) noexcept {
    row_stride(stride.name, size(stride.value), size(topk), size(rows));
    strided_span(stride.name, size(stride.value), size(topk), size(rows));
  }

  // `output` shares no byte with the lengths, nor with the rows where they are given. After not_null_with_lengths.
  void disjoint_from_inputs(const Buffer& output, const Buffer& input, const kvw_cuda_lengths* lengths,
                            std::int64_t rows) noexcept {
    if (!passed() || rows == 0) {
      return;
    }
    // Both are read at the same stride.
    const std::size_t span = bytes(row_span(size(requests_of(*lengths, rows)), size(lengths->stride), 1));
    disjoint(output, {input,
                      {"lengths->lens", lengths->lens, span},
                      {"lengths->starts", lengths->starts, lengths->starts == nullptr ? 0 : span}});
  }
};

RowLengths row_lengths(const kvw_cuda_lengths& lengths, std::int64_t rows) noexcept {
  return {lengths.lens, lengths.starts, lengths.stride, lengths.next_n, rows};
}

}  // namespace

Variant choose_variant(std::int64_t rows, std::int64_t topk) noexcept {
  return rows > (topk <= kMaxTopkOfOneRound ? kMaxShortRowsByBlock : kMaxRowsByBlock) ? Variant::kWarp
                                                                                      : Variant::kBlock;
}

unsigned int grid_blocks(std::int64_t rows, std::int64_t rows_per_block) noexcept {
  KVWITNESS_ASSERT(rows >= 1 && rows_per_block >= 1, rows, rows_per_block);
  return static_cast<unsigned int>(std::min((rows - 1) / rows_per_block + 1, kMaxGridBlocks));
}

const char* last_error() noexcept {
  return thread_error().text();
}

kvw_status refuse(kvw_status status, const char* format, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, format);
  thread_error().refuse_with(format, arguments);
  va_end(arguments);
  return status;
}

kvw_status plan_witness_indices(const std::int32_t* learned, std::int64_t learned_len, std::int64_t row_stride,
                                std::int64_t topk, const kvw_cuda_lengths* lengths, std::int64_t rows,
                                std::int64_t num_segments, std::int32_t* witnesses, std::int64_t witnesses_len,
                                IndicesPlan& plan) noexcept {
  plan = {};
  const Rows input{"learned", learned, {"learned_len", learned_len}, {"row_stride", row_stride}};
  const std::size_t output_elements = size(rows) * size(num_segments);
  const Buffer output{"witnesses", witnesses, bytes(output_elements)};
  CallChecks checks;
  checks.counts({input.len, input.stride, {"topk", topk}});
  checks.counts_of(lengths);
  checks.counts({{"rows", rows}, {"num_segments", num_segments}, {"witnesses_len", witnesses_len}});
  checks.covers_rows(input, topk, rows);
  checks.covers_lengths(lengths, rows);
  checks.witness_segments(size(num_segments), size(rows));
  checks.not_null_with_lengths(input, topk, rows, lengths);
  checks.not_null({output});
  checks.stride(input.stride, topk, rows);
  checks.disjoint_from_inputs(output, input.buffer(topk, rows), lengths, rows);
  checks.room("witnesses_len", size(witnesses_len), output_elements);
  if (!checks.passed() || rows == 0) {
    return checks.status();
  }
  const RowLengths row_lens = row_lengths(*lengths, rows);
  // Rows without slots may lie any number of elements apart, more than can be counted and than a pointer may be moved.
  const std::int64_t step = topk > 0 ? row_stride : 0;
  if (size(num_segments) <= kMaxMergeSegments) {
    plan.few = {learned, step, topk, row_lens, rows, SegmentCount(static_cast<std::uint32_t>(num_segments)), witnesses};
  } else {
    plan.many = {learned, step, topk, row_lens, rows, FixedDivisor(size(num_segments)), witnesses};
  }
  return KVW_OK;
}

kvw_status plan_apply(const std::int32_t* learned, std::int64_t learned_len, std::int64_t row_stride, std::int64_t topk,
                      const kvw_cuda_lengths* lengths, std::int64_t rows, std::int64_t learned_keep,
                      std::int64_t num_segments, std::int64_t max_replacements, std::int32_t* out, std::int64_t out_len,
                      std::int64_t out_row_stride, MergePlan& plan) noexcept {
  plan.reset();
  const Rows input{"learned", learned, {"learned_len", learned_len}, {"row_stride", row_stride}};
  const Rows output{"out", out, {"out_len", out_len}, {"out_row_stride", out_row_stride}};
  const bool in_place = out == learned && (rows < 2 || out_row_stride == row_stride);
  CallChecks checks;
  checks.counts({input.len, input.stride, {"topk", topk}});
  checks.counts_of(lengths);
  checks.counts({{"rows", rows},
                 {"learned_keep", learned_keep},
                 {"num_segments", num_segments},
                 {"max_replacements", max_replacements},
                 output.len,
                 output.stride});
  checks.covers_rows(input, topk, rows);
  checks.covers_lengths(lengths, rows);
  checks.merge_segments(size(num_segments));
  checks.learned_keep(size(learned_keep), size(topk));
  checks.not_null_with_lengths(input, topk, rows, lengths);
  checks.not_null({output.buffer(topk, rows)});
  checks.stride(input.stride, topk, rows);
  checks.stride(output.stride, topk, rows);
  checks.disjoint_from_inputs(output.buffer(topk, rows), in_place ? Buffer{} : input.buffer(topk, rows), lengths, rows);
  checks.room(output.len.name, size(out_len), output.span(topk, rows));
  if (!checks.passed() || rows == 0 || topk == 0) {
    return checks.status();
  }
  const std::int64_t budget =
      std::min({max_replacements, topk - learned_keep, static_cast<std::int64_t>(kMaxMergeSegments)});
  if (!in_place || budget > 0) {
    plan = {learned,
            row_stride,
            topk,
            row_lengths(*lengths, rows),
            rows,
            learned_keep,
            static_cast<std::int32_t>(budget),
            SegmentCount(static_cast<std::uint32_t>(num_segments)),
            out,
            out_row_stride};
  }
  return KVW_OK;
}

kvw_status plan_scatter(std::int32_t* topk_indices, std::int64_t topk_indices_len, std::int64_t row_stride,
                        std::int64_t topk, const kvw_cuda_lengths* lengths, std::int64_t rows,
                        std::int64_t num_segments, MergePlan& plan) noexcept {
  plan.reset();
  if (num_segments == 0) {
    return KVW_OK;
  }
  const Rows input{"topk_indices", topk_indices, {"topk_indices_len", topk_indices_len}, {"row_stride", row_stride}};
  CallChecks checks;
  checks.counts({input.len, input.stride, {"topk", topk}});
  checks.counts_of(lengths);
  checks.counts({{"rows", rows}, {"num_segments", num_segments}});
  checks.covers_rows(input, topk, rows);
  checks.covers_lengths(lengths, rows);
  checks.merge_segments(size(num_segments));
  checks.not_null_with_lengths(input, topk, rows, lengths);
  checks.stride(input.stride, topk, rows);
  checks.disjoint_from_inputs(input.buffer(topk, rows), {}, lengths, rows);
  if (!checks.passed() || rows == 0 || topk == 0) {
    return checks.status();
  }
  const std::int64_t learned_keep = std::max<std::int64_t>(0, topk - num_segments);
  plan = {topk_indices,
          row_stride,
          topk,
          row_lengths(*lengths, rows),
          rows,
          learned_keep,
          static_cast<std::int32_t>(topk - learned_keep),
          SegmentCount(static_cast<std::uint32_t>(num_segments)),
          topk_indices,
          row_stride};
  return KVW_OK;
}

}  // namespace kvwitness::kernels
