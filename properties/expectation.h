// A case's own `expect`, and those of the calls before it, as a property like the others.
#ifndef PROPERTIES_EXPECTATION_H
#define PROPERTIES_EXPECTATION_H

#include "properties/case.h"
#include "properties/invariants.h"

namespace kvwitness::harness {

// Whether the case or one of its `after` expects something.
bool carries_expectation(const Case& value);

// Named "expect"; silent where nothing is expected or the shape lies outside the implementation's domain, and on
// refusals that it does not promise. It is no part of all_properties(): generated cases expect nothing.
const Property& expectation_property();

}  // namespace kvwitness::harness

#endif  // PROPERTIES_EXPECTATION_H
