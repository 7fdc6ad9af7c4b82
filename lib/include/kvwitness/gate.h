// The gate of the pass, and the context lengths that the engine's metadata gives its rows.
//
// Offsets and lengths must be of one coordinate system: the length to pass is the one that the row's
// offsets are relative to. Under decode context parallelism engines hold global offsets beside rank-local
// lengths, and an engine whose top-k already maps offsets to cache slots must run the pass before that
// mapping. Source: vllm-project/vllm#47942 (the environment variable and the metadata of decode, prefill
// and speculative rows).
#ifndef KVWITNESS_GATE_H
#define KVWITNESS_GATE_H

#include <kvwitness/cpp23.h>
#if KVWITNESS_CPP23

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "kvwitness/assertions.h"
#include "kvwitness/witness.h"

namespace kvwitness {

inline constexpr const char* kSegmentsVariable = "VLLM_SPARSE_MLA_TOPOLOGY_SEGMENTS";

// One or more decimal digits of value 0 to 64, as a segment count; nothing for all else, an empty text,
// signs and blanks included.
std::optional<std::size_t> parse_segments(std::string_view text) noexcept;

// The variable holds something that parse_segments does not accept.
struct MalformedSegments {
  std::string_view value;  // as the environment holds it
};

// The segment count that VLLM_SPARSE_MLA_TOPOLOGY_SEGMENTS asks for; unset is 0, and 0 is off: launch
// nothing. Reads the environment at every call, which must not be changed at the same time. Allocates
// nothing.
std::expected<std::size_t, MalformedSegments> segments_from_environment() noexcept;

// The context length of a prefill row with the key window [start, end): end - start, clamped to int32.
constexpr std::int32_t context_len_from_window(std::int32_t start, std::int32_t end) noexcept {
  using Limits = std::numeric_limits<std::int32_t>;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(std::int64_t{end} - start, Limits::min(), Limits::max()));
}

// The context length of one token of a request that decodes several at once: seq_len - next_n + index + 1,
// clamped to int32. 0 or less, as padded requests have, is an empty row.
//
// @param seq_len  tokens of the request's sequence, those of this step included
// @param next_n   tokens that the request decodes at once, 1 to 2^62
// @param index    which of them, 0 to next_n - 1
constexpr std::int32_t context_len_of_request(std::int32_t seq_len, std::int64_t next_n, std::int64_t index) noexcept {
  KVWITNESS_ASSERT(next_n >= 1 && next_n <= std::int64_t{1} << 62 && 0 <= index && index < next_n, next_n, index);
  using Limits = std::numeric_limits<std::int32_t>;
  return static_cast<std::int32_t>(
      std::clamp<std::int64_t>(seq_len - next_n + index + 1, Limits::min(), Limits::max()));
}

// context_lens[r] = context_len_from_window(window_starts[r], window_ends[r]), for every row.
//
// @param window_starts  [rows] the first key of each row's window
// @param window_ends    [rows] the key behind the last one; another number of them is RowsMismatch{ends, 1,
//                       starts}
// @param context_lens   its first `rows` elements are written; overlaps no input
//
// Too small an output is refused too, and a refused call writes nothing. O(rows), no allocation.
std::expected<void, Refusal> context_lens_from_windows(std::span<const std::int32_t> window_starts,
                                                       std::span<const std::int32_t> window_ends,
                                                       std::span<std::int32_t> context_lens) noexcept;

// context_lens[r] = context_len_of_request(seq_lens[r / next_n], next_n, r % next_n), for every row.
//
// @param seq_lens      [requests] tokens of each sequence
// @param next_n        tokens a request, up to 2^62; 0 gives no row
// @param context_lens  its first requests * next_n elements are written; overlaps no input
//
// Too small an output is refused too, and a refused call writes nothing. O(rows), no allocation.
std::expected<void, Refusal> context_lens_from_requests(std::span<const std::int32_t> seq_lens, std::size_t next_n,
                                                        std::span<std::int32_t> context_lens) noexcept;

}  // namespace kvwitness

#endif  // KVWITNESS_CPP23
#endif  // KVWITNESS_GATE_H
