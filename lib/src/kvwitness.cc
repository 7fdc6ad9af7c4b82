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
#include "lib/src/backend_message.h"
#include "lib/src/checks.h"
#include "lib/src/chosen_backend.h"
#include "lib/src/last_error.h"
#include "lib/src/plain_call.h"
#include "lib/src/row_pass.h"

namespace kvwitness {
namespace {

using detail::Buffer;
using detail::bytes;
using detail::Count;
using detail::size;

constinit thread_local detail::LastError last_error;

// The checks of one call.
class CallChecks : public detail::Checks<detail::StatusOutcome> {
 public:
  CallChecks() noexcept : Checks(detail::StatusOutcome(last_error)) {}

  kvw_status status() const noexcept { return outcome_.status(); }

  // The backend of the four operations; null where KVWITNESS_BACKEND is unusable, and then refused.
  const Backend* backend() noexcept {
    const auto selected = selected_backend();
    if (!selected) {
      const std::string_view why = selected.error().why;
      outcome_.refuse(KVW_UNKNOWN_BACKEND, {}, "%.*s", static_cast<int>(why.size()), why.data());
      return nullptr;
    }
    return *selected;
  }

  // learned_len == rows * topk, and rows and lengths have at most PTRDIFF_MAX bytes.
  void contiguous_rows(const Count& learned_len, std::int64_t topk, std::int64_t rows) noexcept {
    packed_rows(learned_len.name, size(learned_len.value), size(topk), size(rows));
    contiguous_span(learned_len.name, size(learned_len.value));
    contiguous_span("rows", size(rows));
  }

