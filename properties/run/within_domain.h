// An implementation that is given no call outside a domain.
#ifndef PROPERTIES_RUN_WITHIN_DOMAIN_H
#define PROPERTIES_RUN_WITHIN_DOMAIN_H

#include <kvwitness/domain.h>

#include <set>
#include <utility>
#include <vector>

#include "properties/case/implementation.h"
#include "properties/sandbox/call.h"

namespace kvwitness::harness {

// Forwards what lies in the domain; all else is unsupported, whoever asks for it: a property's stream, a relation, the
// search for a counterexample. A shape that the implementation has declined by its answer is asked for no more either,
// until it is restarted.
class WithinDomain final : public ForwardingImplementation {
 public:
  // A domain that admits everything until narrow() is called.
  explicit WithinDomain(Implementation& inner) : ForwardingImplementation(inner), domain_(whole_domain()) {}

  void narrow(Domain domain) { domain_ = std::move(domain); }
  const Domain& admitted() const { return domain_; }

  bool supports(const Case& value) const override;
  Outcome run_in(const Case& value, const MemoryContext& memory_context) override;
  // Asks for those up to the first that lies outside.
  std::vector<Outcome> run_together(std::span<const RunRequest> requests) override;
  bool restart() override;

 private:
  void note_declined(const Case& value, const Outcome& outcome);
  CallShape shape_of(const Case& value) const;

  Domain domain_;
  std::set<CallShape> declined_;
};

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUN_WITHIN_DOMAIN_H
