// The histogram under many schedules.
#include <kvwitness/simt.h>

#include "histogram.cuh"

namespace simt = kvwitness::simt;

int main(int argc, char** argv) {
  constexpr unsigned kBins = 16;
  constexpr int kCount = 500;
  simt::GlobalBuffer<unsigned> values(kCount, 0);
  std::vector<unsigned> expected(kBins);
  for (unsigned i = 0; i < kCount; ++i) {
    values[i] = i * 2654435761u >> 7;
    ++expected[values[i] % kBins];
  }
  return simt::run_schedules(argc, argv, 200, [&](std::uint64_t schedule) -> std::string {
    simt::GlobalBuffer<unsigned> bins(kBins, 0);
    simt::Config config;
    config.grid = 2;
    config.block = 64;
    config.schedule = schedule;
    const simt::Report report = simt::launch(config, histogram<kBins>, values.data(), kCount, bins.data());
    if (!report.ok()) {
      return report.to_string();
    }
    for (unsigned bin = 0; bin < kBins; ++bin) {
      if (bins[bin] != expected[bin]) {
        return "bin " + std::to_string(bin) + " holds " + std::to_string(bins[bin]) + ", not " +
               std::to_string(expected[bin]);
      }
    }
    return "";
  });
}
