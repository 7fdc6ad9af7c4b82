#include "kernels/simt/src/block.h"

#include <cstdlib>
#include <string_view>
#include <utility>

#include "kernels/simt/src/symbols.h"

namespace kvwitness::simt::detail {

const ThreadCoordinates* current = nullptr;

// ---- Life of a block -----------------------------------------------------------------------------------------------------------------

Block::Block() : threads_(new Thread[kMaxBlockThreads]), warps_(new Warp[kMaxWarps]()) {
  msan_unpoison(this, sizeof(*this));
  msan_unpoison(threads_.get(), kMaxBlockThreads * sizeof(Thread));
}

Block::~Block() {
  for (std::uint32_t i = 0; i < kMaxWarps; ++i) {
    while (SyncObject* const object = warps_[i].sync_objects) {
      warps_[i].sync_objects = object->next;
      delete object;
    }
  }
}

void Block::start(LaunchState& launch, const Config& config, uint3 index) {
  launch_ = &launch;
  coordinates_ = {index, config.block, config.grid};
  count_ = config.block.x * config.block.y * config.block.z;
  exited_ = at_dependency_wait_ = polls_ = barrier_arrived_ = 0;
  polls_in_vain_ = 0;
  failed_ = false;
  if (dynamic_shared_.data() == nullptr || dynamic_shared_.size_bytes() != config.dynamic_shared_bytes) {
    constexpr std::size_t kAlignment = 16;  // that of the widest vector type
    dynamic_shared_ = GuardedMemory(config.dynamic_shared_bytes, kAlignment, 0);
  }
  const std::uint64_t poison = draw_poison(*launch.random);
  poison_shared(dynamic_shared_.data(), dynamic_shared_.size_bytes(), poison);
  for (const SharedRange& range : static_shared_ranges()) {
    poison_shared(range.begin, range.bytes, poison);
  }
  runnable_.start(launch.policy, count_, *launch.random);
  std::uint32_t i = 0;
  for (std::uint32_t z = 0; z < config.block.z; ++z) {
    for (std::uint32_t y = 0; y < config.block.y; ++y) {
      for (std::uint32_t x = 0; x < config.block.x; ++x) {
        start_thread(i++, {x, y, z});
      }
    }
  }
  for (std::uint32_t warp = 0; warp * 32 < count_; ++warp) {
    const std::uint32_t lanes = count_ - warp * 32;
    warps_[warp].lanes = lanes >= 32 ? 0xFFFFFFFFu : (1u << lanes) - 1;
    warps_[warp].pending_count = 0;
  }
}

void Block::start_thread(std::uint32_t index, uint3 position) {
  Thread& thread = threads_[index];
  thread.thread_index = position;
  thread.block = &coordinates_;
  thread.owner = this;
  thread.index = index;
  thread.atomic_count = 0;
  thread.fenced = false;
  thread.steps = 0;
  if (!thread.started) {
    thread.context.tsan_fiber = thread.own_tsan_fiber;
    start_fiber(thread.context, index, fiber_main);
    thread.own_tsan_fiber = thread.context.tsan_fiber;
    thread.started = true;
  }
  if (under_tsan()) {
    choose_tsan_fiber(thread);
  }
  wake(thread);
}

void Block::choose_tsan_fiber(Thread& thread) {
  thread.context.tsan_fiber = thread.own_tsan_fiber;
  if (launch_->blocks_only) {
    if (tsan_fiber_ == nullptr) {
      tsan_fiber_ = __tsan_create_fiber(0);
      __tsan_set_fiber_name(tsan_fiber_, "the threads of a CUDA block");
    }
    thread.context.tsan_fiber = tsan_fiber_;
  }
}

BlockOutcome Block::run() {
  asks_ = nullptr;
  if (!runnable_.empty()) {
    Thread& first = threads_[runnable_.take()];
    current = &first;
    ++launch_->switches;
    switch_context(*launch_->host, first.context);
  }
  while (asks_ != nullptr && !failed_) {
    Thread& asker = *std::exchange(asks_, nullptr);
    if (!same_calls(question_.first, question_.second)) {
      raw_fault_ = {.kind = Fault::Kind::kDivergence,
                    .thread = &asker,
                    .text = "is at the same block barrier by another call than the threads that wait",
                    .site = barrier_site_,
                    .calls = {question_.second, question_.first}};
      return BlockOutcome::kFault;
    }
    known_pairs_[known_pair_count_++ % kKnownPairs] = question_;
    current = &asker;
    switch_context(*launch_->host, asker.context);
  }
  if (failed_) {
    return BlockOutcome::kFault;
  }
  if (exited_ == count_) {
    return BlockOutcome::kDone;
  }
  if (at_dependency_wait_ != 0 && !launch_->producer_done) {
    return BlockOutcome::kParked;
  }
  note_stuck_threads();
  return BlockOutcome::kFault;
}

void Block::release_dependency_waits() {
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (threads_[i].state == ThreadState::kAtDependencyWait) {
      wake(threads_[i]);
    }
  }
  at_dependency_wait_ = 0;
}

