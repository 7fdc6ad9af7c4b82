// How a target says what it found.
#ifndef FUZZ_FINDING_H
#define FUZZ_FINDING_H

#include <kvwitness/case.h>

#include <string>
#include <string_view>

namespace kvwitness::fuzz {

// What failed. Two findings with the same target, invariant and subject are one: campaigns report them once, and a
// minimised input must keep them.
struct Finding {
  std::string_view target;
  std::string_view invariant;  // a property of `kvwitness list`, or a name of the target's own
  std::string_view subject;    // the implementation or the function that was called
  std::string what;            // one sentence with the values
};

// Prints one line to the standard error stream, which starts with kFindingPrefix, and ends the process by abort().
//
//     kvwitness-finding target=differential invariant=oracle_equality subject=avx2: row 0 slot 3 is 7, not 8
//
// With a case, its first 4,096 characters of JSON follow on a line of their own.
[[noreturn]] void report_finding(const Finding& finding);
[[noreturn]] void report_finding(const Finding& finding, const harness::Case& value);

inline constexpr std::string_view kFindingPrefix = "kvwitness-finding ";

}  // namespace kvwitness::fuzz

#endif  // FUZZ_FINDING_H
