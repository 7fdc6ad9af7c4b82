#include <memory>

#include "fuzz/judge.h"
#include "fuzz/target.h"
#include "fuzz/under_test.h"
#include "properties/sandbox/call_frame.h"

int fuzz_invariants(const std::uint8_t* data, std::size_t size) {
  using namespace kvwitness;
  static const std::unique_ptr<harness::Implementation> kImplementation = fuzz::c_abi_implementation();
  const harness::Case value = harness::decode({data, size});
  if (!kImplementation->supports(value) ||
      harness::beyond_limits(value, harness::sees_stride(*kImplementation, value))) {
    return -1;
  }
  const harness::Outcome outcome = kImplementation->run_in(value, fuzz::memory_context_of(value));
  fuzz::judge_by_properties("invariants", value, outcome, *kImplementation, false);
  return 0;
}
