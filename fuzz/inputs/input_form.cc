#include "fuzz/inputs/input_form.h"

#include <utility>

namespace kvwitness::fuzz {

std::vector<Seed> seeds_of_inputs(std::vector<Bytes> (*inputs_of)(const harness::Case&),
                                  std::span<const NamedCase> cases) {
  std::vector<Seed> seeds;
  for (const NamedCase& named : cases) {
    std::vector<Bytes> inputs = inputs_of(named.value);
    for (std::size_t i = 0; i < inputs.size(); ++i) {
      seeds.push_back({inputs.size() == 1 ? named.name : named.name + "-" + std::to_string(i), std::move(inputs[i])});
    }
  }
  return seeds;
}

}  // namespace kvwitness::fuzz
