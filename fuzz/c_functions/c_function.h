// A C function as the target refusals calls it: one entry of a table (c_functions.cc), from which its calls, the rule of
// its refusals and its seeds are derived.
#ifndef FUZZ_C_FUNCTIONS_C_FUNCTION_H
#define FUZZ_C_FUNCTIONS_C_FUNCTION_H

#include <kvwitness/case.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzz/c_functions/raw_call.h"
#include "fuzz/c_functions/refusal_steps.h"

namespace kvwitness::fuzz {

enum class ArgumentKind : std::uint8_t {
  kCount,     // a number; refused below its minimum
  kStride,    // a count from row to row; refused below topk where there are two rows
  kCapacity,  // the count of a buffer's elements; refused below what the call needs
  kInput,     // a buffer that is read
  kOutput,    // a buffer that is written; refused where it shares a byte with another
  kLengths,   // a kvw_cuda_lengths
  kSeed,      // any 64 bits
  kText,      // a string, or null where it is empty
};

constexpr bool is_count(ArgumentKind kind) {
  return kind == ArgumentKind::kCount || kind == ArgumentKind::kStride || kind == ArgumentKind::kCapacity;
}
constexpr bool is_buffer(ArgumentKind kind) {
  return kind == ArgumentKind::kInput || kind == ArgumentKind::kOutput;
}

// One parameter. Checks of one kind are made in the order of the parameters.
struct Argument {
  std::string_view name;  // as the header and the messages name it
  ArgumentKind kind;
  std::size_t place = 0;                       // in RawCall::counts or RawCall::pointers
  std::int64_t minimum = 0;                    // of a count
  Wide (*elements)(const RawCall&) = nullptr;  // of a buffer: 0 where it is not touched; of a capacity: what is needed
  std::int64_t element_bytes = 4;              // of a buffer
};

struct CallResult {
  std::int32_t status = 0;
  bool launches = false;  // of a CUDA function, which is planned and not launched
};

struct CFunction {
  std::string_view name;
  std::vector<Argument> arguments;
  // Calls the function under test with pointers into the arena.
  CallResult (*call)(const CFunction& function, const RawCall& call, std::uint8_t* arena);

  // ---- The rule of its refusals, beyond what the arguments say.

  // What counts must be to each other: checked after the counts, before the pointers.
  std::vector<void (*)(RefusalSteps& steps, const CFunction& function, const RawCall& call)> limits = {};
  // What its text must be: checked last.
  void (*text)(RefusalSteps& steps, const RawCall& call, std::span<const std::string_view> backends) = nullptr;
  // Whether the output is the learned rows, which it may be then.
  bool (*in_place)(const RawCall& call) = nullptr;
  // Of a CUDA function: whether a legal call launches something.
  bool (*launches)(const RawCall& call) = nullptr;
  bool is_off_at_no_segments = false;  // num_segments 0: succeeds, whatever else is passed
  bool says_what_it_needs = false;     // one with too small a capacity writes what it needs to *count

  // ---- How it is called.

  const char* environment = nullptr;                     // the variable that holds the text, where it is no argument
  bool (*is_affordable)(const RawCall& call) = nullptr;  // whether a legal call ends soon
  bool (*takes)(const harness::Case& value) = nullptr;   // whether a case becomes a call of it: a seed
  std::vector<std::pair<CountIndex, std::int64_t>> own_counts =
      {};                              // of the plain call, where 2 rows of 4 are not legal
  std::string_view plain_text = "64";  // of the plain call

  bool is_cuda() const { return launches != nullptr; }
  // What it reads of RawCall::counts and of RawCall::pointers.
  std::vector<std::size_t> counts() const;
  std::vector<std::size_t> pointers() const;
};

// Every function of kvwitness.h and kvwitness_cuda.h that returns a status. Inputs say a function by its number here.
const std::vector<CFunction>& c_functions();
const CFunction& function_of(const RawCall& call);
// The number of a function that is in the table.
std::uint8_t function_number(std::string_view name);

}  // namespace kvwitness::fuzz

#endif  // FUZZ_C_FUNCTIONS_C_FUNCTION_H
