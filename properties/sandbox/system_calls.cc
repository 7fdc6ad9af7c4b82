#include "properties/sandbox/system_calls.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <vector>

namespace kvwitness::harness {
namespace {

// A call with arguments that do nothing, and the error by which the system says so (0: it succeeds).
struct Trial {
  const char* name;
  int (*make)();
  int answer;
};

constexpr Trial kTrials[] = {
    {"getpid", [] { return static_cast<int>(getpid()); }, 0},
    {"getppid", [] { return static_cast<int>(getppid()); }, 0},
    {"kill", [] { return kill(getpid(), 0); }, 0},
    {"wait4", [] { return static_cast<int>(waitpid(getpid(), nullptr, WNOHANG)); }, ECHILD},
    {"setpgid", [] { return setpgid(0, -1); }, EINVAL},
    {"poll", [] { return poll(nullptr, 0, 0); }, 0},
    {"close", [] { return close(-1); }, EBADF},
    {"dup2", [] { return dup2(-1, STDERR_FILENO); }, EBADF},
    {"fcntl", [] { return fcntl(-1, F_GETFL); }, EBADF},
    {"sendto", [] { return static_cast<int>(send(-1, nullptr, 0, 0)); }, EBADF},
    {"recvfrom", [] { return static_cast<int>(recv(-1, nullptr, 0, 0)); }, EBADF},
    {"recvmsg",
     [] {
       msghdr nothing{};
       return static_cast<int>(recvmsg(-1, &nothing, 0));
     },
     EBADF},
};

constexpr unsigned kFirstOther = STDERR_FILENO + 1;

// False where the system has no such call, or forbids it.
bool close_between(unsigned first, unsigned last) noexcept {
  return first > last || close_range(first, last, 0) == 0;
}

// By the list of those that are open or, where that is not to be had, by the largest number that one may have.
void close_one_by_one(int kept, int also_kept) noexcept {
  const auto close_other = [&](int descriptor) {
    if (descriptor > STDERR_FILENO && descriptor != kept && descriptor != also_kept) close(descriptor);
  };
  if (DIR* const list = opendir("/proc/self/fd"); list != nullptr) {
    std::vector<int> open_ones;
    while (const dirent* const entry = readdir(list)) open_ones.push_back(std::atoi(entry->d_name));
    closedir(list);
    std::ranges::for_each(open_ones, close_other);
    if (!open_ones.empty()) return;
  }
  constexpr rlim_t kMost = 1 << 20;
  rlimit limit{kMost, kMost};
  getrlimit(RLIMIT_NOFILE, &limit);
  for (int i = 0; i < static_cast<int>(std::min(limit.rlim_cur, kMost)); ++i) close_other(i);
}

bool has_room(const std::string& folder, std::size_t bytes) {
  struct statvfs system{};
  return statvfs(folder.c_str(), &system) != 0 || std::uint64_t{system.f_bavail} * system.f_frsize >= bytes;
}

// -1 where the folder cannot have one.
int open_unnamed(const std::string& folder) {
  const int unnamed = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (unnamed >= 0) return unnamed;
  std::string name = folder + "/kvwitness-frame.XXXXXX";  // a file system without O_TMPFILE
  const int named = mkostemp(name.data(), O_CLOEXEC);
  if (named >= 0) unlink(name.c_str());
  return named;
}

bool resize(int file, std::size_t bytes) {
  return ftruncate(file, static_cast<off_t>(bytes)) == 0;
}

}  // namespace

void refuse_isolation(const std::string& what, int error) {
  throw NoIsolation("calls cannot be made in a process of their own here: " + what +
                    (error == 0 ? "" : " (" + std::generic_category().message(error) + ")"));
}

void require_system_calls() {
  for (const Trial& trial : kTrials) {
    errno = 0;
    const int result = trial.make();
    const bool is_had = trial.answer == 0 ? result >= 0 : result < 0 && errno == trial.answer;
    if (!is_had) refuse_isolation(std::string("the system denies ") + trial.name, errno);
  }
}

int make_unnamed_file(std::size_t bytes) {
  const int file = memfd_create("kvwitness-frame", MFD_CLOEXEC);
  if (file >= 0 && resize(file, bytes)) return file;
  if (file >= 0) close(file);
  std::error_code no_folder;
  const std::string folders[] = {"/dev/shm", std::filesystem::temp_directory_path(no_folder).string(), "/var/tmp"};
  return make_unnamed_file_in(folders, bytes);
}

int make_unnamed_file_in(std::span<const std::string> folders, std::size_t bytes) {
  int error = ENOSPC;
  std::string tried;
  for (const std::string& folder : folders) {
    if (folder.empty()) continue;
    tried += (tried.empty() ? "" : ", ") + folder;
    if (!has_room(folder, bytes)) continue;
    const int file = open_unnamed(folder);
    if (file >= 0 && resize(file, bytes)) return file;
    error = errno;
    if (file >= 0) close(file);
  }
  refuse_isolation("no memory that processes share can be had by memfd_create or as a file of " +
                       std::to_string(bytes >> 20) + " MB in " + tried,
                   error);
}

void close_all_but(int kept, int also_kept) noexcept {
  const auto low = static_cast<unsigned>(std::min(kept, also_kept));
  const auto high = static_cast<unsigned>(std::max(kept, also_kept));
  const bool closed = close_between(kFirstOther, std::max(low, 1U) - 1) &&
                      close_between(std::max(low + 1, kFirstOther), std::max(high, 1U) - 1) &&
                      close_between(std::max(high + 1, kFirstOther), ~0U);
  if (!closed) close_one_by_one(kept, also_kept);
}

pid_t wait_for(pid_t process, int* status, int options) noexcept {
  for (;;) {
    const pid_t ended = waitpid(process, status, options);
    if (ended >= 0 || errno != EINTR) return ended;
  }
}

}  // namespace kvwitness::harness
