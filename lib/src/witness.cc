#include "kvwitness/witness.h"

#include "kvwitness/backend.h"
#include "lib/src/checks.h"
#include "lib/src/row_pass.h"

namespace kvwitness {
namespace {

using detail::Checked;

// The learned rows of a call and how far they reach, packed or strided.
struct Rows {
  const std::int32_t* data;
  std::size_t row_stride;
  std::size_t topk;
  std::span<const std::int32_t> context_lens;

  std::size_t count() const { return context_lens.size(); }
  std::size_t span() const { return detail::row_span(count(), row_stride, topk); }
  RowBatch batch() const { return {data, row_stride, topk, context_lens.data(), count()}; }
};

Rows packed(std::span<const std::int32_t> learned, std::size_t topk, std::span<const std::int32_t> context_lens) {
  return {learned.data(), topk, topk, context_lens};
}

Rows strided(StridedRows<const std::int32_t> learned, std::size_t topk, std::span<const std::int32_t> context_lens) {
  return {learned.elements.data(), learned.row_stride, topk, context_lens};
}

Checked check_rows(std::span<const std::int32_t> learned, const Rows& rows) {
  return detail::check_packed_rows(learned.size(), rows.topk, rows.count());
}

Checked check_rows(StridedRows<const std::int32_t> learned, const Rows& rows) {
  return detail::check_strided_rows(learned.elements.size(), learned.row_stride, rows.topk, rows.count());
}

// From the segment count on: the checks that packed and strided rows share.
Checked run_witness_indices(const Backend& backend, const Rows& rows, std::size_t num_segments,
                            std::span<std::int32_t> witnesses) {
  if (auto checked = detail::check_witness_segments(num_segments, rows.count()); !checked) {
    return checked;
  }
  if (auto checked = detail::check_row_stride(rows.row_stride, rows.topk, rows.count()); !checked) {
    return checked;
  }
  const std::size_t needed_len = rows.count() * num_segments;
  if (auto checked = detail::check_room(witnesses.size(), needed_len); !checked) {
    return checked;
  }
  if (auto checked = detail::check_disjoint(witnesses.data(), needed_len, rows.data, rows.span()); !checked) {
    return checked;
  }
  if (auto checked = detail::check_disjoint(witnesses.data(), needed_len, rows.context_lens.data(), rows.count());
      !checked) {
    return checked;
  }
  detail::pass_witness_indices(backend, rows.batch(), num_segments, witnesses.data());
  return {};
}

Checked check_apply_output(const Rows& rows, StridedRows<std::int32_t> out) {
  if (auto checked = detail::check_row_stride(out.row_stride, rows.topk, rows.count()); !checked) {
    return checked;
  }
  const std::size_t out_span = detail::row_span(rows.count(), out.row_stride, rows.topk);
  if (auto checked = detail::check_room(out.elements.size(), out_span); !checked) {
    return checked;
  }
  const bool in_place = out.elements.data() == rows.data && out_span == rows.span();
  if (!in_place) {
    if (auto checked = detail::check_disjoint(out.elements.data(), out_span, rows.data, rows.span()); !checked) {
      return checked;
    }
  }
  return detail::check_disjoint(out.elements.data(), out_span, rows.context_lens.data(), rows.count());
}

Checked run_apply(const Backend& backend, const Rows& rows, std::size_t learned_keep, std::size_t num_segments,
                  std::size_t max_replacements, StridedRows<std::int32_t> out) {
  if (auto checked = detail::check_merge_segments(num_segments); !checked) {
    return checked;
  }
  if (auto checked = detail::check_learned_keep(learned_keep, rows.topk); !checked) {
    return checked;
  }
  if (auto checked = detail::check_row_stride(rows.row_stride, rows.topk, rows.count()); !checked) {
    return checked;
  }
  if (auto checked = check_apply_output(rows, out); !checked) {
    return checked;
  }
  detail::pass_apply(backend, rows.batch(), learned_keep, num_segments, max_replacements, out.elements.data(),
                     out.row_stride);
  return {};
}

Checked run_scatter(const Backend& backend, const Rows& rows, std::size_t num_segments, std::int32_t* topk_indices) {
  if (auto checked = detail::check_merge_segments(num_segments); !checked) {
    return checked;
  }
  if (auto checked = detail::check_row_stride(rows.row_stride, rows.topk, rows.count()); !checked) {
    return checked;
  }
  if (auto checked = detail::check_disjoint(topk_indices, rows.span(), rows.context_lens.data(), rows.count());
      !checked) {
    return checked;
  }
  detail::pass_scatter(backend, rows.batch(), num_segments, topk_indices);
  return {};
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
  const Rows rows = packed(learned, topk, context_lens);
  if (auto checked = check_rows(learned, rows); !checked) {
    return checked;
  }
  return run_witness_indices(backend, rows, num_segments, witnesses);
}

Checked witness_indices_into(const Backend& backend, StridedRows<const std::int32_t> learned, std::size_t topk,
                             std::span<const std::int32_t> context_lens, std::size_t num_segments,
                             std::span<std::int32_t> witnesses) noexcept {
  const Rows rows = strided(learned, topk, context_lens);
  if (auto checked = check_rows(learned, rows); !checked) {
    return checked;
  }
  return run_witness_indices(backend, rows, num_segments, witnesses);
}

Checked apply_into(const Backend& backend, std::span<const std::int32_t> learned, std::size_t topk,
                   std::span<const std::int32_t> context_lens, std::size_t learned_keep, std::size_t num_segments,
                   std::size_t max_replacements, std::span<std::int32_t> out) noexcept {
  const Rows rows = packed(learned, topk, context_lens);
  if (auto checked = check_rows(learned, rows); !checked) {
    return checked;
  }
  return run_apply(backend, rows, learned_keep, num_segments, max_replacements, {out, topk});
}

Checked apply_into(const Backend& backend, StridedRows<const std::int32_t> learned, std::size_t topk,
                   std::span<const std::int32_t> context_lens, std::size_t learned_keep, std::size_t num_segments,
                   std::size_t max_replacements, StridedRows<std::int32_t> out) noexcept {
  const Rows rows = strided(learned, topk, context_lens);
  if (auto checked = check_rows(learned, rows); !checked) {
    return checked;
  }
  return run_apply(backend, rows, learned_keep, num_segments, max_replacements, out);
}

Checked scatter(const Backend& backend, std::span<std::int32_t> topk_indices, std::size_t topk,
                std::span<const std::int32_t> context_lens, std::size_t num_segments) noexcept {
  if (num_segments == 0) {
    return {};
  }
  const Rows rows = packed(topk_indices, topk, context_lens);
  if (auto checked = check_rows(topk_indices, rows); !checked) {
    return checked;
  }
  return run_scatter(backend, rows, num_segments, topk_indices.data());
}

Checked scatter(const Backend& backend, StridedRows<std::int32_t> topk_indices, std::size_t topk,
                std::span<const std::int32_t> context_lens, std::size_t num_segments) noexcept {
  if (num_segments == 0) {
    return {};
  }
  const StridedRows<const std::int32_t> learned{topk_indices.elements, topk_indices.row_stride};
  const Rows rows = strided(learned, topk, context_lens);
  if (auto checked = check_rows(learned, rows); !checked) {
    return checked;
  }
  return run_scatter(backend, rows, num_segments, topk_indices.elements.data());
}

std::expected<std::vector<std::int32_t>, Refusal> witness_indices(std::span<const std::int32_t> learned,
                                                                  std::size_t topk,
                                                                  std::span<const std::int32_t> context_lens,
                                                                  std::size_t num_segments) {
  // Checked before the result is allocated, so that a refused size is never asked of the allocator.
  const Rows rows = packed(learned, topk, context_lens);
  if (auto checked = check_rows(learned, rows); !checked) {
    return std::unexpected(checked.error());
  }
  if (auto checked = detail::check_witness_segments(num_segments, rows.count()); !checked) {
    return std::unexpected(checked.error());
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
