// What the targets judge. under_test.cc answers with the project's own code; planted_faults/under_test.cc, linked in
// its place, answers with a fault planted in it, so that a campaign can be seen to find what it should.
#ifndef FUZZ_UNDER_TEST_H
#define FUZZ_UNDER_TEST_H

#include <kvwitness/case.h>
#include <kvwitness/simt.h>

#include <cstdint>
#include <expected>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "properties/case/implementation.h"
#include "properties/implementations/emulated_launch.h"

namespace kvwitness::fuzz {

// The implementations over host pointers that can run here: the C ABI and every backend.
std::vector<std::unique_ptr<harness::Implementation>> host_implementations();

// The C ABI only.
std::unique_ptr<harness::Implementation> c_abi_implementation();

// A planned call of the CUDA library on the CPU executor.
simt::Report launch(const harness::CudaPlan& plan, const harness::EmulatedRun& run);

// A function of the C ABI, of the C++ interface or one of the CUDA library's host checks: itself, or the one that stands in for it.
using AnyFunction = void (*)();
AnyFunction function_under_test(AnyFunction function);
template <typename Function>
Function* under_test(Function* function) {
  return reinterpret_cast<Function*>(function_under_test(reinterpret_cast<AnyFunction>(function)));
}

// The case file format and the byte form.
struct CaseForms {
  std::expected<std::vector<harness::Case>, harness::CaseError> (*parse)(std::string_view text, std::string_view file);
  std::string (*write)(const harness::Case& value);
  std::vector<std::uint8_t> (*encode)(const harness::Case& value);
  harness::Case (*decode)(std::span<const std::uint8_t> bytes);
};
const CaseForms& case_forms();

}  // namespace kvwitness::fuzz

#endif  // FUZZ_UNDER_TEST_H
