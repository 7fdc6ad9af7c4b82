// Every implementation of this build as a test's parameter.
#ifndef TESTS_PROPERTIES_IMPLEMENTATION_NAMES_H
#define TESTS_PROPERTIES_IMPLEMENTATION_NAMES_H

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "properties/implementations/registry.h"

namespace kvwitness::harness {

// All but the oracle, which is what they are compared with.
inline std::vector<std::string> implementation_names() {
  std::vector<std::string> names;
  for (const auto& implementation : all_implementations()) {
    if (implementation->name() != "oracle") {
      names.push_back(implementation->name());
    }
  }
  return names;
}

inline std::string name_of_parameter(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

}  // namespace kvwitness::harness

#endif  // TESTS_PROPERTIES_IMPLEMENTATION_NAMES_H
