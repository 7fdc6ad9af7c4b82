#include "kvwitness/gate.h"

#include <cstdlib>

#include "lib/src/refusals.h"

namespace kvwitness {

std::optional<std::size_t> parse_segments(std::string_view text) noexcept {
  if (text.empty()) {
    return std::nullopt;
  }
  std::size_t value = 0;
  for (const char character : text) {
    if (character < '0' || character > '9') {
      return std::nullopt;
    }
    value = value * 10 + static_cast<std::size_t>(character - '0');
    if (value > kMaxMergeSegments) {
      return std::nullopt;
    }
  }
  return value;
}

std::expected<std::size_t, MalformedSegments> segments_from_environment() noexcept {
  const char* const value = std::getenv(kSegmentsVariable);
  if (value == nullptr) {
    return 0;
  }
  const std::optional<std::size_t> segments = parse_segments(value);
  if (!segments) {
    return std::unexpected(MalformedSegments{value});
  }
  return *segments;
}

std::expected<void, Refusal> context_lens_from_windows(std::span<const std::int32_t> window_starts,
                                                       std::span<const std::int32_t> window_ends,
                                                       std::span<std::int32_t> context_lens) noexcept {
  const std::size_t rows = window_starts.size();
  detail::RefusalChecks checks;
  checks.packed_rows("", window_ends.size(), 1, rows);
  checks.room("", context_lens.size(), rows);
  checks.disjoint(detail::buffer(context_lens.data(), rows),
                  {detail::buffer(window_starts.data(), rows), detail::buffer(window_ends.data(), rows)});
  if (checks.passed()) {
    for (std::size_t row = 0; row < rows; ++row) {
      context_lens[row] = context_len_from_window(window_starts[row], window_ends[row]);
    }
  }
  return checks.outcome().checked();
}

std::expected<void, Refusal> context_lens_from_requests(std::span<const std::int32_t> seq_lens, std::size_t next_n,
                                                        std::span<std::int32_t> context_lens) noexcept {
  const std::size_t rows = detail::saturating_product(seq_lens.size(), next_n);
  detail::RefusalChecks checks;
  checks.room("", context_lens.size(), rows);
  checks.disjoint(detail::buffer(context_lens.data(), rows), {detail::buffer(seq_lens.data(), seq_lens.size())});
  if (checks.passed()) {
    std::int32_t* out = context_lens.data();
    const auto signed_next_n = static_cast<std::int64_t>(next_n);
    for (const std::int32_t seq_len : seq_lens) {
      for (std::int64_t index = 0; index < signed_next_n; ++index) {
        *out++ = context_len_of_request(seq_len, signed_next_n, index);
      }
    }
  }
  return checks.outcome().checked();
}

}  // namespace kvwitness
