#include "properties/sandbox/worker_channel.h"

#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <ctime>
#include <new>
#include <system_error>

namespace kvwitness::harness {

MappedChannel map_channel() {
  void* const page = mmap(nullptr, sizeof(WorkerChannel), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(), "mmap of a worker's channel");
  }
  return MappedChannel(new (page) WorkerChannel{});
}

void ChannelUnmapper::operator()(WorkerChannel* channel) const noexcept {
  munmap(channel, sizeof(WorkerChannel));
}

bool has_several_cores() noexcept {
  cpu_set_t cores;
  return sched_getaffinity(0, sizeof(cores), &cores) == 0 && CPU_COUNT(&cores) > 1;
}

void sleep_while(std::atomic<std::uint32_t>& word, std::uint32_t value,
                 std::optional<std::chrono::nanoseconds> limit) noexcept {
  timespec timeout{};
  if (limit) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(*limit);
    timeout.tv_sec = seconds.count();
    timeout.tv_nsec = (*limit - seconds).count();
  }
  const long result = syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT, value,
                              limit ? &timeout : nullptr, nullptr, 0);
  if (result != 0 && errno != EAGAIN && errno != EINTR && errno != ETIMEDOUT) {
    poll(nullptr, 0, 1);  // the system denies futex: the caller looks again
  }
}

void wake(std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace kvwitness::harness
