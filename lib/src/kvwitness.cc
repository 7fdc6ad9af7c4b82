#include "kvwitness/kvwitness.h"

#include <algorithm>
#include <iterator>
#include <new>
#include <tuple>

#include "kvwitness/backend.h"
#include "kvwitness/gate.h"
#include "kvwitness/metrics.h"
#include "kvwitness/nulls.h"
#include "kvwitness/segments.h"
#include "kvwitness/select.h"
#include "lib/src/arguments.h"
#include "lib/src/backend_message.h"
#include "lib/src/checks.h"
#include "lib/src/chosen_backend.h"
#include "lib/src/last_error.h"
#include "lib/src/plain_call.h"
#include "lib/src/row_pass.h"

namespace kvwitness {
namespace {

using detail::Buffer;
using detail::Count;
using detail::refuse;

// A count that has been checked.
constexpr std::size_t size(std::int64_t count) {
  return static_cast<std::size_t>(count);
}

constexpr std::size_t bytes(std::size_t int32_len) {
  return int32_len * sizeof(std::int32_t);
}

// The backend of the four operations, or why there is none.
kvw_status take_backend(const Backend*& backend) noexcept {
  const auto selected = selected_backend();
  if (!selected) {
    return refuse(KVW_UNKNOWN_BACKEND, "%s", selected.error().why.data());
  }
  backend = *selected;
  return KVW_OK;
}

// The backend in use, or null while there is none or it is not yet known.
const Backend* backend_at_hand() noexcept {
  return detail::chosen_backend.load(std::memory_order_relaxed);
}

// Runs what may allocate and has written nothing when it fails to.
template <typename Work>
kvw_status run_or_out_of_memory(const char* name, std::int64_t value, const Work& work) noexcept {
  try {
    work();
    return KVW_OK;
  } catch (const std::bad_alloc&) {
    return refuse(KVW_OUT_OF_MEMORY, "out of memory; %s is %lld", name, static_cast<long long>(value));
  }
}

// The checks of scatter below its rows', and the pass.
kvw_status scatter_rows(const Backend& backend, const RowBatch& batch, std::int64_t num_segments,
                        std::int32_t* topk_indices) noexcept {
  kvw_status status = detail::check_num_merge_segments(size(num_segments));
  // The span is known to be bounded only after the stride is checked; here it counts whether it is empty.
  const std::size_t row_bytes = batch.topk == 0 ? 0 : bytes(batch.rows);
  const Buffer lens{"context_lens", batch.context_lens, bytes(batch.rows)};
  if (status == KVW_OK) {
    status = detail::check_pointers({{"topk_indices", topk_indices, row_bytes}, lens});
  }
  if (status == KVW_OK) {
    status = detail::check_stride(batch.row_stride, batch.topk, batch.rows);
  }
  if (status == KVW_OK) {
    const std::size_t span = bytes(detail::row_span(batch.rows, batch.row_stride, batch.topk));
    status = detail::check_overlap({"topk_indices", topk_indices, span}, {lens});
  }
  if (status == KVW_OK) {
    detail::pass_scatter(backend, batch, size(num_segments), topk_indices);
  }
  return status;
}

// The two nulls up to their draw: *needed is the number of offsets, written to `count` where the capacity alone is at
// fault.
kvw_status check_null(std::int64_t context_len, std::int64_t budget, const std::int32_t* offsets, std::int64_t capacity,
                      std::int64_t* count, std::size_t& needed) noexcept {
  kvw_status status = detail::check_counts({{"context_len", context_len}, {"budget", budget}, {"capacity", capacity}});
  if (status == KVW_OK) {
    status = detail::check_context_len("context_len", context_len);
  }
  if (status != KVW_OK) {
    return status;
  }
  needed = null_count(static_cast<std::int32_t>(context_len), size(budget));
  const Buffer span{"offsets", offsets, bytes(std::min(size(capacity), needed))};
  const Buffer counted{"count", count, sizeof *count};
  status = detail::check_pointers({span, counted});
  if (status == KVW_OK) {
    status = detail::check_overlap(span, {counted});
  }
  if (status == KVW_OK) {
    status = detail::check_capacity({"capacity", capacity}, needed);
    if (status != KVW_OK) {
      *count = static_cast<std::int64_t>(needed);
    }
  }
  return status;
}

// The two masks up to their drawing. `parameter` is the budget or the window.
kvw_status check_mask(std::int64_t seq, const Count& parameter, const std::uint8_t* mask,
                      std::int64_t mask_len) noexcept {
  const Count capacity{"mask_len", mask_len};
  kvw_status status = detail::check_counts({{"seq", seq}, parameter, capacity});
  if (status == KVW_OK) {
    status = detail::check_context_len("seq", seq);
  }
  if (status != KVW_OK) {
    return status;
  }
  const std::size_t needed = size(seq) * size(seq);  // below 2^62
  status = detail::check_pointers({{"mask", mask, size(mask_len) >= needed ? needed : 0}});
  return status == KVW_OK ? detail::check_capacity(capacity, needed) : status;
}

}  // namespace
}  // namespace kvwitness

