// Which calls are legal, and with which status any other call must be refused: section 4 of the rule.
#ifndef KVWITNESS_LEGALITY_H
#define KVWITNESS_LEGALITY_H

#include <kvwitness/case.h>

#include <cstdint>

namespace kvwitness::harness {

// The most segments that apply and scatter take.
inline constexpr std::int64_t kMaxMergeSegments = 64;

// The status that a call must give, a number of properties/case/status.h; 0 for a legal call. The first that applies, of
// all that a Case can provoke:
//
// 1. ok: a scatter with num_segments 0, whatever else the case says.
// 2. negative count: topk, num_segments, learned_keep, max_replacements or row_stride below 0.
// 3. rows mismatch: `learned` does not have rows * topk elements (the product is taken without overflow).
// 4. segments out of range:
//    - witnesses and apply: num_segments is 0;
//    - apply and scatter: num_segments is above kMaxMergeSegments;
//    - witnesses: rows * num_segments elements have more than PTRDIFF_MAX bytes.
// 5. learned keep out of range: learned_keep above topk, for apply.
// 6. row stride: two or more rows, and
//    - row_stride is below topk, or
//    - the span (rows - 1) * row_stride + topk has more than PTRDIFF_MAX bytes; a span is 0 where topk is 0.
// 7. ok: everything else, zero rows and topk 0 included.
//
// A case with a row stride whose `learned` has the wrong length is a rows mismatch too: an implementation whose strided
// call takes no length makes the packed call instead.
//
// @param honours_stride  whether the implementation sees the case's row stride; otherwise it is ignored
std::int32_t expected_status(const Case& value, bool honours_stride);
inline bool is_legal(const Case& value) {
  return expected_status(value, true) == 0;
}

}  // namespace kvwitness::harness

#endif  // KVWITNESS_LEGALITY_H
