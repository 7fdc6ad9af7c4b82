#include "fuzz/inputs/scheduled_case.h"

#include <algorithm>
#include <array>

namespace kvwitness::fuzz {

ScheduledCase decode_scheduled(std::span<const std::uint8_t> bytes) {
  std::array<std::uint8_t, ScheduledCase::kHeaderBytes> header{};
  const std::size_t held = std::min(bytes.size(), header.size());
  std::ranges::copy(bytes.first(held), header.begin());
  std::uint64_t schedule = 0;
  for (std::size_t i = 0; i < 8; ++i) {
    schedule |= std::uint64_t{header[i]} << (8 * i);
  }
  const auto variant = (header[8] & 1) == 0 ? kernels::Variant::kBlock : kernels::Variant::kWarp;
  return {{variant, schedule, 1u + (header[9] & 3u)}, header[10], harness::decode(bytes.subspan(held))};
}

std::vector<std::uint8_t> encode_scheduled(const ScheduledCase& scheduled) {
  std::vector<std::uint8_t> bytes(ScheduledCase::kHeaderBytes);
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<std::uint8_t>(scheduled.run.schedule >> (8 * i));
  }
  bytes[8] = scheduled.run.variant == kernels::Variant::kBlock ? 0 : 1;
  bytes[9] = static_cast<std::uint8_t>((scheduled.run.grid_divisor - 1) & 3);
  bytes[10] = static_cast<std::uint8_t>(scheduled.lengths_choice);
  const std::vector<std::uint8_t> encoded = harness::encode(scheduled.value);
  bytes.insert(bytes.end(), encoded.begin(), encoded.end());
  return bytes;
}

}  // namespace kvwitness::fuzz
