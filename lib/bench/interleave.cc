#include "lib/bench/interleave.h"

#include <algorithm>

namespace kvwitness::bench {

double Samples::median() const {
  std::vector<double> sorted(seconds_);
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

double Samples::least() const {
  return *std::min_element(seconds_.begin(), seconds_.end());
}

}  // namespace kvwitness::bench
