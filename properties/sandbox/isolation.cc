#include "properties/sandbox/isolation.h"

#include <cstddef>
#include <expected>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "properties/sandbox/host_implementation.h"
#include "properties/sandbox/worker.h"

namespace kvwitness::harness {
namespace {

class HostTarget final : public WorkerTarget {
 public:
  explicit HostTarget(HostImplementation& implementation) : implementation_(implementation) {}
  std::expected<TargetDescription, std::string> start() override { return TargetDescription{}; }
  CallAnswer call(const Call& call) override { return implementation_.call(call); }

 private:
  HostImplementation& implementation_;
};

class IsolatedImplementation final : public ForwardingImplementation {
 public:
  IsolatedImplementation(std::unique_ptr<HostImplementation> implementation, const DeadlineLimits& limits)
      : ForwardingImplementation(*implementation),
        implementation_(std::move(implementation)),
        worker_(std::make_unique<HostTarget>(*implementation_), limits) {}

  // One at a time, each in the worker process.
  std::size_t runs_together() const override { return 1; }
  std::vector<Outcome> run_together(std::span<const RunRequest> requests) override {
    // NOLINTNEXTLINE(bugprone-parent-virtual-call): past the forwarding, which would not come back to the worker
    return Implementation::run_together(requests);
  }
  bool restart() override {
    worker_.stop();
    return true;
  }
  void hurry(bool hurries) override { worker_.hurry(hurries); }
  void end_at(std::optional<std::chrono::steady_clock::time_point> end) override { worker_.end_at(end); }
  Outcome run_in(const Case& value, const MemoryContext& memory_context) override {
    return run_in_order(value, [&](const Case& call) {
      return worker_.run_call(call, sees_stride(*implementation_, call), memory_context);
    });
  }

 private:
  std::unique_ptr<HostImplementation> implementation_;
  Worker worker_;
};

}  // namespace

std::unique_ptr<Implementation> isolate(std::unique_ptr<Implementation> implementation,
                                        const std::optional<DeadlineLimits>& limits) {
  if (dynamic_cast<HostImplementation*>(implementation.get()) == nullptr) {
    return implementation;
  }
  std::unique_ptr<HostImplementation> host(static_cast<HostImplementation*>(implementation.release()));
  const DeadlineLimits chosen = limits.value_or(host->limits());
  return std::make_unique<IsolatedImplementation>(std::move(host), chosen);
}

}  // namespace kvwitness::harness