void Block::abandon() {
  bool abandoned = false;
  for (std::uint32_t i = 0; i < count_; ++i) {
    if (threads_[i].state != ThreadState::kExited) {
      if (under_tsan()) {  // what it did comes before what the caller does next, as for a thread that exits
        __tsan_switch_to_fiber(threads_[i].context.tsan_fiber, 1);
        __tsan_release(launch_->end_edge);
        __tsan_switch_to_fiber(launch_->host->tsan_fiber, 1);
      }
      threads_[i].state = ThreadState::kExited;
      threads_[i].started = false;  // its stack holds a kernel that will never go on
      abandoned = true;
    }
  }
  if (abandoned && tsan_fiber_ != nullptr) {
    __tsan_destroy_fiber(std::exchange(tsan_fiber_, nullptr));
  }
  barrier_arrived_ = 0;
}

bool Block::is_shared(const void* address) const noexcept {
  const auto* const at = static_cast<const std::byte*>(address);
  if (at >= dynamic_shared_.data() && at < dynamic_shared_.data() + dynamic_shared_.size_bytes()) {
    return true;
  }
  for (const SharedRange& range : static_shared_ranges()) {
    if (at >= range.begin && at < range.begin + range.bytes) {
      return true;
    }
  }
  return false;
}

// Byte by byte and volatile, as in memory.cc: a sanitizer's memcpy would trip over what lies between the variables.
void Block::save_static_shared() {
  saved_shared_.clear();
  for (const SharedRange& range : static_shared_ranges()) {
    for (std::size_t i = 0; i < range.bytes; ++i) {
      const std::byte byte = const_cast<const volatile std::byte*>(range.begin)[i];
      saved_shared_.push_back(byte);
    }
  }
}

void Block::restore_static_shared() {
  const std::byte* saved = saved_shared_.data();
  for (const SharedRange& range : static_shared_ranges()) {
    for (std::size_t i = 0; i < range.bytes; ++i) {
      const_cast<volatile std::byte*>(range.begin)[i] = *saved++;
    }
    tsan_forget(range.begin, range.bytes);
  }
}

// ---- Switching -----------------------------------------------------------------------------------------------------------------------

void Block::fiber_main(boost::context::detail::transfer_t transfer) {
  enter_context(transfer);
  for (;;) {
    Thread& self = *running_thread();
    tsan_acquire(self.owner->launch_->begin_edge);
    if (self.owner->launch_->stream_edge != nullptr) {
      tsan_acquire(self.owner->launch_->stream_edge);
    }
    self.owner->take_slot(self);
    self.owner->launch_->body(self.owner->launch_->context);
    self.owner->exit(self);  // returns when the fiber runs its next thread
  }
}

void Block::wake(Thread& thread) noexcept {
  thread.state = ThreadState::kRunnable;
  runnable_.add(thread.index);
}

void Block::run_next(Thread& self) {
  if (runnable_.empty()) {
    current = nullptr;
    switch_context(self.context, *launch_->host);
    return;
  }
  Thread& next = threads_[runnable_.take()];
  if (&next != &self) {
    current = &next;
    ++launch_->switches;
    switch_context(self.context, next.context);
  }
}

void Block::exit(Thread& self) {
  polls_in_vain_ = 0;
  tsan_release(launch_->end_edge);
  self.state = ThreadState::kExited;
  ++exited_;
  run_next(self);
}

void Block::fail(Thread& self, const RawFault& fault) {
  raw_fault_ = fault;
  failed_ = true;
  current = nullptr;
  switch_context(self.context, *launch_->host);
  std::abort();  // nobody switches to an abandoned fiber
}

void Block::yield(Thread& self) {
  runnable_.step(self.index);
  wake(self);
  run_next(self);
  take_slot(self);
}

// Now and then a thread that does nothing but poll gives way, whatever the policy, or it would wait for ever for one
// that never runs.
void Block::atomic_yield(Thread& self) {
  constexpr std::uint32_t kPollsBeforeGivingWay = 256;
  if (++polls_in_vain_ == kPollLimit) {
    fail(self, {.kind = Fault::Kind::kNoProgress, .thread = &self, .text = "polls memory that no thread will change"});
  }
  if (++polls_ % kPollsBeforeGivingWay == 0) {
    runnable_.defer(self.index);
    yield(self);
  } else if (runnable_.preempts()) {
    yield(self);
  }
}

