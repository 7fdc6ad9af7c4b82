// What a row costs on the CPU executor: scatter over rows of 2,048 tokens at 64 segments, 64 threads a row and a warp
// a row.
//
//   executor_bench [ROWS]
#include <kvwitness/simt.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "kernels/src/kernels.cuh"

namespace {

using namespace kvwitness;

constexpr std::int64_t kTopk = 2048;

// Microseconds of processor time a row: the least of five launches, each under a schedule of its own.
template <class Witness>
double row_us(std::int64_t rows) {
  const std::vector<std::int32_t> tokens(static_cast<std::size_t>(rows * kTopk), 5);
  double least = 0;
  for (std::uint64_t n = 0; n < 5; ++n) {
    simt::GlobalBuffer<std::int32_t> learned(tokens);
    simt::GlobalBuffer<std::int32_t> lens(static_cast<std::size_t>(rows), 131072);
    const kernels::MergeArguments call{learned.data(), kTopk,      kTopk, {lens.data(), nullptr, 1, 1, rows},
                                       rows,           kTopk - 64, 64,    SegmentCount(64),
                                       learned.data(), kTopk};
    simt::Config config;
    config.grid = static_cast<unsigned int>((rows + kernels::Grid<Witness>::kRowsPerBlock - 1) /
                                            kernels::Grid<Witness>::kRowsPerBlock);
    config.block = static_cast<unsigned int>(kernels::Grid<Witness>::kThreads);
    config.schedule = simt::random_schedule(n);
    const std::clock_t begin = std::clock();
    const simt::Report report = simt::launch(config, kernels::merge_rows<Witness, false>, call);
    const double taken_us = static_cast<double>(std::clock() - begin) * 1e6 / CLOCKS_PER_SEC;
    if (!report.ok()) {
      std::fputs(report.to_string().c_str(), stderr);
      std::exit(1);
    }
    const double one = taken_us / static_cast<double>(rows);
    least = n == 0 ? one : std::min(least, one);
  }
  return least;
}

}  // namespace

int main(int argc, char** argv) {
  const std::int64_t rows = argc > 1 ? std::max(1, std::atoi(argv[1])) : 512;
  std::printf(
      "%lld rows of %lld tokens on the executor, microseconds a row: %.1f by blocks of 64 threads, %.1f by warps\n",
      static_cast<long long>(rows), static_cast<long long>(kTopk), row_us<kernels::Block>(rows),
      row_us<kernels::Warp>(rows));
  return 0;
}
