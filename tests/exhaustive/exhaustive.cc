// kvwitness_exhaustive: the edge arithmetic for every length below 2^31 and every segment count up to 64.
//
// The work is cut into units of one segment count and 2^20 lengths. Each finished unit is a line of OUT/progress.txt,
// written at once, so that a run that was killed is taken up by the next one; the file's first line names the sources
// that it speaks of, and other sources begin anew.
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/exhaustive/edge_arithmetic.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kLengthsPerUnit = std::uint64_t{1} << 20;
constexpr std::uint64_t kLengths = std::uint64_t{1} << 31;
constexpr std::uint32_t kMostSegments = 64;

constexpr const char* kUsage =
    "usage: kvwitness_exhaustive [--from L] [--to L] [--jobs N] [--out DIR]\n"
    "  checks every length of [--from, --to) (1 and 2^31) with 1 to 64 segments, in whole units of 2^20 lengths\n"
    "  exit status: 0 everything is exact, 1 something is not, 2 usage, 3 interrupted (the next run goes on)\n";

std::atomic<bool> interrupted = false;
void interrupt(int) {
  interrupted = true;
}

struct Options {
  std::uint64_t from = 0;
  std::uint64_t to = kLengths;
  std::uint64_t jobs = std::max(1u, std::thread::hardware_concurrency());
  std::string out = "build/exhaustive";
};

std::optional<std::uint64_t> number(std::string_view text, std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > most) {
    return {};
  }
  return value;
}

std::optional<Options> parse(std::span<char*> arguments) {
  Options options;
  for (std::size_t index = 0; index + 1 < arguments.size(); index += 2) {
    const std::string_view name = arguments[index];
    const std::string_view text = arguments[index + 1];
    if (name == "--out" && !text.empty()) {
      options.out = text;
      continue;
    }
    const auto value = number(text, name == "--jobs" ? 1024 : kLengths);
    std::uint64_t* const place = name == "--from"   ? &options.from
                                 : name == "--to"   ? &options.to
                                 : name == "--jobs" ? &options.jobs
                                                    : nullptr;
    if (place == nullptr || !value) {
      return {};
    }
    *place = *value;
  }
  const bool in_pairs = arguments.size() % 2 == 0;
  return in_pairs && options.from < options.to && options.jobs > 0 ? std::optional(options) : std::nullopt;
}

struct Unit {
  std::uint64_t block;  // of lengths
  std::uint32_t num_segments;
  friend auto operator<=>(const Unit&, const Unit&) = default;
};

// The finished units on disk.
class Finished {
 public:
  explicit Finished(const std::string& path) {
    const std::string sources = "sources " KVWITNESS_EDGE_SOURCES;
    std::string line;
    std::ifstream before(path);
    const bool goes_on = std::getline(before, line) && line == sources;
    Unit unit{};
    std::string mark;
    while (goes_on && before >> unit.block >> unit.num_segments >> mark && mark == "exact") {
      units_.insert(unit);
    }
    before.close();
    // Written anew, so that a line that a kill has cut short does not spoil the next one.
    file_ = std::fopen((path + ".new").c_str(), "w");
    std::fprintf(file_, "%s\n", sources.c_str());
    for (const Unit& known : units_) {
      write(known);
    }
    std::fflush(file_);
    std::filesystem::rename(path + ".new", path);
  }
  Finished(const Finished&) = delete;
  Finished& operator=(const Finished&) = delete;
  ~Finished() { std::fclose(file_); }

  bool holds(const Unit& unit) const { return units_.contains(unit); }
  void add(const Unit& unit) {
    write(unit);
    std::fflush(file_);
  }

 private:
  void write(const Unit& unit) {
    std::fprintf(file_, "%llu %u exact\n", static_cast<unsigned long long>(unit.block), unit.num_segments);
  }

  std::set<Unit> units_;
  std::FILE* file_;
};

std::optional<kvwitness::EdgeFault> check(const Unit& unit) {
  const kvwitness::SegmentCount count(unit.num_segments);
  const kvwitness::FixedDivisor divisor(unit.num_segments);
  const std::uint64_t first = std::max<std::uint64_t>(1, unit.block * kLengthsPerUnit);
  for (std::uint64_t len = first; len < (unit.block + 1) * kLengthsPerUnit; ++len) {
    const auto fault = kvwitness::find_edge_fault<kvwitness::EdgeChecks::kReciprocals>(static_cast<std::uint32_t>(len),
                                                                                       count, divisor);
    if (fault) {
      return fault;
    }
  }
  return {};
}

