#include "properties/sandbox/worker.h"

#include <kvwitness/oracle.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "properties/sandbox/processor_use.h"
#include "properties/sandbox/worker_channel.h"

namespace kvwitness::harness {

CallShape call_shape_of(const Case& value, bool strided) {
  return {.operation = value.operation,
          .rows = value.rows(),
          .topk = value.topk,
          .row_stride = strided ? *value.row_stride : value.topk,
          .num_segments = value.num_segments,
          .base_offset_bytes = std::int64_t{value.base_offset} * static_cast<std::int64_t>(sizeof(std::int32_t))};
}

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

template <std::size_t size>
std::string text_of(const std::array<char, size>& text) {
  return std::string(text.data(), strnlen(text.data(), size));
}

// What became of a task.
enum class Fate : std::uint8_t { kAnswered, kDied, kHung };

std::string name_of_buffer(const PlacedCall& call, Region region) {
  switch (region) {
    case Region::kTokens:
      return call.writes_tokens ? "in-place rows" : "learned rows";
    case Region::kLengths:
      return "context lengths";
    case Region::kOutput:
      break;
  }
  return call.operation == Operation::kWitnesses ? "witnesses" : "output rows";
}

// " at byte 8 behind the learned rows"; empty where the address lies elsewhere.
std::string describe_fault(const WorkerFault& fault, const PlacedCall& call) {
  if (!fault.located) {
    return "";
  }
  const Placement& buffer = fault.region == Region::kTokens    ? call.tokens
                            : fault.region == Region::kLengths ? call.lengths
                                                               : call.output;
  const std::string name = name_of_buffer(call, fault.region);
  if (fault.offset < buffer.first) {
    return " at an access " + std::to_string(buffer.first - fault.offset) + " bytes before the " + name;
  }
  const std::uint64_t behind = fault.offset - buffer.first;
  if (behind >= buffer.span_bytes) {
    return " at an access " + std::to_string(behind - buffer.span_bytes) + " bytes behind the " + name;
  }
  return " at a write to the " + name + ", which are an input, at byte " + std::to_string(behind);
}

Outcome death(int wait_status, const std::string& where) {
  if (WIFEXITED(wait_status)) {
    return Outcome::ended(Ending::kExited,
                          "its process exited with status " + std::to_string(WEXITSTATUS(wait_status)));
  }
  const int signal = WTERMSIG(wait_status);
  return Outcome::ended(Ending::kCrashed, "its process was killed by signal " + std::to_string(signal) + " (" +
                                              strsignal(signal) + ")" + where);
}

}  // namespace

// The caller's side of the keeper and of the process that runs.
class Worker::Process {
 public:
  Process(std::unique_ptr<Callee> callee, const Patience::Limits& limits)
      : callee_(std::move(callee)), patience_(limits), channel_(map_channel()) {
    try {
      memory_ = std::make_unique<FrameMemory>();
      memory_->keep_from_children();
      start_keeper();
    } catch (...) {
      unmap_channel(channel_);
      throw;
    }
  }

  ~Process() {
    dismiss_keeper();
    unmap_channel(channel_);
  }

  std::expected<CalleeDescription, std::string> start() {
    if (running_) {
      return description_;
    }
    if (auto failed = start_process()) {
      return std::unexpected(failed->how);
    }
    return description_;
  }

  void stop() {
    if (running_) {
      running_ = false;
      send_order(socket_, {KeeperOrder::Kind::kStop, 0}, -1);
      receive_reply(socket_);
    }
  }

  // As stop(), and the next process begins with memory of the usual size: a large call then replaces it as it did at
  // first, so that equal calls have equal histories.
  void forget() {
    stop();
    if (memory_->capacity_bytes() > FrameMemory::kDefaultCapacityBytes) {
      replace_memory(FrameMemory::kDefaultCapacityBytes);
    }
  }

  void hurry(bool hurries) { patience_.hurry(hurries); }

