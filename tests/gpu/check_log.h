// What a run of checks has found.
#ifndef TESTS_GPU_CHECK_LOG_H
#define TESTS_GPU_CHECK_LOG_H

#include <cstdio>
#include <string>

namespace kvwitness::gpu_check {

class CheckLog {
 public:
  // One line a check: what it was, and what is wrong with it ("" for nothing).
  void report(const std::string& what, const std::string& wrong) {
    std::printf("%-4s %s%s%s\n", wrong.empty() ? "ok" : "FAIL", what.c_str(), wrong.empty() ? "" : ": ", wrong.c_str());
    std::fflush(stdout);
    (wrong.empty() ? passed_ : failed_) += 1;
  }
  void skip(const std::string& what, const std::string& why) {
    std::printf("skip %s: %s\n", what.c_str(), why.c_str());
    skipped_ += 1;
  }

  int passed() const noexcept { return passed_; }
  int failed() const noexcept { return failed_; }
  int skipped() const noexcept { return skipped_; }

 private:
  int passed_ = 0;
  int failed_ = 0;
  int skipped_ = 0;
};

}  // namespace kvwitness::gpu_check

#endif  // TESTS_GPU_CHECK_LOG_H
