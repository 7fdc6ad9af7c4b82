#include "lib/src/row_pass.h"

#include <algorithm>

#include "kvwitness/segments.h"

namespace kvwitness::detail {
namespace {

// Every edge of the partition, in ascending order: e_s = floor((s * L + n - 1) / n), carried from one to the next
// without a division.
void write_edges(std::uint32_t context_len, std::uint32_t segments, std::int32_t* edges) noexcept {
  const std::uint32_t quotient = context_len / segments;
  const std::uint32_t remainder = context_len % segments;
  std::uint32_t edge = 0;
  std::uint32_t carry = segments - 1;
  for (std::uint32_t segment = 0; segment < segments; ++segment) {
    edges[segment] = static_cast<std::int32_t>(edge);
    edge += quotient;
    carry += remainder;
    if (carry >= segments) {
      carry -= segments;
      ++edge;
    }
  }
}

// One row of witness indices with more segments than a mask has bits. The output row is the occupancy: it starts as
// every edge, and each token strikes its segment's out.
void write_wide_row(const std::int32_t* row, std::size_t topk, std::int32_t context_len, std::size_t num_segments,
                    std::int32_t* witnesses) noexcept {
  const std::uint64_t len = static_cast<std::uint64_t>(context_len);
  const std::uint64_t segments = effective_segments(len, num_segments);
  write_edges(static_cast<std::uint32_t>(len), static_cast<std::uint32_t>(segments), witnesses);
  std::fill(witnesses + segments, witnesses + num_segments, -1);
  const SegmentReciprocal reciprocal(len, segments);
  for (std::size_t slot = 0; slot < topk; ++slot) {
    if (row[slot] >= 0) {
      const std::uint64_t segment = reciprocal.segment_of(static_cast<std::uint64_t>(row[slot]));
      witnesses[std::min<std::uint64_t>(segment, num_segments - 1)] = -1;
    }
  }
}

void write_wide_rows(const RowBatch& batch, std::size_t num_segments, std::int32_t* witnesses) noexcept {
  for (std::size_t row = 0; row < batch.rows; ++row) {
    std::int32_t* const out = witnesses + row * num_segments;
    const std::int32_t context_len = batch.context_lens[row];
    if (context_len <= 0) {
      std::fill_n(out, num_segments, -1);
    } else {
      write_wide_row(batch.learned + row * batch.row_stride, batch.topk, context_len, num_segments, out);
    }
  }
}

void copy_rows(const RowBatch& batch, std::int32_t* out, std::size_t out_row_stride) noexcept {
  for (std::size_t row = 0; row < batch.rows; ++row) {
    std::copy_n(batch.learned + row * batch.row_stride, batch.topk, out + row * out_row_stride);
  }
}

}  // namespace

void pass_witness_indices(const Backend& backend, const RowBatch& batch, std::size_t num_segments,
                          std::int32_t* witnesses) noexcept {
  KVWITNESS_ASSERT(num_segments >= 1);
  if (batch.rows == 0) {
    return;
  }
  RowBatch readable = batch;
  if (batch.topk == 0) {
    readable.row_stride = 0;  // learned may be null, and nothing but 0 may be added to it
  }
  if (num_segments > kMaxMergeSegments) {
    write_wide_rows(readable, num_segments, witnesses);
  } else {
    backend.witness_indices(readable, num_segments, witnesses);
  }
}

void pass_apply(const Backend& backend, const RowBatch& batch, std::size_t learned_keep, std::size_t num_segments,
                std::size_t max_replacements, std::int32_t* out, std::size_t out_row_stride) noexcept {
  KVWITNESS_ASSERT(learned_keep <= batch.topk, learned_keep, batch.topk);
  KVWITNESS_ASSERT(num_segments >= 1 && num_segments <= kMaxMergeSegments, num_segments);
  if (batch.rows == 0 || batch.topk == 0) {
    return;
  }
  const std::size_t budget = std::min(max_replacements, batch.topk - learned_keep);
  if (budget > 0) {
    backend.apply(batch, {learned_keep, num_segments, budget}, out, out_row_stride);
  } else if (out != batch.learned) {
    copy_rows(batch, out, out_row_stride);
  }
}

void pass_scatter(const Backend& backend, const RowBatch& batch, std::size_t num_segments,
                  std::int32_t* topk_indices) noexcept {
  const std::size_t learned_keep = batch.topk - std::min(batch.topk, num_segments);
  pass_apply(backend, batch, learned_keep, num_segments, num_segments, topk_indices, batch.row_stride);
}

}  // namespace kvwitness::detail
