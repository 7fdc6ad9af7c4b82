#include "fuzz/inputs/scheduled_case.h"

#include <algorithm>
#include <array>

namespace kvwitness::fuzz {
namespace {

// In order on blocks, and at random on warps of half the grid.
std::vector<Bytes> inputs_of(const harness::Case& value) {
  ScheduledCase scheduled{{kernels::Variant::kBlock, simt::in_order, 1}, 0, value};
  std::vector<Bytes> inputs = {encode_scheduled(scheduled)};
  scheduled.run = {kernels::Variant::kWarp, simt::random_schedule(1), 2};
  scheduled.lengths_choice = 3;
  inputs.push_back(encode_scheduled(scheduled));
  return inputs;
}

harness::Case case_of(std::span<const std::uint8_t> bytes) {
  return decode_scheduled(bytes).value;
}

Bytes with_case(std::span<const std::uint8_t> bytes, const harness::Case& value) {
  ScheduledCase scheduled = decode_scheduled(bytes);
  scheduled.value = value;
  return encode_scheduled(scheduled);
}

// The schedule in order or of half its number, the whole grid, the first form of the lengths.
std::vector<Bytes> plainer_runs(std::span<const std::uint8_t> bytes) {
  std::vector<Bytes> runs;
  const auto with = [&](const auto& change) {
    ScheduledCase scheduled = decode_scheduled(bytes);
    change(scheduled);
    runs.push_back(encode_scheduled(scheduled));
  };
  with([](ScheduledCase& scheduled) { scheduled.run.schedule = simt::in_order; });
  with([](ScheduledCase& scheduled) { scheduled.run.schedule /= 2; });
  with([](ScheduledCase& scheduled) { scheduled.run.grid_divisor = 1; });
  with([](ScheduledCase& scheduled) { scheduled.lengths_choice = 0; });
  return runs;
}

}  // namespace

extern const InputForm kScheduledCaseForm = {
    .name = "a schedule, then a case",
    .most_seed_bytes = 3072,
    .most_input_bytes = 4096,
    .inputs_of = inputs_of,
    .seeds_of = [](std::span<const NamedCase> cases) { return seeds_of_inputs(inputs_of, cases); },
    .case_of = case_of,
    .with_case = with_case,
    .plainer_around_case = plainer_runs,
};

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

Bytes encode_scheduled(const ScheduledCase& scheduled) {
  Bytes bytes(ScheduledCase::kHeaderBytes);
  for (std::size_t i = 0; i < 8; ++i) {
    bytes[i] = static_cast<std::uint8_t>(scheduled.run.schedule >> (8 * i));
  }
  bytes[8] = scheduled.run.variant == kernels::Variant::kBlock ? 0 : 1;
  bytes[9] = static_cast<std::uint8_t>((scheduled.run.grid_divisor - 1) & 3);
  bytes[10] = static_cast<std::uint8_t>(scheduled.lengths_choice);
  const Bytes encoded = harness::encode(scheduled.value);
  bytes.insert(bytes.end(), encoded.begin(), encoded.end());
  return bytes;
}

}  // namespace kvwitness::fuzz
