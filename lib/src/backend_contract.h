// What the functions of a Backend require of their caller (backend.h), asserted at their entry. No code in
// a release.
#ifndef LIB_SRC_BACKEND_CONTRACT_H
#define LIB_SRC_BACKEND_CONTRACT_H

#include <cstddef>
#include <cstdint>

#include "kvwitness/assertions.h"
#include "kvwitness/backend.h"
#include "kvwitness/segments.h"
#include "lib/src/checks.h"

namespace kvwitness::detail {

inline void assert_batch([[maybe_unused]] const RowBatch& batch) noexcept {
  KVWITNESS_ASSERT(batch.rows >= 1 && batch.context_lens != nullptr, batch.rows);
  KVWITNESS_ASSERT(batch.topk == 0 || batch.learned != nullptr, batch.topk);
  KVWITNESS_ASSERT(batch.topk == 0 || batch.rows == 1 || batch.row_stride >= batch.topk, batch.topk, batch.row_stride);
}

// `output` is there and shares no byte with an input.
inline void assert_separate([[maybe_unused]] const RowBatch& batch, [[maybe_unused]] const std::int32_t* output,
                            [[maybe_unused]] std::size_t len) noexcept {
  KVWITNESS_ASSERT(output != nullptr);
  KVWITNESS_ASSERT(
      !overlap(output, bytes(len), batch.learned, bytes(row_span(batch.rows, batch.row_stride, batch.topk))), len);
  KVWITNESS_ASSERT(!overlap(output, bytes(len), batch.context_lens, bytes(batch.rows)), len);
}

inline void assert_witness_indices_call(const RowBatch& batch, std::size_t num_segments,
                                        const std::int32_t* witnesses) noexcept {
  assert_batch(batch);
  KVWITNESS_ASSERT(num_segments >= 1 && num_segments <= kMaxMergeSegments, num_segments);
  assert_separate(batch, witnesses, batch.rows * num_segments);
}

inline void assert_apply_call(const RowBatch& batch, [[maybe_unused]] const MergePlan& plan, const std::int32_t* out,
                              std::size_t out_row_stride) noexcept {
  assert_batch(batch);
  KVWITNESS_ASSERT(plan.num_segments >= 1 && plan.num_segments <= kMaxMergeSegments, plan.num_segments);
  KVWITNESS_ASSERT(plan.learned_keep <= batch.topk && plan.budget >= 1 && plan.budget <= batch.topk - plan.learned_keep,
                   plan.learned_keep, plan.budget, batch.topk);
  if (out == batch.learned) {
    KVWITNESS_ASSERT(batch.rows == 1 || out_row_stride == batch.row_stride, out_row_stride, batch.row_stride);
  } else {
    KVWITNESS_ASSERT(batch.rows == 1 || out_row_stride >= batch.topk, out_row_stride, batch.topk);
    assert_separate(batch, out, row_span(batch.rows, out_row_stride, batch.topk));
  }
}

}  // namespace kvwitness::detail

#endif  // LIB_SRC_BACKEND_CONTRACT_H
