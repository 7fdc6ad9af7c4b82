#include <kvwitness/legality.h>
#include <kvwitness/oracle.h>

#include <memory>
#include <string>
#include <utility>

#include "properties/case/status.h"
#include "properties/implementations/registry.h"
#include "properties/sandbox/call_frame.h"

namespace kvwitness::harness {
namespace {

// The rule itself as an implementation: what a run of the harness on a right implementation looks like.
class OracleImplementation final : public Implementation {
 public:
  std::string name() const override { return "oracle"; }
  std::span<const std::unique_ptr<Implementation>> peers() const override { return runnable_backends(); }

  Outcome run_in(const Case& value, const MemoryContext& memory_context) override {
    return run_in_order(value, [&](const Case& call) { return answer(call, memory_context); });
  }

 private:
  Outcome answer(const Case& value, const MemoryContext& memory_context) const {
    const bool strided = sees_stride(*this, value);
    if (auto why = beyond_limits(value, strided)) {
      return Outcome::ended(Ending::kUnsupported, std::move(*why));
    }
    Outcome outcome;
    outcome.status = expected_status(value, strided);
    const bool in_place =
        value.operation == Operation::kScatter || (value.operation == Operation::kApply && value.in_place);
    if (in_place) {
      outcome.before = value.learned;
    } else {
      outcome.before.assign(static_cast<std::size_t>(output_elements(value)),
                            output_poison(value, memory_context.fill));
    }
    outcome.rows = outcome.status == status::kOk ? expected_rows(value) : outcome.before;
    return outcome;
  }
};

}  // namespace

std::unique_ptr<Implementation> make_oracle() {
  return std::make_unique<OracleImplementation>();
}

}  // namespace kvwitness::harness
