#include "kvwitness/nulls.h"

#include <algorithm>

#include "kvwitness/select.h"

namespace kvwitness {
namespace {

// Local{0} would select one token, so a null of zero budget is told apart here, as an empty row.
std::int32_t last_row(std::int32_t context_len, std::size_t budget) {
  return null_count(context_len, budget) == 0 ? -1 : context_len - 1;
}

}  // namespace

std::size_t null_count(std::int32_t context_len, std::size_t budget) noexcept {
  return std::min(budget, static_cast<std::size_t>(std::max(context_len, 0)));
}

std::vector<std::int32_t> random_null(std::int32_t context_len, std::size_t budget, std::uint64_t seed) {
  return select_row(Random{budget, seed}, last_row(context_len, budget));
}

std::vector<std::int32_t> locality_null(std::int32_t context_len, std::size_t budget) {
  return select_row(Local{budget}, last_row(context_len, budget));
}

std::expected<void, BufferTooSmall> random_null_into(std::int32_t context_len, std::size_t budget, std::uint64_t seed,
                                                     std::span<std::int32_t> offsets) {
  return select_row_into(Random{budget, seed}, last_row(context_len, budget), offsets);
}

std::expected<void, BufferTooSmall> locality_null_into(std::int32_t context_len, std::size_t budget,
                                                       std::span<std::int32_t> offsets) {
  return select_row_into(Local{budget}, last_row(context_len, budget), offsets);
}

}  // namespace kvwitness
