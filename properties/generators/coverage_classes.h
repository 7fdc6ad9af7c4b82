// The classes of cases whose occurrence a run must prove: one for each line of the rule's contracts and for each kind
// of fault that is known from public sparse-attention kernels.
#ifndef PROPERTIES_GENERATORS_COVERAGE_CLASSES_H
#define PROPERTIES_GENERATORS_COVERAGE_CLASSES_H

#include <kvwitness/case.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "properties/generators/generators.h"

namespace kvwitness::harness {

struct CaseTraits;

struct CoverageClass {
  std::string_view name;
  std::string_view what;
  std::string_view scenario;  // whose cards guarantee the class; the class is possible where the scenario is
  int floor_per_mille;        // of a stream's cases; 0 where the scenario is a shared one: once a run
  bool (*contains)(const CaseTraits&);
};
std::span<const CoverageClass> all_coverage_classes();

// The indices of all classes that the case falls into, ascending. Linear in the case's size.
std::vector<std::size_t> classes_of(const Case& value);
// The same of other classes than these.
std::vector<std::size_t> classes_of(const Case& value, std::span<const CoverageClass> classes);

const Scenario& scenario_of(const CoverageClass& kind);

// How many of `cases` drawn from the domain's decks must fall into the class at least. A focused domain gives half its
// cases to its focus, so the floors halve.
std::int64_t class_floor(const CoverageClass& kind, const Domain& domain, std::int64_t cases);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_GENERATORS_COVERAGE_CLASSES_H
