// The fuzz targets: one function each, called by a fuzzing engine, by the replayer and by tests.
//
// Each takes any bytes and returns 0, or -1 for an input that is not worth keeping. What it finds wrong ends the
// process (finding.h). None assumes anything of the working directory or of a device, and none writes files.
#ifndef FUZZ_TARGET_H
#define FUZZ_TARGET_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

// Every host implementation that can run here against the oracle. Input: a case in its byte form.
int fuzz_differential(const std::uint8_t* data, std::size_t size);
// The CUDA kernels' source on the CPU executor against the oracle. Input: a schedule (scheduled_case.h), then a case.
int fuzz_cuda_differential(const std::uint8_t* data, std::size_t size);
// Every property that needs no oracle, relations included, on the C ABI. Input: a case in its byte form.
int fuzz_invariants(const std::uint8_t* data, std::size_t size);
// Malformed calls of the C ABI and of the CUDA library's host checks: the right code, its message, and not a byte
// written. Input: raw_call.h.
int fuzz_refusals(const std::uint8_t* data, std::size_t size);
// The reader and writer of case files and the byte form. Input: text, or the bytes of a case.
int fuzz_case_file(const std::uint8_t* data, std::size_t size);
// Null models, masks, metrics and length helpers against their definitions. Input: see metrics_nulls.cc.
int fuzz_metrics_nulls(const std::uint8_t* data, std::size_t size);
// The control of the controls: claims that scatter is idempotent, which the rule denies. A campaign that does not
// refute it is broken.
int fuzz_canary(const std::uint8_t* data, std::size_t size);

namespace kvwitness::fuzz {

// How a target reads its input, which decides how inputs are mutated, minimised and turned into case files.
enum class InputForm : std::uint8_t { kCase, kScheduledCase, kRawCall, kText, kBytes };

struct Target {
  std::string_view name;
  int (*body)(const std::uint8_t* data, std::size_t size);
  InputForm form;
};

// All targets but the canary, which is found by its name alone.
std::span<const Target> all_targets();
const Target* find_target(std::string_view name);

}  // namespace kvwitness::fuzz

#endif  // FUZZ_TARGET_H
