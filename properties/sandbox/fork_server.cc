#include "properties/sandbox/fork_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "properties/sandbox/system_calls.h"
#include "properties/sandbox/worker_output.h"
#include "properties/sandbox/worker_process.h"

namespace kvwitness::harness {
namespace {

// ---- Commands to the fork server, one message each on a SOCK_SEQPACKET socket, each with a reply.

struct Command {
  enum class Kind : std::uint32_t { kStart, kStop, kMemory };
  Kind kind;
  std::uint64_t capacity_bytes;  // kMemory, which comes with a descriptor
};
struct ReceivedCommand {
  Command command;
  int descriptor;  // -1 where none came
};

// False where the other end is gone.
bool send_command(int socket, const Command& command, int descriptor) noexcept {
  Command sent = command;
  iovec part{&sent, sizeof(sent)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  }
  // Without a descriptor it needs no sendmsg.
  const ssize_t size =
      descriptor < 0 ? send(socket, &sent, sizeof(sent), MSG_NOSIGNAL) : sendmsg(socket, &message, MSG_NOSIGNAL);
  return size == static_cast<ssize_t>(sizeof(sent));
}

// Nothing where the other end is gone.
std::optional<ReceivedCommand> receive_command(int socket) noexcept {
  ReceivedCommand received{{}, -1};
  iovec part{&received.command, sizeof(received.command)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  ssize_t size = 0;
  do {
    size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size != static_cast<ssize_t>(sizeof(received.command))) {
    return std::nullopt;
  }
  if (const cmsghdr* const header = CMSG_FIRSTHDR(&message); header != nullptr && header->cmsg_type == SCM_RIGHTS) {
    std::memcpy(&received.descriptor, CMSG_DATA(header), sizeof(int));
  }
  return received;
}

// To kStart: the worker's process id, or -errno.
bool send_reply(int socket, std::int64_t reply) noexcept {
  return send(socket, &reply, sizeof(reply), MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof(reply));
}

std::optional<std::int64_t> receive_reply(int socket) noexcept {
  std::int64_t reply = 0;
  ssize_t size = 0;
  do {
    size = recv(socket, &reply, sizeof(reply), 0);
  } while (size < 0 && errno == EINTR);
  return size == static_cast<ssize_t>(sizeof(reply)) ? std::optional(reply) : std::nullopt;
}

// ---- The fork server's own process.

class Server {
 public:
  Server(WorkerTarget& target, WorkerChannel& channel, int socket, FrameMemory memory)
      : target_(target), channel_(channel), socket_(socket), memory_(std::make_unique<FrameMemory>(std::move(memory))) {
    memory_->map_guarded();
    // Only while it waits does a death interrupt it, so that none is missed.
    struct sigaction action{};
    action.sa_handler = [](int) {};
    is_told_of_deaths_ = sigaction(SIGCHLD, &action, nullptr) == 0;
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    is_told_of_deaths_ = sigprocmask(SIG_SETMASK, &child, nullptr) == 0 && is_told_of_deaths_;
  }

  [[noreturn]] void run() {
    for (;;) {
      std::array<pollfd, 3> sources = {pollfd{socket_, POLLIN, 0}, output_.to_read(), output_.to_write()};
      wait_for_one_of(sources);
      output_.pass_on();
      reap();
      if (sources[0].revents != 0) {
        handle_command();
      }
    }
  }

 private:
  // Or for a death.
  void wait_for_one_of(std::span<pollfd> sources) {
    if (is_told_of_deaths_) {
      sigset_t none;
      sigemptyset(&none);
      if (ppoll(sources.data(), sources.size(), nullptr, &none) >= 0) {
        return;
      }
      is_told_of_deaths_ = errno == EINTR;
    }
    constexpr int kBetweenLooksMs = 20;
    if (poll(sources.data(), sources.size(), is_told_of_deaths_ ? 0 : kBetweenLooksMs) < 0) {
      for (pollfd& source : sources) source.revents = 0;
    }
  }

  void handle_command() {
    const auto received = receive_command(socket_);
    if (!received) {
      end_worker();
      output_.pass_on();
      _exit(0);
    }
    switch (received->command.kind) {
      case Command::Kind::kStart:
        end_worker();
        send_reply(socket_, start_worker());
        break;
      case Command::Kind::kStop:
        end_worker();
        send_reply(socket_, 0);
        break;
      case Command::Kind::kMemory:
        end_worker();
        memory_ = std::make_unique<FrameMemory>(
            FrameMemory::adopt(received->descriptor, static_cast<std::size_t>(received->command.capacity_bytes)));
        memory_->map_guarded();
        send_reply(socket_, 0);
        break;
    }
  }

  std::int64_t start_worker() {
    const pid_t server = getpid();
    channel_.deaths_at_start = channel_.deaths.load();
    worker_ = fork();
    if (worker_ == 0) {
      setpgid(0, 0);  // whatever it signals as a group reaches only its own children
      close(socket_);
      output_.become_output();
      run_worker(target_, channel_, *memory_, server);
    }
    return worker_ < 0 ? -std::int64_t{errno} : worker_;
  }

  void end_worker() {
    int status = 0;
    if (worker_ > 0 && kill(worker_, SIGKILL) == 0 && waitpid(worker_, &status, 0) == worker_) {
      note_death(status);
    }
  }

  // Takes note of every child that has ended: the worker, and what workers have left.
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
    output_.pass_on();
    worker_ = -1;
    channel_.wait_status = status;
    channel_.deaths.fetch_add(1);
    channel_.events.fetch_add(1);
    wake(channel_.events);
  }

  WorkerTarget& target_;
  WorkerChannel& channel_;
  int socket_;
  std::unique_ptr<FrameMemory> memory_;
  WorkerOutput output_;
  bool is_told_of_deaths_ = false;  // while it waits; where the system denies a call for that, it looks now and then
  pid_t worker_ = -1;
};

// Nothing to read from the terminal, nothing that reaches the harness's output, and no open file.
void detach_descriptors(int socket, int memory) {
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  dup2(nothing, STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  close_all_but(socket, memory);
}

// What a fork server says once it can serve, or why it cannot.
struct Readiness {
  bool is_ready;
  std::array<char, 256> why_not;  // null-terminated
};

void tell_readiness(int socket, const char* why_not) noexcept {
  Readiness readiness{.is_ready = why_not == nullptr, .why_not = {}};
  if (why_not != nullptr) {
    std::strncpy(readiness.why_not.data(), why_not, readiness.why_not.size() - 1);
  }
  send(socket, &readiness, sizeof(readiness), MSG_NOSIGNAL);
}

// The whole life of the fork server, until the socket closes.
[[noreturn]] void serve(WorkerTarget& target, WorkerChannel& channel, int socket, int memory,
                        std::size_t capacity_bytes) {
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
    Server server(target, channel, socket, FrameMemory::adopt(memory, capacity_bytes));
    tell_readiness(socket, nullptr);
    server.run();
  } catch (const std::exception& error) {
    tell_readiness(socket, error.what());
    _exit(1);
  }
}

}  // namespace

// ---- The handle.

ForkServer::ForkServer(WorkerTarget& target, WorkerChannel& channel, const FrameMemory& memory)
    : target_(target), channel_(channel), memory_(&memory) {
  require_system_calls();
  start();
}

ForkServer::~ForkServer() {
  stop();
}

void ForkServer::start() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    refuse_isolation("the system denies socketpair", errno);
  }
  madvise(&channel_, sizeof(WorkerChannel), MADV_DOFORK);
  std::fflush(nullptr);  // or the child's copies of the buffers might be written too
  process_ = fork();
  if (process_ == 0) {
    close(ends[0]);  // or it would never see that the harness is gone
    serve(target_, channel_, ends[1], memory_->descriptor(), memory_->capacity_bytes());
  }
  const int error = errno;
  close(ends[1]);
  socket_ = ends[0];
  if (process_ < 0) {
    close(socket_);
    socket_ = -1;
    refuse_isolation("the system denies fork", error);
  }
  // Other fork servers inherit nothing of this one.
  madvise(&channel_, sizeof(WorkerChannel), MADV_DONTFORK);
  Readiness readiness{};
  if (recv(socket_, &readiness, sizeof(readiness), 0) != static_cast<ssize_t>(sizeof(readiness))) {
    std::snprintf(readiness.why_not.data(), readiness.why_not.size(), "the process that starts them ended at once");
  }
  if (!readiness.is_ready) {
    stop();
    refuse_isolation(readiness.why_not.data(), 0);
  }
}

