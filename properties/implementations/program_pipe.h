// A program at the other end of two pipes: its standard input and output, with deadlines, without SIGPIPE. Used only by pipe.cc and, when the harness ends at once, by cli/signals.cc.
#ifndef PROPERTIES_IMPLEMENTATIONS_PROGRAM_PIPE_H
#define PROPERTIES_IMPLEMENTATIONS_PROGRAM_PIPE_H

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "properties/case/outcome.h"

namespace kvwitness::harness {

// Why an answer did not come. kReadsFirst: of the first one, because the program waits for input that it is not sent before.
enum class NoAnswer : std::uint8_t { kDeadline, kEndOfFile, kReadsFirst };

class ProgramPipe {
 public:
  using Clock = std::chrono::steady_clock;

  // Starts `sh -c command` in a process group of its own; its standard error is passed on to this process's.
  static std::expected<ProgramPipe, std::string> start(const std::string& command);
  ProgramPipe(ProgramPipe&& other) noexcept;
  ProgramPipe& operator=(ProgramPipe&&) = delete;
  // Closes the pipes and ends the process group.
  ~ProgramPipe();

  // Appends bytes to what is to be sent; they are sent while waiting.
  void send(std::span<const std::byte> bytes);
  // Sends, and receives until `size` bytes have come. The program may answer before it has read everything.
  std::expected<std::span<const std::byte>, NoAnswer> receive(std::size_t size, Clock::time_point deadline);
  // When no deadline is extended any more for a program that works on.
  void end_at(std::optional<Clock::time_point> end) { end_ = end; }
  // Takes the first `size` received bytes away.
  void consume(std::size_t size);
  // Whether bytes have come that were not asked for, or come within so many milliseconds.
  bool has_unread_bytes(int wait_ms);
  // Ends the program, which closed its output or let a deadline pass, and says how it ended: by itself, where it did
  // within a moment, and with the end of what it wrote to its standard error.
  Outcome end(NoAnswer reason);

 private:
  ProgramPipe(pid_t process, int input, int output, int errors)
      : process_(process), input_(input), output_(output), errors_(errors) {}
  void pass_errors_on();
  bool waits_for_input() const;
  bool exchange_some(int timeout_ms);
  void write_some();
  bool read_some();
  void kill_group();

  pid_t process_ = -1;
  int input_ = -1;   // of the program: written here
  int output_ = -1;  // of the program: read here
  int errors_ = -1;  // of the program: read here
  std::string last_errors_;
  bool has_exchanged_ = false;  // something was sent or received
  std::vector<std::byte> unsent_;
  std::size_t sent_ = 0;
  std::vector<std::byte> received_;
  bool at_end_ = false;
  std::optional<Clock::time_point> end_;
};

// Kills the process groups of all programs that run. A signal handler may call it.
void end_all_programs() noexcept;

}  // namespace kvwitness::harness

#endif  // PROPERTIES_IMPLEMENTATIONS_PROGRAM_PIPE_H
