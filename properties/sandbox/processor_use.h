// Whether a process that let a deadline pass is slow itself, or waits for a processor because the machine is busy.
#ifndef PROPERTIES_SANDBOX_PROCESSOR_USE_H
#define PROPERTIES_SANDBOX_PROCESSOR_USE_H

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>

namespace kvwitness::harness {

// What the system says of a process, or of a whole process group, at the moment.
struct ProcessorUse {
  enum class Of : std::uint8_t { kProcess, kGroup };

  bool wants_processor;  // one of its processes runs or waits to
  std::chrono::milliseconds used;
  bool reads_input =
      false;  // one of a group sleeps in a read of its standard input; false where the system does not say

  // Nothing where there is no such process.
  static std::optional<ProcessorUse> of(Of kind, pid_t id);
};

// Extends a deadline for a process that wants to run and has had less processor time than its limit allows. To be made
// while the process works on its task, and asked every kInterval once the limit has passed.
class ProcessorTimeExtension {
 public:
  static constexpr std::chrono::milliseconds kInterval{250};

  ProcessorTimeExtension(pid_t id, ProcessorUse::Of kind, std::chrono::milliseconds limit)
      : id_(id), kind_(kind), limit_(limit), before_(ProcessorUse::of(kind, id)) {}

  // Whether to wait for another interval.
  bool is_granted();

 private:
  pid_t id_;
  ProcessorUse::Of kind_;
  std::chrono::milliseconds limit_;
  std::optional<ProcessorUse> before_;
  std::optional<std::chrono::milliseconds> latest_;
  int intervals_ = 0;
};

}  // namespace kvwitness::harness

#endif  // PROPERTIES_SANDBOX_PROCESSOR_USE_H
