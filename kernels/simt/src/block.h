// One resident block: its threads as fibers, its barrier, its warps, and the scheduler that runs them.
#ifndef KVWITNESS_KERNELS_SIMT_SRC_BLOCK_H
#define KVWITNESS_KERNELS_SIMT_SRC_BLOCK_H

#include <kvwitness/simt.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kernels/simt/src/fiber.h"
#include "kernels/simt/src/memory.h"
#include "kernels/simt/src/schedule.h"

namespace kvwitness::simt::detail {

// No member of these types may be a template of the standard library that kernel code could instantiate as well: the
// linker may keep the instrumented copy, and the executor's own accesses would count as the kernel's.

class Block;

enum class ThreadState : std::uint8_t { kRunnable, kAtBlockBarrier, kAtWarpCollective, kAtDependencyWait, kExited };

struct alignas(64) Thread : ThreadCoordinates {
  Block* owner = nullptr;
  std::uint32_t index = 0;  // in the block; its warp is index / 32
  ThreadState state = ThreadState::kExited;
  bool started = false;  // has a fiber
  std::uint32_t steps = 0;
  static constexpr std::uint32_t kStepsBeforeGivingWay = 1024;
  // Where it waits, if it does.
  WarpOperation operation = WarpOperation::kSync;
  BlockVote vote = BlockVote::kNone;
  std::uint32_t mask = 0;
  Site site = {nullptr, 0};
  Context context;
  // For fences: the addresses of its last atomics, and whether a fence came before.
  static constexpr std::uint32_t kRememberedAtomics = 8;
  const void* atomics[kRememberedAtomics] = {};
  std::uint32_t atomic_count = 0;
  bool fenced = false;
  void* own_tsan_fiber = nullptr;  // the context's, but where the threads of the block count as one
  // ThreadSanitizer's view of the thread as of its last fence: a fiber that runs nothing and has seen `fence_edge`, to
  // which the thread releases at each fence.
  void* fence_fiber = nullptr;
  std::uint64_t fence_edge = 0;
  std::uint64_t slot_edge = 0;  // released to and never acquired
};

// The return addresses of a call and of those around it, the innermost first.
struct CallChain {
  static constexpr std::uint32_t kMost = 6;
  const void* addresses[kMost] = {};
  friend auto operator<=>(const CallChain&, const CallChain&) = default;
};

// What went wrong, as plain values: the fiber that notices it must touch no memory that the host would read unordered.
struct RawFault {
  Fault::Kind kind = Fault::Kind::kDeadlock;
  const Thread* thread = nullptr;
  const char* text = nullptr;  // what the thread did, to be followed by where
  Site site = {nullptr, 0};
  Site other_site = {nullptr, 0};
  const void* address = nullptr;
  const void* instruction = nullptr;
  static constexpr long long kArray = -2, kUnknown = -3;  // instead of a view: an array of the program, or none
  long long view_index = 0, view_count = -1;
  CallChain calls[2] = {};  // by which this thread and the others came to a barrier
};

// What the threads of a launch have in common.
// A part of the address space that holds machine code.
struct CodeRange {
  std::uintptr_t first = 0;
  std::uintptr_t bytes = 0;
  bool holds(const void* address) const { return reinterpret_cast<std::uintptr_t>(address) - first < bytes; }
};

struct LaunchState {
  void (*body)(const void*) = nullptr;
  CodeRange code;  // of the program that the body is in
  const void* context = nullptr;
  Policy policy = Policy::kInOrder;
  Random* random = nullptr;
  Context* host = nullptr;
  std::uint64_t switches = 0;
  bool producer_done = true;
  // Objects of happens-before, for ThreadSanitizer: the caller's writes before, the threads' ends, and the end of the
  // producer's grid.
  void* begin_edge = nullptr;
  void* stream_edge = nullptr;  // what came before on the same stream
  bool blocks_only = false;     // the threads of a block count as one: only what two blocks do is compared
  void* end_edge = nullptr;
  void* producer_edge = nullptr;
};

enum class BlockOutcome : std::uint8_t { kDone, kParked, kFault };

class Block {
 public:
  Block();
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block();

  // Makes every thread of the block ready; shared memory is poisoned.
  void start(LaunchState& launch, const Config& config, uint3 index);
  // Runs until all have exited, until those that have not all wait for the producer's grid (directly or not), or until
  // a fault.
  BlockOutcome run();
  // The producer's grid has ended: threads that wait for it can run again.
  void release_dependency_waits();
  // Gives up what runs, so that the block can be started again.
  void abandon();
  // Static shared memory while another block runs.
  void save_static_shared();
  void restore_static_shared();

  Fault fault() const;  // after kFault
  // After kDone: what was written beside the dynamic shared memory.
  std::optional<Fault> shared_memory_overrun();
  // After a run that did not fail: whether some threads still wait for the producer's grid.
  bool waits_for_producer() const noexcept { return at_dependency_wait_ != 0; }

  // What a thread calls, on its own fiber.
  int barrier(Thread& self, BlockVote vote, int predicate, Site site, const CallChain& chain);
  std::uint64_t collective(Thread& self, WarpOperation operation, std::uint32_t mask, std::uint64_t value,
                           std::uint32_t argument, Site site);
  void wait_for_producer(Thread& self, Site site);
  void atomic_yield(Thread& self);
  void fence_yield(Thread& self);
  void yield(Thread& self);
  void fence(Thread& self);
  void publish(Thread& self, const void* address) noexcept;
  std::uint32_t active_lanes(const Thread& self);
  void exit(Thread& self);
  [[noreturn]] void fail(Thread& self, const RawFault& fault);
  void* dynamic_shared() const noexcept { return dynamic_shared_.data(); }
  const LaunchState& launch() const noexcept { return *launch_; }
  // The thread that stopped with a signal, and what kind of fault that is.
  RawFault classify_signal(const Thread& self, const void* address, bool has_address, const void* instruction,
                           bool is_trap) const;
  bool is_shared(const void* address) const noexcept;

