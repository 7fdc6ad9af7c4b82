// The page through which a worker process is asked and answers: shared memory and two futexes.
#ifndef PROPERTIES_SANDBOX_WORKER_CHANNEL_H
#define PROPERTIES_SANDBOX_WORKER_CHANNEL_H

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>

#include "properties/sandbox/call.h"
#include "properties/sandbox/call_frame.h"
#include "properties/sandbox/frame_memory.h"
#include "properties/sandbox/worker_target.h"

namespace kvwitness::harness {

enum class WorkerTaskKind : std::uint32_t { kStart, kSupports, kCall };

struct WorkerTask {
  WorkerTaskKind kind;
  CallShape shape;
  PlacedCall call;
};

enum class WorkerAnswerKind : std::uint32_t { kDone, kDeclined, kThrew, kForked, kNotStarted };

struct WorkerAnswer {
  std::uint32_t sequence;
  WorkerAnswerKind kind;
  std::int32_t status;
  TargetDescription description;
  std::array<char, 512> message;  // null-terminated
};

// The address of a segmentation fault or bus error, where it lies in the frame memory.
struct MemoryFault {
  bool located;
  bool read_only;  // in the view of the inputs
  Region region;
  std::uint64_t offset;
};

struct WorkerChannel {
  // From the caller. `request` is the sequence number of the latest task, and the worker's futex.
  alignas(64) std::atomic<std::uint32_t> request;
  std::atomic<std::uint32_t> worker_sleeps;
  WorkerTask task;
  // From the worker.
  alignas(64) std::atomic<std::uint32_t> answered;  // sequence number of the latest answer
  WorkerAnswer answer;
  MemoryFault fault;
  // From the fork server.
  alignas(64) std::atomic<std::uint32_t> deaths;
  std::uint32_t deaths_at_start;  // `deaths` when the present worker was started
  int wait_status;                // of the latest death, as waitpid gives it
  // The caller's futex: grows with each answer and each death.
  alignas(64) std::atomic<std::uint32_t> events;
  std::atomic<std::uint32_t> caller_sleeps;
};

struct ChannelUnmapper {
  void operator()(WorkerChannel* channel) const noexcept;
};
using MappedChannel = std::unique_ptr<WorkerChannel, ChannelUnmapper>;
// A channel that children inherit. Throws std::system_error.
MappedChannel map_channel();

// Tries `done` for some microseconds where another core can make it true; then the caller had better sleep.
template <typename Done>
bool spin_until(Done done, bool may_spin) {
  constexpr int kTurns = 500;
  for (int turn = 0; turn < (may_spin ? kTurns : 1); ++turn) {
    if (done()) {
      return true;
    }
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }
  return false;
}
// Whether this process may run on more than one core.
bool has_several_cores() noexcept;

// Sleeps while the word holds `value`, until woken or for at most `limit` (no limit: for ever). May wake for no reason.
void sleep_while(std::atomic<std::uint32_t>& word, std::uint32_t value,
                 std::optional<std::chrono::nanoseconds> limit) noexcept;
void wake(std::atomic<std::uint32_t>& word) noexcept;

}  // namespace kvwitness::harness

#endif  // PROPERTIES_SANDBOX_WORKER_CHANNEL_H
