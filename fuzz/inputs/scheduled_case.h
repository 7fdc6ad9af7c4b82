// The input of cuda_differential: how the executor runs the call, then the case in its byte form.
#ifndef FUZZ_INPUTS_SCHEDULED_CASE_H
#define FUZZ_INPUTS_SCHEDULED_CASE_H

#include <kvwitness/case.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "properties/implementations/emulated_launch.h"

namespace kvwitness::fuzz {

// Layout, little-endian: u64 schedule, u8 variant (bit 0: a block or a warp to a row), u8 grid divisor (bits 0-1, plus
// one), u8 form of the context lengths, 5 bytes that are not read; then the case.
struct ScheduledCase {
  static constexpr std::size_t kHeaderBytes = 16;

  harness::EmulatedRun run;
  std::uint64_t lengths_choice = 0;
  harness::Case value;
};

// Total: bytes past the end read as 0.
ScheduledCase decode_scheduled(std::span<const std::uint8_t> bytes);
std::vector<std::uint8_t> encode_scheduled(const ScheduledCase& scheduled);

}  // namespace kvwitness::fuzz

#endif  // FUZZ_INPUTS_SCHEDULED_CASE_H
