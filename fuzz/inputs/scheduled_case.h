// An input that is a schedule and a case: how the executor runs the call, then the case in its byte form.
#ifndef FUZZ_INPUTS_SCHEDULED_CASE_H
#define FUZZ_INPUTS_SCHEDULED_CASE_H

#include <kvwitness/case.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "fuzz/inputs/input_form.h"
#include "properties/implementations/emulated_launch.h"

namespace kvwitness::fuzz {

// Layout, little-endian:
//
//     u64      the schedule
//     u8       bit 0: a block (0) or a warp (1) to a row
//     u8       bits 0 and 1: the grid divisor, less one
//     u8       the form of the context lengths
//     u8       how many rows the case's are repeated to: a number of kRowCounts, modulo their number
//     4 bytes  not read
//     ...      the case
struct ScheduledCase {
  static constexpr std::size_t kHeaderBytes = 16;

  // 0: as many as the case has. Above 2,048 only rows of up to four slots and up to four segments are repeated.
  static constexpr std::array<std::int64_t, 12> kRowCounts = {0,    33,   65,   129,   257,   1025,
                                                              2049, 4097, 8193, 16385, 32769, 65537};

  harness::EmulatedRun run;
  std::uint64_t lengths_choice = 0;
  harness::Case value;
  std::size_t row_count = 0;  // in kRowCounts

  // The case that is run: the rows of a legal one repeated in turn, packed, and without prior calls then.
  harness::Case repeated() const;
};

// Total: bytes past the end read as 0.
ScheduledCase decode_scheduled(std::span<const std::uint8_t> bytes);
Bytes encode_scheduled(const ScheduledCase& scheduled);

extern const InputForm kScheduledCaseForm;

}  // namespace kvwitness::fuzz

#endif  // FUZZ_INPUTS_SCHEDULED_CASE_H
