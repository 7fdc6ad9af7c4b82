#include "properties/cli/signals.h"

#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <string_view>

#include "properties/case/implementation.h"
#include "properties/implementations/program_pipe.h"
#include "properties/sandbox/interruption.h"

namespace kvwitness::harness::cli {
namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

std::atomic<bool> ends_at_once{false};
std::atomic<std::int64_t> asked_at_ms{0};

std::int64_t now_ms() noexcept {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

// Functions that a signal handler may call only.
[[noreturn]] void end_at_once(int signal) noexcept {
  end_all_programs();
  constexpr std::string_view kWords = "kvwitness: interrupted\n";
  static_cast<void>(!write(STDERR_FILENO, kWords.data(), kWords.size()));
  _exit(128 + signal);
}

void handle(int signal) {
  // Some senders send a signal to a process and to its group, which is no second request.
  constexpr std::int64_t kSameRequestMs = 1000;
  const int error = errno;
  if (is_interrupted()) {
    if (now_ms() - asked_at_ms.load() > kSameRequestMs) end_at_once(signal);
  } else if (ends_at_once.load()) {
    end_at_once(signal);
  } else {
    asked_at_ms.store(now_ms());
    interrupt(signal);
  }
  errno = error;
}

}  // namespace

void take_signals() {
  struct sigaction action{};
  action.sa_handler = handle;
  action.sa_flags = SA_RESTART;  // poll and futex return all the same
  sigemptyset(&action.sa_mask);
  for (const int signal : kSignals) sigaddset(&action.sa_mask, signal);
  for (const int signal : kSignals) {
    struct sigaction before{};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
}

EndAtOnce::EndAtOnce() {
  ends_at_once.store(true);
}

EndAtOnce::~EndAtOnce() {
  ends_at_once.store(false);
}

void end_where_interrupted() {
  if (is_interrupted()) throw TimeUp{};
}

}  // namespace kvwitness::harness::cli
