// What every interface checks, each check once with the words in which it is refused: the C++ interface,
// the C ABI and the CUDA library call these in the order that their contracts fix.
//
// C++17 and nothing but headers, because the CUDA library links nothing of this one.
#ifndef LIB_SRC_CHECKS_H
#define LIB_SRC_CHECKS_H

#include <cinttypes>
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>

#include "kvwitness/kvwitness.h"
#include "kvwitness/segments.h"
#include "lib/src/last_error.h"

namespace kvwitness::detail {

// The largest number of elements that PTRDIFF_MAX bytes hold.
template <typename Element>
inline constexpr std::size_t kMaxElements = std::numeric_limits<std::ptrdiff_t>::max() / sizeof(Element);

// a * b, or SIZE_MAX where that overflows.
inline std::size_t saturating_product(std::size_t a, std::size_t b) noexcept {
  const Product128 product = multiply(a, b);
  return product.high == 0 ? product.low : std::numeric_limits<std::size_t>::max();
}

// Elements from the first row's start to the last row's last slot, or SIZE_MAX where that overflows. 0
// without rows or topk.
inline std::size_t row_span(std::size_t rows, std::size_t row_stride, std::size_t topk) noexcept {
  if (rows == 0 || topk == 0) {
    return 0;
  }
  const std::size_t lead = saturating_product(rows - 1, row_stride);
  const std::size_t room = std::numeric_limits<std::size_t>::max() - lead;
  return topk > room ? std::numeric_limits<std::size_t>::max() : lead + topk;
}

// Whether two byte ranges share a byte; an empty one shares none. Sizes are at most PTRDIFF_MAX, so the
// wrapped difference of two addresses is below a size exactly where the second lies in the range that
// starts at the first.
inline bool overlap(const void* a, std::size_t a_bytes, const void* b, std::size_t b_bytes) noexcept {
  const auto a_address = reinterpret_cast<std::uintptr_t>(a);
  const auto b_address = reinterpret_cast<std::uintptr_t>(b);
  if (a_bytes == 0 || b_bytes == 0) {
    return false;
  }
  return b_address - a_address < a_bytes || a_address - b_address < b_bytes;
}

// A count that has been checked.
constexpr std::size_t size(std::int64_t count) noexcept {
  return static_cast<std::size_t>(count);
}

// SIZE_MAX where that overflows: a span that no buffer can have is never taken for an empty one.
constexpr std::size_t bytes(std::size_t int32_len) noexcept {
  constexpr std::size_t kMax = std::numeric_limits<std::size_t>::max();
  return int32_len > kMax / sizeof(std::int32_t) ? kMax : int32_len * sizeof(std::int32_t);
}

// A size, count, budget, capacity or stride as it was passed.
struct Count {
  const char* name;
  std::int64_t value;
  std::int64_t minimum = 0;
};

// A buffer as it was passed; `bytes` is its span, 0 where nothing of it is read or written.
struct Buffer {
  const char* name;
  const void* data;
  std::size_t bytes;
};

// The numbers of a refusal that the C++ interface carries, in the order of its fields.
struct Numbers {
  std::size_t first = 0;
  std::size_t second = 0;
  std::size_t third = 0;
};

// An outcome of checks as a status and a message, which goes to the thread's LastError.
class StatusOutcome {
 public:
  explicit StatusOutcome(LastError& last_error) noexcept : last_error_(last_error) {}

  bool passed() const noexcept { return status_ == KVW_OK; }
  kvw_status status() const noexcept { return status_; }

  [[gnu::format(printf, 4, 5)]] void refuse(kvw_status status, const Numbers&, const char* format, ...) noexcept {
    std::va_list arguments;
    va_start(arguments, format);
    last_error_.refuse_with(format, arguments);
    va_end(arguments);
    status_ = status;
  }

 private:
  LastError& last_error_;
  kvw_status status_ = KVW_OK;
};

// A sequence of checks of which the first failure counts. The checks behind it do nothing, so what they are
// given may mean nothing then (a negative count as a size).
//
// Outcome keeps the failure: passed(), and refuse(status, numbers, format, ...) with printf's format of a
// message that names the argument, its value and the limit.
template <class Outcome>
class Checks {
 public:
  explicit Checks(Outcome outcome = Outcome()) noexcept : outcome_(outcome) {}

  bool passed() const noexcept { return outcome_.passed(); }
  const Outcome& outcome() const noexcept { return outcome_; }

  // Each count is at least its minimum, in the order given.
  void counts(std::initializer_list<Count> counts) noexcept {
    for (const Count& count : counts) {
      if (passed() && count.value < count.minimum) {
        outcome_.refuse(KVW_NEGATIVE_COUNT, {}, "%s is %" PRId64 "; it must be at least %" PRId64, count.name,
                        count.value, count.minimum);
      }
    }
  }

  // learned_len == rows * topk, exactly.
  void packed_rows(const char* name, std::size_t learned_len, std::size_t topk, std::size_t rows) noexcept {
    const Product128 needed = multiply(rows, topk);
    if (passed() && (needed.high != 0 || needed.low != learned_len)) {
      outcome_.refuse(KVW_ROWS_MISMATCH, {learned_len, topk, rows},
                      "%s is %zu; it must be rows * topk, and rows is %zu and topk %zu", name, learned_len, rows, topk);
    }
  }

