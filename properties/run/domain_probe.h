// What part of a domain an implementation serves, found out by asking it, so that generated cases are not wasted on
// shapes that it declines.
#ifndef PROPERTIES_RUN_DOMAIN_PROBE_H
#define PROPERTIES_RUN_DOMAIN_PROBE_H

#include <kvwitness/rapidcheck.h>

#include <functional>

#include "properties/case/implementation.h"

namespace kvwitness::harness {

// The domain with the operations, widths, segment counts, numbers of rows, alignments and strides left out that the
// implementation declines in small legal calls, by supports() or by its answer. A domain of which it declines everything comes back as
// it was. Some 60 calls mostly, some thousands of an implementation that declines nearly all of them.
//
// @param is_over  whether to ask no more: what was not asked about counts as served
Domain probed_domain(const Domain& domain, Implementation& implementation, const std::function<bool()>& is_over);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUN_DOMAIN_PROBE_H