  std::optional<bool> supports(const CallShape& shape) {
    if (start_process()) {
      return std::nullopt;
    }
    WorkerTask task{};
    task.kind = WorkerTaskKind::kSupports;
    task.shape = shape;
    const Fate fate = ask(task, patience_.limit(is_first_, 0));
    if (fate != Fate::kAnswered) {
      lose(fate);
      return std::nullopt;
    }
    return channel_->answer.kind != WorkerAnswerKind::kDeclined;
  }

  Outcome run_alone(const Case& value, bool strided, const MemoryContext& memory_context) {
    if (auto why = beyond_limits(value, strided)) {
      return Outcome::ended(Ending::kUnsupported, std::move(*why));
    }
    make_room(CallFrame::needed_bytes(value, strided));
    if (auto failed = start_process()) {
      return *failed;
    }
    const CallFrame frame(*memory_, value, strided, memory_context);
    WorkerTask task{};
    task.kind = WorkerTaskKind::kCall;
    task.shape = call_shape_of(value, strided);
    task.call = frame.placed();
    const std::int64_t touched = std::max(static_cast<std::int64_t>(value.learned.size()), output_elements(value));
    const Clock::time_point begun = Clock::now();
    const Fate fate = ask(task, patience_.limit(is_first_, touched));
    if (fate != Fate::kAnswered) {
      return ended(fate, frame.placed());
    }
    patience_.answered(is_first_, std::chrono::duration_cast<milliseconds>(Clock::now() - begun));
    is_first_ = false;
    return read_answer(frame);
  }

 private:
  Outcome read_answer(const CallFrame& frame) {
    const WorkerAnswer answer = channel_->answer;
    if (answer.kind == WorkerAnswerKind::kDeclined) {
      return Outcome::ended(Ending::kUnsupported, "the implementation does not support the shape");
    }
    if (answer.kind == WorkerAnswerKind::kThrew) {
      stop();
      return Outcome::ended(Ending::kCrashed, "the call threw: " + text_of(answer.message));
    }
    if (answer.kind == WorkerAnswerKind::kForked) {
      stop();
      return Outcome::ended(Ending::kCrashed, "the call returned twice: it forked, and the child returned too");
    }
    Outcome outcome = frame.collect();
    outcome.status = answer.status;
    outcome.message = text_of(answer.message);
    return outcome;
  }

  // The outcome of a task without an answer. The next one gets a fresh process.
  Outcome ended(Fate fate, const PlacedCall& call) {
    const WorkerFault fault = channel_->fault;
    const int wait_status = channel_->wait_status;
    lose(fate);
    if (fate == Fate::kHung) {
      return Outcome::ended(Ending::kHung, "no answer within the deadline");
    }
    return death(wait_status, describe_fault(fault, call));
  }

  void lose(Fate fate) {
    if (fate == Fate::kHung) {
      patience_.hung();
      stop();
    }
    running_ = false;
  }

  // Nothing where the process runs, then or already; otherwise how it ended.
  std::optional<Outcome> start_process() {
    if (running_) {
      return std::nullopt;
    }
    WorkerTask task{};
    task.kind = WorkerTaskKind::kStart;
    hand_over(task);
    if (!launch()) {
      return Outcome::ended(Ending::kCrashed, "its process could not be started");
    }
    running_ = true;
    is_first_ = true;
    const Fate fate = wait(patience_.limit(true, 0));
    if (fate != Fate::kAnswered) {
      Outcome outcome = ended(fate, PlacedCall{});
      outcome.how = "at its start: " + outcome.how;
      return outcome;
    }
    const WorkerAnswer answer = channel_->answer;
    if (answer.kind != WorkerAnswerKind::kDone) {
      stop();
      return Outcome::ended(Ending::kCrashed, text_of(answer.message));
    }
    description_ = answer.description;
    return std::nullopt;
  }

