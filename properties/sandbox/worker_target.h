// What a worker process calls.
#ifndef PROPERTIES_SANDBOX_WORKER_TARGET_H
#define PROPERTIES_SANDBOX_WORKER_TARGET_H

#include <array>
#include <expected>
#include <string>

#include "properties/sandbox/call.h"

namespace kvwitness::harness {

// What a target says of itself when it starts. Trivially copyable: it crosses shared memory.
struct TargetDescription {
  std::array<char, 256> name{};    // null-terminated
  std::array<bool, 3> provides{};  // by Operation
  bool checks_arguments = false;
  bool declines_shapes = false;  // whether `supports` may be false
};

// Its functions run only in the worker process, in a fresh copy of the object as it was when the Worker was made.
class WorkerTarget {
 public:
  virtual ~WorkerTarget() = default;
  // First in each fresh process. An error says why nothing can be called.
  virtual std::expected<TargetDescription, std::string> start() = 0;
  virtual bool supports(const CallShape&) { return true; }
  virtual CallAnswer call(const Call& call) = 0;
};

}  // namespace kvwitness::harness

#endif  // PROPERTIES_SANDBOX_WORKER_TARGET_H
