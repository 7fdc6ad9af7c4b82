#include "properties/case/status.h"

#include <array>
#include <cstddef>

namespace kvwitness::harness {
namespace {

constexpr std::array<std::string_view, status::kCount> kNames = {
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

}  // namespace

std::string_view status_name(std::int32_t number) noexcept {
  return number < 0 || number >= status::kCount ? "unknown status" : kNames[static_cast<std::size_t>(number)];
}

std::optional<std::int32_t> status_number(std::string_view name) noexcept {
  for (std::int32_t number = 0; number < status::kCount; ++number) {
    if (kNames[static_cast<std::size_t>(number)] == name) {
      return number;
    }
  }
  return std::nullopt;
}

}  // namespace kvwitness::harness
