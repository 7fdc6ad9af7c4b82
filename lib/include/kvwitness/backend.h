// The implementations of the row pass that this build holds, and the choice between them.
//
// A backend is one body of the row pass, named after the instruction set that it needs
// ("scalar", "avx2", ...). All give the same bits. By default the best one that this machine can run is in
// use; the variable KVWITNESS_BACKEND or select_backend chooses another. A name that cannot be used is
// refused, never replaced silently.
#ifndef KVWITNESS_BACKEND_H
#define KVWITNESS_BACKEND_H

#include <kvwitness/cpp23.h>
#if KVWITNESS_CPP23

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string_view>

#include "kvwitness/witness.h"

namespace kvwitness {

// A batch of learned rows whose arguments have been checked: no pointer is null where a byte is needed, and
// no two rows overlap.
struct RowBatch {
  const std::int32_t* learned;       // row r starts at learned + r * row_stride
  std::size_t row_stride;            // elements; at least topk where there are two rows or more
  std::size_t topk;                  // slots of a row
  const std::int32_t* context_lens;  // [rows]; any value, 0 and below mean an empty row
  std::size_t rows;                  // at least 1
};

// How apply merges witnesses into each row, checked.
struct MergePlan {
  std::size_t learned_keep;  // the first slot that a witness may overwrite
  std::size_t num_segments;  // 1 to 64
  std::size_t budget;        // B, at least 1; learned_keep + budget <= topk
};

// One body of the row pass. The functions neither allocate nor throw, hold no state, and may run
// concurrently on disjoint outputs. Pointers are aligned for int32 and no further. Only a backend that
// runnable() may be called. What the functions require is checked in builds with KVWITNESS_ASSERTIONS.
struct Backend {
  // One of known_backend_names().
  const char* name;
  // Null where this machine can run the backend, else the reason, as a text that follows "because". The
  // text lives as long as the process.
  const char* (*why_not)() noexcept;
  // Witness indices. (More than 64 segments take a path of their own, the same for all backends.)
  //
  // @param batch         at least one row; topk may be 0
  // @param num_segments  1 to 64
  // @param witnesses     [rows, num_segments], disjoint from the inputs; every entry is written
  void (*witness_indices)(const RowBatch& batch, std::size_t num_segments, std::int32_t* witnesses) noexcept;
  // Apply.
  //
  // @param batch           at least one row of at least one slot
  // @param plan            which slots a witness may overwrite
  // @param out             row r starts at out + r * out_row_stride and gets topk slots. batch.learned
  //                        means in place: the strides of two or more rows are then equal, and only
  //                        overwritten slots are written. Otherwise it is disjoint from the inputs, and
  //                        every slot is written
  // @param out_row_stride  elements; at least topk where there are two rows or more
  void (*apply)(const RowBatch& batch, const MergePlan& plan, std::int32_t* out, std::size_t out_row_stride) noexcept;

  bool runnable() const noexcept { return why_not() == nullptr; }
};

// The backends compiled in, best first; the last is "scalar", which runs everywhere. O(1).
std::span<const Backend* const> backends() noexcept;

// Every name that KVWITNESS_BACKEND and select_backend know, compiled in or not.
std::span<const std::string_view> known_backend_names() noexcept;

// Why a name cannot be used.
enum class BackendFault {
  kUnknownName,    // no backend of that name exists
  kNotCompiledIn,  // a known name that this build leaves out
  kCannotRunHere,  // compiled in, but this machine lacks what it needs (Backend::why_not)
};

// The backend of that name; empty means the best one that can run here.
std::expected<const Backend*, BackendFault> find_backend(std::string_view name) noexcept;

// Makes the backend of that name (empty: the best one here) the one in use from now on, in all threads, in
// place of whatever KVWITNESS_BACKEND holds. A refused name changes nothing.
std::expected<void, BackendFault> select_backend(std::string_view name) noexcept;

// The backend in use. KVWITNESS_BACKEND is read once, by the first call that needs a backend and was not
// preceded by select_backend; empty is unset. Refused while the variable names no backend that can run
// here.
std::expected<const Backend*, UnknownBackend> selected_backend() noexcept;

// The operations of witness.h on a given backend, which must be runnable(): the same contracts, refusals
// and order, but no UnknownBackend. apply_into with `out` equal to `learned` works in place.
std::expected<void, Refusal> witness_indices_into(const Backend& backend, std::span<const std::int32_t> learned,
                                                  std::size_t topk, std::span<const std::int32_t> context_lens,
                                                  std::size_t num_segments, std::span<std::int32_t> witnesses) noexcept;
std::expected<void, Refusal> witness_indices_into(const Backend& backend, StridedRows<const std::int32_t> learned,
                                                  std::size_t topk, std::span<const std::int32_t> context_lens,
                                                  std::size_t num_segments, std::span<std::int32_t> witnesses) noexcept;
std::expected<void, Refusal> apply_into(const Backend& backend, std::span<const std::int32_t> learned, std::size_t topk,
                                        std::span<const std::int32_t> context_lens, std::size_t learned_keep,
                                        std::size_t num_segments, std::size_t max_replacements,
                                        std::span<std::int32_t> out) noexcept;
std::expected<void, Refusal> apply_into(const Backend& backend, StridedRows<const std::int32_t> learned,
                                        std::size_t topk, std::span<const std::int32_t> context_lens,
                                        std::size_t learned_keep, std::size_t num_segments,
                                        std::size_t max_replacements, StridedRows<std::int32_t> out) noexcept;
std::expected<void, Refusal> scatter(const Backend& backend, std::span<std::int32_t> topk_indices, std::size_t topk,
                                     std::span<const std::int32_t> context_lens, std::size_t num_segments) noexcept;
std::expected<void, Refusal> scatter(const Backend& backend, StridedRows<std::int32_t> topk_indices, std::size_t topk,
                                     std::span<const std::int32_t> context_lens, std::size_t num_segments) noexcept;

}  // namespace kvwitness

#endif  // KVWITNESS_CPP23
#endif  // KVWITNESS_BACKEND_H
