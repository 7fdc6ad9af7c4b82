// Worker processes: calls over host pointers made where they can do no harm.
//
// A worker is a child process that makes one call after another on memory that both processes share (frame_memory.h).
// This process lays each call out, waits for the answer or a deadline, and reads the memory itself: nothing that the
// target does to its own process can change what is judged. When the worker dies or is killed, the next call gets a
// fresh one.
//
// Workers are started by a fork server (fork_server.h), which is forked when the Worker is made: make Workers before
// starting threads or a CUDA context.
#ifndef PROPERTIES_SANDBOX_WORKER_H
#define PROPERTIES_SANDBOX_WORKER_H

#include <kvwitness/case.h>

#include <chrono>
#include <expected>
#include <memory>
#include <optional>
#include <string>

#include "properties/case/implementation.h"
#include "properties/case/outcome.h"
#include "properties/sandbox/deadline_policy.h"
#include "properties/sandbox/worker_target.h"

namespace kvwitness::harness {

class Worker {
 public:
  // Throws NoIsolation where no process for calls can be had here.
  explicit Worker(std::unique_ptr<WorkerTarget> target, const DeadlineLimits& limits = {});
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  // Starts the process where none runs, and gives what it says of itself; an error where it does not come up.
  std::expected<TargetDescription, std::string> start();
  // Ends the process; the next use starts a fresh one, whose calls have the same history as the first one's.
  void stop();
  // DeadlinePolicy::hurry and DeadlinePolicy::end_at for the calls to come. What is waited for at the end throws TimeUp.
  void hurry(bool hurries);
  void end_at(std::optional<std::chrono::steady_clock::time_point> end);
  // Whether the target takes the shape. Nothing where its process dies or hangs over the question.
  std::optional<bool> supports(const CallShape& shape);
  // Makes the case's own call, without its prior calls. kUnsupported where the target declines the shape.
  Outcome run_call(const Case& value, bool strided, const MemoryContext& memory_context);

 private:
  class Process;
  std::unique_ptr<Process> process_;
};

}  // namespace kvwitness::harness

#endif  // PROPERTIES_SANDBOX_WORKER_H
