#include "properties/cli/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "properties/cli/arguments.h"

namespace kvwitness::harness::cli {
namespace {

bool was_output_closed = false;

}  // namespace

void open_standard_streams() noexcept {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    if (descriptor == STDOUT_FILENO) was_output_closed = true;
    // The lowest that is free: this one. A root without /dev/null has its own folder.
    if (::open("/dev/null", O_RDWR) < 0) static_cast<void>(::open("/", O_RDONLY));
  }
  std::signal(SIGPIPE, SIG_IGN);
}

void require_standard_output() {
  if (was_output_closed) throw UsageError("standard output is closed, and this command does nothing but print");
}

void flush_standard_output() {
  if (std::fflush(stdout) != 0 || has_lost_output()) throw UsageError(kLostOutput);
}

bool has_lost_output() noexcept {
  return std::ferror(stdout) != 0;
}

void put_error(std::string_view text) noexcept {
  std::fwrite(text.data(), 1, text.size(), stderr);
  std::fflush(stderr);
}

}  // namespace kvwitness::harness::cli
