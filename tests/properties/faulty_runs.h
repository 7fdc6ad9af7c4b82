// Runs of the runner on implementations with planted faults.
#ifndef TESTS_PROPERTIES_FAULTY_RUNS_H
#define TESTS_PROPERTIES_FAULTY_RUNS_H

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "properties/run/runner.h"
#include "tests/properties/faulty_rule.h"

namespace kvwitness::harness {

inline std::vector<const Property*> properties_named(const std::vector<std::string>& names) {
  std::vector<const Property*> list;
  for (const std::string& name : names) list.push_back(find_property(name));
  return list;
}

inline std::vector<std::unique_ptr<Implementation>> one(std::unique_ptr<Implementation> implementation) {
  std::vector<std::unique_ptr<Implementation>> list;
  list.push_back(std::move(implementation));
  return list;
}

inline RunReport run(const RunOptions& options, std::vector<std::unique_ptr<Implementation>> implementations) {
  auto report = run_properties(options, implementations, nullptr);
  EXPECT_TRUE(report.has_value()) << report.error();
  return report.has_value() ? *report : RunReport{};
}

inline RunReport run_faulty(const RunOptions& options, const Faults& faults, bool can_restart = true,
                            std::size_t together = 1) {
  auto rule = std::make_unique<FaultyRule>("faulty", faults, can_restart);
  rule->run_several(together);
  return run(options, one(std::move(rule)));
}

}  // namespace kvwitness::harness

#endif  // TESTS_PROPERTIES_FAULTY_RUNS_H