  // Makes the keeper start the process; a keeper that was killed is replaced once.
  bool launch() {
    for (int attempt = 0; attempt < 2; ++attempt) {
      if (send_order(socket_, {KeeperOrder::Kind::kStart, 0}, -1)) {
        if (const auto reply = receive_reply(socket_)) {
          deaths_seen_ = channel_->deaths_at_start;
          process_ = static_cast<pid_t>(*reply);
          return *reply > 0;
        }
      }
      dismiss_keeper();
      start_keeper();
    }
    return false;
  }

  Fate ask(const WorkerTask& task, milliseconds limit) {
    hand_over(task);
    return wait(limit);
  }

  void hand_over(const WorkerTask& task) {
    channel_->task = task;
    channel_->fault = {};
    channel_->request.store(++sequence_);
    if (channel_->worker_sleeps.load() != 0) {
      wake(channel_->request);
    }
  }

  bool has_answer() const { return channel_->answered.load() == sequence_ && channel_->answer.sequence == sequence_; }
  bool has_died() const { return channel_->deaths.load() != deaths_seen_; }

  Fate wait(milliseconds limit) {
    const auto over = [&] { return has_answer() || has_died(); };
    if (!spin_until(over, may_spin_)) {
      sleep_until(over, limit);
    }
    return has_answer() ? Fate::kAnswered : has_died() ? Fate::kDied : Fate::kHung;
  }

  template <typename Over>
  void sleep_until(Over over, milliseconds limit) {
    constexpr milliseconds kKeeperCheck{50};
    std::optional<Starvation> starvation;  // looked for only where the answer takes long
    const Clock::time_point begun = Clock::now();
    Clock::time_point deadline = begun + limit;
    while (!over()) {
      const std::uint32_t seen = channel_->events.load();
      channel_->caller_sleeps.store(1);
      if (!over()) {
        sleep_while(channel_->events, seen,
                    std::clamp<Clock::duration>(deadline - Clock::now(), Clock::duration::zero(), kKeeperCheck));
      }
      channel_->caller_sleeps.store(0);
      look_after_keeper();
      if (!starvation && Clock::now() - begun >= kKeeperCheck / 2 && !over()) {
        starvation.emplace(process_, ProcessorUse::Of::kProcess, limit);
      }
      if (Clock::now() >= deadline && !over()) {
        if (!starvation || !starvation->allows_more()) {
          return;
        }
        deadline = Clock::now() + Starvation::kInterval;
      }
    }
  }

  // A callee may kill the keeper too, and its own process goes with it; nobody is left to report that.
  void look_after_keeper() {
    if (keeper_ > 0 && waitpid(keeper_, nullptr, WNOHANG) == keeper_) {
      keeper_ = -1;
      channel_->wait_status = SIGKILL;
      channel_->deaths.fetch_add(1);
    }
  }

  // Grows the memory, for which the process must be replaced.
  void make_room(std::size_t needed_bytes) {
    if (needed_bytes > memory_->capacity_bytes()) {
      replace_memory(needed_bytes);
    }
  }

  void replace_memory(std::size_t capacity_bytes) {
    stop();
    memory_ = std::make_unique<FrameMemory>(capacity_bytes);
    memory_->keep_from_children();
    if (!send_order(socket_, {KeeperOrder::Kind::kMemory, memory_->capacity_bytes()}, memory_->descriptor()) ||
        !receive_reply(socket_)) {
      dismiss_keeper();
      start_keeper();
    }
  }

