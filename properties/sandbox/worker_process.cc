#include "properties/sandbox/worker_process.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <exception>
#include <optional>
#include <string_view>

namespace kvwitness::harness {
namespace {

template <std::size_t size>
void copy_text(std::array<char, size>& target, std::string_view text) {
  const std::size_t length = std::min(text.size(), size - 1);
  std::copy_n(text.data(), length, target.data());
  target[length] = '\0';
}

// For the fault handler, which takes no argument of ours.
WorkerChannel* fault_channel = nullptr;
const FrameMemory* fault_memory = nullptr;

// Notes where the fault lies, then lets the signal do what it does by default.
void note_memory_fault(int signal, siginfo_t* info, void*) {
  const auto place = fault_memory->locate(info->si_addr);
  fault_channel->fault = {.located = info->si_code > 0 && place.has_value(),
                          .read_only = place && place->read_only,
                          .region = place ? place->region : Region::kTokens,
                          .offset = place ? place->offset : 0};
  std::signal(signal, SIG_DFL);
  if (info->si_code <= 0) {
    raise(signal);  // sent by a process: it does not come again by itself
  }
}

void install_fault_handler(WorkerChannel& channel, const FrameMemory& memory) {
  fault_channel = &channel;
  fault_memory = &memory;
  static std::array<char, 65536> stack;  // a fault may be the end of the ordinary one
  const stack_t alternative{.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  sigaltstack(&alternative, nullptr);
  struct sigaction action{};
  action.sa_sigaction = note_memory_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
}

WorkerAnswer carry_out(WorkerTarget& target, const WorkerTask& task, const FrameMemory& memory) {
  WorkerAnswer answer{};
  try {
    switch (task.kind) {
      case WorkerTaskKind::kStart: {
        const auto started = target.start();
        if (started) {
          answer.description = *started;
        } else {
          answer.kind = WorkerAnswerKind::kNotStarted;
          copy_text(answer.message, started.error());
        }
        break;
      }
      case WorkerTaskKind::kSupports:
        answer.kind = target.supports(task.shape) ? WorkerAnswerKind::kDone : WorkerAnswerKind::kDeclined;
        break;
      case WorkerTaskKind::kCall: {
        if (!target.supports(task.shape)) {
          answer.kind = WorkerAnswerKind::kDeclined;
          break;
        }
        const CallAnswer given = target.call(resolve(task.call, memory, true));
        answer.status = given.status;
        copy_text(answer.message, given.message);
        break;
      }
    }
  } catch (const std::exception& thrown) {
    answer.kind = WorkerAnswerKind::kThrew;
    copy_text(answer.message, thrown.what());
  } catch (...) {
    answer.kind = WorkerAnswerKind::kThrew;
    copy_text(answer.message, "an object that is no std::exception");
  }
  return answer;
}

// @param fork_server  to be looked after now and then; nothing where the system ends this process with it
void wait_for_request(WorkerChannel& channel, std::uint32_t handled, bool may_spin, std::optional<pid_t> fork_server) {
  constexpr std::chrono::seconds kBetweenLooks{1};
  const auto limit = fork_server ? std::optional<std::chrono::nanoseconds>(kBetweenLooks) : std::nullopt;
  const auto has_request = [&] { return channel.request.load() != handled; };
  while (!spin_until(has_request, may_spin)) {
    channel.worker_sleeps.store(1);
    if (!has_request()) {
      sleep_while(channel.request, handled, limit);
    }
    channel.worker_sleeps.store(0);
    if (fork_server && getppid() != *fork_server) {
      _exit(0);
    }
  }
}

// Children that a call forks. One that exits or starts another program is the target's affair; one that comes back from
// the call would go on as a second worker.
class ForkWatch {
 public:
  ForkWatch() { pthread_atfork(prepare, note_in_parent, note_in_child); }

  bool is_child() const { return getpid() != self_; }
  // The child's last act.
  [[noreturn]] void tell_parent() const {
    static_cast<void>(!write(news_[1], "r", 1));
    _exit(0);
  }
  // Whether a child of this call has come back from it.
  bool child_came_back() {
    if (!forked_) {
      return false;
    }
    forked_ = false;
    pollfd source{news_[0], POLLIN, 0};
    char byte = 0;
    const bool came_back = poll(&source, 1, kWaitMs) == 1 && read(news_[0], &byte, 1) == 1;
    close(news_[0]);
    return came_back;
  }

 private:
  static constexpr int kWaitMs = 500;  // for a child that neither returns, ends nor starts a program

  // Of several forks in a call the latest is watched.
  static void prepare() {
    if (forked_) {
      close(news_[0]);
    }
    static_cast<void>(!pipe2(news_.data(), O_CLOEXEC | O_NONBLOCK));
  }
  static void note_in_parent() {
    close(news_[1]);
    forked_ = true;
  }
  static void note_in_child() {
    close(news_[0]);
    forked_ = false;
  }

  static inline bool forked_ = false;
  static inline std::array<int, 2> news_{-1, -1};
  const pid_t self_ = getpid();
};

}  // namespace

void run_worker(WorkerTarget& target, WorkerChannel& channel, const FrameMemory& memory, pid_t fork_server) {
  const bool ends_with_parent = prctl(PR_SET_PDEATHSIG, SIGKILL) == 0;
  if (getppid() != fork_server) {
    _exit(0);  // it died before it could take this process with it
  }
  reset_signals();
  install_fault_handler(channel, memory);
  const bool may_spin = has_several_cores();
  ForkWatch forks;
  std::uint32_t handled = channel.request.load() - 1;  // the task of starting up waits already
  for (;;) {
    wait_for_request(channel, handled, may_spin, ends_with_parent ? std::nullopt : std::optional(fork_server));
    handled = channel.request.load();
    const WorkerTask task = channel.task;
    const bool is_call = task.kind == WorkerTaskKind::kCall;
    if (is_call) {
      memory.raise_guards(Region::kTokens, task.call.tokens);
      memory.raise_guards(Region::kLengths, task.call.lengths);
      memory.raise_guards(Region::kOutput, task.call.output);
    }
    WorkerAnswer answer = carry_out(target, task, memory);
    if (forks.is_child()) {
      forks.tell_parent();
    }
    if (forks.child_came_back()) {
      answer.kind = WorkerAnswerKind::kForked;
    }
    if (is_call) {
      memory.lower_guards(Region::kTokens, task.call.tokens);
      memory.lower_guards(Region::kLengths, task.call.lengths);
      memory.lower_guards(Region::kOutput, task.call.output);
    }
    answer.sequence = handled;
    channel.answer = answer;
    channel.answered.store(handled);
    channel.events.fetch_add(1);
    if (channel.caller_sleeps.load() != 0) {
      wake(channel.events);
    }
  }
}

void reset_signals() {
  for (int signal = 1; signal < NSIG; ++signal) {
    std::signal(signal, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

}  // namespace kvwitness::harness
