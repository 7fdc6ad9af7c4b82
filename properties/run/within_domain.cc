#include "properties/run/within_domain.h"

#include <cstddef>
#include <iterator>

namespace kvwitness::harness {
namespace {

constexpr std::size_t kMostDeclinedShapes = std::size_t{1} << 16;

}  // namespace

bool WithinDomain::supports(const Case& value) const {
  return admits_case(domain_, value) && !declined_.contains(shape_of(value)) && inner().supports(value);
}

Outcome WithinDomain::run_in(const Case& value, const MemoryContext& memory_context) {
  const RunRequest request{&value, memory_context};
  return std::move(run_together({&request, 1}).front());
}

std::vector<Outcome> WithinDomain::run_together(std::span<const RunRequest> requests) {
  std::size_t inside = 0;
  while (inside < requests.size() && admits_case(domain_, *requests[inside].value)) ++inside;
  if (inside == 0) {
    std::vector<Outcome> outside;
    if (!requests.empty()) outside.push_back(Outcome::ended(Ending::kUnsupported, "the call lies outside the domain"));
    return outside;
  }
  std::vector<Outcome> outcomes = inner().run_together(requests.first(inside));
  for (std::size_t i = 0; i < outcomes.size(); ++i) note_declined(*requests[i].value, outcomes[i]);
  return outcomes;
}

bool WithinDomain::restart() {
  declined_.clear();  // a fresh process is asked afresh, as a replay asks it
  return inner().restart();
}

void WithinDomain::note_declined(const Case& value, const Outcome& outcome) {
  if (outcome.ending != Ending::kUnsupported) return;
  if (declined_.size() >= kMostDeclinedShapes) declined_.clear();
  declined_.insert(shape_of(value));
}

CallShape WithinDomain::shape_of(const Case& value) const {
  return call_shape_of(value, sees_stride(inner(), value));
}

}  // namespace kvwitness::harness
