#include "kvwitness/witness.h"

#include "kvwitness/backend.h"
#include "lib/src/refusals.h"
#include "lib/src/row_pass.h"

namespace kvwitness {
namespace {

using detail::buffer;
using detail::Checked;
using detail::RefusalChecks;

// The learned rows of a call, packed or strided.
struct Rows {
  Rows(std::span<const std::int32_t> learned, std::size_t slots, std::span<const std::int32_t> lens)
      : elements(learned), is_packed(true), row_stride(slots), topk(slots), context_lens(lens) {}
  Rows(StridedRows<const std::int32_t> learned, std::size_t slots, std::span<const std::int32_t> lens)
      : elements(learned.elements), is_packed(false), row_stride(learned.row_stride), topk(slots), context_lens(lens) {}

  std::span<const std::int32_t> elements;
  bool is_packed;
  std::size_t row_stride;
  std::size_t topk;
  std::span<const std::int32_t> context_lens;

  std::size_t count() const { return context_lens.size(); }
  std::size_t span() const { return detail::row_span(count(), row_stride, topk); }
  RowBatch batch() const { return {elements.data(), row_stride, topk, context_lens.data(), count()}; }
  detail::Buffer buffer() const { return detail::buffer(elements.data(), span()); }
  detail::Buffer lens_buffer() const { return detail::buffer(context_lens.data(), count()); }
};

void check_rows(RefusalChecks& checks, const Rows& rows) {
  if (rows.is_packed) {
    checks.packed_rows("", rows.elements.size(), rows.topk, rows.count());
  } else {
    checks.strided_rows("", rows.elements.size(), rows.row_stride, rows.topk, rows.count());
  }
}

Checked run_witness_indices(const Backend& backend, const Rows& rows, std::size_t num_segments,
                            std::span<std::int32_t> witnesses) {
  KVWITNESS_ASSERT(backend.runnable());
  const std::size_t needed_len = rows.count() * num_segments;
  RefusalChecks checks;
  check_rows(checks, rows);
  checks.witness_segments(num_segments, rows.count());
  checks.row_stride("", rows.row_stride, rows.topk, rows.count());
  checks.room("", witnesses.size(), needed_len);
  checks.disjoint(buffer(witnesses.data(), needed_len), {rows.buffer(), rows.lens_buffer()});
  if (checks.passed()) {
    detail::pass_witness_indices(backend, rows.batch(), num_segments, witnesses.data());
  }
  return checks.outcome().checked();
}

Checked run_apply(const Backend& backend, const Rows& rows, std::size_t learned_keep, std::size_t num_segments,
                  std::size_t max_replacements, StridedRows<std::int32_t> out) {
  KVWITNESS_ASSERT(backend.runnable());
  const std::size_t out_span = detail::row_span(rows.count(), out.row_stride, rows.topk);
  const bool in_place = out.elements.data() == rows.elements.data() && out_span == rows.span();
  RefusalChecks checks;
  check_rows(checks, rows);
  checks.merge_segments(num_segments);
  checks.learned_keep(learned_keep, rows.topk);
  checks.row_stride("", rows.row_stride, rows.topk, rows.count());
  checks.row_stride("", out.row_stride, rows.topk, rows.count());
  checks.room("", out.elements.size(), out_span);
  checks.disjoint(buffer(out.elements.data(), out_span),
                  {in_place ? detail::Buffer{} : rows.buffer(), rows.lens_buffer()});
  if (checks.passed()) {
    detail::pass_apply(backend, rows.batch(), learned_keep, num_segments, max_replacements, out.elements.data(),
                       out.row_stride);
  }
  return checks.outcome().checked();
}

Checked run_scatter(const Backend& backend, const Rows& rows, std::size_t num_segments, std::int32_t* topk_indices) {
  if (num_segments == 0) {
    return {};
  }
  KVWITNESS_ASSERT(backend.runnable());
  RefusalChecks checks;
  check_rows(checks, rows);
  checks.merge_segments(num_segments);
  checks.row_stride("", rows.row_stride, rows.topk, rows.count());
  checks.disjoint(rows.buffer(), {rows.lens_buffer()});
  if (checks.passed()) {
    detail::pass_scatter(backend, rows.batch(), num_segments, topk_indices);
  }
  return checks.outcome().checked();
}

// Runs `operation` on the backend in use.
template <typename OnBackend>
Checked on_selected_backend(OnBackend operation) {
  const auto backend = selected_backend();
  if (!backend) {
    return std::unexpected(backend.error());
  }
  return operation(**backend);
}

}  // namespace

Checked witness_indices_into(const Backend& backend, std::span<const std::int32_t> learned, std::size_t topk,
                             std::span<const std::int32_t> context_lens, std::size_t num_segments,
                             std::span<std::int32_t> witnesses) noexcept {
  return run_witness_indices(backend, {learned, topk, context_lens}, num_segments, witnesses);
}

Checked witness_indices_into(const Backend& backend, StridedRows<const std::int32_t> learned, std::size_t topk,
                             std::span<const std::int32_t> context_lens, std::size_t num_segments,
                             std::span<std::int32_t> witnesses) noexcept {
  return run_witness_indices(backend, {learned, topk, context_lens}, num_segments, witnesses);
}

Checked apply_into(const Backend& backend, std::span<const std::int32_t> learned, std::size_t topk,
                   std::span<const std::int32_t> context_lens, std::size_t learned_keep, std::size_t num_segments,
                   std::size_t max_replacements, std::span<std::int32_t> out) noexcept {
  return run_apply(backend, {learned, topk, context_lens}, learned_keep, num_segments, max_replacements, {out, topk});
}

Checked apply_into(const Backend& backend, StridedRows<const std::int32_t> learned, std::size_t topk,
                   std::span<const std::int32_t> context_lens, std::size_t learned_keep, std::size_t num_segments,
                   std::size_t max_replacements, StridedRows<std::int32_t> out) noexcept {
  return run_apply(backend, {learned, topk, context_lens}, learned_keep, num_segments, max_replacements, out);
}

Checked scatter(const Backend& backend, std::span<std::int32_t> topk_indices, std::size_t topk,
                std::span<const std::int32_t> context_lens, std::size_t num_segments) noexcept {
  return run_scatter(backend, {topk_indices, topk, context_lens}, num_segments, topk_indices.data());
}

Checked scatter(const Backend& backend, StridedRows<std::int32_t> topk_indices, std::size_t topk,
                std::span<const std::int32_t> context_lens, std::size_t num_segments) noexcept {
  const StridedRows<const std::int32_t> learned{topk_indices.elements, topk_indices.row_stride};
  return run_scatter(backend, {learned, topk, context_lens}, num_segments, topk_indices.elements.data());
}

std::expected<std::vector<std::int32_t>, Refusal> witness_indices(std::span<const std::int32_t> learned,
                                                                  std::size_t topk,
                                                                  std::span<const std::int32_t> context_lens,
                                                                  std::size_t num_segments) {
  // Checked before the result is allocated, so that a refused size is never asked of the allocator.
  const Rows rows(learned, topk, context_lens);
  RefusalChecks checks;
  check_rows(checks, rows);
  checks.witness_segments(num_segments, rows.count());
  if (!checks.passed()) {
    return std::unexpected(checks.outcome().checked().error());
  }
  std::vector<std::int32_t> witnesses(rows.count() * num_segments);
  if (auto checked = witness_indices_into(learned, topk, context_lens, num_segments, witnesses); !checked) {
    return std::unexpected(checked.error());
  }
  return witnesses;
}

Checked witness_indices_into(std::span<const std::int32_t> learned, std::size_t topk,
                             std::span<const std::int32_t> context_lens, std::size_t num_segments,
                             std::span<std::int32_t> witnesses) {
  return on_selected_backend([&](const Backend& backend) {
    return witness_indices_into(backend, learned, topk, context_lens, num_segments, witnesses);
  });
}

Checked witness_indices_into(StridedRows<const std::int32_t> learned, std::size_t topk,
                             std::span<const std::int32_t> context_lens, std::size_t num_segments,
                             std::span<std::int32_t> witnesses) {
  return on_selected_backend([&](const Backend& backend) {
    return witness_indices_into(backend, learned, topk, context_lens, num_segments, witnesses);
  });
}

std::expected<std::vector<std::int32_t>, Refusal> apply(std::span<const std::int32_t> learned, std::size_t topk,
                                                        std::span<const std::int32_t> context_lens,
                                                        std::size_t learned_keep, std::size_t num_segments,
                                                        std::size_t max_replacements) {
  std::vector<std::int32_t> rows(learned.begin(), learned.end());
  if (auto checked = apply_in_place(rows, topk, context_lens, learned_keep, num_segments, max_replacements); !checked) {
    return std::unexpected(checked.error());
  }
  return rows;
}

Checked apply_into(std::span<const std::int32_t> learned, std::size_t topk, std::span<const std::int32_t> context_lens,
                   std::size_t learned_keep, std::size_t num_segments, std::size_t max_replacements,
                   std::span<std::int32_t> out) {
  return on_selected_backend([&](const Backend& backend) {
    return apply_into(backend, learned, topk, context_lens, learned_keep, num_segments, max_replacements, out);
  });
}

Checked apply_into(StridedRows<const std::int32_t> learned, std::size_t topk,
                   std::span<const std::int32_t> context_lens, std::size_t learned_keep, std::size_t num_segments,
                   std::size_t max_replacements, StridedRows<std::int32_t> out) {
  return on_selected_backend([&](const Backend& backend) {
    return apply_into(backend, learned, topk, context_lens, learned_keep, num_segments, max_replacements, out);
  });
}

Checked apply_in_place(std::span<std::int32_t> rows, std::size_t topk, std::span<const std::int32_t> context_lens,
                       std::size_t learned_keep, std::size_t num_segments, std::size_t max_replacements) {
  return apply_into(rows, topk, context_lens, learned_keep, num_segments, max_replacements, rows);
}

Checked apply_in_place(StridedRows<std::int32_t> rows, std::size_t topk, std::span<const std::int32_t> context_lens,
                       std::size_t learned_keep, std::size_t num_segments, std::size_t max_replacements) {
  return apply_into(StridedRows<const std::int32_t>{rows.elements, rows.row_stride}, topk, context_lens, learned_keep,
                    num_segments, max_replacements, rows);
}

Checked scatter(std::span<std::int32_t> topk_indices, std::size_t topk, std::span<const std::int32_t> context_lens,
                std::size_t num_segments) {
  if (num_segments == 0) {
    return {};
  }
  return on_selected_backend(
      [&](const Backend& backend) { return scatter(backend, topk_indices, topk, context_lens, num_segments); });
}

Checked scatter(StridedRows<std::int32_t> topk_indices, std::size_t topk, std::span<const std::int32_t> context_lens,
                std::size_t num_segments) {
  if (num_segments == 0) {
    return {};
  }
  return on_selected_backend(
      [&](const Backend& backend) { return scatter(backend, topk_indices, topk, context_lens, num_segments); });
}

}  // namespace kvwitness
