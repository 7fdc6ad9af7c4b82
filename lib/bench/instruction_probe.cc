// Runs scatter on one pattern a number of times, so that a tool can count what it executes. See instructions.py.
//
//     kvwitness_instruction_probe BACKEND PATTERN NUM_SEGMENTS TIMES
//
// Prints the tokens of one call. Patterns: real, one_segment, one_missing, alternate, spread.
#include <kvwitness/kvwitness.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "lib/bench/workload.h"

namespace kvwitness::bench {
namespace {

constexpr std::size_t kTopk = 2048;
constexpr std::size_t kRows = 28;
constexpr std::int32_t kContextLen = 131072;

Pattern pattern_of(std::string_view name) {
  for (const Pattern pattern :
       {Pattern::kReal, Pattern::kOneSegment, Pattern::kOneMissing, Pattern::kAlternate, Pattern::kSpread}) {
    if (name == name_of(pattern)) {
      return pattern;
    }
  }
  std::fprintf(stderr, "unknown pattern %.*s\n", static_cast<int>(name.size()), name.data());
  std::exit(2);
}

int probe(char** arguments) {
  if (kvw_set_backend(arguments[1]) != KVW_OK) {
    std::fprintf(stderr, "%s\n", kvw_last_error());
    return 3;
  }
  const Pattern pattern = pattern_of(arguments[2]);
  const std::size_t num_segments = std::strtoull(arguments[3], nullptr, 10);
  Workload::RealRows real;
  if (pattern == Pattern::kReal) {
    real = read_real_rows(KVWITNESS_REAL_ROWS, kTopk);
  }
  Workload work({pattern, kRows, kTopk, num_segments, kContextLen, 0}, real, 0);
  for (long times = std::strtol(arguments[4], nullptr, 10); times > 0; --times) {
    if (kvw_scatter(work.rows(), static_cast<std::int64_t>(work.elements()), kTopk, work.context_lens().data(), kRows,
                    static_cast<std::int64_t>(num_segments)) != KVW_OK) {
      std::fprintf(stderr, "%s\n", kvw_last_error());
      return 1;
    }
    work.restore();
  }
  std::printf("%zu\n", work.elements());
  return 0;
}

}  // namespace
}  // namespace kvwitness::bench

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fputs("usage: kvwitness_instruction_probe BACKEND PATTERN NUM_SEGMENTS TIMES\n", stderr);
    return 2;
  }
  try {
    return kvwitness::bench::probe(argv);
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "kvwitness_instruction_probe: %s\n", failure.what());
    return 2;
  }
}
