// What a launch passes to its kernel: checked and prepared by the host (plan.h), read by every thread (kernels.cuh).
// Elements throughout.
//
// C++17, for the host compiler, nvcc and the CPU executor alike.
#ifndef KERNELS_SRC_ARGUMENTS_H
#define KERNELS_SRC_ARGUMENTS_H

#include <kvwitness/segments.h>

#include <cstdint>

namespace kvwitness::kernels {

// How row r gets its context length, which is clamped to int32:
//
//     lens[q * stride] - starts[q * stride] - next_n + r % next_n + 1, with q = r / next_n
class RowLengths {
 public:
  // @param lens    lengths, or window ends
  // @param starts  window starts; null is read as 0
  // @param stride  elements between two lengths, and between two starts, 1 or more
  // @param next_n  rows a request, 1 or more
  // @param rows    how many rows, 1 or more
  RowLengths(const std::int32_t* lens, const std::int32_t* starts, std::int64_t stride, std::int64_t next_n,
             std::int64_t rows) noexcept
      : lens_(lens),
        starts_(starts),
        stride_(stride),
        next_n_(next_n),
        requests_((KVWITNESS_ASSERT(stride >= 1 && next_n >= 1 && rows >= 1, stride, next_n, rows),
                   static_cast<std::uint64_t>(next_n < rows ? next_n : rows))) {}

  // The context length of a row, 0 or more.
  KVWITNESS_HOST_DEVICE std::int32_t context_len(std::int64_t row) const noexcept {
    KVWITNESS_ASSERT(row >= 0, row);
    if (next_n_ == 1 && starts_ == nullptr) {
      return lens_[row * stride_];
    }
    std::int64_t request = row;
    std::int64_t token = 0;  // among its request's, counted from the last: 0 or less
    if (next_n_ != 1) {
      request = static_cast<std::int64_t>(requests_.quotient(static_cast<std::uint64_t>(row)));
      token = row - request * static_cast<std::int64_t>(requests_.divisor()) + 1 - next_n_;
    }
    // A row further back than 2^33 tokens is empty in any case; the bound keeps the sum below from wrapping.
    constexpr std::int64_t kFarBack = -(std::int64_t{1} << 33);
    std::int64_t length = token < kFarBack ? kFarBack : token;
    length += lens_[request * stride_];
    if (starts_ != nullptr) {
      length -= starts_[request * stride_];
    }
    constexpr std::int64_t kLeast = INT32_MIN;
    constexpr std::int64_t kMost = INT32_MAX;
    return static_cast<std::int32_t>(length < kLeast ? kLeast : length > kMost ? kMost : length);
  }

 private:
  const std::int32_t* lens_;
  const std::int32_t* starts_;
  std::int64_t stride_;  // between two lengths, and between two starts
  std::int64_t next_n_;
  FixedDivisor requests_;  // min(next_n, rows), which divides row numbers as next_n does
};

// apply and scatter; scatter is an apply in place.
struct MergeArguments {
  const std::int32_t* learned;
  std::int64_t row_stride;
  std::int64_t topk;
  RowLengths lengths;
  std::int64_t rows;
  std::int64_t learned_keep;
  std::int32_t budget;  // at most 64, and learned_keep + budget <= topk
  SegmentCount segments;
  std::int32_t* out;  // learned itself, or disjoint from it
  std::int64_t out_row_stride;
};

// Witness indices; Segments is SegmentCount for at most 64 segments, FixedDivisor for any number.
template <class Segments>
struct IndicesArguments {
  const std::int32_t* learned;
  std::int64_t row_stride;
  std::int64_t topk;
  RowLengths lengths;
  std::int64_t rows;
  Segments segments;
  std::int32_t* witnesses;  // [rows, num_segments]
};

}  // namespace kvwitness::kernels

#endif  // KERNELS_SRC_ARGUMENTS_H