 private:
  struct PendingCollective {
    std::uint32_t mask;
    std::uint32_t arrived;
    WarpOperation operation;
    Site site;
  };
  // One object of happens-before for each set of lanes that has met at a __syncwarp, in two copies that alternate: a
  // lane that runs ahead to the next meeting must not publish what it did since to lanes that are still leaving this
  // one.
  struct SyncObject {
    std::uint32_t mask;
    std::uint32_t phase;
    std::uint64_t edges[2];
    SyncObject* next;
  };
  struct Warp {
    std::uint32_t lanes;  // that exist
    std::uint32_t pending_count;
    PendingCollective pending[32];
    std::uint64_t value[32];
    std::uint32_t argument[32];
    std::uint64_t result[32];
    SyncObject* sync_objects;  // a list: an edge is known by its address
  };
  static constexpr std::uint32_t kMaxWarps = kMaxBlockThreads / 32;
  static constexpr std::uint64_t kPollLimit = std::uint64_t{1} << 26;

  void start_thread(std::uint32_t index, uint3 position);
  void choose_tsan_fiber(Thread& thread);
  void run_next(Thread& self);
  void switch_from(Thread& self, Context& next);
  void wake(Thread& thread) noexcept;
  // ThreadSanitizer's runtime since Clang 14 and GCC 13 has 255 slots for the threads that it tells apart; a thread that
  // lost its slot to another takes one at its next operation on an object. Where that is an acquire, the runtime does
  // not write the new slot into the thread's trace, finds no stack for what the thread does from then on, and drops
  // each report of it. A release does write it. It also ends the time in which the thread would go on under a slot that
  // another one has: the two would count as one.
  void take_slot(Thread& self) noexcept {
    if (tsan_has_slots()) {
      __tsan_release(&self.slot_edge);
    }
  }
  PendingCollective& pending_with_mask(Warp& warp, Thread& self, std::uint32_t mask, WarpOperation operation,
                                       Site site);
  void complete(Warp& warp, Thread& self, PendingCollective& pending);
  void require_named_sources(Warp& warp, Thread& self, const PendingCollective& pending);
  void require_same_call(Thread& self, Site site, const CallChain& chain);
  void compute(Warp& warp, const PendingCollective& pending) const noexcept;
  void shuffle(Warp& warp, const PendingCollective& pending) const noexcept;
  static SyncObject& sync_object(Warp& warp, std::uint32_t mask);
  void note_stuck_threads();
  std::string describe_threads() const;
  static void fiber_main(boost::context::detail::transfer_t transfer);

  LaunchState* launch_ = nullptr;
  BlockCoordinates coordinates_ = {};
  std::uint32_t count_ = 0;
  std::uint32_t exited_ = 0;
  std::uint32_t at_dependency_wait_ = 0;
  std::uint32_t polls_ = 0;          // since the last change of priority by polling
  std::uint64_t polls_in_vain_ = 0;  // since a thread last arrived somewhere
  RunnableThreads runnable_;
  // The block barrier: results and edges of this phase and of the last one, which some threads may still be leaving.
  std::uint32_t barrier_arrived_ = 0;
  std::uint32_t barrier_phase_ = 0;
  std::uint32_t barrier_true_ = 0;
  BlockVote barrier_vote_ = BlockVote::kNone;
  Site barrier_site_ = {nullptr, 0};
  CallChain barrier_chain_;
  // Two calls of one barrier to be compared on the launching thread, and those found to be the same.
  struct CallPair {
    CallChain first, second;
  };
  static constexpr std::uint32_t kKnownPairs = 16;
  CallPair known_pairs_[kKnownPairs];
  std::uint32_t known_pair_count_ = 0;
  Thread* asks_ = nullptr;
  CallPair question_;
  int barrier_result_[2] = {};
  std::uint64_t barrier_edge_[2] = {};
  void* tsan_fiber_ = nullptr;
  bool failed_ = false;
  RawFault raw_fault_;
  std::unique_ptr<Thread[]> threads_;
  std::unique_ptr<Warp[]> warps_;
  GuardedMemory dynamic_shared_;
  std::vector<std::byte> saved_shared_;
};

// The thread that runs; null while the host does.
inline Thread* running_thread() noexcept {
  return static_cast<Thread*>(const_cast<ThreadCoordinates*>(current));
}
// Whether this thread of the operating system is in a launch: another one may be, meanwhile.
#if defined(__GNUC__)
[[gnu::tls_model("initial-exec")]]
#endif
extern thread_local bool launches_here;
// The CUDA thread that calls, in what the host may call too; null for the host.
inline Thread* calling_thread_or_null() noexcept {
  return launches_here ? running_thread() : nullptr;
}
// For a call that only a kernel may make.
inline Thread& calling_thread() {
  if (running_thread() == nullptr) {
    outside_kernel();
  }
  return *running_thread();
}
// For a call that only the host may make: a launch, or memory of the device.
inline void refuse_in_kernel(Site site) {
  if (Thread* const self = calling_thread_or_null(); self != nullptr) {
    self->owner->fail(*self, {.kind = Fault::Kind::kTrap,
                              .thread = self,
                              .text = "makes a call of the host: kernels that launch kernels are not served",
                              .site = site});
  }
}

}  // namespace kvwitness::simt::detail

#endif  // KVWITNESS_KERNELS_SIMT_SRC_BLOCK_H
