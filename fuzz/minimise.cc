#include "fuzz/minimise.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "fuzz/finding.h"
#include "properties/shrinking/shrinking.h"

namespace kvwitness::fuzz {
namespace {

constexpr std::string_view kNoEnd = "no end within ";

// Runs the target in a child whose standard error stream is the pipe.
[[noreturn]] void run_in_child(const Target& target, std::span<const std::uint8_t> bytes, unsigned deadline_seconds,
                               int pipe_end) {
  dup2(pipe_end, STDERR_FILENO);
  close(pipe_end);
  alarm(deadline_seconds);
  target.body(bytes.data(), bytes.size());
  _exit(0);
}

std::string read_all(int descriptor) {
  std::string text;
  std::array<char, 4096> part;
  for (ssize_t count = 0; (count = read(descriptor, part.data(), part.size())) > 0;) {
    text.append(part.data(), static_cast<std::size_t>(count));
  }
  return text;
}

// The rest of the first line that starts with `prefix`, without the blanks at its end, or nothing.
std::optional<std::string> line_after(std::string_view text, std::string_view prefix) {
  for (std::size_t at = text.find(prefix); at != std::string_view::npos; at = text.find(prefix, at + 1)) {
    if (at == 0 || text[at - 1] == '\n') {
      text.remove_prefix(at + prefix.size());
      const std::string_view line = text.substr(0, text.find('\n'));
      return std::string(line.substr(0, line.find_last_not_of(' ') + 1));
    }
  }
  return std::nullopt;
}

std::string describe(int status, const std::string& text, unsigned deadline_seconds) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    return "";
  }
  if (const auto finding = line_after(text, kFindingPrefix)) {
    return finding->substr(0, finding->find(": "));
  }
  if (const auto summary = line_after(text, "SUMMARY: ")) {
    return *summary;
  }
  if (WIFSIGNALED(status)) {
    return WTERMSIG(status) == SIGALRM ? std::string(kNoEnd) + std::to_string(deadline_seconds) + " s"
                                       : "signal " + std::to_string(WTERMSIG(status));
  }
  return "exit status " + std::to_string(WEXITSTATUS(status));
}

// One target's inputs, each tried in a process of its own, of which one that ends as the first did is kept.
class Minimiser {
 public:
  Minimiser(const Target& target, Bytes bytes, int most_attempts, unsigned deadline_seconds)
      : target_(target),
        most_attempts_(most_attempts),
        deadline_seconds_(deadline_seconds),
        best_{std::move(bytes), "", 0} {}

  Minimised run() {
    best_.ending = ending_of(target_, best_.bytes, deadline_seconds_);
    if (best_.ending.empty()) {
      return std::move(best_);
    }
    if (target_.form->case_of != nullptr) {
      plainer_around_case();
      shrink_case();
      plainer_around_case();
    } else {
      drop_bytes();
      plain_bytes();
    }
    return std::move(best_);
  }

 private:
  bool left() const { return best_.attempts < most_attempts_ && hangs_ < kMostHangs; }

  bool try_one(Bytes candidate) {
    if (!left() || candidate == best_.bytes) {
      return false;
    }
    ++best_.attempts;
    const std::string ending = ending_of(target_, candidate, deadline_seconds_);
    hangs_ += ending.starts_with(kNoEnd) ? 1 : 0;
    if (ending != best_.ending) {
      return false;
    }
    best_.bytes = std::move(candidate);
    return true;
  }

  void shrink_case() {
    const InputForm& form = *target_.form;
    harness::shrink(form.case_of(best_.bytes), most_attempts_ - best_.attempts, [&](const harness::Case& candidate) {
      // Bytes cannot say a call of more elements.
      if (!is_within_limits(candidate)) {
        return harness::Attempt::kOutsideDomain;
      }
      return try_one(form.with_case(best_.bytes, candidate)) ? harness::Attempt::kFails : harness::Attempt::kPasses;
    });
  }
  void plainer_around_case() {
    const auto plainer = target_.form->plainer_around_case;
    const auto try_any = [&] {
      return std::ranges::any_of(plainer(best_.bytes), [&](const Bytes& candidate) { return try_one(candidate); });
    };
    while (plainer != nullptr && try_any()) {
    }
  }

  void drop_bytes() {
    for (std::size_t count = std::max<std::size_t>(best_.bytes.size() / 2, 1); count > 0; count /= 2) {
      for (std::size_t first = 0; first + count <= best_.bytes.size() && left();) {
        Bytes shorter = best_.bytes;
        shorter.erase(shorter.begin() + static_cast<std::ptrdiff_t>(first),
                      shorter.begin() + static_cast<std::ptrdiff_t>(first + count));
        first += try_one(std::move(shorter)) ? 0 : count;
      }
    }
  }
  void plain_bytes() {
    const std::uint8_t plain = target_.form->is_text ? '0' : 0;
    for (std::size_t i = 0; i < best_.bytes.size() && left(); ++i) {
      Bytes plainer = best_.bytes;
      plainer[i] = plain;
      try_one(std::move(plainer));
    }
  }

  const Target& target_;
  int most_attempts_;
  unsigned deadline_seconds_;
  int hangs_ = 0;
  Minimised best_;
};

}  // namespace

std::string ending_of(const Target& target, std::span<const std::uint8_t> bytes, unsigned deadline_seconds) {
  std::array<int, 2> ends{};
  if (pipe(ends.data()) != 0) {
    return "no pipe";
  }
  const pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    return "no process";
  }
  if (child == 0) {
    close(ends[0]);
    run_in_child(target, bytes, deadline_seconds, ends[1]);
  }
  close(ends[1]);
  const std::string text = read_all(ends[0]);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return describe(status, text, deadline_seconds);
}

Minimised minimise(const Target& target, Bytes bytes, int most_attempts, unsigned deadline_seconds) {
  // What a target sets up on its first run is set up once, and not in every child.
  target.body(nullptr, 0);
  return Minimiser(target, std::move(bytes), most_attempts, deadline_seconds).run();
}

}  // namespace kvwitness::fuzz
