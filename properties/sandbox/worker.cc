#include "properties/sandbox/worker.h"

#include <kvwitness/legality.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "properties/sandbox/call_frame.h"
#include "properties/sandbox/fork_server.h"
#include "properties/sandbox/processor_use.h"
#include "properties/sandbox/worker_channel.h"

namespace kvwitness::harness {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

template <std::size_t size>
std::string text_of(const std::array<char, size>& text) {
  return std::string(text.data(), strnlen(text.data(), size));
}

// What became of a task.
enum class TaskEnd : std::uint8_t { kAnswered, kDied, kHung };

// " at an access 8 bytes past the end of the learned rows"; empty where the address lies elsewhere.
std::string describe_memory_fault(const MemoryFault& fault, const PlacedCall& call) {
  if (!fault.located) {
    return "";
  }
  const Placement& buffer = fault.region == Region::kTokens    ? call.tokens
                            : fault.region == Region::kLengths ? call.lengths
                                                               : call.output;
  const std::string name(buffer_name(call, fault.region));
  if (fault.offset < buffer.first) {
    return " at an access " + std::to_string(buffer.first - fault.offset) + " bytes before the " + name;
  }
  const std::uint64_t position = fault.offset - buffer.first;
  if (position >= buffer.span_bytes) {
    return " at an access " + std::to_string(position - buffer.span_bytes) + " bytes past the end of the " + name;
  }
  return " at a write to the " + name + ", which are an input, at byte " + std::to_string(position);
}

Outcome outcome_of_death(int wait_status, const std::string& where) {
  if (WIFEXITED(wait_status)) {
    return Outcome::ended(Ending::kExited,
                          "its process exited with status " + std::to_string(WEXITSTATUS(wait_status)));
  }
  const int signal = WTERMSIG(wait_status);
  return Outcome::ended(Ending::kCrashed, "its process was killed by signal " + std::to_string(signal) + " (" +
                                              strsignal(signal) + ")" + where);
}

}  // namespace

class Worker::Process {
 public:
  static constexpr std::size_t kMostShapes = std::size_t{1} << 16;

  Process(std::unique_ptr<WorkerTarget> target, const DeadlineLimits& limits)
      : target_(std::move(target)),
        deadlines_(limits),
        channel_(map_channel()),
        memory_(make_memory(FrameMemory::kDefaultCapacityBytes)),
        fork_server_(*target_, *channel_, *memory_) {}

  std::expected<TargetDescription, std::string> start() {
    if (auto failed = start_process()) {
      return std::unexpected(failed->how);
    }
    return description_;
  }

  // The next process begins with memory of the usual size: a large call then replaces it as it did at first, so that
  // equal calls have equal histories.
  void stop() {
    end_process();
    if (memory_->capacity_bytes() > FrameMemory::kDefaultCapacityBytes) {
      replace_memory(FrameMemory::kDefaultCapacityBytes);
    }
  }

  void hurry(bool hurries) { deadlines_.hurry(hurries); }
  void end_at(std::optional<Clock::time_point> end) { deadlines_.end_at(end); }

  std::optional<bool> supports(const CallShape& shape) {
    if (start_process()) {
      return std::nullopt;
    }
    WorkerTask task{};
    task.kind = WorkerTaskKind::kSupports;
    task.shape = shape;
    const TaskEnd end = ask(task, deadlines_.limit(answered_shapes_.empty(), 0));
    if (end != TaskEnd::kAnswered) {
      lose(end);
      return std::nullopt;
    }
    return channel_->answer.kind != WorkerAnswerKind::kDeclined;
  }

  Outcome run_call(const Case& value, bool strided, const MemoryContext& memory_context) {
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
    const bool is_warm_up = !answered_shapes_.contains(task.shape);
    const TaskEnd end = ask(task, deadlines_.limit(is_warm_up, touched));
    if (end != TaskEnd::kAnswered) {
      return ended(end, frame.placed());
    }
    deadlines_.note_answer(is_warm_up, std::chrono::duration_cast<milliseconds>(Clock::now() - begun));
    if (is_warm_up && answered_shapes_.size() < kMostShapes) {
      answered_shapes_.insert(task.shape);
    }
    return read_answer(frame);
  }

 private:
  Outcome read_answer(const CallFrame& frame) {
    const WorkerAnswer answer = channel_->answer;
    if (answer.kind == WorkerAnswerKind::kDeclined) {
      return Outcome::ended(Ending::kUnsupported, "the implementation does not support the shape");
    }
    if (answer.kind == WorkerAnswerKind::kThrew) {
      end_process();
      return Outcome::ended(Ending::kCrashed, "the call threw: " + text_of(answer.message));
    }
    if (answer.kind == WorkerAnswerKind::kForked) {
      end_process();
      return Outcome::ended(Ending::kCrashed, "the call returned twice: it forked, and the child returned too");
    }
    Outcome outcome = frame.collect();
    outcome.status = answer.status;
    outcome.message = text_of(answer.message);
    return outcome;
  }

