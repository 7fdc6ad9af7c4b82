// What runs in the child processes: the keeper, and the worker that makes the calls.
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "properties/sandbox/worker_channel.h"

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
void note_fault(int signal, siginfo_t* info, void*) {
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
  action.sa_sigaction = note_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  sigaction(SIGSEGV, &action, nullptr);
  sigaction(SIGBUS, &action, nullptr);
}

// Signals as a fresh program has them: this process may have inherited handlers of a sanitizer or a test framework.
void reset_signals() {
  for (int signal = 1; signal < NSIG; ++signal) {
    std::signal(signal, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

WorkerAnswer carry_out(Callee& callee, const WorkerTask& task, const FrameMemory& memory) {
  WorkerAnswer answer{};
  try {
    switch (task.kind) {
      case WorkerTaskKind::kStart: {
        const auto started = callee.start();
        if (started) {
          answer.description = *started;
        } else {
          answer.kind = WorkerAnswerKind::kNotStarted;
          copy_text(answer.message, started.error());
        }
        break;
      }
      case WorkerTaskKind::kSupports:
        answer.kind = callee.supports(task.shape) ? WorkerAnswerKind::kDone : WorkerAnswerKind::kDeclined;
        break;
      case WorkerTaskKind::kCall: {
        if (!callee.supports(task.shape)) {
          answer.kind = WorkerAnswerKind::kDeclined;
          break;
        }
        const HostImplementation::Answer given = callee.call(resolve(task.call, memory, true));
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

void wait_for_request(WorkerChannel& channel, std::uint32_t handled, bool may_spin) {
  const auto has_request = [&] { return channel.request.load() != handled; };
  while (!spin_until(has_request, may_spin)) {
    channel.worker_sleeps.store(1);
    if (!has_request()) {
      sleep_while(channel.request, handled, std::nullopt);
    }
    channel.worker_sleeps.store(0);
  }
}

// Children that a call forks. One that exits or starts another program is the callee's affair; one that comes back from
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
    const bool came_back = poll(&source, 1, kPatienceMs) == 1 && read(news_[0], &byte, 1) == 1;
    close(news_[0]);
    return came_back;
  }

 private:
  static constexpr int kPatienceMs = 500;  // for a child that neither returns, ends nor starts a program

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

[[noreturn]] void work(Callee& callee, WorkerChannel& channel, const FrameMemory& memory, pid_t keeper) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != keeper) {
    _exit(0);  // it died before it could take this process with it
  }
  reset_signals();
  install_fault_handler(channel, memory);
  const bool may_spin = has_several_cores();
  ForkWatch forks;
  std::uint32_t handled = channel.request.load() - 1;  // the task of starting up waits already
  for (;;) {
    wait_for_request(channel, handled, may_spin);
    handled = channel.request.load();
    const WorkerTask task = channel.task;
    const bool spread = task.kind == WorkerTaskKind::kCall;
    if (spread) {
      memory.raise_guards(Region::kTokens, task.call.tokens);
      memory.raise_guards(Region::kLengths, task.call.lengths);
      memory.raise_guards(Region::kOutput, task.call.output);
    }
    WorkerAnswer answer = carry_out(callee, task, memory);
    if (forks.is_child()) {
      forks.tell_parent();
    }
    if (forks.child_came_back()) {
      answer.kind = WorkerAnswerKind::kForked;
    }
    if (spread) {
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

class Keeper {
 public:
  Keeper(Callee& callee, WorkerChannel& channel, int socket, FrameMemory memory)
      : callee_(callee), channel_(channel), socket_(socket), memory_(std::make_unique<FrameMemory>(std::move(memory))) {
    memory_->map_guarded();
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    sigprocmask(SIG_SETMASK, &child, nullptr);
    deaths_ = signalfd(-1, &child, SFD_CLOEXEC);
  }

  [[noreturn]] void run() {
    for (;;) {
      std::array<pollfd, 2> sources = {pollfd{socket_, POLLIN, 0}, pollfd{deaths_, POLLIN, 0}};
      if (poll(sources.data(), sources.size(), -1) < 0) {
        continue;
      }
      if (sources[1].revents != 0) {
        signalfd_siginfo ignored;
        static_cast<void>(!read(deaths_, &ignored, sizeof(ignored)));
        reap();
      }
      if (sources[0].revents != 0) {
        obey();
      }
    }
  }

 private:
  void obey() {
    const auto received = receive_order(socket_);
    if (!received) {
      end_worker();
      _exit(0);
    }
    switch (received->order.kind) {
      case KeeperOrder::Kind::kStart:
        end_worker();
        send_reply(socket_, start_worker());
        break;
      case KeeperOrder::Kind::kStop:
        end_worker();
        send_reply(socket_, 0);
        break;
      case KeeperOrder::Kind::kMemory:
        end_worker();
        memory_ = std::make_unique<FrameMemory>(
            FrameMemory::adopt(received->descriptor, static_cast<std::size_t>(received->order.capacity_bytes)));
        memory_->map_guarded();
        send_reply(socket_, 0);
        break;
    }
  }

  std::int64_t start_worker() {
    const pid_t keeper = getpid();
    channel_.deaths_at_start = channel_.deaths.load();
    worker_ = fork();
    if (worker_ == 0) {
      setpgid(0, 0);  // whatever it signals as a group reaches its own children alone
      close(socket_);
      close(deaths_);
      work(callee_, channel_, *memory_, keeper);
    }
    return worker_ < 0 ? -std::int64_t{errno} : worker_;
  }

  void end_worker() {
    int status = 0;
    if (worker_ > 0 && kill(worker_, SIGKILL) == 0 && waitpid(worker_, &status, 0) == worker_) {
      note_death(status);
    }
  }

  // Takes note of every child that has ended: the worker, and what workers have left behind.
  void reap() {
    int status = 0;
    for (pid_t child = 0; (child = waitpid(-1, &status, WNOHANG)) > 0;) {
      if (child == worker_) {
        note_death(status);
      }
    }
  }

  void note_death(int status) {
    kill(-worker_, SIGKILL);  // what it started
    worker_ = -1;
    channel_.wait_status = status;
    channel_.deaths.fetch_add(1);
    channel_.events.fetch_add(1);
    wake(channel_.events);
  }

  Callee& callee_;
  WorkerChannel& channel_;
  int socket_;
  std::unique_ptr<FrameMemory> memory_;
  int deaths_ = -1;
  pid_t worker_ = -1;
};

// A worker inherits nothing to read from the terminal, nothing that reaches the harness's output, and no open file.
void detach_descriptors(int socket, int memory) {
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(nothing, STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  const auto close_between = [](int first, int last) {
    if (first <= last) {
      close_range(static_cast<unsigned>(first), static_cast<unsigned>(last), 0);
    }
  };
  const auto [low, high] = std::minmax(socket, memory);
  close_between(STDERR_FILENO + 1, low - 1);
  close_between(low + 1, high - 1);
  close_range(static_cast<unsigned>(high) + 1, ~0U, 0);
}

}  // namespace

void keep_workers(Callee& callee, WorkerChannel& channel, int socket, int memory, std::size_t capacity_bytes) {
  setpgid(0, 0);  // a key that interrupts the harness ends it, and the closed socket ends this process
  reset_signals();
  detach_descriptors(socket, memory);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  if (const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC); score >= 0) {
    static_cast<void>(!write(score, "1000", 4));  // where memory runs out, a worker goes and the harness stays
    close(score);
  }
  try {
    Keeper(callee, channel, socket, FrameMemory::adopt(memory, capacity_bytes)).run();
  } catch (const std::exception&) {
    _exit(1);
  }
}

}  // namespace kvwitness::harness
