#include "properties/cli/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <system_error>
#include <utility>

#include "properties/cli/arguments.h"
#include "properties/run/whole_file.h"

namespace kvwitness::harness::cli {

OutputFile::OutputFile(std::string option, const std::string& path, std::string_view until_written)
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
  write(until_written);
  if (until_written.empty()) ::unlink(path_.c_str());
}

void OutputFile::write(std::string_view contents) const {
  int error = 0;
  if (replaces_) {
    error = replace_file(path_, contents);
  } else {
    const int descriptor = ::open(path_.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    error = descriptor < 0 ? errno : write_and_close(descriptor, contents);
  }
  if (error != 0) fail(error);
}

void OutputFile::fail(int error) const {
  throw UsageError(
      fmt::format("{} {}: the file cannot be written: {}", option_, path_, std::generic_category().message(error)));
}

}  // namespace kvwitness::harness::cli
