#include "properties/implementations/program_pipe.h"

#include <fcntl.h>
#include <kvwitness/assertions.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <optional>
#include <utility>

#include "properties/sandbox/processor_use.h"

// POSIX leaves the declaration to the program; glibc has one too.
extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace kvwitness::harness {
namespace {

constexpr std::size_t kChunkBytes = 1 << 16;

void close_both(const std::array<int, 2>& ends) {
  close(ends[0]);
  close(ends[1]);
}

// write() to a program that is gone raises SIGPIPE: held back here, only in this thread, and taken away again.
ssize_t write_quietly(int descriptor, const std::byte* bytes, std::size_t size) {
  sigset_t broken_pipe;
  sigset_t before;
  sigemptyset(&broken_pipe);
  sigaddset(&broken_pipe, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken_pipe, &before);
  const ssize_t written = write(descriptor, bytes, size);
  const int error = errno;
  if (written < 0 && error == EPIPE && sigismember(&before, SIGPIPE) == 0) {
    const timespec at_once{0, 0};
    sigtimedwait(&broken_pipe, nullptr, &at_once);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
  return written;
}

// The child has the default action for every signal, and leads a process group, so that all that the shell starts can
// be ended.
std::expected<pid_t, int> spawn(const std::string& command, int input, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t all;
  sigset_t none;
  sigfillset(&all);
  sigemptyset(&none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes,
                           static_cast<short>(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP));
  std::string shell = "sh";
  std::string option = "-c";
  std::string text = command;
  char* const arguments[] = {shell.data(), option.data(), text.data(), nullptr};
  pid_t process = -1;
  const int error = posix_spawn(&process, "/bin/sh", &actions, &attributes, arguments, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? std::expected<pid_t, int>(process) : std::unexpected(error);
}

}  // namespace

std::expected<ProgramPipe, std::string> ProgramPipe::start(const std::string& command) {
  std::array<int, 2> input{};
  std::array<int, 2> output{};
  if (pipe2(input.data(), O_CLOEXEC) != 0) {
    return std::unexpected(std::string("pipe: ") + std::strerror(errno));
  }
  if (pipe2(output.data(), O_CLOEXEC) != 0) {
    close_both(input);
    return std::unexpected(std::string("pipe: ") + std::strerror(errno));
  }
  const auto process = spawn(command, input[0], output[1]);
  close(input[0]);
  close(output[1]);
  if (!process) {
    close(input[1]);
    close(output[0]);
    return std::unexpected(std::string("/bin/sh cannot be started: ") + std::strerror(process.error()));
  }
  fcntl(input[1], F_SETFL, O_NONBLOCK);
  fcntl(output[0], F_SETFL, O_NONBLOCK);
  return ProgramPipe(*process, input[1], output[0]);
}

ProgramPipe::ProgramPipe(ProgramPipe&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      input_(std::exchange(other.input_, -1)),
      output_(std::exchange(other.output_, -1)),
      unsent_(std::move(other.unsent_)),
      sent_(other.sent_),
      received_(std::move(other.received_)),
      at_end_(other.at_end_) {}

ProgramPipe::~ProgramPipe() {
  if (input_ >= 0) {
    close(input_);
    close(output_);
  }
  if (process_ > 0) {
    kill_group();
    waitpid(process_, nullptr, 0);
  }
}

void ProgramPipe::kill_group() {
  kill(-process_, SIGKILL);
}

void ProgramPipe::send(std::span<const std::byte> bytes) {
  unsent_.insert(unsent_.end(), bytes.begin(), bytes.end());
}

void ProgramPipe::write_some() {
  const ssize_t written = write_quietly(input_, unsent_.data() + sent_, unsent_.size() - sent_);
  if (written > 0) {
    sent_ += static_cast<std::size_t>(written);
  }
  if (sent_ == unsent_.size() || (written < 0 && errno != EAGAIN && errno != EINTR)) {
    unsent_.clear();  // sent, or nobody reads it any more: its output tells
    sent_ = 0;
  }
}

// Whether the output is still open.
bool ProgramPipe::read_some() {
  const std::size_t size = received_.size();
  received_.resize(size + kChunkBytes);
  const ssize_t got = read(output_, received_.data() + size, kChunkBytes);
  const int error = errno;
  received_.resize(size + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return got > 0 || (got < 0 && (error == EAGAIN || error == EINTR));
}

// Waits until something can be sent or received, and does it. False where the time is up.
bool ProgramPipe::exchange_some(int timeout_ms) {
  std::array<pollfd, 2> ends = {pollfd{output_, POLLIN, 0}, pollfd{unsent_.empty() ? -1 : input_, POLLOUT, 0}};
  const int ready = poll(ends.data(), ends.size(), timeout_ms);
  if (ready < 0) {
    return errno == EINTR;
  }
  if (ends[1].revents != 0) {
    write_some();
  }
  if (ends[0].revents != 0 && !read_some()) {
    at_end_ = true;
  }
  return ready > 0;
}

std::expected<std::span<const std::byte>, NoAnswer> ProgramPipe::receive(std::size_t size, Clock::time_point deadline) {
  constexpr std::chrono::milliseconds kLeast{1000};  // for the rest of an answer that began late
  const auto limit = std::max(std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()), kLeast);
  std::optional<ProcessorTimeExtension> extension;
  while (received_.size() < size) {
    if (at_end_) {
      return std::unexpected(NoAnswer::kEndOfFile);
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (left.count() <= 0 || !exchange_some(static_cast<int>(left.count()) + 1)) {
      if (Clock::now() < deadline) {
        continue;
      }
      // What it had used before is not known, so it gets the limit once more where it works on.
      if (!extension) {
        extension.emplace(process_, ProcessorUse::Of::kGroup, limit);
      }
      if ((end_ && Clock::now() >= *end_) || !extension->is_granted()) {
        return std::unexpected(NoAnswer::kDeadline);
      }
      deadline = Clock::now() + ProcessorTimeExtension::kInterval;
    }
  }
  return std::span<const std::byte>(received_).first(size);
}

void ProgramPipe::consume(std::size_t size) {
  KVWITNESS_ASSERT(size <= received_.size(), size, received_.size());
  received_.erase(received_.begin(), received_.begin() + static_cast<std::ptrdiff_t>(size));
}

bool ProgramPipe::has_unread_bytes(int wait_ms) {
  if (received_.empty() && !at_end_) {
    exchange_some(wait_ms);
  }
  return !received_.empty();
}

Outcome ProgramPipe::end(NoAnswer reason) {
  int status = 0;
  pid_t ended = 0;
  if (reason == NoAnswer::kEndOfFile) {
    // A program that ends closes its output a moment before it can be waited for.
    for (int turn = 0; turn < 200 && ended == 0; ++turn) {
      ended = waitpid(process_, &status, WNOHANG);
      if (ended == 0) {
        const timespec moment{0, 5'000'000};
        nanosleep(&moment, nullptr);
      }
    }
  }
  kill_group();
  if (ended != process_) {
    waitpid(process_, nullptr, 0);
  }
  process_ = -1;
  if (reason == NoAnswer::kDeadline) {
    return Outcome::ended(Ending::kHung, "no answer within the deadline");
  }
  if (ended <= 0) {
    return Outcome::ended(Ending::kProtocolError, "the program closed its output and went on");
  }
  if (WIFSIGNALED(status)) {
    return Outcome::ended(Ending::kCrashed, "the program was killed by signal " + std::to_string(WTERMSIG(status)) +
                                                " (" + strsignal(WTERMSIG(status)) + ")");
  }
  const int code = WEXITSTATUS(status);
  const std::string signal =
      code > 128 && code < 128 + NSIG ? ", a shell's word for signal " + std::to_string(code - 128) : "";
  return Outcome::ended(Ending::kExited, "the program exited with status " + std::to_string(code) + signal);
}

}  // namespace kvwitness::harness
