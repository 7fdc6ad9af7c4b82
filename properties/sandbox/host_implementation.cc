#include "properties/sandbox/host_implementation.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "properties/sandbox/call_frame.h"

namespace kvwitness::harness {

HostImplementation::HostImplementation() = default;
HostImplementation::~HostImplementation() = default;

Outcome HostImplementation::run_call(const Case& value, const MemoryContext& memory_context) {
  const bool strided = sees_stride(*this, value);
  if (auto why = beyond_limits(value, strided)) {
    return Outcome::ended(Ending::kUnsupported, std::move(*why));
  }
  const std::size_t needed_bytes = CallFrame::needed_bytes(value, strided);
  if (memory_ == nullptr || memory_->capacity_bytes() < needed_bytes) {
    memory_ = std::make_unique<FrameMemory>(std::max(needed_bytes, FrameMemory::kDefaultCapacityBytes));
    memory_->map_guarded();
  }
  const CallFrame frame(*memory_, value, strided, memory_context);
  const PlacedCall& placed = frame.placed();
  const std::pair<Region, const Placement*> buffers[] = {
      {Region::kTokens, &placed.tokens}, {Region::kLengths, &placed.lengths}, {Region::kOutput, &placed.output}};
  for (const auto& [region, placement] : buffers) {
    memory_->raise_guards(region, *placement);
  }
  Answer answer = call(resolve(placed, *memory_, false));
  for (const auto& [region, placement] : buffers) {
    memory_->lower_guards(region, *placement);
  }
  Outcome outcome = frame.collect();
  outcome.status = answer.status;
  outcome.message = std::move(answer.message);
  return outcome;
}

Outcome HostImplementation::run_in(const Case& value, const MemoryContext& memory_context) {
  return run_in_order(value, [&](const Case& call) { return run_call(call, memory_context); });
}

}  // namespace kvwitness::harness