class Run {
 public:
  Run(const Options& options, Finished& finished) : options_(options), finished_(finished) {
    for (std::uint64_t block = options.from / kLengthsPerUnit; block * kLengthsPerUnit < options.to; ++block) {
      for (std::uint32_t segments = 1; segments <= kMostSegments; ++segments) {
        const Unit unit{block, segments};
        ++total_;
        if (!finished.holds(unit)) {
          left_.push_back(unit);
        }
      }
    }
    taken_up_ = total_ - left_.size();
  }

  void work() {
    std::fprintf(stderr, "%zu units of 2^20 lengths, %zu of them finished before\n", total_, taken_up_);
    std::vector<std::jthread> workers;
    for (std::uint64_t job = 0; job < options_.jobs; ++job) {
      workers.emplace_back([this] { work_alone(); });
    }
    while (!stops() && done_ < left_.size()) {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      tell(false);
    }
    workers.clear();
    tell(true);
  }

  // The exit status; writes the result as JSON.
  int conclude() const {
    const bool complete = taken_up_ + done_ == total_;
    const char* const verdict = fault_ ? "fail" : complete ? "pass" : "unfinished";
    std::ofstream json(options_.out + "/result.json");
    json << "{\"kvwitness_exhaustive\": 1, \"verdict\": \"" << verdict << "\", \"from\": " << options_.from
         << ", \"to\": " << options_.to << ", \"segments\": [1, " << kMostSegments << "], \"units\": " << total_
         << ", \"units_before\": " << taken_up_ << ", \"units_now\": " << done_
         << ", \"lengths_per_unit\": " << kLengthsPerUnit << ", \"jobs\": " << options_.jobs
         << ", \"seconds\": " << seconds() << ", \"message\": \"" << (fault_ ? fault_->message() : "") << "\"}\n";
    std::printf("%s  %zu of %zu units exact, %zu of them before this run; %.1f s\n", verdict, taken_up_ + done_, total_,
                taken_up_, seconds());
    if (fault_) {
      std::printf("%s\n", fault_->message().c_str());
    }
    return fault_ ? 1 : complete ? 0 : 3;
  }

 private:
  bool stops() const { return interrupted || failed_; }

  void work_alone() {
    while (!stops()) {
      const std::size_t index = next_++;
      if (index >= left_.size()) {
        return;
      }
      const auto fault = check(left_[index]);
      const std::scoped_lock lock(mutex_);
      if (fault) {
        fault_ = fault;
        failed_ = true;
        return;
      }
      finished_.add(left_[index]);
      ++done_;
    }
  }

  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }

  // A bar on a terminal, a line now and then in a log.
  void tell(bool last) {
    const bool terminal = isatty(STDERR_FILENO) != 0;
    if (!last && seconds() - told_ < (terminal ? 0.5 : 30.0)) {
      return;
    }
    told_ = seconds();
    const std::size_t done = done_;
    const double rate = static_cast<double>(done) / told_;
    const double hours = rate > 0 ? static_cast<double>(left_.size() - done) / rate / 3600 : 0;
    const std::size_t filled = 24 * (taken_up_ + done) / total_;
    std::fprintf(stderr, "%s[%s%s] %zu/%zu units, %.2f million lengths a second, about %.2f hours left%s",
                 terminal ? "\r\x1b[K" : "", std::string(filled, '#').c_str(), std::string(24 - filled, ' ').c_str(),
                 taken_up_ + done, total_, rate * static_cast<double>(kLengthsPerUnit) / 1e6, hours,
                 terminal && !last ? "" : "\n");
  }

  const Options& options_;
  Finished& finished_;
  std::vector<Unit> left_;
  std::size_t total_ = 0;
  std::size_t taken_up_ = 0;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<std::size_t> done_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  std::optional<kvwitness::EdgeFault> fault_;
  Clock::time_point start_ = Clock::now();
  double told_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--help") {
    std::fputs(kUsage, stdout);
    return 0;
  }
  const auto options = parse(std::span(argv, static_cast<std::size_t>(argc)).subspan(1));
  std::error_code error;
  if (!options || (std::filesystem::create_directories(options->out, error), error)) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  std::signal(SIGINT, interrupt);
  std::signal(SIGTERM, interrupt);
  Finished finished(options->out + "/progress.txt");
  Run run(*options, finished);
  run.work();
  return run.conclude();
}
