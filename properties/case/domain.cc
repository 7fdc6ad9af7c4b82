#include "kvwitness/domain.h"

#include <kvwitness/legality.h>

#include <algorithm>
#include <cstddef>
#include <iterator>

#include "properties/case/implementation.h"

namespace kvwitness::harness {
namespace {

using Values = std::vector<std::int64_t>;

bool lists(const Values& list, std::int64_t value) {
  return list.empty() || std::ranges::find(list, value) != list.end();
}

// Whether each token that belongs to a row lies before the row's end.
bool is_in_range(const Case& value) {
  if (value.topk <= 0) return true;
  const auto topk = static_cast<std::uint64_t>(value.topk);
  for (std::size_t i = 0; i < value.learned.size() && i / topk < value.context_lens.size(); ++i) {
    if (value.learned[i] >= std::max(value.context_lens[i / topk], 0)) return false;
  }
  return true;
}

bool admits_placement(const Domain& domain, const Case& value) {
  const std::int64_t step = domain.align_bytes / static_cast<std::int64_t>(sizeof(std::int32_t));
  const bool is_strided = value.row_stride && *value.row_stride != value.topk;
  if (is_strided && (domain.contiguous || *value.row_stride % step != 0)) return false;
  return value.base_offset % step == 0;
}

// What both lists admit; `nothing` where that is no value at all.
Values common_values(const Values& one, const Values& other, bool& nothing) {
  if (one.empty() || other.empty()) return one.empty() ? other : one;
  Values common;
  std::ranges::copy_if(one, std::back_inserter(common), [&](std::int64_t value) { return lists(other, value); });
  nothing |= common.empty();
  return common;
}

}  // namespace

Domain whole_domain() {
  return {.operations = {Operation::kWitnesses, Operation::kApply, Operation::kScatter}};
}

bool is_narrow(const Domain& domain) {
  return !(domain == Domain{.operations = domain.operations, .legal_only = domain.legal_only});
}

Domain common_domain(const Domain& one, const Domain& other) {
  Domain common;
  bool nothing = false;
  common.legal_only = one.legal_only || other.legal_only;
  common.topk = common_values(one.topk, other.topk, nothing);
  common.num_segments = common_values(one.num_segments, other.num_segments, nothing);
  common.rows = common_values(one.rows, other.rows, nothing);
  common.contiguous = one.contiguous || other.contiguous;
  common.align_bytes = std::max(one.align_bytes, other.align_bytes);
  common.max_context = std::min(one.max_context, other.max_context);
  common.max_rows = std::min(one.max_rows, other.max_rows);
  common.in_range = one.in_range || other.in_range;
  for (const Operation operation : one.operations) {
    const bool both = std::ranges::find(other.operations, operation) != other.operations.end();
    if (both && !nothing) common.operations.push_back(operation);
  }
  return common;
}

bool admits_call(const Domain& domain, const Case& value) {
  if (std::ranges::find(domain.operations, value.operation) == domain.operations.end()) return false;
  if (!lists(domain.topk, value.topk) || !lists(domain.num_segments, value.num_segments)) return false;
  if (!lists(domain.rows, value.rows()) || value.rows() > domain.max_rows) return false;
  if (!admits_placement(domain, value)) return false;
  // Scatter's off switch is legal whatever else is passed; that belongs to the refusals.
  if (domain.legal_only && (!is_legal(value) || !fills_its_shape(value))) return false;
  if (std::ranges::any_of(value.context_lens, [&](std::int32_t len) { return len > domain.max_context; })) return false;
  return !domain.in_range || is_in_range(value);
}

bool admits_case(const Domain& domain, const Case& value) {
  return admits_call(domain, value) &&
         std::ranges::all_of(value.prior_calls, [&](const Case& prior) { return admits_call(domain, prior); });
}

}  // namespace kvwitness::harness
