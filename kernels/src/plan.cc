#include "kernels/src/plan.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <initializer_list>

#include "lib/src/checks.h"

namespace kvwitness::kernels {
namespace {

using detail::kMaxElements;
using detail::row_span;
using detail::saturating_product;

// One wave of blocks of 256 threads, eight on each multiprocessor of a large GPU: beyond it blocks wait for others to
// end, and warps hide the latency of memory as well while each row takes fewer threads from the others.
constexpr std::int64_t kMaxRowsByBlock = 1024;
// What a warp has in flight at a time.
constexpr std::int64_t kMaxTopkOfOneRound = 512;
constexpr std::int64_t kMaxGridBlocks = 0x7FFFFFFF;  // of grid.x

// A count that has been checked.
constexpr std::size_t size(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

struct Count {
  const char* name;
  std::int64_t value;
  std::int64_t minimum = 0;
};

// Rows of topk slots, as they were passed.
struct Rows {
  const char* name;
  const std::int32_t* data;
  Count len;
  Count stride;
};

// Elements that a call covers; 0 where it neither reads nor writes the buffer.
struct Span {
  const char* name;
  const std::int32_t* data;
  std::size_t elements;
};

constexpr std::size_t kMessageBytes = 320;

char* message_buffer() noexcept {
  thread_local std::array<char, kMessageBytes> message{};
  return message.data();
}

// A sequence of checks of which the first failure counts.
class Checks {
 public:
  kvw_status status() const noexcept { return status_; }
  bool passed() const noexcept { return status_ == KVW_OK; }

  void counts(std::initializer_list<Count> counts) noexcept {
    for (const Count& count : counts) {
      if (passed() && count.value < count.minimum) {
        status_ = refuse(KVW_NEGATIVE_COUNT, "%s is %" PRId64 "; it must be at least %" PRId64, count.name, count.value,
                         count.minimum);
      }
    }
  }

  // Those of the struct, where there is one.
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
    const std::size_t needed = row_span(size(rows), size(input.stride.value), size(topk));
    const bool impossible = needed > kMaxElements<std::int32_t>;
    const bool contiguous = rows == 1 || input.stride.value == topk;
    if (passed() && (impossible ? contiguous : size(input.len.value) < needed)) {
      status_ =
          refuse(KVW_ROWS_MISMATCH,
                 "%s is %" PRId64 "; %" PRId64 " rows of topk %" PRId64 " at a stride of %" PRId64 " need %zu elements",
                 input.len.name, input.len.value, rows, topk, input.stride.value, needed);
    }
  }

  void covers_lengths(const kvw_cuda_lengths* lengths, std::int64_t rows) noexcept {
    if (!passed() || lengths == nullptr || rows == 0) {
      return;
    }
    const std::int64_t requests = (rows - 1) / lengths->next_n + 1;
    if (lengths->count < requests) {
      status_ = refuse(KVW_ROWS_MISMATCH,
                       "lengths->count is %" PRId64 "; %" PRId64 " rows at next_n %" PRId64 " need %" PRId64,
                       lengths->count, rows, lengths->next_n, requests);
    } else if (row_span(size(requests), size(lengths->stride), 1) > kMaxElements<std::int32_t>) {
      status_ = refuse(KVW_ROWS_MISMATCH,
                       "lengths->stride is %" PRId64 "; %" PRId64 " lengths then span more than PTRDIFF_MAX bytes",
                       lengths->stride, requests);
    }
  }

  void indices_segments(std::int64_t num_segments, std::int64_t rows) noexcept {
    if (passed() && num_segments == 0) {
      status_ = refuse(KVW_SEGMENTS_OUT_OF_RANGE, "num_segments is 0; it must be at least 1");
    } else if (passed() && saturating_product(size(rows), size(num_segments)) > kMaxElements<std::int32_t>) {
      status_ = refuse(KVW_SEGMENTS_OUT_OF_RANGE,
                       "num_segments is %" PRId64
                       "; rows * num_segments int32 elements must fit PTRDIFF_MAX bytes, and rows is %" PRId64,
                       num_segments, rows);
    }
  }

  void merge_segments(std::int64_t num_segments) noexcept {
    constexpr auto kMost = static_cast<std::int64_t>(kMaxMergeSegments);
    if (passed() && (num_segments == 0 || num_segments > kMost)) {
      status_ = refuse(KVW_SEGMENTS_OUT_OF_RANGE, "num_segments is %" PRId64 "; it must be 1 to %" PRId64, num_segments,
                       kMost);
    }
  }

  void keep(std::int64_t learned_keep, std::int64_t topk) noexcept {
    if (passed() && learned_keep > topk) {
      status_ = refuse(KVW_LEARNED_KEEP_OUT_OF_RANGE,
                       "learned_keep is %" PRId64 "; it must be at most topk, which is %" PRId64, learned_keep, topk);
    }
  }

  void not_null(const char* name, const void* data, bool is_used) noexcept {
    if (passed() && data == nullptr && is_used) {
      status_ =
          refuse(KVW_NULL_POINTER, "%s is null; it may be null only where the call neither reads nor writes it", name);
    }
  }
  void lengths_not_null(const kvw_cuda_lengths* lengths, std::int64_t rows) noexcept {
    not_null("lengths", lengths, rows > 0);
    if (passed() && lengths != nullptr) {
      not_null("lengths->lens", lengths->lens, rows > 0);
    }
  }

  void stride(const Count& stride, std::int64_t topk, std::int64_t rows) noexcept {
    if (!passed() || rows < 2) {
      return;
    }
    if (stride.value < topk) {
      status_ =
          refuse(KVW_ROW_STRIDE, "%s is %" PRId64 "; with %" PRId64 " rows it must be at least topk, which is %" PRId64,
                 stride.name, stride.value, rows, topk);
    } else if (row_span(size(rows), size(stride.value), size(topk)) > kMaxElements<std::int32_t>) {
      status_ = refuse(KVW_ROW_STRIDE,
                       "%s is %" PRId64 "; %" PRId64 " rows of topk %" PRId64 " then span more than PTRDIFF_MAX bytes",
                       stride.name, stride.value, rows, topk);
    }
  }

  void disjoint(const Span& output, std::initializer_list<Span> others) noexcept {
    for (const Span& other : others) {
      if (passed() && detail::overlap(output.data, output.elements * sizeof(std::int32_t), other.data,
                                      other.elements * sizeof(std::int32_t))) {
        status_ = refuse(KVW_BUFFER_OVERLAP, "%s at %p (%zu elements) shares memory with %s at %p (%zu elements)",
                         output.name, static_cast<const void*>(output.data), output.elements, other.name,
                         static_cast<const void*>(other.data), other.elements);
      }
    }
  }

  void room(const Count& capacity, std::size_t needed) noexcept {
    if (passed() && size(capacity.value) < needed) {
      status_ = refuse(KVW_BUFFER_TOO_SMALL, "%s is %" PRId64 "; it must be at least %zu", capacity.name,
                       capacity.value, needed);
    }
  }

 private:
  kvw_status status_ = KVW_OK;
};

// The lengths' spans for the overlap check; both are read at the same stride. Needs lengths that passed the checks
// before it.
std::array<Span, 2> spans_of(const kvw_cuda_lengths* lengths, std::int64_t rows) noexcept {
  if (lengths == nullptr || rows == 0) {
    return {};
  }
  const std::int64_t requests = (rows - 1) / lengths->next_n + 1;
  const std::size_t elements = row_span(size(requests), size(lengths->stride), 1);
  return {{{"lengths->lens", lengths->lens, elements},
           {"lengths->starts", lengths->starts, lengths->starts == nullptr ? 0 : elements}}};
}

RowLengths row_lengths(const kvw_cuda_lengths& lengths, std::int64_t rows) noexcept {
  return {lengths.lens, lengths.starts, lengths.stride, lengths.next_n, rows};
}

}  // namespace

Variant choose_variant(std::int64_t rows, std::int64_t topk) noexcept {
  return rows > kMaxRowsByBlock || topk <= kMaxTopkOfOneRound ? Variant::kWarp : Variant::kBlock;
}

unsigned int grid_blocks(std::int64_t rows, std::int64_t rows_per_block) noexcept {
  return static_cast<unsigned int>(std::min((rows - 1) / rows_per_block + 1, kMaxGridBlocks));
}

const char* last_error() noexcept {
  return message_buffer();
}

kvw_status refuse(kvw_status status, const char* format, ...) noexcept {
  std::va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message_buffer(), kMessageBytes, format, arguments);
  va_end(arguments);
  return status;
}

