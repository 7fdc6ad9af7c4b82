#include "properties/run/domains.h"

#include <kvwitness/legality.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace kvwitness::harness {
Domain domain_of(const RunOptions& options) {
  Domain domain;
  domain.operations = {Operation::kWitnesses, Operation::kApply, Operation::kScatter};
  domain.topk = options.topk;
  domain.num_segments = options.num_segments;
  domain.contiguous = options.contiguous;
  domain.align_bytes = options.align_bytes;
  return domain;
}

Domain domain_of(const RunOptions& options, const Implementation& implementation) {
  Domain domain = domain_of(options);
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

bool admits_case(const Domain& domain, const Case& value) {
  const auto listed = [](const std::vector<std::int64_t>& list, std::int64_t number) {
    return list.empty() || std::ranges::find(list, number) != list.end();
  };
  if (std::ranges::find(domain.operations, value.operation) == domain.operations.end()) return false;
  if (!std::ranges::all_of(value.prior_calls, [&](const Case& prior) { return admits_case(domain, prior); }))
    return false;
  if (domain.contiguous && value.row_stride && *value.row_stride != value.topk) return false;
  if (value.base_offset * 4 % domain.align_bytes != 0) return false;
  if (!is_legal(value)) return !domain.legal_only;
  // Scatter's off switch is legal whatever else is passed; that belongs to the refusals.
  const bool rows_fit = value.topk >= 0 &&
                        static_cast<__int128>(value.rows()) * value.topk == static_cast<__int128>(value.learned.size());
  if (domain.legal_only && !rows_fit) return false;
  return listed(domain.topk, value.topk) && listed(domain.num_segments, value.num_segments) &&
         listed(domain.rows, value.rows());
}

}  // namespace kvwitness::harness