  // learned_len reaches to the last slot of the last row, which a buffer can.
  void strided_rows(const char* name, std::size_t learned_len, std::size_t row_stride, std::size_t topk,
                    std::size_t rows) noexcept {
    const std::size_t needed = row_span(rows, row_stride, topk);
    if (passed() && (learned_len < needed || needed > kMaxElements<std::int32_t>)) {
      outcome_.refuse(KVW_ROWS_MISMATCH, {learned_len, topk, rows},
                      "%s is %zu; %zu rows of topk %zu at a stride of %zu need %zu elements", name, learned_len, rows,
                      topk, row_stride, needed);
    }
  }

  // The contiguous int32 buffer of `len` elements has at most PTRDIFF_MAX bytes. `name` is the argument
  // that says so.
  void contiguous_span(const char* name, std::size_t len) noexcept {
    if (passed() && len > kMaxElements<std::int32_t>) {
      outcome_.refuse(KVW_ROWS_MISMATCH, {},
                      "%s is %zu int32 elements; a buffer holds at most PTRDIFF_MAX bytes, %zu elements", name, len,
                      kMaxElements<std::int32_t>);
    }
  }

  // num_segments is at least 1, and the result has an address.
  void witness_segments(std::size_t num_segments, std::size_t rows) noexcept {
    if (passed() && num_segments == 0) {
      outcome_.refuse(KVW_SEGMENTS_OUT_OF_RANGE, {num_segments}, "num_segments is 0; it must be at least 1");
    } else if (passed() && saturating_product(rows, num_segments) > kMaxElements<std::int32_t>) {
      outcome_.refuse(
          KVW_SEGMENTS_OUT_OF_RANGE, {num_segments},
          "num_segments is %zu; rows * num_segments int32 elements must fit PTRDIFF_MAX bytes, and rows is %zu",
          num_segments, rows);
    }
  }

  // num_segments of apply and scatter is 1 to 64. (Scatter never asks with 0.)
  void merge_segments(std::size_t num_segments) noexcept {
    if (passed() && (num_segments == 0 || num_segments > kMaxMergeSegments)) {
      outcome_.refuse(KVW_SEGMENTS_OUT_OF_RANGE, {num_segments}, "num_segments is %zu; it must be 1 to %" PRIu64,
                      num_segments, kMaxMergeSegments);
    }
  }

  void learned_keep(std::size_t learned_keep, std::size_t topk) noexcept {
    if (passed() && learned_keep > topk) {
      outcome_.refuse(KVW_LEARNED_KEEP_OUT_OF_RANGE, {learned_keep, topk},
                      "learned_keep is %zu; it must be at most topk, which is %zu", learned_keep, topk);
    }
  }

  // A context length (`name` is context_len or seq) is at most INT32_MAX.
  void context_len(const char* name, std::int64_t value) noexcept {
    if (passed() && value > INT32_MAX) {
      outcome_.refuse(KVW_CONTEXT_LEN_OUT_OF_RANGE, {}, "%s is %" PRId64 "; it must be at most %" PRId32, name, value,
                      INT32_MAX);
    }
  }

  // No buffer of a non-empty span is null, in the order given.
  void not_null(std::initializer_list<Buffer> buffers) noexcept {
    for (const Buffer& buffer : buffers) {
      if (passed() && buffer.data == nullptr && buffer.bytes != 0) {
        outcome_.refuse(KVW_NULL_POINTER, {},
                        "%s is null; it may be null only where the call neither reads nor writes it", buffer.name);
      }
    }
  }

  // With two or more rows, the stride is at least topk.
  void row_stride(const char* name, std::size_t stride, std::size_t topk, std::size_t rows) noexcept {
    if (passed() && rows >= 2 && stride < topk) {
      outcome_.refuse(KVW_ROW_STRIDE, {stride, topk}, "%s is %zu; with %zu rows it must be at least topk, which is %zu",
                      name, stride, rows, topk);
    }
  }

  // The span of two or more rows has at most PTRDIFF_MAX bytes.
  void strided_span(const char* name, std::size_t stride, std::size_t topk, std::size_t rows) noexcept {
    if (passed() && rows >= 2 && row_span(rows, stride, topk) > kMaxElements<std::int32_t>) {
      outcome_.refuse(KVW_ROW_STRIDE, {}, "%s is %zu; %zu rows of topk %zu then span more than PTRDIFF_MAX bytes", name,
                      stride, rows, topk);
    }
  }

  // `output` shares no byte with any of `others`.
  void disjoint(const Buffer& output, std::initializer_list<Buffer> others) noexcept {
    for (const Buffer& other : others) {
      if (passed() && overlap(output.data, output.bytes, other.data, other.bytes)) {
        outcome_.refuse(KVW_BUFFER_OVERLAP, {}, "%s at %p (%zu bytes) shares bytes with %s at %p (%zu bytes)",
                        output.name, output.data, output.bytes, other.name, other.data, other.bytes);
      }
    }
  }

  // A buffer of `capacity` elements holds `needed` of them.
  void room(const char* name, std::size_t capacity, std::size_t needed) noexcept {
    if (passed() && capacity < needed) {
      outcome_.refuse(KVW_BUFFER_TOO_SMALL, {capacity, needed}, "%s is %zu; it must be at least %zu", name, capacity,
                      needed);
    }
  }

 protected:
  Outcome outcome_;
};

}  // namespace kvwitness::detail

#endif  // LIB_SRC_CHECKS_H
