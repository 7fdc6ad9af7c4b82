#include "fuzz/under_test.h"

#include <utility>

#include "properties/implementations/registry.h"

namespace kvwitness::fuzz {

std::vector<std::unique_ptr<harness::Implementation>> host_implementations() {
  std::vector<std::unique_ptr<harness::Implementation>> made;
  made.push_back(c_abi_implementation());
  for (std::unique_ptr<harness::Implementation>& backend : harness::make_backends()) {
    if (backend->availability().can_run) {
      made.push_back(std::move(backend));
    }
  }
  return made;
}

std::unique_ptr<harness::Implementation> c_abi_implementation() {
  return harness::make_c_abi();
}

simt::Report launch(const harness::CudaPlan& plan, const harness::EmulatedRun& run) {
  return harness::launch_emulated(plan, run);
}

AnyFunction function_under_test(AnyFunction function) {
  return function;
}

const CaseForms& case_forms() {
  static constexpr CaseForms kForms = {harness::parse_cases, harness::to_json, harness::encode, harness::decode};
  return kForms;
}

}  // namespace kvwitness::fuzz
