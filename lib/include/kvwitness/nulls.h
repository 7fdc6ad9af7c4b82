// Null models: what a covering policy is compared with at an equal budget, the number of valid slots in its
// output row.
//
// Both are row context_len - 1 of a selector (select.h). A context_len of 0 or less or a budget of 0
// selects nothing. Source: vllm-project/vllm#47942, aether_core::kvwitness.
#ifndef KVWITNESS_NULLS_H
#define KVWITNESS_NULLS_H

#include <kvwitness/cpp23.h>
#if KVWITNESS_CPP23

#include <cstddef>
#include <cstdint>
#include <expected>
#include <span>
#include <vector>

#include "kvwitness/witness.h"

namespace kvwitness {

// How many offsets a null model selects: min(budget, max(context_len, 0)). O(1).
std::size_t null_count(std::int32_t context_len, std::size_t budget) noexcept;

// min(budget, L) distinct offsets drawn from [0, L), ascending; the same for the same seed everywhere.
//
// @param context_len  L in tokens
// @param budget       offsets
// @param seed         any number
//
// O(min(budget, L)) time and memory, whatever L is. Allocates (std::bad_alloc).
std::vector<std::int32_t> random_null(std::int32_t context_len, std::size_t budget, std::uint64_t seed);

// The last min(budget, L) offsets: [L - min(budget, L), L). Allocates its result (std::bad_alloc).
std::vector<std::int32_t> locality_null(std::int32_t context_len, std::size_t budget);

// The same, into the first null_count elements of `offsets`; the rest keeps its bytes. A smaller span is
// refused. Nothing is written then, nor when an allocation fails; only random_null_into allocates.
std::expected<void, BufferTooSmall> random_null_into(std::int32_t context_len, std::size_t budget, std::uint64_t seed,
                                                     std::span<std::int32_t> offsets);
std::expected<void, BufferTooSmall> locality_null_into(std::int32_t context_len, std::size_t budget,
                                                       std::span<std::int32_t> offsets);

}  // namespace kvwitness

#endif  // KVWITNESS_CPP23
#endif  // KVWITNESS_NULLS_H