void ForkServer::stop() {
  if (socket_ >= 0) {
    close(socket_);
    socket_ = -1;
  }
  if (process_ > 0) {
    wait_for(process_, nullptr);
    process_ = -1;
  }
  worker_ = -1;
}

std::optional<pid_t> ForkServer::start_worker() {
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (send_command(socket_, {Command::Kind::kStart, 0}, -1)) {
      if (const auto reply = receive_reply(socket_)) {
        worker_ = static_cast<pid_t>(std::max<std::int64_t>(*reply, -1));
        return worker_ > 0 ? std::optional(worker_) : std::nullopt;
      }
    }
    stop();
    start();
  }
  return std::nullopt;
}

void ForkServer::end_worker() {
  send_command(socket_, {Command::Kind::kStop, 0}, -1);
  receive_reply(socket_);
}

void ForkServer::use_memory(const FrameMemory& memory) {
  memory_ = &memory;
  if (!send_command(socket_, {Command::Kind::kMemory, memory.capacity_bytes()}, memory.descriptor()) ||
      !receive_reply(socket_)) {
    stop();
    start();
  }
}

void ForkServer::note_own_death() {
  if (process_ > 0 && wait_for(process_, nullptr, WNOHANG) == process_) {
    process_ = -1;
    if (worker_ > 0) {
      kill(-worker_, SIGKILL);  // where the system did not end it with its parent
    }
    channel_.wait_status = SIGKILL;
    channel_.deaths.fetch_add(1);
  }
}

}  // namespace kvwitness::harness