  // The outcome of a task without an answer. The next one gets a fresh process.
  Outcome ended(TaskEnd end, const PlacedCall& call) {
    const MemoryFault fault = channel_->fault;
    const int wait_status = channel_->wait_status;
    lose(end);
    if (end == TaskEnd::kHung) {
      return Outcome::ended(Ending::kHung, "no answer within the deadline");
    }
    return outcome_of_death(wait_status, describe_memory_fault(fault, call));
  }

  void lose(TaskEnd end) {
    if (end == TaskEnd::kHung) {
      end_process();
      if (deadlines_.is_over()) {
        throw TimeUp{};
      }
      deadlines_.note_hang();
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
    const auto process = fork_server_.start_worker();
    if (!process) {
      return Outcome::ended(Ending::kCrashed, "its process could not be started");
    }
    process_ = *process;
    deaths_seen_ = channel_->deaths_at_start;
    running_ = true;
    answered_shapes_.clear();
    const TaskEnd end = wait(deadlines_.limit(true, 0));
    if (end != TaskEnd::kAnswered) {
      Outcome outcome = ended(end, PlacedCall{});
      outcome.how = "at its start: " + outcome.how;
      return outcome;
    }
    const WorkerAnswer answer = channel_->answer;
    if (answer.kind != WorkerAnswerKind::kDone) {
      end_process();
      return Outcome::ended(Ending::kCrashed, text_of(answer.message));
    }
    description_ = answer.description;
    return std::nullopt;
  }

  TaskEnd ask(const WorkerTask& task, milliseconds limit) {
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

  TaskEnd wait(milliseconds limit) {
    const auto over = [&] { return has_answer() || has_died(); };
    if (!spin_until(over, may_spin_)) {
      sleep_until(over, limit);
    }
    return has_answer() ? TaskEnd::kAnswered : has_died() ? TaskEnd::kDied : TaskEnd::kHung;
  }

  template <typename Over>
  void sleep_until(Over over, milliseconds limit) {
    constexpr milliseconds kForkServerCheck{50};
    std::optional<ProcessorTimeExtension> extension;  // looked for only where the answer takes long
    const Clock::time_point begun = Clock::now();
    Clock::time_point deadline = begun + limit;
    while (!over()) {
      const std::uint32_t seen = channel_->events.load();
      channel_->caller_sleeps.store(1);
      if (!over()) {
        sleep_while(channel_->events, seen,
                    std::clamp<Clock::duration>(deadline - Clock::now(), Clock::duration::zero(), kForkServerCheck));
      }
      channel_->caller_sleeps.store(0);
      fork_server_.note_own_death();
      if (!extension && Clock::now() - begun >= kForkServerCheck / 2 && !over()) {
        extension.emplace(process_, ProcessorUse::Of::kProcess, limit);
      }
      if ((is_interrupted() || Clock::now() >= deadline) && !over()) {
        if (deadlines_.is_over() || !extension || !extension->is_granted()) {
          return;
        }
        deadline = Clock::now() + ProcessorTimeExtension::kInterval;
      }
    }
  }

  void end_process() {
    if (running_) {
      running_ = false;
      fork_server_.end_worker();
    }
  }

  static std::unique_ptr<FrameMemory> make_memory(std::size_t capacity_bytes) {
    auto memory = std::make_unique<FrameMemory>(capacity_bytes);
    memory->keep_from_children();
    return memory;
  }

  // Grows the memory, for which the process must be replaced.
  void make_room(std::size_t needed_bytes) {
    if (needed_bytes > memory_->capacity_bytes()) {
      replace_memory(needed_bytes);
    }
  }

  void replace_memory(std::size_t capacity_bytes) {
    end_process();
    memory_ = make_memory(capacity_bytes);
    fork_server_.use_memory(*memory_);
  }

  std::unique_ptr<WorkerTarget> target_;
  DeadlinePolicy deadlines_;
  MappedChannel channel_;
  std::unique_ptr<FrameMemory> memory_;
  ForkServer fork_server_;
  const bool may_spin_ = has_several_cores();
  pid_t process_ = -1;
  std::uint32_t sequence_ = 0;
  std::uint32_t deaths_seen_ = 0;
  bool running_ = false;
  std::set<CallShape> answered_shapes_;  // by this process
  TargetDescription description_;
};

Worker::Worker(std::unique_ptr<WorkerTarget> target, const DeadlineLimits& limits)
    : process_(std::make_unique<Process>(std::move(target), limits)) {}
Worker::~Worker() = default;

std::expected<TargetDescription, std::string> Worker::start() {
  return process_->start();
}
void Worker::stop() {
  process_->stop();
}
void Worker::end_at(std::optional<std::chrono::steady_clock::time_point> end) {
  process_->end_at(end);
}
void Worker::hurry(bool hurries) {
  process_->hurry(hurries);
}
std::optional<bool> Worker::supports(const CallShape& shape) {
  return process_->supports(shape);
}
Outcome Worker::run_call(const Case& value, bool strided, const MemoryContext& memory_context) {
  return process_->run_call(value, strided, memory_context);
}

}  // namespace kvwitness::harness
