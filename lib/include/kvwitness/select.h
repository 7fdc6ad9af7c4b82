// Selectors: which of the tokens [0, i] row i of a causal attention pattern attends to. The two null models
// (nulls.h) are their last rows.
//
// Source: the selectors of aether_core's attention module, which the null models of vllm-project/vllm#47942
// call.
#ifndef KVWITNESS_SELECT_H
#define KVWITNESS_SELECT_H

#include <kvwitness/cpp23.h>
#if KVWITNESS_CPP23

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <variant>
#include <vector>

#include "kvwitness/witness.h"

namespace kvwitness {

// Row i selects min(budget, i + 1) distinct tokens of [0, i], uniformly: the first of a Fisher-Yates
// shuffle driven by splitmix64 (Steele, Lea and Flood 2014), seeded by mix(seed ^
// (i * 0x9E3779B97F4A7C15)), so that every row draws by itself. Bit for bit the same everywhere.
struct Random {
  std::size_t budget;
  std::uint64_t seed;
};

// Row i selects the last max(window, 1) tokens of [0, i].
struct Local {
  std::size_t window;  // tokens
};

using Selector = std::variant<Random, Local>;

// How many tokens row `row` selects; 0 for a negative row. O(1).
std::size_t selected_count(const Selector& selector, std::int32_t row) noexcept;

// The tokens that row `row` selects, ascending; none for a negative row. O(selected_count) time and memory,
// whatever the row: a budget of 1,000 at row 2^31 - 2 takes microseconds. Allocates (std::bad_alloc).
std::vector<std::int32_t> select_row(const Selector& selector, std::int32_t row);

// The same, into the first selected_count elements of `offsets`; the rest keeps its bytes. Refuses a
// smaller span, and writes nothing then or when an allocation fails. Local allocates nothing.
std::expected<void, BufferTooSmall> select_row_into(const Selector& selector, std::int32_t row,
                                                    std::span<std::int32_t> offsets);

// The causal mask [seq, seq], row-major: 1 where row i selects token j, else 0. A seq of 0 or less gives an
// empty mask. O(seq^2) time; O(min(budget, seq)) memory beside the mask. Allocates (std::bad_alloc).
std::vector<std::uint8_t> select_mask(const Selector& selector, std::int32_t seq);

// The same, into the first seq * seq bytes of `mask`; the rest keeps its bytes. Refuses a smaller span, and
// writes nothing then or when an allocation fails. Local allocates nothing.
std::expected<void, BufferTooSmall> select_mask_into(const Selector& selector, std::int32_t seq,
                                                     std::span<std::uint8_t> mask);

}  // namespace kvwitness

#endif  // KVWITNESS_CPP23
#endif  // KVWITNESS_SELECT_H