  void start_keeper() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
      throw std::system_error(errno, std::generic_category(), "socketpair for a worker's keeper");
    }
    madvise(channel_, sizeof(WorkerChannel), MADV_DOFORK);
    std::fflush(nullptr);  // or the child's copies of the buffers might be written too
    keeper_ = fork();
    if (keeper_ == 0) {
      keep_workers(*callee_, *channel_, ends[1], memory_->descriptor(), memory_->capacity_bytes());
    }
    const int error = errno;
    close(ends[1]);
    socket_ = ends[0];
    if (keeper_ < 0) {
      close(socket_);
      socket_ = -1;
      throw std::system_error(error, std::generic_category(), "fork of a worker's keeper");
    }
    // Other workers' keepers inherit nothing of this one.
    madvise(channel_, sizeof(WorkerChannel), MADV_DONTFORK);
  }

  void dismiss_keeper() {
    running_ = false;
    if (socket_ >= 0) {
      close(socket_);
      socket_ = -1;
    }
    if (keeper_ > 0) {
      waitpid(keeper_, nullptr, 0);
      keeper_ = -1;
    }
  }

  std::unique_ptr<Callee> callee_;
  Patience patience_;
  WorkerChannel* channel_;
  std::unique_ptr<FrameMemory> memory_;
  const bool may_spin_ = has_several_cores();
  int socket_ = -1;
  pid_t keeper_ = -1;
  pid_t process_ = -1;
  std::uint32_t sequence_ = 0;
  std::uint32_t deaths_seen_ = 0;
  bool running_ = false;
  bool is_first_ = true;  // no call has been made in the process
  CalleeDescription description_;
};

Worker::Worker(std::unique_ptr<Callee> callee, const Patience::Limits& limits)
    : process_(std::make_unique<Process>(std::move(callee), limits)) {}
Worker::~Worker() = default;

std::expected<CalleeDescription, std::string> Worker::start() {
  return process_->start();
}
void Worker::stop() {
  process_->forget();
}
void Worker::hurry(bool hurries) {
  process_->hurry(hurries);
}
std::optional<bool> Worker::supports(const CallShape& shape) {
  return process_->supports(shape);
}
Outcome Worker::run_alone(const Case& value, bool strided, const MemoryContext& memory_context) {
  return process_->run_alone(value, strided, memory_context);
}

namespace {

class HostCallee final : public Callee {
 public:
  explicit HostCallee(HostImplementation& implementation) : implementation_(implementation) {}
  std::expected<CalleeDescription, std::string> start() override { return CalleeDescription{}; }
  HostImplementation::Answer call(const Call& call) override { return implementation_.call(call); }

 private:
  HostImplementation& implementation_;
};

class IsolatedImplementation final : public ForwardingImplementation {
 public:
  IsolatedImplementation(std::unique_ptr<HostImplementation> implementation, const Patience::Limits& limits)
      : ForwardingImplementation(*implementation),
        implementation_(std::move(implementation)),
        worker_(std::make_unique<HostCallee>(*implementation_), limits) {}

  // One at a time, each in the worker process.
  std::size_t runs_together() const override { return 1; }
  std::vector<Outcome> run_together(std::span<const RunRequest> requests) override {
    return Implementation::run_together(requests);
  }
  bool restart() override {
    worker_.stop();
    return true;
  }
  void hurry(bool hurries) override { worker_.hurry(hurries); }
  Outcome run_in(const Case& value, const MemoryContext& memory_context) override {
    return run_in_order(value, [&](const Case& call) {
      return worker_.run_alone(call, sees_stride(*implementation_, call), memory_context);
    });
  }

 private:
  std::unique_ptr<HostImplementation> implementation_;
  Worker worker_;
};

}  // namespace

std::unique_ptr<Implementation> isolate(std::unique_ptr<Implementation> implementation,
                                        const std::optional<Patience::Limits>& limits) {
  if (dynamic_cast<HostImplementation*>(implementation.get()) == nullptr) {
    return implementation;
  }
  std::unique_ptr<HostImplementation> host(static_cast<HostImplementation*>(implementation.release()));
  const Patience::Limits chosen = limits.value_or(host->limits());
  return std::make_unique<IsolatedImplementation>(std::move(host), chosen);
}

}  // namespace kvwitness::harness