kvw_status plan_witness_indices(const std::int32_t* learned, std::int64_t learned_len, std::int64_t row_stride,
                                std::int64_t topk, const kvw_cuda_lengths* lengths, std::int64_t rows,
                                std::int64_t num_segments, std::int32_t* witnesses, std::int64_t witnesses_len,
                                IndicesPlan& plan) noexcept {
  plan = {};
  const Rows input{"learned", learned, {"learned_len", learned_len}, {"row_stride", row_stride}};
  const Count capacity{"witnesses_len", witnesses_len};
  Checks checks;
  checks.counts({input.len, input.stride, {"topk", topk}});
  checks.counts_of(lengths);
  checks.counts({{"rows", rows}, {"num_segments", num_segments}, capacity});
  if (!checks.passed()) {
    return checks.status();
  }
  checks.covers_rows(input, topk, rows);
  checks.covers_lengths(lengths, rows);
  checks.indices_segments(num_segments, rows);
  checks.not_null(input.name, learned, rows > 0 && topk > 0);
  checks.lengths_not_null(lengths, rows);
  checks.not_null("witnesses", witnesses, rows > 0);
  checks.stride(input.stride, topk, rows);
  if (!checks.passed()) {
    return checks.status();
  }
  const std::size_t output_elements = size(rows) * size(num_segments);
  const auto [lens, starts] = spans_of(lengths, rows);
  checks.disjoint({"witnesses", witnesses, output_elements},
                  {{input.name, learned, row_span(size(rows), size(row_stride), size(topk))}, lens, starts});
  checks.room(capacity, output_elements);
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
  Checks checks;
  checks.counts({input.len, input.stride, {"topk", topk}});
  checks.counts_of(lengths);
  checks.counts({{"rows", rows},
                 {"learned_keep", learned_keep},
                 {"num_segments", num_segments},
                 {"max_replacements", max_replacements},
                 output.len,
                 output.stride});
  if (!checks.passed()) {
    return checks.status();
  }
  checks.covers_rows(input, topk, rows);
  checks.covers_lengths(lengths, rows);
  checks.merge_segments(num_segments);
  checks.keep(learned_keep, topk);
  checks.not_null(input.name, learned, rows > 0 && topk > 0);
  checks.lengths_not_null(lengths, rows);
  checks.not_null(output.name, out, rows > 0 && topk > 0);
  checks.stride(input.stride, topk, rows);
  checks.stride(output.stride, topk, rows);
  if (!checks.passed()) {
    return checks.status();
  }
  const bool in_place = out == learned && (rows < 2 || out_row_stride == row_stride);
  const std::size_t input_elements = row_span(size(rows), size(row_stride), size(topk));
  const std::size_t output_elements = row_span(size(rows), size(out_row_stride), size(topk));
  const auto [lens, starts] = spans_of(lengths, rows);
  checks.disjoint({output.name, out, output_elements},
                  {{input.name, learned, in_place ? 0 : input_elements}, lens, starts});
  checks.room(output.len, output_elements);
  const std::int64_t budget =
      std::min({max_replacements, topk - learned_keep, static_cast<std::int64_t>(kMaxMergeSegments)});
  if (checks.passed() && rows > 0 && topk > 0 && !(in_place && budget == 0)) {
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
  return checks.status();
}

kvw_status plan_scatter(std::int32_t* topk_indices, std::int64_t topk_indices_len, std::int64_t row_stride,
                        std::int64_t topk, const kvw_cuda_lengths* lengths, std::int64_t rows,
                        std::int64_t num_segments, MergePlan& plan) noexcept {
  plan.reset();
  if (num_segments == 0) {
    return KVW_OK;
  }
  const Rows input{"topk_indices", topk_indices, {"topk_indices_len", topk_indices_len}, {"row_stride", row_stride}};
  Checks checks;
  checks.counts({input.len, input.stride, {"topk", topk}});
  checks.counts_of(lengths);
  checks.counts({{"rows", rows}, {"num_segments", num_segments}});
  if (!checks.passed()) {
    return checks.status();
  }
  checks.covers_rows(input, topk, rows);
  checks.covers_lengths(lengths, rows);
  checks.merge_segments(num_segments);
  checks.not_null(input.name, topk_indices, rows > 0 && topk > 0);
  checks.lengths_not_null(lengths, rows);
  checks.stride(input.stride, topk, rows);
  if (!checks.passed()) {
    return checks.status();
  }
  const auto [lens, starts] = spans_of(lengths, rows);
  checks.disjoint({input.name, topk_indices, row_span(size(rows), size(row_stride), size(topk))}, {lens, starts});
  if (checks.passed() && rows > 0 && topk > 0) {
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
  }
  return checks.status();
}

}  // namespace kvwitness::kernels
