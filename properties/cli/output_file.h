// A report file that appears whole or not at all.
#ifndef PROPERTIES_CLI_OUTPUT_FILE_H
#define PROPERTIES_CLI_OUTPUT_FILE_H

#include <string>
#include <string_view>

namespace kvwitness::harness::cli {

// Made before anything runs, so that a file that cannot be written is known at once; written at the end. A regular file
// is replaced by a rename, so a reader never sees half a report; anything else that exists under the name (/dev/stdout,
// a FIFO) is written to directly.
class OutputFile {
 public:
  // `option` names the file in errors. Throws UsageError where the file cannot be written; leaves nothing behind.
  OutputFile(std::string option, const std::string& path);

  // Throws UsageError where the file cannot be written after all, on a full disk for instance.
  void write(std::string_view contents) const;

 private:
  [[noreturn]] void fail(int error) const;
  // A new file beside `path_`, its name put into `name`; the descriptor.
  int open_beside(std::string& name) const;
  void write_all(int descriptor, std::string_view contents) const;

  std::string option_;
  std::string path_;  // as a person named it, symbolic links resolved
  bool replaces_;     // by a rename; otherwise the file is written to directly
};

}  // namespace kvwitness::harness::cli

#endif  // PROPERTIES_CLI_OUTPUT_FILE_H
