// The C ABI as an implementation: what callers of the shared library get.
#include <kvwitness/backend.h>
#include <kvwitness/kvwitness.h>

#include <memory>
#include <string>

#include "properties/case/implementation.h"
#include "properties/implementations/registry.h"
#include "properties/sandbox/host_implementation.h"

namespace kvwitness::harness {
namespace {

// The C ABI, on the backend that KVWITNESS_BACKEND or the machine chooses. Only its scatter takes a row stride.
class CAbiImplementation final : public HostImplementation {
 public:
  std::string name() const override { return "c-abi"; }
  std::span<const std::unique_ptr<Implementation>> peers() const override { return runnable_backends(); }
  bool honours_stride(Operation operation) const override { return operation == Operation::kScatter; }

  Availability availability() const override {
    const auto backend = selected_backend();
    return backend ? Availability{} : Availability{false, std::string(backend.error().why)};
  }

  Answer call(const Call& call) override {
    const kvw_status status = invoke(call);
    return {status, status == KVW_OK ? "" : kvw_last_error()};
  }

 private:
  static kvw_status invoke(const Call& call) {
    switch (call.operation) {
      case Operation::kWitnesses:
        return kvw_witness_indices(call.learned, call.learned_len, call.topk, call.context_lens, call.rows,
                                   call.num_segments, call.out);
      case Operation::kApply:
        return kvw_apply(call.learned, call.learned_len, call.topk, call.context_lens, call.rows, call.learned_keep,
                         call.num_segments, call.max_replacements, call.out);
      case Operation::kScatter:
        break;
    }
    return call.row_stride == call.topk
               ? kvw_scatter(call.out, call.learned_len, call.topk, call.context_lens, call.rows, call.num_segments)
               : kvw_scatter_strided(call.out, call.row_stride, call.topk, call.context_lens, call.rows,
                                     call.num_segments);
  }
};

}  // namespace

std::unique_ptr<Implementation> make_c_abi() {
  return std::make_unique<CAbiImplementation>();
}

}  // namespace kvwitness::harness
