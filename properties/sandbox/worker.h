// Worker processes: calls over host pointers made where they can do no harm.
//
// A worker is a child process that makes one call after another on memory that both processes share (frame_memory.h).
// This process lays each call out, waits for the answer or a deadline, and reads the memory itself: nothing that the
// callee does to its own process can change what is judged. When the worker dies or is killed, the next call gets a
// fresh one.
//
// Workers are started by a keeper, a child of this process that does nothing else. It is forked when the Worker is
// made, so make Workers before starting threads or a CUDA context; later restarts are then clean, whatever this process
// has become.
#ifndef PROPERTIES_SANDBOX_WORKER_H
#define PROPERTIES_SANDBOX_WORKER_H

#include <kvwitness/case.h>

#include <array>
#include <compare>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>

#include "properties/case/implementation.h"
#include "properties/case/outcome.h"
#include "properties/sandbox/host_implementation.h"
#include "properties/sandbox/patience.h"

namespace kvwitness::harness {

// The shape of a call, which an implementation may decline.
struct CallShape {
  Operation operation;
  std::int64_t rows;
  std::int64_t topk;
  std::int64_t row_stride;  // topk where packed
  std::int64_t num_segments;
  std::int64_t base_offset_bytes;
  friend auto operator<=>(const CallShape&, const CallShape&) = default;
};
// With the row stride where `strided`.
CallShape call_shape_of(const Case& value, bool strided);

// What a callee says of itself when it starts. Trivially copyable: it crosses shared memory.
struct CalleeDescription {
  std::array<char, 256> name{};    // null-terminated
  std::array<bool, 3> provides{};  // by Operation
  bool checks_arguments = false;
  bool declines_shapes = false;  // whether `supports` may be false
};

// What a worker process calls. Its functions run in the worker alone, in a fresh copy of the object as it was when the
// Worker was made.
class Callee {
 public:
  virtual ~Callee() = default;
  // First in each fresh process. An error says why nothing can be called.
  virtual std::expected<CalleeDescription, std::string> start() = 0;
  virtual bool supports(const CallShape&) { return true; }
  virtual HostImplementation::Answer call(const Call& call) = 0;
};

class Worker {
 public:
  // Throws std::system_error where the keeper cannot be started.
  explicit Worker(std::unique_ptr<Callee> callee, const Patience::Limits& limits = {});
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  // Starts the process where none runs, and gives what it says of itself; an error where it does not come up.
  std::expected<CalleeDescription, std::string> start();
  // Ends the process; the next use starts a fresh one.
  void stop();
  // Patience::hurry for the calls to come.
  void hurry(bool hurries);
  // Whether the callee takes the shape. Nothing where its process dies or hangs over the question.
  std::optional<bool> supports(const CallShape& shape);
  // Makes one call (the case's, not its `after`). kUnsupported where the callee declines the shape.
  Outcome run_alone(const Case& value, bool strided, const MemoryContext& memory_context);

 private:
  class Process;
  std::unique_ptr<Process> process_;
};

// The same implementation with its calls made in a worker process, within `limits` or, without, its own. One that is no
// HostImplementation is returned as it is.
std::unique_ptr<Implementation> isolate(std::unique_ptr<Implementation> implementation,
                                        const std::optional<Patience::Limits>& limits = std::nullopt);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_SANDBOX_WORKER_H
