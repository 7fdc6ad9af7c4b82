// Implementations that are functions over host pointers: a Call, and the way to make it on memory that a CallFrame lays
// out.
#ifndef PROPERTIES_SANDBOX_HOST_IMPLEMENTATION_H
#define PROPERTIES_SANDBOX_HOST_IMPLEMENTATION_H

#include <kvwitness/case.h>

#include <cstdint>
#include <memory>
#include <string>

#include "properties/case/implementation.h"
#include "properties/case/outcome.h"
#include "properties/sandbox/patience.h"

namespace kvwitness::harness {

class FrameMemory;

// One call over host pointers, as the C ABI takes it. `out` is the witnesses, apply's output (equal to `learned` in
// place) or, for scatter, the in-place buffer (equal to `learned` too).
struct Call {
  Operation operation;
  const std::int32_t* learned;
  std::int64_t learned_len;  // elements of `learned` in the case; rows * topk for a legal call, whatever the stride
  std::int64_t row_stride;   // elements; topk where packed
  std::int64_t topk;
  const std::int32_t* context_lens;
  std::int64_t rows;
  std::int64_t learned_keep;
  std::int64_t num_segments;
  std::int64_t max_replacements;
  std::int32_t* out;
};

class HostImplementation : public Implementation {
 public:
  struct Answer {
    std::int32_t status;
    std::string message;
  };

  HostImplementation();
  ~HostImplementation() override;

  // Lays the case out in memory (alignment, stride, canaries, guard pages), calls in this process, and reads everything
  // back.
  Outcome run_in(const Case& value, const MemoryContext& memory_context) override;
  // How long a worker process may take for a call before it counts as hung.
  virtual Patience::Limits limits() const { return {}; }
  // Makes one call. Public for the worker process, which lays its calls out elsewhere.
  virtual Answer call(const Call& call) = 0;

 private:
  Outcome run_alone(const Case& value, const MemoryContext& memory_context);
  std::unique_ptr<FrameMemory> memory_;  // reused from run to run, so that stale addresses and stale contents show
};

}  // namespace kvwitness::harness

#endif  // PROPERTIES_SANDBOX_HOST_IMPLEMENTATION_H
