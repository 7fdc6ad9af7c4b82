// The three operations of the segment-witness policy over batches of learned top-k rows.
//
// A learned row K holds topk token offsets into a context of L tokens. The context is cut into
// S_eff = min(S, L) segments (segments.h). A segment that no token of the row lies in is unoccupied, and
// the first token of an unoccupied segment is a witness:
//
//     occupied(K) = { min(sigma(x), S - 1) : x in K, x >= 0 }
//     witnesses(K) = { e_s : s < S_eff, s not in occupied(K) }
//
// Conventions, for every function here:
//
// - Buffers are row-major int32. Tokens, lengths and witnesses are offsets in tokens from the start of the
//   row's own context. The number of rows is context_lens.size().
// - Any negative token is padding: it occupies nothing and stays as it is unless a witness overwrites its
//   slot. A token x >= L is neither refused nor removed: it occupies min(sigma(x), S - 1).
// - A row whose context length is 0 or negative is empty: it has no witness and stays as it is.
// - A row's result depends only on that row and its length. Equal inputs give equal bits on every backend.
// - A refused call writes nothing. The checks run in the order of the alternatives of Refusal, except that
//   UnknownBackend comes first; the first that fails is reported.
// - Calls on disjoint outputs may run concurrently. Nothing here starts a thread; split the rows to use
//   several.
// - The work is O(rows * (topk + num_segments)). The forms that return a vector allocate it and may throw
//   std::bad_alloc; no other form allocates.
//
// Source: vllm-project/vllm#47942 (segment witnesses for sparse MLA) and its Rust port,
// aether_core::kvwitness.
#ifndef KVWITNESS_WITNESS_H
#define KVWITNESS_WITNESS_H

#include <kvwitness/cpp23.h>
#if KVWITNESS_CPP23

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

