#include "properties/implementations/program_pipe.h"

#include <fcntl.h>
#include <kvwitness/assertions.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <optional>
#include <string_view>
#include <utility>

#include "properties/sandbox/interruption.h"
#include "properties/sandbox/processor_use.h"
#include "properties/sandbox/system_calls.h"

// POSIX leaves the declaration to the program; glibc has one too.
extern char** environ;  // NOLINT(readability-redundant-declaration)

namespace kvwitness::harness {
namespace {

// The process groups of the programs that run, for a signal handler; 0 where a place is free.
std::array<std::atomic<pid_t>, 64> running_groups{};

void exchange_in_list(pid_t before, pid_t after) noexcept {
  for (std::atomic<pid_t>& group : running_groups) {
    pid_t expected = before;
    if (group.compare_exchange_strong(expected, after)) return;
  }
}

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

// The last line of what a program wrote, in quotes; an exception's message mostly stands there.
std::string last_words(std::string_view errors) {
  constexpr std::size_t kLongest = 300;
  const std::size_t end = errors.find_last_not_of(" \n\r\t");
  if (end == std::string_view::npos) return "";
  errors = errors.substr(0, end + 1);
  const std::size_t before = errors.rfind('\n');
  std::string_view line = before == std::string_view::npos ? errors : errors.substr(before + 1);
  if (line.size() > kLongest) line = line.substr(line.size() - kLongest);
  return "; its last words: \"" + std::string(line) + "\"";
}

// The child has the default action for every signal, and leads a process group, so that all that the shell starts can
// be ended.
std::expected<pid_t, int> spawn(const std::string& command, int input, int output, int errors) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
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
  std::array<std::array<int, 2>, 3> pipes{};  // input, output, errors
  for (std::size_t made = 0; made < pipes.size(); ++made) {
    if (pipe2(pipes[made].data(), O_CLOEXEC) == 0) continue;
    const int error = errno;
    std::for_each_n(pipes.begin(), made, close_both);
    return std::unexpected(std::string("pipe: ") + std::strerror(error));
  }
  const auto& [input, output, errors] = pipes;
  const auto process = spawn(command, input[0], output[1], errors[1]);
  close(input[0]);
  close(output[1]);
  close(errors[1]);
  if (!process) {
    close(input[1]);
    close(output[0]);
    close(errors[0]);
    return std::unexpected(std::string("/bin/sh cannot be started: ") + std::strerror(process.error()));
  }
  exchange_in_list(0, *process);
  ProgramPipe program(*process, input[1], output[0], errors[0]);
  for (const int end : {input[1], output[0], errors[0]}) {
    if (fcntl(end, F_SETFL, O_NONBLOCK) == 0) continue;
    return std::unexpected(std::string("a pipe cannot be read without waiting: ") + std::strerror(errno));
  }
  return program;
}

ProgramPipe::ProgramPipe(ProgramPipe&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      input_(std::exchange(other.input_, -1)),
      output_(std::exchange(other.output_, -1)),
      errors_(std::exchange(other.errors_, -1)),
      last_errors_(std::move(other.last_errors_)),
      has_exchanged_(other.has_exchanged_),
      unsent_(std::move(other.unsent_)),
      sent_(other.sent_),
      received_(std::move(other.received_)),
      at_end_(other.at_end_),
      end_(other.end_) {}

ProgramPipe::~ProgramPipe() {
  if (input_ >= 0) {
    close(input_);
    close(output_);
    close(errors_);
  }
  if (process_ > 0) {
    kill_group();
    wait_for(process_, nullptr);
  }
}

void ProgramPipe::kill_group() {
  kill(-process_, SIGKILL);
  exchange_in_list(process_, 0);
}

void end_all_programs() noexcept {
  for (const std::atomic<pid_t>& group : running_groups) {
    if (const pid_t process = group.load(); process > 0) kill(-process, SIGKILL);
  }
}

void ProgramPipe::send(std::span<const std::byte> bytes) {
  unsent_.insert(unsent_.end(), bytes.begin(), bytes.end());
}

void ProgramPipe::write_some() {
  const ssize_t written = write_quietly(input_, unsent_.data() + sent_, unsent_.size() - sent_);
  if (written > 0) {
    has_exchanged_ = true;
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
  has_exchanged_ = has_exchanged_ || got > 0;
  received_.resize(size + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return got > 0 || (got < 0 && (error == EAGAIN || error == EINTR));
}

// What the program has written to its standard error goes on to this process's; the end of it is kept.
void ProgramPipe::pass_errors_on() {
  constexpr std::size_t kKept = 2000;
  std::array<char, 4096> text{};
  while (errors_ >= 0) {
    const ssize_t got = read(errors_, text.data(), text.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return;
    if (got == 0) {  // closed: there is nothing more to wait for
      close(std::exchange(errors_, -1));
      return;
    }
    const std::string_view words(text.data(), static_cast<std::size_t>(got));
    std::fwrite(words.data(), 1, words.size(), stderr);
    last_errors_ += words;
    if (last_errors_.size() > kKept) last_errors_.erase(0, last_errors_.size() - kKept);
  }
}

bool ProgramPipe::waits_for_input() const {
  const auto use = ProcessorUse::of(ProcessorUse::Of::kGroup, process_);
  return use && use->reads_input && !use->wants_processor;
}

// Waits until something can be sent or received, and does it. False where the time is up.
bool ProgramPipe::exchange_some(int timeout_ms) {
  std::array<pollfd, 3> ends = {pollfd{output_, POLLIN, 0}, pollfd{unsent_.empty() ? -1 : input_, POLLOUT, 0},
                                pollfd{errors_, POLLIN, 0}};
  const int ready = poll(ends.data(), ends.size(), timeout_ms);
  if (ready < 0) {
    return errno == EINTR;
  }
  if (ends[1].revents != 0) {
    write_some();
  }
  if (ends[2].revents != 0) {
    pass_errors_on();
  }
  if (ends[0].revents != 0 && !read_some()) {
    at_end_ = true;
  }
  return ready > 0;
}

std::expected<std::span<const std::byte>, NoAnswer> ProgramPipe::receive(std::size_t size, Clock::time_point deadline) {
  constexpr std::chrono::milliseconds kLeast{1000};        // for the rest of an answer that began late
  constexpr std::chrono::milliseconds kBetweenLooks{200};  // at whether this process is asked to end
  const auto limit = std::max(std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()), kLeast);
  std::optional<ProcessorTimeExtension> extension;
  const Clock::time_point begun = Clock::now();
  while (received_.size() < size) {
    if (at_end_) {
      return std::unexpected(NoAnswer::kEndOfFile);
    }
    if (is_interrupted()) {
      return std::unexpected(NoAnswer::kDeadline);
    }
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
    if (!has_exchanged_ && left.count() > 0) {
      // Before its hello: one that reads first would wait for ever.
      const bool has_waited = Clock::now() - begun >= kLeast;
      if (!exchange_some(static_cast<int>(std::min(left, kBetweenLooks).count())) && has_waited && waits_for_input()) {
        return std::unexpected(NoAnswer::kReadsFirst);
      }
      continue;
    }
    if (left.count() <= 0 || !exchange_some(static_cast<int>(std::min(left, kBetweenLooks).count()) + 1)) {
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
      ended = wait_for(process_, &status, WNOHANG);
      if (ended == 0) {
        constexpr int kMomentMs = 5;
        poll(nullptr, 0, kMomentMs);
      }
    }
  }
  kill_group();
  if (ended != process_) {
    wait_for(process_, nullptr);
  }
  process_ = -1;
  pass_errors_on();
  if (reason == NoAnswer::kReadsFirst) {
    return Outcome::ended(Ending::kProtocolError, "the program waits for input and has said no hello");
  }
  if (reason == NoAnswer::kDeadline) {
    return Outcome::ended(Ending::kHung, "no answer within the deadline");
  }
  if (ended <= 0) {
    return Outcome::ended(Ending::kProtocolError, "the program closed its output and went on");
  }
  if (WIFSIGNALED(status)) {
    return Outcome::ended(Ending::kCrashed, "the program was killed by signal " + std::to_string(WTERMSIG(status)) +
                                                " (" + strsignal(WTERMSIG(status)) + ")" + last_words(last_errors_));
  }
  const int code = WEXITSTATUS(status);
  const std::string signal =
      code > 128 && code < 128 + NSIG ? ", a shell's word for signal " + std::to_string(code - 128) : "";
  return Outcome::ended(Ending::kExited,
                        "the program exited with status " + std::to_string(code) + signal + last_words(last_errors_));
}

}  // namespace kvwitness::harness
