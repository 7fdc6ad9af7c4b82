// Launches: the order of the blocks, what lies between them, and the calls that a kernel makes.
#include <kvwitness/simt.h>

#include <cstdio>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "kernels/simt/src/block.h"
#include "kernels/simt/src/fault_signals.h"
#include "kernels/simt/src/runtime.h"
#include "kernels/simt/src/symbols.h"

namespace kvwitness::simt::detail {
namespace {

// Written by the sanitizer's report hook, read after the launch.
volatile std::uint64_t race_count = 0;
volatile std::uint64_t race_schedule = in_order;

// Blocks that are kept with their fibers from launch to launch. Under ThreadSanitizer a fiber knows what it has seen,
// so two blocks that ran on the same fibers count as ordered; consecutive blocks of a launch therefore use different
// residents, and so do two overlapping grids.
class Executor {
 public:
  static Executor& instance() {
    static Executor executor;
    return executor;
  }

  Report run(const Grid& grid);
  Report run_overlapped(const Grid& producer, const Grid& consumer);
  void synchronize(unsigned stream);
  void order_after(unsigned stream, unsigned other);
  void record(std::uint64_t& event, unsigned stream);
  void wait(unsigned stream, std::uint64_t& event);

 private:
  static constexpr std::uint32_t kAlternating = 2;

  Executor() {
    if (under_msan()) {  // what the executor gives to the C library was written by the executor, unseen
      __msan_scoped_disable_interceptor_checks();
    }
  }

  void begin(const Config& config, Report& report);
  bool compares_blocks_only(const Config& config, std::uint64_t blocks, Policy policy);
  void prepare_launch(LaunchState& launch, const Grid& grid, std::uint64_t& end_edge);
  void finish(Report& report);
  Block& resident(std::uint32_t index);
  void carry_order(void* from, void* to);
  // Runs one block to its end (or, in a consumer, to its wait). False ends the launch.
  bool run_block(Block& block, LaunchState& launch, const Config& config, std::uint64_t index, Report& report);
  void run_grids(LaunchState& first, const Config& producer, LaunchState& second, const Config& consumer,
                 Report& report);
  bool conclude(Block& block, BlockOutcome outcome, Report& report);

  // Held by the thread of the operating system whose launch runs.
  class Turn {
   public:
    explicit Turn(std::mutex& mutex) : lock_(mutex) { launches_here = true; }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn() { launches_here = false; }

   private:
    std::lock_guard<std::mutex> lock_;
  };

  std::mutex turn_;
  std::unique_ptr<Block> residents_[2 * kAlternating];
  Context host_;
  Random random_{0};
  std::uint64_t begin_edge_ = 0, end_edge_ = 0, consumer_end_edge_ = 0;
  std::uint64_t stream_edges_[kStreams] = {};
  void* event_fiber_ = nullptr;
};

std::uint64_t block_count(const Config& config) noexcept {
  return std::uint64_t{config.grid.x} * config.grid.y * config.grid.z;
}

uint3 block_at(const Config& config, std::uint64_t index) noexcept {
  return {static_cast<unsigned>(index % config.grid.x), static_cast<unsigned>(index / config.grid.x % config.grid.y),
          static_cast<unsigned>(index / config.grid.x / config.grid.y)};
}

// Which of the two pairs of residents a stream's blocks use: on the same one, two streams count as ordered.
std::uint64_t pair_of(const Config& config) noexcept {
  if (config.stream == 0 || policy_of(config.schedule) == Policy::kInOrder) {
    return config.stream % 2;
  }
  return Random(config.schedule * kStreams + config.stream).next() >> 63;
}

// The limits of compute capability 7.5 and later (CUDA C++ Programming Guide, "Compute Capabilities").
std::string refusal(const Grid& grid) {
  if (grid.body == nullptr) {
    return "the kernel is a null pointer";
  }
  const Config& config = grid.config;
  constexpr std::size_t kMaxSharedBytes = std::size_t{227} * 1024;
  const std::uint64_t threads = std::uint64_t{config.block.x} * config.block.y * config.block.z;
  if (threads == 0 || threads > kMaxBlockThreads || config.block.x > 1024 || config.block.y > 1024 ||
      config.block.z > 64) {
    return "a block has 1 to 1,024 threads, at most 1,024 in x and y and 64 in z";
  }
  if (block_count(config) == 0 || config.grid.x > 0x7FFFFFFFu || config.grid.y > 65535 || config.grid.z > 65535) {
    return "a grid has 1 to 2^31 - 1 blocks in x and 1 to 65,535 in y and z";
  }
  if (config.stream >= kStreams) {
    return "a stream is a number below 16";
  }
  if (config.dynamic_shared_bytes > kMaxSharedBytes) {
    return "a block has at most 227 KiB of dynamic shared memory";
  }
  if (config.dynamic_shared_bytes > config.max_dynamic_shared_bytes) {
    return "more than 48 KiB of dynamic shared memory must be asked for: Config::max_dynamic_shared_bytes, in CUDA "
           "cudaFuncSetAttribute with cudaFuncAttributeMaxDynamicSharedMemorySize";
  }
  return describe_excess_static_shared(grid.kernel);
}

// The order of a grid's blocks: a permutation by a bijection of [0, 2^bits), walked along its cycles into [0, count).
// No memory a block.
class BlockOrder {
 public:
  BlockOrder(std::uint64_t count, Policy policy, Random& random) noexcept
      : count_(count), shuffled_(policy != Policy::kInOrder) {
    while ((std::uint64_t{1} << bits_) < count) {
      ++bits_;
    }
    multiplier_ = random.next() | 1;
    offset_ = random.next();
  }
  std::uint64_t operator[](std::uint64_t position) const noexcept {
    if (!shuffled_) {
      return position;
    }
    std::uint64_t index = position;
    do {
      index = mix(index);
    } while (index >= count_);
    return index;
  }

