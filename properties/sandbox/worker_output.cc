#include "properties/sandbox/worker_output.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <csignal>
#include <system_error>

namespace kvwitness::harness {

WorkerOutput::WorkerOutput() {
  std::signal(SIGPIPE, SIG_IGN);  // where nobody reads the standard error any more
  if (pipe2(ends_.data(), O_CLOEXEC) != 0) {
    throw std::system_error(errno, std::generic_category(), "the system denies pipe2");
  }
  fcntl(ends_[0], F_SETFL, O_NONBLOCK);
}

WorkerOutput::~WorkerOutput() {
  close(ends_[0]);
  close(ends_[1]);
}

void WorkerOutput::become_output() const noexcept {
  dup2(ends_[1], STDOUT_FILENO);
  dup2(ends_[1], STDERR_FILENO);
  close(ends_[0]);
  close(ends_[1]);
}

void WorkerOutput::pass_on() {
  do {
    while (!unwritten_.empty() && write_some()) {
    }
  } while (unwritten_.empty() && read_some());
}

// False where there is nothing now.
bool WorkerOutput::read_some() {
  std::array<char, PIPE_BUF> bytes;
  const ssize_t size = read(ends_[0], bytes.data(), bytes.size());
  unwritten_.assign(bytes.data(), static_cast<std::size_t>(std::max<ssize_t>(size, 0)));
  return size > 0;
}

// False where there is no room now. A pipe that is ready takes PIPE_BUF bytes at once.
bool WorkerOutput::write_some() {
  pollfd room{STDERR_FILENO, POLLOUT, 0};
  if (poll(&room, 1, 0) == 0) {
    return false;
  }
  const ssize_t size = write(STDERR_FILENO, unwritten_.data(), std::min<std::size_t>(unwritten_.size(), PIPE_BUF));
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
    return false;
  }
  unwritten_.erase(0, size < 0 ? unwritten_.size() : static_cast<std::size_t>(size));
  return true;
}

}  // namespace kvwitness::harness
