// The system calls that a process for calls needs, and what the sandbox does where a kernel or a container's filter has
// them not: each has its way without it, or is found missing before anything runs.
#ifndef PROPERTIES_SANDBOX_SYSTEM_CALLS_H
#define PROPERTIES_SANDBOX_SYSTEM_CALLS_H

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

namespace kvwitness::harness {

// Calls cannot be made in a process of their own here. The message says what is missing.
class NoIsolation : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};
// Throws NoIsolation with a sentence about `what`, and the words of the error where it is not 0.
[[noreturn]] void refuse_isolation(const std::string& what, int error);

// Tries, on nothing, each call that has no way without it. Throws NoIsolation where one is denied or missing.
void require_system_calls();

// A file of `bytes` zeros that only its descriptor names, which is closed by exec: in memory, or, where memfd_create is
// not to be had, without a name in the first of the folders that has room for all of it. Throws NoIsolation.
int make_unnamed_file(std::size_t bytes);
int make_unnamed_file_in(std::span<const std::string> folders, std::size_t bytes);

// Closes every descriptor above 2 but these two: by close_range, else one by one.
void close_all_but(int kept, int also_kept) noexcept;

// waitpid() that a signal to this process does not end.
pid_t wait_for(pid_t process, int* status, int options = 0) noexcept;

}  // namespace kvwitness::harness

#endif  // PROPERTIES_SANDBOX_SYSTEM_CALLS_H
