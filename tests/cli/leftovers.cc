#include "tests/cli/leftovers.h"

#include <dirent.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

namespace kvwitness::harness {
namespace {

std::string contents(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The children of this process, by the field after the state in /proc/N/stat.
std::vector<pid_t> children() {
  std::vector<pid_t> found;
  DIR* const list = opendir("/proc");
  while (const dirent* const entry = list == nullptr ? nullptr : readdir(list)) {
    if (std::atoi(entry->d_name) == 0) continue;
    const std::string stat = contents(std::string("/proc/") + entry->d_name + "/stat");
    const std::size_t name_end = stat.rfind(')');
    int parent = 0;
    if (name_end == std::string::npos || std::sscanf(stat.c_str() + name_end + 1, " %*c %d", &parent) != 1) continue;
    if (parent == getpid()) found.push_back(std::atoi(entry->d_name));
  }
  if (list != nullptr) closedir(list);
  return found;
}

// Whether no child is left, after the ended ones were waited for.
bool has_no_children() {
  for (;;) {
    const pid_t ended = waitpid(-1, nullptr, WNOHANG);
    if (ended <= 0) return ended < 0;
  }
}

}  // namespace

Leftovers::Leftovers() {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

Leftovers::~Leftovers() {
  end_all();
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

std::vector<std::string> Leftovers::end_all() {
  constexpr int kLooks = 400, kBetweenLooksMs = 25;
  for (int look = 0; look < kLooks; ++look) {
    if (has_no_children()) return {};
    poll(nullptr, 0, kBetweenLooksMs);
  }
  std::vector<std::string> lines;
  for (const pid_t child : children()) {
    std::string line = contents("/proc/" + std::to_string(child) + "/cmdline");
    std::ranges::replace(line, '\0', ' ');
    lines.push_back(std::to_string(child) + " " + line);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
  }
  return lines;
}

}  // namespace kvwitness::harness
