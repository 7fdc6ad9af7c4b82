#include "properties/cli/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "properties/cli/arguments.h"

namespace kvwitness::harness::cli {

OutputFile::OutputFile(std::string option, const std::string& path)
    : option_(std::move(option)), path_(path), replaces_(true) {
  if (path.empty() || path == "-") {
    throw UsageError(fmt::format("{} is '{}', which is no file to write; for standard output say {} /dev/stdout",
                                 option_, path, option_));
  }
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path_, error);
  if (std::filesystem::is_directory(status)) fail(EISDIR);
  if (std::filesystem::exists(status)) {
    if (::access(path_.c_str(), W_OK) != 0) fail(errno);
    // /dev/stdout may lead to a regular file, and is still to be written through.
    replaces_ = std::filesystem::is_regular_file(status) && !path_.starts_with("/dev/");
    if (!replaces_) return;
    path_ = std::filesystem::canonical(path_, error).string();
    if (error) fail(error.value());
  }
  std::string probe;
  ::close(open_beside(probe));
  ::unlink(probe.c_str());
}

void OutputFile::write(std::string_view contents) const {
  if (!replaces_) {
    const int descriptor = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    if (descriptor < 0) fail(errno);
    write_all(descriptor, contents);
    return;
  }
  std::string name;
  const int descriptor = open_beside(name);
  // mkostemp makes a private file; a report is as readable as any other new file.
  const mode_t mask = ::umask(0);
  ::umask(mask);
  ::fchmod(descriptor, static_cast<mode_t>(0666) & ~mask);
  try {
    write_all(descriptor, contents);
    if (::rename(name.c_str(), path_.c_str()) != 0) fail(errno);
  } catch (...) {
    ::unlink(name.c_str());
    throw;
  }
}

int OutputFile::open_beside(std::string& name) const {
  name = path_ + ".XXXXXX";
  const int descriptor = ::mkostemp(name.data(), O_CLOEXEC);
  if (descriptor < 0) fail(errno);
  return descriptor;
}

void OutputFile::write_all(int descriptor, std::string_view contents) const {
  int error = 0;
  while (!contents.empty() && error == 0) {
    const ssize_t written = ::write(descriptor, contents.data(), contents.size());
    if (written >= 0) {
      contents.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno != EINTR) {
      error = errno;
    }
  }
  if (::close(descriptor) != 0 && error == 0) error = errno;
  if (error != 0) fail(error);
}

void OutputFile::fail(int error) const {
  throw UsageError(
      fmt::format("{} {}: the file cannot be written: {}", option_, path_, std::generic_category().message(error)));
}

}  // namespace kvwitness::harness::cli
