#include "properties/run/whole_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <utility>

namespace kvwitness::harness {
namespace {

int write_whole(int descriptor, std::string_view contents) {
  while (!contents.empty()) {
    const ssize_t written = ::write(descriptor, contents.data(), contents.size());
    if (written >= 0) {
      contents.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

int close_with(int descriptor, int error) {
  return ::close(descriptor) != 0 && error == 0 ? errno : error;
}

// 0 too where the file system stores nothing, or the system denies the call: then a rename is all there is.
int store(int descriptor) {
  const bool is_stored = ::fsync(descriptor) == 0 || errno == EINVAL || errno == ENOSYS || errno == EPERM ||
                         errno == EROFS || errno == EACCES;
  return is_stored ? 0 : errno;
}

void store_folder_of(const std::string& path) {
  const std::string parent = std::filesystem::path(path).parent_path().string();
  const int folder = ::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  store(folder);
  ::close(folder);
}

}  // namespace

int replace_file(const std::string& path, std::string_view contents) {
  std::string draft = path + ".XXXXXX";
  const int descriptor = ::mkostemp(draft.data(), O_CLOEXEC);
  if (descriptor < 0) return errno;
  // mkostemp makes a private file; this one is as readable as any other new file.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor, static_cast<mode_t>(0666) & ~mask);
  int error = write_whole(descriptor, contents);
  if (error == 0) error = store(descriptor);
  error = close_with(descriptor, error);
  if (error == 0 && ::rename(draft.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    ::unlink(draft.c_str());
  } else {
    store_folder_of(path);
  }
  return error;
}

int write_and_close(int descriptor, std::string_view contents) {
  return close_with(descriptor, write_whole(descriptor, contents));
}

}  // namespace kvwitness::harness
