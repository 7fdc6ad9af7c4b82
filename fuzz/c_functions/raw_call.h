// The input of the target refusals: one call of the C interfaces with any counts and with pointers anywhere in one
// small arena, or null.
#ifndef FUZZ_C_FUNCTIONS_RAW_CALL_H
#define FUZZ_C_FUNCTIONS_RAW_CALL_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fuzz/inputs/input_form.h"

namespace kvwitness::fuzz {

// Where the numbers of a call lie in RawCall::counts; a function reads those that it has.
enum CountIndex : std::size_t {
  kTopk,  // also requests, a context length, seq
  kRows,  // also next_n, budget, window
  kLen,   // learned_len, candidates_len, capacity, mask_len
  kSegments,
  kKeep,
  kReplacements,
  kStride,
  kOutStride,
  kOutLen,
  kLengthsCount,
  kLengthsStride,
  kLengthsNextN,
  kCountCount,
};

// Where its pointers lie in RawCall::pointers.
enum PointerIndex : std::size_t {
  kLearned,  // also window starts, sequence lengths, candidates, offsets, mask, the gate's output
  kLens,     // also window ends, attention, count
  kStarts,
  kOut,
  kLengthsStruct,  // null or not; where it lies is no matter
  kPointerCount,
};

inline constexpr std::size_t kArenaBytes = 4096;

struct RawCall {
  std::uint8_t function = 0;  // its number in c_functions()
  std::array<std::int64_t, kCountCount> counts{};
  // Bytes from the start of the arena; kNull is the null pointer.
  std::array<std::int32_t, kPointerCount> pointers{};
  std::uint64_t seed = 0;
  std::string text;                // the environment variable, or a backend's name; holds no NUL
  std::vector<std::uint8_t> fill;  // the arena's bytes, repeated

  static constexpr std::int32_t kNull = -1;

  friend bool operator==(const RawCall&, const RawCall&) = default;
};

// Layout:
//
//     u8   the function, modulo the number of functions
//     ...  each count: u8 how it is written, then i16 or i64 (see raw_call.cc)
//     ...  each pointer: u16, of which 0 is null
//     u64  the seed
//     u8   the length of the text, then the text
//     ...  what the arena is filled with
//
// Total: bytes past the end read as 0.
RawCall decode_raw_call(std::span<const std::uint8_t> bytes);
// Decodes to an equal call, of which the text has at most 255 characters.
Bytes encode_raw_call(const RawCall& call);

// How many lengths a CUDA function reads of a call whose next_n is 1 or more: one a request.
std::int64_t lengths_needed(const RawCall& call);

extern const InputForm kRawCallForm;

}  // namespace kvwitness::fuzz

#endif  // FUZZ_C_FUNCTIONS_RAW_CALL_H
