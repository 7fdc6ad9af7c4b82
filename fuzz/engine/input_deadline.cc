#include "fuzz/engine/input_deadline.h"

#include <unistd.h>

#include <csignal>

namespace kvwitness::fuzz {
namespace {

std::string last_words;

void end_process(int) {
  static_cast<void>(!write(STDERR_FILENO, last_words.data(), last_words.size()));
  _exit(1);
}

}  // namespace

InputDeadline::InputDeadline(const std::string& input, unsigned seconds) {
  last_words = "==" + std::to_string(getpid()) + "== ERROR: kvwitness_fuzz: timeout after " + std::to_string(seconds) +
               " seconds; the target has not ended on " + input + "\n";
  std::signal(SIGALRM, end_process);
  alarm(seconds);
}

InputDeadline::~InputDeadline() {
  alarm(0);
  std::signal(SIGALRM, SIG_DFL);
}

}  // namespace kvwitness::fuzz
