#include "properties/sandbox/worker_channel.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <new>
#include <system_error>

namespace kvwitness::harness {

WorkerChannel* map_channel() {
  void* const page = mmap(nullptr, sizeof(WorkerChannel), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) {
    throw std::system_error(errno, std::generic_category(), "mmap of a worker's channel");
  }
  return new (page) WorkerChannel{};
}

void unmap_channel(WorkerChannel* channel) noexcept {
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
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAIT, value, limit ? &timeout : nullptr, nullptr,
          0);
}

void wake(std::atomic<std::uint32_t>& word) noexcept {
  syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

bool send_order(int socket, const KeeperOrder& order, int descriptor) noexcept {
  KeeperOrder sent = order;
  iovec part{&sent, sizeof(sent)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = control;
    message.msg_controllen = sizeof(control);
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof(int));
  }
  return sendmsg(socket, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof(sent));
}

std::optional<ReceivedOrder> receive_order(int socket) noexcept {
  ReceivedOrder received{{}, -1};
  iovec part{&received.order, sizeof(received.order)};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof(control);
  ssize_t size = 0;
  do {
    size = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (size < 0 && errno == EINTR);
  if (size != static_cast<ssize_t>(sizeof(received.order))) {
    return std::nullopt;
  }
  if (const cmsghdr* const header = CMSG_FIRSTHDR(&message); header != nullptr && header->cmsg_type == SCM_RIGHTS) {
    std::memcpy(&received.descriptor, CMSG_DATA(header), sizeof(int));
  }
  return received;
}

bool send_reply(int socket, std::int64_t reply) noexcept {
  return send(socket, &reply, sizeof(reply), MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof(reply));
}

std::optional<std::int64_t> receive_reply(int socket) noexcept {
  std::int64_t reply = 0;
  ssize_t size = 0;
  do {
    size = recv(socket, &reply, sizeof(reply), 0);
  } while (size < 0 && errno == EINTR);
  return size == static_cast<ssize_t>(sizeof(reply)) ? std::optional(reply) : std::nullopt;
}

}  // namespace kvwitness::harness
