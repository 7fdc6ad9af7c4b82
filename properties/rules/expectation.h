// A case's own `expect`, and those of the calls before it, as a property like the others.
#ifndef PROPERTIES_RULES_EXPECTATION_H
#define PROPERTIES_RULES_EXPECTATION_H

#include <kvwitness/case.h>

#include <string_view>

#include "properties/rules/property.h"

namespace kvwitness::harness {

// The name under which a case's own `expect` is judged, beside the properties.
inline constexpr std::string_view kExpectation = "expect";

// Whether the case or one of its prior calls expects something.
bool carries_expectation(const Case& value);

// Named "expect"; silent where nothing is expected or the shape lies outside the implementation's domain, and on
// refusals that it does not promise. It is no part of all_properties(): generated cases expect nothing.
const Property& expectation_property();

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RULES_EXPECTATION_H