namespace kvwitness {

// The rows do not fill their buffer: learned_len != rows * topk or, where rows are strided, learned_len is
// below (rows - 1) * row_stride + topk. Products are taken without overflow.
struct RowsMismatch {
  std::size_t learned_len;  // elements
  std::size_t topk;
  std::size_t rows;
  friend bool operator==(const RowsMismatch&, const RowsMismatch&) = default;
};

// num_segments is 0 (witness_indices and apply), above 64 (apply and scatter), or so large that
// rows * num_segments elements exceed PTRDIFF_MAX bytes (witness_indices).
struct SegmentsOutOfRange {
  std::size_t num_segments;
  friend bool operator==(const SegmentsOutOfRange&, const SegmentsOutOfRange&) = default;
};

// learned_keep > topk.
struct LearnedKeepOutOfRange {
  std::size_t learned_keep;
  std::size_t topk;
  friend bool operator==(const LearnedKeepOutOfRange&, const LearnedKeepOutOfRange&) = default;
};

// Two or more rows would overlap each other: row_stride < topk.
struct RowStrideOutOfRange {
  std::size_t row_stride;
  std::size_t topk;
  friend bool operator==(const RowStrideOutOfRange&, const RowStrideOutOfRange&) = default;
};

// The output is smaller than the result.
struct BufferTooSmall {
  std::size_t len;         // elements
  std::size_t needed_len;  // elements
  friend bool operator==(const BufferTooSmall&, const BufferTooSmall&) = default;
};

// The output shares a byte with an input, whole spans counted (spare columns too). Only apply's output may
// be its input, exactly in place.
struct BufferOverlap {
  friend bool operator==(const BufferOverlap&, const BufferOverlap&) = default;
};

// The variable KVWITNESS_BACKEND names no backend that can run here, and select_backend has not replaced it
// (backend.h).
struct UnknownBackend {
  std::string_view why;  // names the variable, its value and the names that would do; lives as long as the process
  friend bool operator==(const UnknownBackend&, const UnknownBackend&) = default;
};

// The first three are the refusals of the rule. The others arise only from buffers that the caller lays out
// and from the environment.
using Refusal = std::variant<RowsMismatch, SegmentsOutOfRange, LearnedKeepOutOfRange, RowStrideOutOfRange,
                             BufferTooSmall, BufferOverlap, UnknownBackend>;

// Rows that start row_stride elements apart, in elements that reach at least to the last slot of the last
// row: (rows - 1) * row_stride + topk of them. Columns past topk are neither read nor written.
template <typename Token>
struct StridedRows {
  std::span<Token> elements;
  std::size_t row_stride;  // elements; at least topk where there are two rows or more
};

// Witness indices: entry (r, s) of the result is e_s where s < S_eff(r), L_r > 0 and segment s is
// unoccupied by row r, and -1 elsewhere.
//
// @param learned       [rows, topk] token offsets
// @param topk          slots of a row
// @param context_lens  [rows] context lengths in tokens
// @param num_segments  1 or more; above 64 too
// @return [rows, num_segments]
//
// Example: the row [0, 5, 9, -1] at L = 16 and S = 4 gives [-1, -1, -1, 12].
std::expected<std::vector<std::int32_t>, Refusal> witness_indices(std::span<const std::int32_t> learned,
                                                                  std::size_t topk,
                                                                  std::span<const std::int32_t> context_lens,
                                                                  std::size_t num_segments);

// The same, into a buffer.
//
// @param witnesses  its first rows * num_segments elements are written, the rest keeps its bytes; shares no
//                   byte with an input
//
// With num_segments above 64 the output row itself holds the occupancy: no scratch memory either.
std::expected<void, Refusal> witness_indices_into(std::span<const std::int32_t> learned, std::size_t topk,
                                                  std::span<const std::int32_t> context_lens, std::size_t num_segments,
                                                  std::span<std::int32_t> witnesses);
std::expected<void, Refusal> witness_indices_into(StridedRows<const std::int32_t> learned, std::size_t topk,
                                                  std::span<const std::int32_t> context_lens, std::size_t num_segments,
                                                  std::span<std::int32_t> witnesses);

// Apply: a copy of the rows in which each row's witnesses, in ascending segment order, overwrite the slots
// learned_keep, learned_keep + 1, and so on: at most B = min(max_replacements, topk - learned_keep) of
// them. The rest are dropped.
//
// @param learned           [rows, topk] token offsets
// @param topk              slots of a row
// @param context_lens      [rows] context lengths in tokens
// @param learned_keep      slots at the head of each row that stay bit-identical; at most topk
// @param num_segments      1 to 64
// @param max_replacements  any; 0 leaves every row as it is
// @return [rows, topk]
//
// Occupancy is read from the whole row, the overwritten slots included, so a segment whose tokens all sit
// in overwritten slots ends uncovered. Example: [0, 5, 9, -1] at L = 16, S = 4, learned_keep = 2 and
// max_replacements = 2 gives [0, 5, 12, -1].
std::expected<std::vector<std::int32_t>, Refusal> apply(std::span<const std::int32_t> learned, std::size_t topk,
                                                        std::span<const std::int32_t> context_lens,
                                                        std::size_t learned_keep, std::size_t num_segments,
                                                        std::size_t max_replacements);

// The same, into a buffer.
//
// @param out  [rows, topk] at its front, or rows out.row_stride elements apart; either the learned rows
//             themselves (same address, same stride), or no byte of an input
std::expected<void, Refusal> apply_into(std::span<const std::int32_t> learned, std::size_t topk,
                                        std::span<const std::int32_t> context_lens, std::size_t learned_keep,
                                        std::size_t num_segments, std::size_t max_replacements,
                                        std::span<std::int32_t> out);
std::expected<void, Refusal> apply_into(StridedRows<const std::int32_t> learned, std::size_t topk,
                                        std::span<const std::int32_t> context_lens, std::size_t learned_keep,
                                        std::size_t num_segments, std::size_t max_replacements,
                                        StridedRows<std::int32_t> out);

// The same, in place: writes only the overwritten slots. context_lens may share no byte with the rows.
std::expected<void, Refusal> apply_in_place(std::span<std::int32_t> rows, std::size_t topk,
                                            std::span<const std::int32_t> context_lens, std::size_t learned_keep,
                                            std::size_t num_segments, std::size_t max_replacements);
std::expected<void, Refusal> apply_in_place(StridedRows<std::int32_t> rows, std::size_t topk,
                                            std::span<const std::int32_t> context_lens, std::size_t learned_keep,
                                            std::size_t num_segments, std::size_t max_replacements);

// Scatter, in place: the serving entry point. It is apply with learned_keep = max(0, topk - num_segments)
// and max_replacements = num_segments.
//
// @param topk_indices  [rows, topk] token offsets, read and written
// @param topk          slots of a row
// @param context_lens  [rows] context lengths in tokens
// @param num_segments  0 to 64; 0 is the off switch: the call does nothing and succeeds, whatever else is
//                      passed
//
// Not idempotent: a second pass sees the first pass's witnesses as learned tokens.
std::expected<void, Refusal> scatter(std::span<std::int32_t> topk_indices, std::size_t topk,
                                     std::span<const std::int32_t> context_lens, std::size_t num_segments);
std::expected<void, Refusal> scatter(StridedRows<std::int32_t> topk_indices, std::size_t topk,
                                     std::span<const std::int32_t> context_lens, std::size_t num_segments);

}  // namespace kvwitness

#endif  // KVWITNESS_CPP23
#endif  // KVWITNESS_WITNESS_H