using namespace kvwitness;  // NOLINT: the C functions below live outside every namespace

extern "C" {

int32_t kvw_abi_version(void) {
  return 1;
}

const char* kvw_version(void) {
  return KVWITNESS_VERSION;
}

const char* kvw_status_name(kvw_status status) {
  static constexpr const char* kNames[] = {
      "ok",
      "rows mismatch",
      "segments out of range",
      "learned keep out of range",
      "negative count",
      "null pointer",
      "row stride",
      "buffer overlap",
      "buffer too small",
      "context length out of range",
      "unknown backend",
      "environment",
      "cuda",
      "out of memory",
  };
  const auto index = static_cast<std::size_t>(static_cast<std::uint32_t>(status));
  return index < std::size(kNames) ? kNames[index] : "unknown status";
}

const char* kvw_last_error(void) {
  return detail::last_error();
}

kvw_status kvw_witness_indices(const int32_t* learned, int64_t learned_len, int64_t topk, const int32_t* context_lens,
                               int64_t rows, int64_t num_segments, int32_t* witnesses) {
  const Backend* backend = backend_at_hand();
  if (backend != nullptr &&
      detail::is_plain_witness_indices(learned, topk, context_lens, rows, num_segments, witnesses) &&
      learned_len == rows * topk) {
    detail::pass_witness_indices(*backend, {learned, size(topk), size(topk), context_lens, size(rows)},
                                 size(num_segments), witnesses);
    return KVW_OK;
  }
  const Count len{"learned_len", learned_len};
  kvw_status status = take_backend(backend);
  if (status == KVW_OK) {
    status = detail::check_counts({len, {"topk", topk}, {"rows", rows}, {"num_segments", num_segments}});
  }
  if (status == KVW_OK) {
    status = detail::check_packed_span(len, size(topk), size(rows));
  }
  if (status == KVW_OK) {
    status = detail::check_num_witness_segments(size(num_segments), size(rows));
  }
  if (status != KVW_OK) {
    return status;
  }
  const Buffer row_span{"learned", learned, bytes(size(learned_len))};
  const Buffer len_span{"context_lens", context_lens, bytes(size(rows))};
  const Buffer out_span{"witnesses", witnesses, bytes(size(rows) * size(num_segments))};
  status = detail::check_pointers({row_span, len_span, out_span});
  if (status == KVW_OK) {
    status = detail::check_overlap(out_span, {row_span, len_span});
  }
  if (status == KVW_OK) {
    detail::pass_witness_indices(*backend, {learned, size(topk), size(topk), context_lens, size(rows)},
                                 size(num_segments), witnesses);
  }
  return status;
}

kvw_status kvw_apply(const int32_t* learned, int64_t learned_len, int64_t topk, const int32_t* context_lens,
                     int64_t rows, int64_t learned_keep, int64_t num_segments, int64_t max_replacements, int32_t* out) {
  const Backend* backend = backend_at_hand();
  if (backend != nullptr &&
      detail::is_plain_apply(learned, topk, context_lens, rows, learned_keep, num_segments, max_replacements, out) &&
      learned_len == rows * topk) {
    detail::pass_apply(*backend, {learned, size(topk), size(topk), context_lens, size(rows)}, size(learned_keep),
                       size(num_segments), size(max_replacements), out, size(topk));
    return KVW_OK;
  }
  const Count len{"learned_len", learned_len};
  kvw_status status = take_backend(backend);
  if (status == KVW_OK) {
    status = detail::check_counts({len,
                                   {"topk", topk},
                                   {"rows", rows},
                                   {"learned_keep", learned_keep},
                                   {"num_segments", num_segments},
                                   {"max_replacements", max_replacements}});
  }
  if (status == KVW_OK) {
    status = detail::check_packed_span(len, size(topk), size(rows));
  }
  if (status == KVW_OK) {
    status = detail::check_num_merge_segments(size(num_segments));
  }
  if (status == KVW_OK) {
    status = detail::check_keep(size(learned_keep), size(topk));
  }
  if (status != KVW_OK) {
    return status;
  }
  const Buffer row_span{"learned", learned, bytes(size(learned_len))};
  const Buffer len_span{"context_lens", context_lens, bytes(size(rows))};
  const Buffer out_span{"out", out, row_span.bytes};
  status = detail::check_pointers({row_span, len_span, out_span});
  if (status == KVW_OK) {
    const Buffer foreign_rows{row_span.name, learned, out == learned ? 0 : row_span.bytes};
    status = detail::check_overlap(out_span, {foreign_rows, len_span});
  }
  if (status == KVW_OK) {
    detail::pass_apply(*backend, {learned, size(topk), size(topk), context_lens, size(rows)}, size(learned_keep),
                       size(num_segments), size(max_replacements), out, size(topk));
  }
  return status;
}

kvw_status kvw_scatter(int32_t* topk_indices, int64_t topk_indices_len, int64_t topk, const int32_t* context_lens,
                       int64_t rows, int64_t num_segments) {
  if (num_segments == 0) {
    return KVW_OK;
  }
  const Backend* backend = backend_at_hand();
  if (backend != nullptr && detail::is_plain_scatter(topk_indices, topk, topk, context_lens, rows, num_segments) &&
      topk_indices_len == rows * topk) {
    detail::pass_scatter(*backend, {topk_indices, size(topk), size(topk), context_lens, size(rows)}, size(num_segments),
                         topk_indices);
    return KVW_OK;
  }
  const Count len{"topk_indices_len", topk_indices_len};
  kvw_status status = take_backend(backend);
  if (status == KVW_OK) {
    status = detail::check_counts({len, {"topk", topk}, {"rows", rows}, {"num_segments", num_segments}});
  }
  if (status == KVW_OK) {
    status = detail::check_packed_span(len, size(topk), size(rows));
  }
  if (status != KVW_OK) {
    return status;
  }
  return scatter_rows(*backend, {topk_indices, size(topk), size(topk), context_lens, size(rows)}, num_segments,
                      topk_indices);
}

kvw_status kvw_scatter_strided(int32_t* topk_indices, int64_t row_stride, int64_t topk, const int32_t* context_lens,
                               int64_t rows, int64_t num_segments) {
  if (num_segments == 0) {
    return KVW_OK;
  }
  const Backend* backend = backend_at_hand();
  if (backend != nullptr &&
      detail::is_plain_scatter(topk_indices, row_stride, topk, context_lens, rows, num_segments)) {
    detail::pass_scatter(*backend, {topk_indices, size(row_stride), size(topk), context_lens, size(rows)},
                         size(num_segments), topk_indices);
    return KVW_OK;
  }
  kvw_status status = take_backend(backend);
  if (status == KVW_OK) {
    status = detail::check_counts(
        {{"row_stride", row_stride}, {"topk", topk}, {"rows", rows}, {"num_segments", num_segments}});
  }
  if (status == KVW_OK) {
    status = detail::check_single_row_span(size(topk), size(rows));
  }
  if (status != KVW_OK) {
    return status;
  }
  return scatter_rows(*backend, {topk_indices, size(row_stride), size(topk), context_lens, size(rows)}, num_segments,
                      topk_indices);
}

uint64_t kvw_segment_of(uint64_t token, uint64_t context_len, uint64_t num_segments) {
  return segment_of(token, context_len, num_segments);
}

kvw_status kvw_context_lens_from_windows(const int32_t* window_starts, const int32_t* window_ends, int64_t rows,
                                         int32_t* context_lens) {
  kvw_status status = detail::check_counts({{"rows", rows}});
  if (status == KVW_OK) {
    status = detail::check_contiguous_span("rows", size(rows));
  }
  if (status != KVW_OK) {
    return status;
  }
  const Buffer starts{"window_starts", window_starts, bytes(size(rows))};
  const Buffer ends{"window_ends", window_ends, bytes(size(rows))};
  const Buffer out{"context_lens", context_lens, bytes(size(rows))};
  status = detail::check_pointers({starts, ends, out});
  if (status == KVW_OK) {
    status = detail::check_overlap(out, {starts, ends});
  }
  if (status == KVW_OK) {
    std::ignore =
        context_lens_from_windows({window_starts, size(rows)}, {window_ends, size(rows)}, {context_lens, size(rows)});
  }
  return status;
}

kvw_status kvw_context_lens_from_requests(const int32_t* seq_lens, int64_t requests, int64_t next_n,
                                          int32_t* context_lens) {
  kvw_status status = detail::check_counts({{"requests", requests}, {"next_n", next_n, 1}});
  if (status != KVW_OK) {
    return status;
  }
  const std::size_t rows = detail::saturating_product(size(requests), size(next_n));
  if (rows > detail::kMaxElements<std::int32_t>) {
    return refuse(KVW_ROWS_MISMATCH, "requests is %zu and next_n %zu; their product must be at most %zu int32 elements",
                  size(requests), size(next_n), detail::kMaxElements<std::int32_t>);
  }
  const Buffer in{"seq_lens", seq_lens, bytes(size(requests))};
  const Buffer out{"context_lens", context_lens, bytes(rows)};
  status = detail::check_pointers({in, out});
  if (status == KVW_OK) {
    status = detail::check_overlap(out, {in});
  }
  if (status == KVW_OK) {
    std::ignore = context_lens_from_requests({seq_lens, size(requests)}, size(next_n), {context_lens, rows});
  }
  return status;
}

kvw_status kvw_segments_from_environment(int64_t* num_segments) {
  const kvw_status status = detail::check_pointers({{"num_segments", num_segments, sizeof *num_segments}});
  if (status != KVW_OK) {
    return status;
  }
  const auto segments = segments_from_environment();
  if (!segments) {
    return refuse(KVW_ENVIRONMENT, "%s is \"%.*s\"; it must be decimal digits of value 0 to %d", kSegmentsVariable,
                  static_cast<int>(std::min<std::size_t>(segments.error().value.size(), 64)),
                  segments.error().value.data(), static_cast<int>(kMaxMergeSegments));
  }
  *num_segments = static_cast<std::int64_t>(*segments);
  return KVW_OK;
}

kvw_status kvw_random_null(int64_t context_len, int64_t budget, uint64_t seed, int32_t* offsets, int64_t capacity,
                           int64_t* count) {
  std::size_t needed = 0;
  kvw_status status = check_null(context_len, budget, offsets, capacity, count, needed);
  if (status == KVW_OK) {
    status = run_or_out_of_memory("budget", budget, [&] {
      std::ignore = random_null_into(static_cast<std::int32_t>(context_len), size(budget), seed, {offsets, needed});
      *count = static_cast<std::int64_t>(needed);
    });
  }
  return status;
}

kvw_status kvw_locality_null(int64_t context_len, int64_t budget, int32_t* offsets, int64_t capacity, int64_t* count) {
  std::size_t needed = 0;
  const kvw_status status = check_null(context_len, budget, offsets, capacity, count, needed);
  if (status == KVW_OK) {
    std::ignore = locality_null_into(static_cast<std::int32_t>(context_len), size(budget), {offsets, needed});
    *count = static_cast<std::int64_t>(needed);
  }
  return status;
}

kvw_status kvw_select_mask_random(int64_t seq, int64_t budget, uint64_t seed, uint8_t* mask, int64_t mask_len) {
  const kvw_status status = check_mask(seq, {"budget", budget}, mask, mask_len);
  if (status != KVW_OK) {
    return status;
  }
  return run_or_out_of_memory("seq", seq, [&] {
    std::ignore = select_mask_into(Random{size(budget), seed}, static_cast<std::int32_t>(seq), {mask, size(mask_len)});
  });
}

kvw_status kvw_select_mask_local(int64_t seq, int64_t window, uint8_t* mask, int64_t mask_len) {
  const kvw_status status = check_mask(seq, {"window", window}, mask, mask_len);
  if (status == KVW_OK) {
    std::ignore = select_mask_into(Local{size(window)}, static_cast<std::int32_t>(seq), {mask, size(mask_len)});
  }
  return status;
}

kvw_status kvw_segment_coverage(const int32_t* candidates, int64_t candidates_len, int64_t context_len,
                                int64_t num_segments, double* coverage) {
  kvw_status status = detail::check_counts(
      {{"candidates_len", candidates_len}, {"context_len", context_len}, {"num_segments", num_segments}});
  if (status == KVW_OK) {
    status = detail::check_contiguous_span("candidates_len", size(candidates_len));
  }
  if (status == KVW_OK) {
    status = detail::check_context_len("context_len", context_len);
  }
  if (status != KVW_OK) {
    return status;
  }
  const Buffer in{"candidates", candidates, bytes(size(candidates_len))};
  const Buffer out{"coverage", coverage, sizeof *coverage};
  status = detail::check_pointers({in, out});
  if (status == KVW_OK) {
    status = detail::check_overlap(out, {in});
  }
  if (status != KVW_OK) {
    return status;
  }
  return run_or_out_of_memory("num_segments", num_segments, [&] {
    *coverage = segment_coverage({candidates, size(candidates_len)}, static_cast<std::int32_t>(context_len),
                                 size(num_segments));
  });
}

kvw_status kvw_attention_mass_recall(const int32_t* candidates, int64_t candidates_len, const double* attention,
                                     int64_t context_len, double* recall) {
  kvw_status status = detail::check_counts({{"candidates_len", candidates_len}, {"context_len", context_len}});
  if (status == KVW_OK) {
    status = detail::check_contiguous_span("candidates_len", size(candidates_len));
  }
  if (status == KVW_OK) {
    status = detail::check_context_len("context_len", context_len);
  }
  if (status != KVW_OK) {
    return status;
  }
  const Buffer in{"candidates", candidates, bytes(size(candidates_len))};
  const Buffer mass{"attention", attention, size(context_len) * sizeof *attention};
  const Buffer out{"recall", recall, sizeof *recall};
  status = detail::check_pointers({in, mass, out});
  if (status == KVW_OK) {
    status = detail::check_overlap(out, {in, mass});
  }
  if (status != KVW_OK) {
    return status;
  }
  return run_or_out_of_memory("context_len", context_len, [&] {
    *recall = attention_mass_recall({candidates, size(candidates_len)}, {attention, size(context_len)});
  });
}

const char* kvw_backend(void) {
  const auto selected = selected_backend();
  return (selected ? *selected : *find_backend(""))->name;
}

kvw_status kvw_set_backend(const char* name) {
  const std::string_view wanted = name == nullptr ? "" : name;
  if (const auto chosen = select_backend(wanted); !chosen) {
    char why[detail::kBackendMessageBytes];
    detail::describe_unusable_backend(why, "name", wanted, chosen.error());
    return refuse(KVW_UNKNOWN_BACKEND, "%s", why);
  }
  return KVW_OK;
}

}  // extern "C"
