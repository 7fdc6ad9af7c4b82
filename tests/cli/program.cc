#include "tests/cli/program.h"

#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

namespace kvwitness::harness {
namespace {

[[noreturn]] void fail(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

// Both ends of a pipe or of a terminal.
struct Channel {
  int ours = -1;
  int theirs = -1;
};

Channel output_pipe() {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail("pipe2");
  return {.ours = ends[0], .theirs = ends[1]};
}

Channel terminal() {
  Channel channel;
  winsize size{};
  size.ws_row = 50;
  size.ws_col = 100;
  if (::openpty(&channel.ours, &channel.theirs, nullptr, nullptr, &size) != 0) fail("openpty");
  ::fcntl(channel.ours, F_SETFD, FD_CLOEXEC);
  ::fcntl(channel.theirs, F_SETFD, FD_CLOEXEC);
  return channel;
}

// Standard input: a file, so that its length needs no second thread.
int input_file(const std::string& contents) {
  std::string name = std::filesystem::temp_directory_path() / "kvwitness-input.XXXXXX";
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) fail("mkostemp");
  ::unlink(name.c_str());
  if (::write(descriptor, contents.data(), contents.size()) != static_cast<ssize_t>(contents.size())) fail("write");
  ::lseek(descriptor, 0, SEEK_SET);
  return descriptor;
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

pid_t start(const Invocation& invocation, int input, int output, int error) {
  std::vector<std::string> arguments = {invocation.program};
  arguments.insert(arguments.end(), invocation.arguments.begin(), invocation.arguments.end());
  const char* const path = std::getenv("PATH");
  std::vector<std::string> variables = {std::string("PATH=") + (path == nullptr ? "/usr/bin:/bin" : path),
                                        "TERM=xterm"};
  variables.insert(variables.end(), invocation.variables.begin(), invocation.variables.end());
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, error, STDERR_FILENO);
  pid_t child = -1;
  errno = ::posix_spawnp(&child, invocation.program.c_str(), &actions, nullptr, pointers(arguments).data(),
                         pointers(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  if (errno != 0) fail(invocation.program.c_str());
  return child;
}

// Sends a signal to a process when it is due.
class Sender {
 public:
  Sender(const SentSignal& signal, pid_t process, const std::string& errors)
      : signal_(signal), process_(process), errors_(errors), due_(Clock::now() + signal.after) {}

  // How long to wait for output before it is due: -1 for ever.
  int wait_ms() const {
    if (signal_.number == 0 || is_sent_ || !signal_.after_words.empty()) return -1;
    const auto left = std::chrono::floor<std::chrono::milliseconds>(due_ - Clock::now());
    return static_cast<int>(std::max<std::int64_t>(left.count(), 0));
  }
  void send_if_due() {
    if (signal_.number == 0 || is_sent_) return;
    const bool is_due =
        signal_.after_words.empty() ? Clock::now() >= due_ : errors_.find(signal_.after_words) != std::string::npos;
    if (!is_due) return;
    ::kill(process_, signal_.number);
    is_sent_ = true;
  }

 private:
  using Clock = std::chrono::steady_clock;
  const SentSignal& signal_;
  pid_t process_;
  const std::string& errors_;
  Clock::time_point due_;
  bool is_sent_ = false;
};

// Reads both until their ends. A terminal ends with EIO.
void drain(std::array<std::pair<int, std::string*>, 2> sources, Sender sender) {
  std::array<char, 65536> buffer;
  while (sources[0].first >= 0 || sources[1].first >= 0) {
    std::array<pollfd, 2> waits = {{{sources[0].first, POLLIN, 0}, {sources[1].first, POLLIN, 0}}};
    if (::poll(waits.data(), waits.size(), sender.wait_ms()) < 0) fail("poll");
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (waits[i].revents == 0) continue;
      const ssize_t count = ::read(sources[i].first, buffer.data(), buffer.size());
      if (count > 0) {
        sources[i].second->append(buffer.data(), static_cast<std::size_t>(count));
      } else {
        sources[i].first = -1;
      }
    }
    sender.send_if_due();
  }
}

}  // namespace

Finished finish(const Invocation& invocation) {
  const int input = input_file(invocation.input);
  const Channel out = invocation.terminal ? terminal() : output_pipe();
  const Channel err = invocation.terminal ? Channel{} : output_pipe();
  const pid_t child = start(invocation, input, out.theirs, invocation.terminal ? out.theirs : err.theirs);
  for (const int descriptor : {input, out.theirs, err.theirs}) {
    if (descriptor >= 0) ::close(descriptor);
  }
  Finished finished;
  drain({{{out.ours, &finished.out}, {err.ours, &finished.err}}}, Sender(invocation.signal, child, finished.err));
  for (const int descriptor : {out.ours, err.ours}) {
    if (descriptor >= 0) ::close(descriptor);
  }
  int status = 0;
  if (::waitpid(child, &status, 0) != child) fail("waitpid");
  if (WIFEXITED(status)) finished.exit_status = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) finished.ended_by = WTERMSIG(status);
  return finished;
}

Finished kvwitness(std::vector<std::string> arguments, std::string input) {
  Invocation invocation;
  invocation.arguments = std::move(arguments);
  invocation.input = std::move(input);
  return finish(invocation);
}

Finished shell(const std::string& command) {
  Invocation invocation;
  invocation.program = "sh";
  invocation.arguments = {"-c", command};
  return finish(invocation);
}

ScratchFolder::ScratchFolder() {
  std::string name = std::filesystem::temp_directory_path() / "kvwitness-test.XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) fail("mkdtemp");
  folder_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

std::string ScratchFolder::write(const std::string& name, const std::string& contents) const {
  std::filesystem::create_directories((folder_ / name).parent_path());
  std::ofstream(folder_ / name, std::ios::binary) << contents;
  return path(name);
}

std::string ScratchFolder::read(const std::string& name) const {
  std::ostringstream text;
  text << std::ifstream(folder_ / name, std::ios::binary).rdbuf();
  return text.str();
}

std::vector<std::string> ScratchFolder::names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool has_terminals() {
  int ours = -1;
  int theirs = -1;
  if (::openpty(&ours, &theirs, nullptr, nullptr, nullptr) != 0) return false;
  ::close(ours);
  ::close(theirs);
  return true;
}

}  // namespace kvwitness::harness
