// Implementations that are functions over host pointers, and the way to call them on memory that a CallFrame lays out.
#ifndef PROPERTIES_SANDBOX_HOST_IMPLEMENTATION_H
#define PROPERTIES_SANDBOX_HOST_IMPLEMENTATION_H

#include <kvwitness/case.h>

#include <memory>

#include "properties/case/implementation.h"
#include "properties/case/outcome.h"
#include "properties/sandbox/call.h"
#include "properties/sandbox/deadline_policy.h"

namespace kvwitness::harness {

class FrameMemory;

class HostImplementation : public Implementation {
 public:
  using Answer = CallAnswer;

  HostImplementation();
  ~HostImplementation() override;

  // Lays the case out in memory (alignment, stride, canaries, guard pages), calls in this process, and reads everything
  // back.
  Outcome run_in(const Case& value, const MemoryContext& memory_context) override;
  // How long a worker process may take for a call before it counts as hung.
  virtual DeadlineLimits limits() const { return {}; }
  // Makes one call. Public for the worker process, which lays its calls out elsewhere.
  virtual Answer call(const Call& call) = 0;

 private:
  // The case's own call, without its prior calls.
  Outcome run_call(const Case& value, const MemoryContext& memory_context);
  std::unique_ptr<FrameMemory> memory_;  // reused from run to run, so that stale addresses and stale contents show
};

}  // namespace kvwitness::harness

#endif  // PROPERTIES_SANDBOX_HOST_IMPLEMENTATION_H
