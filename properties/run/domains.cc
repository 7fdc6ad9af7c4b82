#include "properties/run/domains.h"

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace kvwitness::harness {

Domain domain_of(const RunOptions& options, const Implementation& implementation) {
  Domain domain = common_domain(options.domain, implementation.domain());
  std::erase_if(domain.operations, [&](Operation operation) { return !implementation.provides(operation); });
  domain.legal_only = !implementation.checks_arguments();
  const bool strides = std::ranges::any_of(
      domain.operations, [&](Operation operation) { return implementation.honours_stride(operation); });
  domain.contiguous = domain.contiguous || !strides;
  return domain;
}

Domain stream_domain(const Domain& domain, const Property& property, const Implementation& implementation) {
  Domain narrowed = domain;
  const bool is_silent = property.needs.peers && implementation.peers().empty();
  std::erase_if(narrowed.operations, [&](Operation operation) { return is_silent || !property.concerns(operation); });
  return narrowed;
}

}  // namespace kvwitness::harness
