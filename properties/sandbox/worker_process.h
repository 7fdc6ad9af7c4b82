// What runs in a worker process: takes tasks from the channel, makes the calls, answers.
#ifndef PROPERTIES_SANDBOX_WORKER_PROCESS_H
#define PROPERTIES_SANDBOX_WORKER_PROCESS_H

#include <sys/types.h>

#include "properties/sandbox/frame_memory.h"
#include "properties/sandbox/worker_channel.h"
#include "properties/sandbox/worker_target.h"

namespace kvwitness::harness {

// The whole life of a worker process, whose parent is `fork_server`. Does not return.
[[noreturn]] void run_worker(WorkerTarget& target, WorkerChannel& channel, const FrameMemory& memory,
                             pid_t fork_server);

// Signals as a fresh program has them: this process may have inherited handlers of a sanitizer or a test framework.
void reset_signals();

}  // namespace kvwitness::harness

#endif  // PROPERTIES_SANDBOX_WORKER_PROCESS_H
