// Which calls are legal, and with which status any other call must be refused: section 4 of the rule.
#ifndef KVWITNESS_LEGALITY_H
#define KVWITNESS_LEGALITY_H

#include <kvwitness/case.h>

#include <cstdint>

namespace kvwitness::harness {

// The most segments that apply and scatter take.
inline constexpr std::int64_t kMaxMergeSegments = 64;

// The status that a call must give: a number of status.h, 0 for a legal call. `honours_stride` says whether the
// implementation sees the case's row stride; where not, nothing is said of it. The first that applies, of all that a
// Case can provoke:
//
//     ok                         a scatter with num_segments 0, whatever else the case says
//     negative count             topk, num_segments, learned_keep, max_replacements or row_stride below 0
//     rows mismatch              `learned` does not have rows * topk elements (the product is taken without overflow)
//     segments out of range      num_segments 0 (witnesses, apply); above 64 (apply, scatter); rows * num_segments
//     elements of more
//                                than PTRDIFF_MAX bytes (witnesses)
//     learned keep out of range  learned_keep above topk (apply)
//     row stride                 two or more rows, and row_stride below topk or a span (rows - 1) * row_stride + topk
//     of more than
//                                PTRDIFF_MAX bytes; a span is 0 where topk is 0
//     ok                         everything else, zero rows and topk 0 included
//
// A case with a row stride whose `learned` has the wrong length is a rows mismatch too: an implementation whose strided
// call takes no length makes the packed call instead.
std::int32_t expected_status(const Case& value, bool honours_stride);
inline bool is_legal(const Case& value) {
  return expected_status(value, true) == 0;
}

}  // namespace kvwitness::harness

#endif  // KVWITNESS_LEGALITY_H