 private:
  // Odd multiplications, additions and shifts to the right with exclusive or are bijections modulo a power of two.
  std::uint64_t mix(std::uint64_t index) const noexcept {
    const std::uint64_t mask = (std::uint64_t{1} << bits_) - 1;
    for (int round = 0; round < 3; ++round) {
      index = (index * multiplier_ + offset_) & mask;
      index ^= index >> (bits_ / 2 + 1);
    }
    return index;
  }
  std::uint64_t count_;
  bool shuffled_;
  std::uint32_t bits_ = 1;
  std::uint64_t multiplier_ = 1;
  std::uint64_t offset_ = 0;
};

Block& Executor::resident(std::uint32_t index) {
  if (residents_[index] == nullptr) {
    residents_[index] = std::make_unique<Block>();
  }
  return *residents_[index];
}

void Executor::begin(const Config& config, Report& report) {
  const std::uint64_t schedule = config.schedule;
  report.schedule = schedule;
  random_ = Random(schedule);
  race_count = 0;
  race_schedule = schedule;
  host_ = Context{};
  if (under_tsan()) {
    host_.tsan_fiber = __tsan_get_current_fiber();
  }
  for (unsigned i = 0; config.stream == 0 && i < kStreams; ++i) {
    tsan_acquire(&stream_edges_[i]);
  }
  tsan_release(&begin_edge_);
}

void Executor::prepare_launch(LaunchState& launch, const Grid& grid, std::uint64_t& end_edge) {
  launch.body = grid.body;
  launch.code = code_around(reinterpret_cast<const void*>(grid.body));
  launch.context = grid.context;
  launch.random = &random_;
  launch.policy = policy_of(race_schedule);
  launch.host = &host_;
  launch.begin_edge = &begin_edge_;
  launch.end_edge = &end_edge;
  if (grid.config.stream != 0) {
    launch.end_edge = launch.stream_edge = &stream_edges_[grid.config.stream];
  }
}

// Two blocks of more threads than ThreadSanitizer's runtime has slots: the second one takes every slot of the first,
// and so, from its first barrier on, seems to come after all that the first one did. Half of the schedules therefore
// tell blocks apart and not their threads.
bool Executor::compares_blocks_only(const Config& config, std::uint64_t blocks, Policy policy) {
  constexpr std::uint64_t kThreadsOfTwoBlocks = 200;
  return tsan_has_slots() && blocks > 1 && policy != Policy::kInOrder &&
         2 * std::uint64_t{config.block.x} * config.block.y * config.block.z > kThreadsOfTwoBlocks && random_.coin();
}

void Executor::finish(Report& report) {
  tsan_acquire(&end_edge_);
  tsan_acquire(&consumer_end_edge_);
  report.races = race_count;
  if (std::string changed = describe_changed_global(); !changed.empty()) {
    report.faults.push_back({Fault::Kind::kOutOfBounds, {0, 0, 0}, "after the launch: " + changed});
  }
}

bool Executor::conclude(Block& block, BlockOutcome outcome, Report& report) {
  if (outcome == BlockOutcome::kFault) {
    report.faults.push_back(block.fault());
    block.abandon();
    return false;
  }
  if (outcome == BlockOutcome::kDone) {
    if (std::optional<Fault> overrun = block.shared_memory_overrun()) {
      report.faults.push_back(*std::move(overrun));
      return false;
    }
  }
  return true;
}

bool Executor::run_block(Block& block, LaunchState& launch, const Config& config, std::uint64_t index, Report& report) {
  block.start(launch, config, block_at(config, index));
  ++report.blocks_run;
  return conclude(block, block.run(), report);
}

Report Executor::run(const Grid& grid) {
  const Turn turn(turn_);
  Report report;
  if (const std::string reason = refusal(grid); !reason.empty()) {
    report.schedule = grid.config.schedule;
    report.faults.push_back({Fault::Kind::kBadLaunch, {0, 0, 0}, reason});
    return report;
  }
  begin(grid.config, report);
  LaunchState launch;
  prepare_launch(launch, grid, end_edge_);
  {
    const FaultSignals signals;
    const std::uint64_t blocks = block_count(grid.config);
    const BlockOrder order(blocks, launch.policy, random_);
    launch.blocks_only = compares_blocks_only(grid.config, blocks, launch.policy);
    for (std::uint64_t i = 0; i < blocks; ++i) {
      Block& block = resident(
          under_tsan() ? static_cast<std::uint32_t>(pair_of(grid.config) * kAlternating + i % kAlternating) : 0);
      if (!run_block(block, launch, grid.config, order[i], report)) {
        break;
      }
    }
  }
  report.switches = launch.switches;
  if (grid.config.stream != 0) {  // the threads are done with their arguments, whatever the order of memory is
    tsan_forget(const_cast<void*>(grid.context), grid.context_bytes);
  }
  finish(report);
  return report;
}

void Executor::synchronize(unsigned stream) {
  const std::lock_guard lock(turn_);
  tsan_acquire(&stream_edges_[stream % kStreams]);
}

// By a fiber that runs nothing, for the caller itself does not wait.
void Executor::carry_order(void* from, void* to) {
  if (under_tsan()) {
    void* const caller = __tsan_get_current_fiber();
    if (event_fiber_ != nullptr) {
      __tsan_destroy_fiber(event_fiber_);
    }
    event_fiber_ = __tsan_create_fiber(0);
    __tsan_switch_to_fiber(event_fiber_, 1);
    __tsan_acquire(from);
    __tsan_release(to);
    __tsan_switch_to_fiber(caller, 1);
  }
}

void Executor::order_after(unsigned stream, unsigned other) {
  const std::lock_guard lock(turn_);
  carry_order(&stream_edges_[other % kStreams], &stream_edges_[stream % kStreams]);
}

void Executor::record(std::uint64_t& event, unsigned stream) {
  const std::lock_guard lock(turn_);
  carry_order(&stream_edges_[stream % kStreams], &event);
}

void Executor::wait(unsigned stream, std::uint64_t& event) {
  const std::lock_guard lock(turn_);
  carry_order(&event, &stream_edges_[stream % kStreams]);
}

// The consumer's blocks that start early run to their dependency wait at a moment of the producer's grid that the
// schedule draws, and go on when that grid has ended. A read before the wait then sees old data, and is a race to
// ThreadSanitizer.
Report Executor::run_overlapped(const Grid& producer_grid, const Grid& consumer_grid) {
  Grid producer = producer_grid, consumer = consumer_grid;
  producer.config.stream = consumer.config.stream = 0;
  const Turn turn(turn_);
  Report report;
  for (const Grid* grid : {&producer, &consumer}) {
    if (const std::string reason = refusal(*grid); !reason.empty()) {
      report.schedule = producer.config.schedule;
      report.faults.push_back({Fault::Kind::kBadLaunch, {0, 0, 0}, reason});
      return report;
    }
  }
  begin(producer.config, report);
  LaunchState first, second;
  prepare_launch(first, producer, end_edge_);
  prepare_launch(second, consumer, consumer_end_edge_);
  second.producer_done = false;
  second.producer_edge = &end_edge_;
  {
    const FaultSignals signals;
    run_grids(first, producer.config, second, consumer.config, report);
  }
  for (std::uint32_t i = 0; i < kAlternating; ++i) {
    resident(kAlternating + i).abandon();  // blocks that still waited when a fault ended the launch
  }
  report.switches = first.switches + second.switches;
  finish(report);
  return report;
}

void Executor::run_grids(LaunchState& first, const Config& producer, LaunchState& second, const Config& consumer,
                         Report& report) {
  const std::uint64_t producer_blocks = block_count(producer), consumer_blocks = block_count(consumer);
  const BlockOrder producer_order(producer_blocks, first.policy, random_),
      consumer_order(consumer_blocks, first.policy, random_);
  const std::uint64_t early = consumer_blocks < kAlternating ? consumer_blocks : kAlternating;
  std::uint64_t start_at[kAlternating] = {};  // in order: before the first block of the producer
  for (std::uint64_t i = 1; i < early && first.policy != Policy::kInOrder; ++i) {
    start_at[i] = random_.below(static_cast<std::uint32_t>(producer_blocks) + 1);
  }
  bool waits[kAlternating] = {};
  std::uint64_t started = 0;
  const auto start_early = [&](std::uint64_t moment, bool all) {
    for (; started < early && (all || start_at[started] <= moment); ++started) {
      Block& block = resident(static_cast<std::uint32_t>(kAlternating + started));
      if (!run_block(block, second, consumer, consumer_order[started], report)) {
        return false;
      }
      waits[started] = block.waits_for_producer();
      if (waits[started]) {
        block.save_static_shared();
      }
    }
    return true;
  };
  for (std::uint64_t i = 0; i < producer_blocks; ++i) {
    if (!start_early(i, false) || !run_block(resident(static_cast<std::uint32_t>(i % kAlternating)), first, producer,
                                             producer_order[i], report)) {
      return;
    }
  }
  if (!start_early(producer_blocks, true)) {
    return;
  }
  second.producer_done = true;
  for (std::uint64_t i = 0; i < early; ++i) {
    if (waits[i]) {
      Block& block = resident(static_cast<std::uint32_t>(kAlternating + i));
      block.restore_static_shared();
      block.release_dependency_waits();
      if (!conclude(block, block.run(), report)) {
        return;
      }
    }
  }
  for (std::uint64_t i = early; i < consumer_blocks; ++i) {
    if (!run_block(resident(static_cast<std::uint32_t>(kAlternating + i % kAlternating)), second, consumer,
                   consumer_order[i], report)) {
      return;
    }
  }
}

}  // namespace

// ---- What the header's templates call ----------------------------------------------------------------------------------------------------

Report run(const Grid& grid) {
  refuse_in_kernel({nullptr, 0});
  return Executor::instance().run(grid);
}
Report run_overlapped(const Grid& producer, const Grid& consumer) {
  refuse_in_kernel({nullptr, 0});
  return Executor::instance().run_overlapped(producer, consumer);
}

namespace {

// Programs are built with frame pointers (kvwitness_add_simt_test). Where one is not, what stands in their place may be
// anything: the chain ends at the first address that is not in the kernel's code.
[[gnu::always_inline]] inline CallChain chain_of(const Thread& self, const void* const* frame) {
  CallChain chain;
  const CodeRange code = self.owner->launch().code;
  const auto bottom = reinterpret_cast<std::uintptr_t>(self.context.stack_bottom);
  const std::size_t room = self.context.stack_bytes - 2 * sizeof(void*);
  for (const void*& address : chain.addresses) {
    const auto at = reinterpret_cast<std::uintptr_t>(frame);
    if (at - bottom > room || at % sizeof(void*) != 0) {
      break;
    }
    if (!code.holds(frame[1])) {
      break;
    }
    address = frame[1];
    const auto* const next = static_cast<const void* const*>(frame[0]);
    if (next <= frame) {
      break;
    }
    frame = next;
  }
  return chain;
}

}  // namespace

int block_barrier(BlockVote vote, int predicate, Site site) {
  Thread& self = calling_thread();
  return self.owner->barrier(self, vote, predicate, site,
                             chain_of(self, static_cast<const void* const*>(__builtin_frame_address(0))));
}

std::uint64_t warp_collective(WarpOperation operation, unsigned int mask, std::uint64_t value, unsigned int argument,
                              Site site) {
  Thread& self = calling_thread();
  return self.owner->collective(self, operation, mask, value, argument, site);
}

void record_event(std::uint64_t& event, unsigned stream) {
  Executor::instance().record(event, stream);
}
void wait_for_event(unsigned stream, std::uint64_t& event) {
  Executor::instance().wait(stream, event);
}

void dependency_wait(Site site) {
  Thread& self = calling_thread();
  self.owner->wait_for_producer(self, site);
}

void relinquish() {
  Thread& self = calling_thread();
  self.owner->atomic_yield(self);
}

void trap(Site site) {
  Thread& self = calling_thread();
  self.owner->fail(self, {.kind = Fault::Kind::kTrap, .thread = &self, .text = "called __trap", .site = site});
}

void misaligned(const void* address) {
  if (Thread* const self = calling_thread_or_null(); self != nullptr) {
    self->owner->fail(*self, {.kind = Fault::Kind::kMisaligned,
                              .thread = self,
                              .text = "accesses a vector at an address that is no multiple of its size",
                              .address = address,
                              .instruction = static_cast<const char*>(__builtin_return_address(0)) - 1});
  }
}

void outside_view(long long index, long long count) {
  Thread& self = *running_thread();
  self.owner->fail(self, {.kind = Fault::Kind::kOutOfBounds,
                          .thread = &self,
                          .text = "accesses element ",
                          .instruction = static_cast<const char*>(__builtin_return_address(0)) - 1,
                          .view_index = index,
                          .view_count = count});
}

void* dynamic_shared_memory() {
  return calling_thread().owner->dynamic_shared();
}

unsigned int active_mask() {
  Thread& self = calling_thread();
  return self.owner->active_lanes(self);
}

void before_atomic(const void* address) {
  Thread& self = calling_thread();
  self.owner->atomic_yield(self);
  self.owner->publish(self, address);
}

void after_atomic(const void* address) {
  if (under_tsan()) {
    Thread& self = calling_thread();
    self.atomics[self.atomic_count++ % Thread::kRememberedAtomics] = address;
  }
}

void memory_fence() {
  Thread& self = calling_thread();
  self.owner->fence(self);
}

}  // namespace kvwitness::simt::detail

