// The page through which a worker process is asked and answers: shared memory and two futexes. Used by worker*.cc
// alone.
#ifndef PROPERTIES_SANDBOX_WORKER_CHANNEL_H
#define PROPERTIES_SANDBOX_WORKER_CHANNEL_H

#include <sys/types.h>

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "properties/sandbox/call_frame.h"
#include "properties/sandbox/frame_memory.h"
#include "properties/sandbox/worker.h"

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
  CalleeDescription description;
  std::array<char, 512> message;  // null-terminated
};

// The address of a memory fault, where it lies in the frame memory.
struct WorkerFault {
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
  WorkerFault fault;
  // From the keeper.
  alignas(64) std::atomic<std::uint32_t> deaths;
  std::uint32_t deaths_at_start;  // `deaths` when the present worker was started
  int wait_status;                // of the latest death, as waitpid gives it
  // The caller's futex: grows with each answer and each death.
  alignas(64) std::atomic<std::uint32_t> events;
  std::atomic<std::uint32_t> caller_sleeps;
};

// Maps a channel that children inherit. Throws std::system_error.
WorkerChannel* map_channel();
void unmap_channel(WorkerChannel* channel) noexcept;

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

// What the caller sends to the keeper.
struct KeeperOrder {
  enum class Kind : std::uint32_t { kStart, kStop, kMemory };
  Kind kind;
  std::uint64_t capacity_bytes;  // kMemory, which comes with a descriptor
};
// One order on a SOCK_SEQPACKET socket; false where the other end is gone.
bool send_order(int socket, const KeeperOrder& order, int descriptor) noexcept;
// The descriptor is -1 where none came; nothing where the other end is gone.
struct ReceivedOrder {
  KeeperOrder order;
  int descriptor;
};
std::optional<ReceivedOrder> receive_order(int socket) noexcept;
// The keeper's reply to kStart: the worker's process id, or -errno.
bool send_reply(int socket, std::int64_t reply) noexcept;
std::optional<std::int64_t> receive_reply(int socket) noexcept;

// The keeper's whole life: starts, watches and ends workers until the socket closes. Does not return.
[[noreturn]] void keep_workers(Callee& callee, WorkerChannel& channel, int socket, int memory,
                               std::size_t capacity_bytes);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_SANDBOX_WORKER_CHANNEL_H
