// The fork server: a child of this process that does nothing but start, watch and end worker processes, one at a time.
//
// It is forked early, so that a worker that it forks later is clean whatever this process has become by then: threads,
// a CUDA context, a large heap.
#ifndef PROPERTIES_SANDBOX_FORK_SERVER_H
#define PROPERTIES_SANDBOX_FORK_SERVER_H

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "properties/sandbox/frame_memory.h"
#include "properties/sandbox/worker_channel.h"
#include "properties/sandbox/worker_target.h"

namespace kvwitness::harness {

// This process's handle of its fork server. Target and channel must outlive it.
class ForkServer {
 public:
  // Throws NoIsolation where there can be none.
  ForkServer(WorkerTarget& target, WorkerChannel& channel, const FrameMemory& memory);
  ForkServer(const ForkServer&) = delete;
  ForkServer& operator=(const ForkServer&) = delete;
  // Ends it and the worker.
  ~ForkServer();

  // Starts a fresh worker in place of the one that runs; its process id, or nothing where it cannot be started. A fork
  // server that was killed is replaced once.
  std::optional<pid_t> start_worker();
  void end_worker();
  // Workers to come are called on this memory. Ends the one that runs.
  void use_memory(const FrameMemory& memory);
  // Where the fork server has been killed, its worker went with it and nobody is left to report that: notes the death
  // in the channel.
  void note_own_death();

 private:
  void start();
  void stop();

  WorkerTarget& target_;
  WorkerChannel& channel_;
  const FrameMemory* memory_;
  int socket_ = -1;
  pid_t process_ = -1;
  pid_t worker_ = -1;
};

}  // namespace kvwitness::harness

#endif  // PROPERTIES_SANDBOX_FORK_SERVER_H
