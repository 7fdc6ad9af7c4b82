// An input that is one call of a null model, a mask, a metric or a length helper.
#ifndef FUZZ_INPUTS_METRICS_CALL_H
#define FUZZ_INPUTS_METRICS_CALL_H

#include <cstdint>
#include <span>
#include <vector>

#include "fuzz/inputs/input_form.h"

namespace kvwitness::fuzz {

enum class MetricsFunction : std::uint8_t {
  kRandomNull,
  kLocalityNull,
  kMaskRandom,
  kMaskLocal,
  kSegmentCoverage,
  kAttentionMassRecall,
  kSegmentOf,
  kLensFromWindows,
  kLensFromRequests,
  kCount,
};

// Layout, little-endian:
//
//     u8   the function, modulo their number
//     u64  the first number
//     u64  the second number
//     u64  the seed
//     u16  how many candidates, then the candidates (i32 each)
//     ...  attention (u16 each: a small mantissa and a wide exponent; 0xFFFF is NaN)
//
// What the numbers mean is the function's; they are reduced to what its definition can be worked out for.
struct MetricsCall {
  MetricsFunction function;
  std::uint64_t first;
  std::uint64_t second;
  std::uint64_t seed;
  std::vector<std::int32_t> candidates;
  std::vector<double> attention;
};

// Total: bytes past the end read as 0.
MetricsCall decode_metrics_call(std::span<const std::uint8_t> bytes);

extern const InputForm kMetricsCallForm;

}  // namespace kvwitness::fuzz

#endif  // FUZZ_INPUTS_METRICS_CALL_H
