// The program under test, run as a person runs it.
#ifndef TESTS_CLI_PROGRAM_H
#define TESTS_CLI_PROGRAM_H

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

namespace kvwitness::harness {

struct Finished {
  int exit_status = -1;  // -1 where a signal ended it
  int ended_by = 0;      // that signal
  std::string out;
  std::string err;
};

// A signal sent to a running program: some time after its start or, where there are words, once its standard error has
// them.
struct SentSignal {
  int number = 0;  // 0: none
  std::chrono::microseconds after{0};
  std::string after_words = {};
};

struct Invocation {
  std::string program = KVWITNESS_PROGRAM;
  std::vector<std::string> arguments;
  std::vector<std::string> variables;  // "NAME=VALUE", beside a PATH and nothing else
  std::string input;
  SentSignal signal = {};
  bool terminal = false;  // standard output and error are one terminal of 100 columns; all is in `out`
};

// Runs to the end. Throws std::system_error where the program cannot be started.
Finished finish(const Invocation& invocation);
// `finish` of the program with these arguments and nothing else.
Finished kvwitness(std::vector<std::string> arguments, std::string input = "");
// A command line for sh.
Finished shell(const std::string& command);

// A folder of the test's own, removed with it.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  // Writes a file, folders on the way included; its path.
  std::string write(const std::string& name, const std::string& contents) const;
  std::string read(const std::string& name) const;
  std::vector<std::string> names() const;  // sorted

 private:
  std::filesystem::path folder_;
};

// Whether this system can open a terminal; a root without devpts cannot.
bool has_terminals();

}  // namespace kvwitness::harness

#endif  // TESTS_CLI_PROGRAM_H
