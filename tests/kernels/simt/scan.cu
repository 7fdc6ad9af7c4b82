// The scan under many schedules.
#include <kvwitness/simt.h>

#include "scan.cuh"

namespace simt = kvwitness::simt;

int main(int argc, char** argv) {
  constexpr unsigned kCount = 96;
  simt::GlobalBuffer<int> values(kCount, 0);
  std::vector<int> expected(kCount);
  for (unsigned i = 0; i < kCount; ++i) {
    values[i] = static_cast<int>(i * i % 17) - 5;
    expected[i] = values[i] + (i == 0 ? 0 : expected[i - 1]);
  }
  return simt::run_schedules(argc, argv, 200, [&](std::uint64_t schedule) -> std::string {
    simt::GlobalBuffer<int> out(kCount, 0);
    simt::Config config;
    config.block = kCount;
    config.dynamic_shared_bytes = (kCount + kCount / 32) * sizeof(int);
    config.schedule = schedule;
    const simt::Report report = simt::launch(config, scan_inclusive, values.data(), out.data());
    if (!report.ok()) {
      return report.to_string();
    }
    for (unsigned i = 0; i < kCount; ++i) {
      if (out[i] != expected[i]) {
        return "out[" + std::to_string(i) + "] is " + std::to_string(out[i]) + ", not " + std::to_string(expected[i]);
      }
    }
    return "";
  });
}
