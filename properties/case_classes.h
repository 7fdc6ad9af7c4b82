// The classes of cases whose occurrence a run must prove: one for each line of the rule's contracts and for each kind
// of fault that is known from public sparse-attention kernels.
#ifndef PROPERTIES_CASE_CLASSES_H
#define PROPERTIES_CASE_CLASSES_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "properties/case.h"
#include "properties/generators.h"

namespace kvwitness::harness {

struct CaseTraits;

struct CaseClass {
  std::string_view name;
  std::string_view what;
  std::string_view theme;  // whose cards guarantee the class; the class is possible where the theme is
  int floor_per_mille;     // of a stream's cases; 0 where the theme is a shared one: once a run
  bool (*contains)(const CaseTraits&);
};
std::span<const CaseClass> all_case_classes();

// The indices of all classes that the case falls into, ascending. Linear in the case's size.
std::vector<std::size_t> classes_of(const Case& value);
// The same of other classes than these.
std::vector<std::size_t> classes_of(const Case& value, std::span<const CaseClass> classes);

const Theme& theme_of(const CaseClass& kind);

// How many of `cases` drawn from the domain's decks must fall into the class at least. A focused domain gives half its
// cases to its focus, so the floors halve.
std::int64_t class_floor(const CaseClass& kind, const Domain& domain, std::int64_t cases);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_CASE_CLASSES_H
