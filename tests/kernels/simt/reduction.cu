// The reduction under many schedules.
#include <kvwitness/simt.h>

#include "reduction.cuh"

namespace simt = kvwitness::simt;

int main(int argc, char** argv) {
  constexpr int kCount = 1000;
  simt::GlobalBuffer<int> values(kCount, 0);
  int expected = 0;
  for (int i = 0; i < kCount; ++i) {
    values[static_cast<std::size_t>(i)] = 7 * i - 300;
    expected += 7 * i - 300;
  }
  return simt::run_schedules(argc, argv, 200, [&](std::uint64_t schedule) -> std::string {
    simt::GlobalBuffer<int> total(1, 0);
    simt::Config config;
    config.grid = 3;
    config.block = 128;
    config.schedule = schedule;
    const simt::Report report = simt::launch(config, reduce_sum<128>, values.data(), kCount, total.data());
    if (!report.ok()) {
      return report.to_string();
    }
    return total[0] == expected ? "" : "the sum is " + std::to_string(total[0]) + ", not " + std::to_string(expected);
  });
}
