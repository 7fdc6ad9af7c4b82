#include "properties/sandbox/fork_server.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
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
#include <system_error>
#include <utility>

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
  return sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof(sent));
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
        handle_command();
      }
    }
  }

 private:
  void handle_command() {
    const auto received = receive_command(socket_);
    if (!received) {
      end_worker();
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
      close(deaths_);
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
    Server(target, channel, socket, FrameMemory::adopt(memory, capacity_bytes)).run();
  } catch (const std::exception&) {
    _exit(1);
  }
}

}  // namespace

// ---- The handle.

ForkServer::ForkServer(WorkerTarget& target, WorkerChannel& channel, const FrameMemory& memory)
    : target_(target), channel_(channel), memory_(&memory) {
  start();
}

ForkServer::~ForkServer() {
  stop();
}

void ForkServer::start() {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
    throw std::system_error(errno, std::generic_category(), "socketpair for a fork server");
  }
  madvise(&channel_, sizeof(WorkerChannel), MADV_DOFORK);
  std::fflush(nullptr);  // or the child's copies of the buffers might be written too
  process_ = fork();
  if (process_ == 0) {
    serve(target_, channel_, ends[1], memory_->descriptor(), memory_->capacity_bytes());
  }
  const int error = errno;
  close(ends[1]);
  socket_ = ends[0];
  if (process_ < 0) {
    close(socket_);
    socket_ = -1;
    throw std::system_error(error, std::generic_category(), "fork of a fork server");
  }
  // Other fork servers inherit nothing of this one.
  madvise(&channel_, sizeof(WorkerChannel), MADV_DONTFORK);
}

void ForkServer::stop() {
  if (socket_ >= 0) {
    close(socket_);
    socket_ = -1;
  }
  if (process_ > 0) {
    waitpid(process_, nullptr, 0);
    process_ = -1;
  }
}

std::optional<pid_t> ForkServer::start_worker() {
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (send_command(socket_, {Command::Kind::kStart, 0}, -1)) {
      if (const auto reply = receive_reply(socket_)) {
        return *reply > 0 ? std::optional(static_cast<pid_t>(*reply)) : std::nullopt;
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
  if (process_ > 0 && waitpid(process_, nullptr, WNOHANG) == process_) {
    process_ = -1;
    channel_.wait_status = SIGKILL;
    channel_.deaths.fetch_add(1);
  }
}

}  // namespace kvwitness::harness
