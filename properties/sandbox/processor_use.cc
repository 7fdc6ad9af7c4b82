#include "properties/sandbox/processor_use.h"

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace kvwitness::harness {
namespace {

using std::chrono::milliseconds;

// One process's line in /proc.
struct Line {
  char state;
  pid_t group;
  milliseconds used;
};

std::optional<Line> line_of(const std::string& process) {
  std::ifstream stat("/proc/" + process + "/stat");
  std::string text;
  std::getline(stat, text);
  const std::size_t end_of_name = text.rfind(')');
  Line line{};
  long user_ticks = 0;
  long system_ticks = 0;
  if (end_of_name == std::string::npos ||
      std::sscanf(text.c_str() + end_of_name + 1, " %c %*s %d %*s %*s %*s %*s %*s %*s %*s %*s %ld %ld", &line.state,
                  &line.group, &user_ticks, &system_ticks) != 4) {
    return std::nullopt;
  }
  line.used = milliseconds((user_ticks + system_ticks) * 1000 / sysconf(_SC_CLK_TCK));
  return line;
}

// Whether the process sleeps in read(0, ...): the number of the call and its first argument.
bool reads_standard_input(const std::string& process) {
#if defined(__x86_64__)
  constexpr std::string_view kRead = "0 0x0 ";
#else
  constexpr std::string_view kRead = "63 0x0 ";
#endif
  std::string call;
  std::getline(std::ifstream("/proc/" + process + "/syscall"), call);
  return call.starts_with(kRead);
}

}  // namespace

std::optional<ProcessorUse> ProcessorUse::of(Of kind, pid_t id) {
  if (kind == Of::kProcess) {
    const auto line = line_of(std::to_string(id));
    return line ? std::optional(ProcessorUse{line->state == 'R', line->used, false}) : std::nullopt;
  }
  std::optional<ProcessorUse> sum;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename().string();
    const auto line = name[0] >= '1' && name[0] <= '9' ? line_of(name) : std::nullopt;
    if (!line || line->group != id) {
      continue;
    }
    sum = sum.value_or(ProcessorUse{false, milliseconds(0), false});
    sum->reads_input |= reads_standard_input(name);
    sum->wants_processor |= line->state == 'R';
    sum->used += line->used;
  }
  return sum;
}

bool ProcessorTimeExtension::is_granted() {
  constexpr int kMostIntervals = 120;
  const std::optional<ProcessorUse> now = ProcessorUse::of(kind_, id_);
  if (!now || !before_ || ++intervals_ > kMostIntervals) {
    return false;
  }
  const bool runs = now->wants_processor || (latest_ && now->used > *latest_);
  latest_ = now->used;
  return runs && now->used - before_->used < limit_;
}

}  // namespace kvwitness::harness
