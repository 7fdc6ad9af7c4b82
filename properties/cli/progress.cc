#include "properties/cli/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "properties/cli/standard_streams.h"
#include "properties/report/report.h"

namespace kvwitness::harness::cli {

void ProgressDisplay::show(const std::string& implementation, const std::string& property, double done) {
  const double part = std::clamp(done, 0.0, 1.0);
  const int percent = static_cast<int>(part * 100);
  if (!terminal_) {
    if (implementation == last_implementation_) return;
    last_implementation_ = implementation;
    print_error("{:3}% judging {}\n", percent, printable(implementation));
    return;
  }
  // Drawing costs more than a case does.
  const auto now = std::chrono::steady_clock::now();
  if (drawn_ && now - last_drawn_ < std::chrono::milliseconds(50)) return;
  last_drawn_ = now;
  drawn_ = true;
  constexpr int kCells = 24;
  const auto full = static_cast<std::size_t>(part * kCells);
  print_error("\r\x1b[K[{}{}] {:3}% {} {}", std::string(full, '#'), std::string(kCells - full, '.'), percent,
              printable(implementation).substr(0, 24), property);
}

void ProgressDisplay::clear() {
  if (!std::exchange(drawn_, false)) return;
  put_error("\r\x1b[K");
}

}  // namespace kvwitness::harness::cli
