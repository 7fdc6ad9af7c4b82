// A report file that appears whole or not at all.
#ifndef PROPERTIES_CLI_OUTPUT_FILE_H
#define PROPERTIES_CLI_OUTPUT_FILE_H

#include <string>
#include <string_view>

namespace kvwitness::harness::cli {

// Made before anything runs, so that a file that cannot be written is known at once; written at the end. A regular file
// is replaced as a whole, so a reader never sees half a report; anything else that exists under the name (/dev/stdout,
// a FIFO) is written to directly.
class OutputFile {
 public:
  // `option` names the file in errors. A regular file says `until_written` from now on, and is gone where that is "": where the
  // program is killed, no report of an earlier run is taken for its own. Throws UsageError where the file cannot be written.
  OutputFile(std::string option, const std::string& path, std::string_view until_written);

  // Throws UsageError where the file cannot be written after all, on a full disk for instance.
  void write(std::string_view contents) const;
  bool is_regular() const { return replaces_; }

 private:
  [[noreturn]] void fail(int error) const;

  std::string option_;
  std::string path_;  // as a person named it, symbolic links resolved
  bool replaces_;     // by a rename; otherwise the file is written to directly
};

}  // namespace kvwitness::harness::cli

#endif  // PROPERTIES_CLI_OUTPUT_FILE_H
