// What a worker process calls.
#ifndef PROPERTIES_SANDBOX_WORKER_TARGET_H
#define PROPERTIES_SANDBOX_WORKER_TARGET_H

#include <kvwitness/domain.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <string>

#include "properties/sandbox/call.h"

namespace kvwitness::harness {

// What a target says beforehand of the calls that it serves, in a form that crosses shared memory.
struct StatedDomain {
  static constexpr std::size_t kMostListed = 256;
  struct List {  // empty: any value
    std::array<std::int64_t, kMostListed> values;
    std::size_t count;
  };
  std::array<bool, 3> operations{true, true, true};  // by Operation
  List topk{};
  List num_segments{};
  bool contiguous = false;
  bool in_range = false;
  std::int64_t align_bytes = Domain{}.align_bytes;
  std::int64_t max_context = Domain{}.max_context;
  std::int64_t max_rows = Domain{}.max_rows;
};

// What a target says of itself when it starts. Trivially copyable: it crosses shared memory.
struct TargetDescription {
  std::array<char, 256> name{};    // null-terminated
  std::array<bool, 3> provides{};  // by Operation
  bool checks_arguments = false;
  bool declines_shapes = false;  // whether `supports` may be false
  StatedDomain domain{};
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
