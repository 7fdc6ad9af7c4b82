// What workers write to their standard output and error, passed on to the standard error of the process that starts
// them. A process that a worker leaves behind then holds a pipe open, and not what whoever reads the harness's output
// waits on.
#ifndef PROPERTIES_SANDBOX_WORKER_OUTPUT_H
#define PROPERTIES_SANDBOX_WORKER_OUTPUT_H

#include <poll.h>

#include <array>
#include <cstddef>
#include <string>

namespace kvwitness::harness {

class WorkerOutput {
 public:
  // Throws std::system_error where no pipe is to be had.
  WorkerOutput();
  WorkerOutput(const WorkerOutput&) = delete;
  WorkerOutput& operator=(const WorkerOutput&) = delete;
  ~WorkerOutput();

  // In a worker: makes the pipe its standard output and error.
  void become_output() const noexcept;

  // What to wait for before pass_on() can do more: bytes or, where some wait, room for them.
  pollfd to_read() const noexcept { return {unwritten_.empty() ? ends_[0] : -1, POLLIN, 0}; }
  pollfd to_write() const noexcept { return {unwritten_.empty() ? -1 : 2, POLLOUT, 0}; }
  // Reads and writes as much as can be without waiting.
  void pass_on();

 private:
  bool read_some();
  bool write_some();

  std::array<int, 2> ends_{-1, -1};
  std::string unwritten_;
};

}  // namespace kvwitness::harness

#endif  // PROPERTIES_SANDBOX_WORKER_OUTPUT_H