  // requests * next_n rows have at most PTRDIFF_MAX bytes.
  void request_rows(std::size_t requests, std::size_t next_n) noexcept {
    constexpr std::size_t kMost = detail::kMaxElements<std::int32_t>;
    if (passed() && detail::saturating_product(requests, next_n) > kMost) {
      outcome_.refuse(KVW_ROWS_MISMATCH, {},
                      "requests is %zu and next_n %zu; their product must be at most %zu int32 elements", requests,
                      next_n, kMost);
    }
  }
};

// The backend in use, or null while there is none or it is not yet known.
const Backend* backend_at_hand() noexcept {
  return detail::chosen_backend.load(std::memory_order_relaxed);
}

RowBatch batch(const std::int32_t* learned, std::int64_t row_stride, std::int64_t topk,
               const std::int32_t* context_lens, std::int64_t rows) noexcept {
  return {learned, size(row_stride), size(topk), context_lens, size(rows)};
}

// Runs what may allocate and has written nothing when it fails to.
template <typename Work>
kvw_status run_or_out_of_memory(const char* name, std::int64_t value, const Work& work) noexcept {
  try {
    work();
    return KVW_OK;
  } catch (const std::bad_alloc&) {
    return last_error.refuse(KVW_OUT_OF_MEMORY, "out of memory; %s is %lld", name, static_cast<long long>(value));
  }
}

// The checks of scatter below its rows', and the pass.
kvw_status scatter_rows(CallChecks& checks, const Backend* backend, const RowBatch& rows, std::int64_t num_segments,
                        std::int32_t* topk_indices) noexcept {
  // The span is known to be bounded only after the stride is checked; for null it counts only whether it is empty.
  const std::size_t row_bytes = rows.topk == 0 ? 0 : bytes(rows.rows);
  const Buffer lens{"context_lens", rows.context_lens, bytes(rows.rows)};
  checks.merge_segments(size(num_segments));
  checks.not_null({{"topk_indices", topk_indices, row_bytes}, lens});
  checks.row_stride("row_stride", rows.row_stride, rows.topk, rows.rows);
  checks.strided_span("row_stride", rows.row_stride, rows.topk, rows.rows);
  checks.disjoint({"topk_indices", topk_indices, bytes(detail::row_span(rows.rows, rows.row_stride, rows.topk))},
                  {lens});
  if (checks.passed()) {
    detail::pass_scatter(*backend, rows, size(num_segments), topk_indices);
  }
  return checks.status();
}

// The two nulls up to their draw: *needed is the number of offsets, written to `count` where only the capacity is at
// fault.
kvw_status check_null(std::int64_t context_len, std::int64_t budget, const std::int32_t* offsets, std::int64_t capacity,
                      std::int64_t* count, std::size_t& needed) noexcept {
  CallChecks checks;
  checks.counts({{"context_len", context_len}, {"budget", budget}, {"capacity", capacity}});
  checks.context_len("context_len", context_len);
  if (!checks.passed()) {
    return checks.status();
  }
  needed = null_count(static_cast<std::int32_t>(context_len), size(budget));
  const Buffer span{"offsets", offsets, bytes(std::min(size(capacity), needed))};
  const Buffer counted{"count", count, sizeof *count};
  checks.not_null({span, counted});
  checks.disjoint(span, {counted});
  if (checks.passed()) {
    checks.room("capacity", size(capacity), needed);
    if (!checks.passed()) {
      *count = static_cast<std::int64_t>(needed);
    }
  }
  return checks.status();
}

// The two masks up to their drawing. `parameter` is the budget or the window.
kvw_status check_mask(std::int64_t seq, const Count& parameter, const std::uint8_t* mask,
                      std::int64_t mask_len) noexcept {
  CallChecks checks;
  checks.counts({{"seq", seq}, parameter, {"mask_len", mask_len}});
  checks.context_len("seq", seq);
  const std::size_t needed = size(seq) * size(seq);  // below 2^62
  checks.not_null({{"mask", mask, size(mask_len) >= needed ? needed : 0}});
  checks.room("mask_len", size(mask_len), needed);
  return checks.status();
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
  return last_error.text();
}

kvw_status kvw_witness_indices(const int32_t* learned, int64_t learned_len, int64_t topk, const int32_t* context_lens,
                               int64_t rows, int64_t num_segments, int32_t* witnesses) {
  const Backend* backend = backend_at_hand();
  if (backend != nullptr &&
      detail::is_plain_witness_indices(learned, topk, context_lens, rows, num_segments, witnesses) &&
      learned_len == rows * topk) {
    detail::pass_witness_indices(*backend, batch(learned, topk, topk, context_lens, rows), size(num_segments),
                                 witnesses);
    return KVW_OK;
  }
  CallChecks checks;
  backend = checks.backend();
  const Count len{"learned_len", learned_len};
  checks.counts({len, {"topk", topk}, {"rows", rows}, {"num_segments", num_segments}});
  checks.contiguous_rows(len, topk, rows);
  checks.witness_segments(size(num_segments), size(rows));
  const Buffer row_span{"learned", learned, bytes(size(learned_len))};
  const Buffer len_span{"context_lens", context_lens, bytes(size(rows))};
  const Buffer out_span{"witnesses", witnesses, bytes(size(rows) * size(num_segments))};
  checks.not_null({row_span, len_span, out_span});
  checks.disjoint(out_span, {row_span, len_span});
  if (checks.passed()) {
    detail::pass_witness_indices(*backend, batch(learned, topk, topk, context_lens, rows), size(num_segments),
                                 witnesses);
  }
  return checks.status();
}

kvw_status kvw_apply(const int32_t* learned, int64_t learned_len, int64_t topk, const int32_t* context_lens,
                     int64_t rows, int64_t learned_keep, int64_t num_segments, int64_t max_replacements, int32_t* out) {
  const Backend* backend = backend_at_hand();
  if (backend != nullptr &&
      detail::is_plain_apply(learned, topk, context_lens, rows, learned_keep, num_segments, max_replacements, out) &&
      learned_len == rows * topk) {
    detail::pass_apply(*backend, batch(learned, topk, topk, context_lens, rows), size(learned_keep), size(num_segments),
                       size(max_replacements), out, size(topk));
    return KVW_OK;
  }
  CallChecks checks;
  backend = checks.backend();
  const Count len{"learned_len", learned_len};
  checks.counts({len,
                 {"topk", topk},
                 {"rows", rows},
                 {"learned_keep", learned_keep},
                 {"num_segments", num_segments},
                 {"max_replacements", max_replacements}});
  checks.contiguous_rows(len, topk, rows);
  checks.merge_segments(size(num_segments));
  checks.learned_keep(size(learned_keep), size(topk));
  const Buffer row_span{"learned", learned, bytes(size(learned_len))};
  const Buffer len_span{"context_lens", context_lens, bytes(size(rows))};
  const Buffer out_span{"out", out, row_span.bytes};
  checks.not_null({row_span, len_span, out_span});
  checks.disjoint(out_span, {{row_span.name, learned, out == learned ? 0 : row_span.bytes}, len_span});
  if (checks.passed()) {
    detail::pass_apply(*backend, batch(learned, topk, topk, context_lens, rows), size(learned_keep), size(num_segments),
                       size(max_replacements), out, size(topk));
  }
  return checks.status();
}

kvw_status kvw_scatter(int32_t* topk_indices, int64_t topk_indices_len, int64_t topk, const int32_t* context_lens,
                       int64_t rows, int64_t num_segments) {
  if (num_segments == 0) {
    return KVW_OK;
  }
  const Backend* backend = backend_at_hand();
  if (backend != nullptr && detail::is_plain_scatter(topk_indices, topk, topk, context_lens, rows, num_segments) &&
      topk_indices_len == rows * topk) {
    detail::pass_scatter(*backend, batch(topk_indices, topk, topk, context_lens, rows), size(num_segments),
                         topk_indices);
    return KVW_OK;
  }
  CallChecks checks;
  backend = checks.backend();
  const Count len{"topk_indices_len", topk_indices_len};
  checks.counts({len, {"topk", topk}, {"rows", rows}, {"num_segments", num_segments}});
  checks.contiguous_rows(len, topk, rows);
  return scatter_rows(checks, backend, batch(topk_indices, topk, topk, context_lens, rows), num_segments, topk_indices);
}

kvw_status kvw_scatter_strided(int32_t* topk_indices, int64_t row_stride, int64_t topk, const int32_t* context_lens,
                               int64_t rows, int64_t num_segments) {
  if (num_segments == 0) {
    return KVW_OK;
  }
  const Backend* backend = backend_at_hand();
  if (backend != nullptr &&
      detail::is_plain_scatter(topk_indices, row_stride, topk, context_lens, rows, num_segments)) {
    detail::pass_scatter(*backend, batch(topk_indices, row_stride, topk, context_lens, rows), size(num_segments),
                         topk_indices);
    return KVW_OK;
  }
  CallChecks checks;
  backend = checks.backend();
  checks.counts({{"row_stride", row_stride}, {"topk", topk}, {"rows", rows}, {"num_segments", num_segments}});
  checks.contiguous_span("topk", rows == 1 ? size(topk) : 0);
  checks.contiguous_span("rows", size(rows));
  return scatter_rows(checks, backend, batch(topk_indices, row_stride, topk, context_lens, rows), num_segments,
                      topk_indices);
}

uint64_t kvw_segment_of(uint64_t token, uint64_t context_len, uint64_t num_segments) {
  return segment_of(token, context_len, num_segments);
}

kvw_status kvw_context_lens_from_windows(const int32_t* window_starts, const int32_t* window_ends, int64_t rows,
                                         int32_t* context_lens) {
  CallChecks checks;
  checks.counts({{"rows", rows}});
  checks.contiguous_span("rows", size(rows));
  const Buffer starts{"window_starts", window_starts, bytes(size(rows))};
  const Buffer ends{"window_ends", window_ends, bytes(size(rows))};
  const Buffer out{"context_lens", context_lens, bytes(size(rows))};
  checks.not_null({starts, ends, out});
  checks.disjoint(out, {starts, ends});
  if (checks.passed()) {
    std::ignore =
        context_lens_from_windows({window_starts, size(rows)}, {window_ends, size(rows)}, {context_lens, size(rows)});
  }
  return checks.status();
}

kvw_status kvw_context_lens_from_requests(const int32_t* seq_lens, int64_t requests, int64_t next_n,
                                          int32_t* context_lens) {
  CallChecks checks;
  checks.counts({{"requests", requests}, {"next_n", next_n, 1}});
  const std::size_t rows = detail::saturating_product(size(requests), size(next_n));
  checks.request_rows(size(requests), size(next_n));
  const Buffer in{"seq_lens", seq_lens, bytes(size(requests))};
  const Buffer out{"context_lens", context_lens, bytes(rows)};
  checks.not_null({in, out});
  checks.disjoint(out, {in});
  if (checks.passed()) {
    std::ignore = context_lens_from_requests({seq_lens, size(requests)}, size(next_n), {context_lens, rows});
  }
  return checks.status();
}

kvw_status kvw_segments_from_environment(int64_t* num_segments) {
  CallChecks checks;
  checks.not_null({{"num_segments", num_segments, sizeof *num_segments}});
  if (!checks.passed()) {
    return checks.status();
  }
  const auto segments = segments_from_environment();
  if (!segments) {
    return last_error.refuse(KVW_ENVIRONMENT, "%s is \"%.*s\"; it must be decimal digits of value 0 to %d",
                             kSegmentsVariable,
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
  CallChecks checks;
  checks.counts({{"candidates_len", candidates_len}, {"context_len", context_len}, {"num_segments", num_segments}});
  checks.contiguous_span("candidates_len", size(candidates_len));
  checks.context_len("context_len", context_len);
  const Buffer in{"candidates", candidates, bytes(size(candidates_len))};
  const Buffer out{"coverage", coverage, sizeof *coverage};
  checks.not_null({in, out});
  checks.disjoint(out, {in});
  if (!checks.passed()) {
    return checks.status();
  }
  return run_or_out_of_memory("num_segments", num_segments, [&] {
    *coverage = segment_coverage({candidates, size(candidates_len)}, static_cast<std::int32_t>(context_len),
                                 size(num_segments));
  });
}

kvw_status kvw_attention_mass_recall(const int32_t* candidates, int64_t candidates_len, const double* attention,
                                     int64_t context_len, double* recall) {
  CallChecks checks;
  checks.counts({{"candidates_len", candidates_len}, {"context_len", context_len}});
  checks.contiguous_span("candidates_len", size(candidates_len));
  checks.context_len("context_len", context_len);
  const Buffer in{"candidates", candidates, bytes(size(candidates_len))};
  const Buffer mass{"attention", attention, size(context_len) * sizeof *attention};
  const Buffer out{"recall", recall, sizeof *recall};
  checks.not_null({in, mass, out});
  checks.disjoint(out, {in, mass});
  if (!checks.passed()) {
    return checks.status();
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
    return last_error.refuse(KVW_UNKNOWN_BACKEND, "%s", why);
  }
  return KVW_OK;
}

}  // extern "C"