// Fences, as in the CUDA memory model (and C++: [atomics.fences]): what a thread wrote before its fence is visible to
// whoever fences after an atomic that followed the fence. ThreadSanitizer knows no fences, so the atomics' addresses
// carry the order. A fence receives from the last atomics before it, and keeps what the thread has seen by then: that,
// and nothing that the thread does later, is what each atomic after it publishes.
void Block::fence(Thread& self) {
  if (under_tsan()) {
    for (std::uint32_t i = 0; i < self.atomic_count && i < Thread::kRememberedAtomics; ++i) {
      __tsan_acquire(const_cast<void*>(self.atomics[i]));
    }
    if (self.fence_fiber == nullptr) {
      self.fence_fiber = __tsan_create_fiber(0);
    }
    __tsan_release(&self.fence_edge);
    __tsan_switch_to_fiber(self.fence_fiber, 1);
    __tsan_acquire(&self.fence_edge);
    __tsan_switch_to_fiber(self.context.tsan_fiber, 1);
    self.fenced = true;
  }
  fence_yield(self);
}

void Block::publish(Thread& self, const void* address) noexcept {
  if (under_tsan() && self.fenced) {
    __tsan_switch_to_fiber(self.fence_fiber, 1);
    __tsan_release(const_cast<void*>(address));
    __tsan_switch_to_fiber(self.context.tsan_fiber, 1);
  }
}

void Block::fence_yield(Thread& self) {
  if (runnable_.preempts()) {
    yield(self);
  }
}

// ---- The block barrier -----------------------------------------------------------------------------------------------------------------

namespace {

// One file name may have several addresses, in several translation units.
bool same_place(Site a, Site b) noexcept {
  return a.line == b.line && (a.file == b.file || std::string_view(a.file) == b.file);
}

}  // namespace

// One source line may be reached by several calls, of a helper say: threads that came by different ones wait at
// different barriers. Addresses alone do not tell, for a compiler may copy a call; the lines of the calls do, and are
// looked up on the launching thread.
void Block::require_same_call(Thread& self, Site site, const CallChain& chain) {
  for (std::uint32_t i = 0; i < known_pair_count_ && i < kKnownPairs; ++i) {
    if (known_pairs_[i].first == barrier_chain_ && known_pairs_[i].second == chain) {
      return;
    }
  }
  static_cast<void>(site);
  question_ = {barrier_chain_, chain};
  asks_ = &self;
  current = nullptr;
  switch_context(self.context, *launch_->host);
}

int Block::barrier(Thread& self, BlockVote vote, int predicate, Site site, const CallChain& chain) {
  polls_in_vain_ = 0;
  runnable_.step(self.index);
  if (barrier_arrived_ == 0) {
    barrier_vote_ = vote;
    barrier_site_ = site;
    barrier_chain_ = chain;
    barrier_true_ = 0;
  } else if (vote != barrier_vote_ || !same_place(site, barrier_site_)) {
    fail(self, {.kind = Fault::Kind::kDivergence,
                .thread = &self,
                .text = "is at another block barrier than the threads that wait",
                .site = site,
                .other_site = barrier_site_});
  } else if (!(chain == barrier_chain_)) {
    require_same_call(self, site, chain);
  }
  const std::uint32_t parity = barrier_phase_ & 1;
  barrier_true_ += predicate != 0 ? 1 : 0;
  tsan_release(&barrier_edge_[parity]);
  if (++barrier_arrived_ == count_) {
    barrier_result_[parity] = vote == BlockVote::kCount ? static_cast<int>(barrier_true_)
                              : vote == BlockVote::kAnd ? (barrier_true_ == count_ ? 1 : 0)
                                                        : (barrier_true_ != 0 ? 1 : 0);
    barrier_arrived_ = 0;
    ++barrier_phase_;
    for (std::uint32_t i = 0; i < count_; ++i) {
      wake(threads_[i]);
    }
  } else {
    self.state = ThreadState::kAtBlockBarrier;
    self.vote = vote;
    self.site = site;
  }
  run_next(self);
  tsan_acquire(&barrier_edge_[parity]);
  take_slot(self);
  return barrier_result_[parity];
}

// ---- Programmatic dependent launch -----------------------------------------------------------------------------------------------------

void Block::wait_for_producer(Thread& self, Site site) {
  runnable_.step(self.index);
  if (!launch_->producer_done) {
    self.state = ThreadState::kAtDependencyWait;
    self.site = site;
    ++at_dependency_wait_;
    run_next(self);
  }
  if (launch_->producer_edge != nullptr) {
    tsan_acquire(launch_->producer_edge);
  }
  take_slot(self);
}

}  // namespace kvwitness::simt::detail
