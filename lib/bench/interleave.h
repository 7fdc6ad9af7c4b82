// Times several contenders against each other on a machine that does other things too: in each round every contender
// runs once, so that a disturbance meets them alike, and the median round counts.
#ifndef LIB_BENCH_INTERLEAVE_H
#define LIB_BENCH_INTERLEAVE_H

#include <chrono>
#include <vector>

namespace kvwitness::bench {

// The seconds that `work` takes.
template <class Work>
double seconds_of(Work&& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// The samples of one contender, in seconds.
class Samples {
 public:
  void add(double seconds) { seconds_.push_back(seconds); }
  bool empty() const { return seconds_.empty(); }
  double median() const;
  double least() const;

 private:
  std::vector<double> seconds_;
};

}  // namespace kvwitness::bench

#endif  // LIB_BENCH_INTERLEAVE_H