namespace kvwitness::simt {

void synchronize(unsigned stream) {
  detail::Executor::instance().synchronize(stream);
}
void synchronize() {
  for (unsigned stream = 0; stream < kStreams; ++stream) {
    detail::Executor::instance().synchronize(stream);
  }
}
void order_after(unsigned stream, unsigned other) {
  detail::Executor::instance().order_after(stream, other);
}

Sanitizer active_sanitizer() noexcept {
  return detail::under_tsan()   ? Sanitizer::kThread
         : detail::under_asan() ? Sanitizer::kAddress
         : detail::under_msan() ? Sanitizer::kMemory
                                : Sanitizer::kNone;
}

}  // namespace kvwitness::simt

// Each basic block of a source that polls by volatile accesses calls this (-fsanitize-coverage=trace-pc, --wrap: a
// fuzzer's runtime has a function of the former name). A thread that takes many steps without a call of the executor gives way.
extern "C" void __wrap___sanitizer_cov_trace_pc();
extern "C" void __wrap___sanitizer_cov_trace_pc() {
  using namespace kvwitness::simt::detail;
  if (Thread* const self = calling_thread_or_null();
      self != nullptr && ++self->steps % Thread::kStepsBeforeGivingWay == 0) {
    self->owner->atomic_yield(*self);
  }
}

// ThreadSanitizer calls this after each report that it has printed.
extern "C" void __tsan_on_report(const void*) {
  kvwitness::simt::detail::race_count = kvwitness::simt::detail::race_count + 1;
  std::fprintf(stderr, "kvwitness simt: the race above was found under schedule %llu\n",
               static_cast<unsigned long long>(kvwitness::simt::detail::race_schedule));
}
