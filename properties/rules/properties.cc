#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "properties/rules/judged_rows.h"
#include "properties/rules/property.h"

namespace kvwitness::harness {
namespace {

// The names in the order that listings and reports have; every property has its place here.
constexpr std::array<std::string_view, 29> kOrder = {"oracle_equality",
                                                     "round_trip",
                                                     "disjointness",
                                                     "distinctness",
                                                     "causality",
                                                     "coverage",
                                                     "gap_bound",
                                                     "permutation",
                                                     "retention",
                                                     "budget",
                                                     "order",
                                                     "padding",
                                                     "empty_row",
                                                     "short_row",
                                                     "out_of_range",
                                                     "row_independence",
                                                     "determinism",
                                                     "refusal",
                                                     "refused_writes_nothing",
                                                     "bounds",
                                                     "row_permutation",
                                                     "repeated_token",
                                                     "batch_split",
                                                     "stride_widening",
                                                     "budget_growth",
                                                     "added_occupant",
                                                     "repeat_run",
                                                     "spare_poison",
                                                     "backend_equality"};

std::vector<Property> make_properties() {
  std::vector<Property> all;
  for (const std::span<const Property> part : {run_invariants(), call_invariants(), relations()}) {
    all.insert(all.end(), part.begin(), part.end());
  }
  std::ranges::sort(all, {}, [](const Property& property) { return std::ranges::find(kOrder, property.name); });
  return all;
}

}  // namespace

std::span<const Property> all_properties() {
  static const std::vector<Property> properties = make_properties();
  return properties;
}

const Property* find_property(std::string_view name) {
  const std::span<const Property> all = all_properties();
  const auto found = std::ranges::find(all, name, &Property::name);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace kvwitness::harness
