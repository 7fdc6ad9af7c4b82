#include "properties/implementations/registry.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace kvwitness::harness {

std::vector<std::unique_ptr<Implementation>> all_implementations() {
  std::vector<std::unique_ptr<Implementation>> all;
  all.push_back(make_oracle());
  all.push_back(make_c_abi());
  std::ranges::move(make_backends(), std::back_inserter(all));
  std::ranges::move(make_cuda_emulated(), std::back_inserter(all));
  std::ranges::move(make_cuda(), std::back_inserter(all));
  return all;
}

std::unique_ptr<Implementation> find_implementation(std::string_view name) {
  for (std::unique_ptr<Implementation>& implementation : all_implementations()) {
    if (implementation->name() == name) {
      return std::move(implementation);
    }
  }
  return nullptr;
}

}  // namespace kvwitness::harness
