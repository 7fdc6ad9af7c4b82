// The domains of a run: what cases the person, an implementation's promises and a property leave.
#ifndef PROPERTIES_RUN_DOMAINS_H
#define PROPERTIES_RUN_DOMAINS_H

#include <kvwitness/case.h>
#include <kvwitness/rapidcheck.h>

#include "properties/case/implementation.h"
#include "properties/rules/property.h"
#include "properties/run/options.h"

namespace kvwitness::harness {

// What of the person's domain the implementation's own and its promises admit.
Domain domain_of(const RunOptions& options, const Implementation& implementation);
// What of its implementation's domain the property's stream is drawn from; without operations where it has none.
Domain stream_domain(const Domain& domain, const Property& property, const Implementation& implementation);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUN_DOMAINS_H
