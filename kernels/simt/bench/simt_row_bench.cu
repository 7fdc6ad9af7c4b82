// What a row costs in the executor: processor time a row of 2,048 tokens in 64 segments, no early end, a block to a row.
#include <kvwitness/simt.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <kvwitness/witness.cuh>

namespace simt = kvwitness::simt;

namespace {

constexpr int kRows = 1000;
constexpr int kTopk = 2048;
constexpr int kSegments = 64;
constexpr int kContext = 40000;

template <int kThreads>
__global__ void scatter_rows(int* rows, kvwitness::SegmentCount segments) {
  using Witness = kvwitness::BlockWitness<kThreads>;
  __shared__ typename Witness::TempStorage storage;
  int* const row = rows + static_cast<std::int64_t>(blockIdx.x) * kTopk;
  typename Witness::Row tokens(row, kTopk, Witness::thread_rank());
  Witness witness(storage, kContext, segments);
  witness.add(tokens);
  witness.combine();
  witness.emit(kTopk - kSegments, kSegments, [row](std::int64_t slot, std::int32_t token) { row[slot] = token; });
}

double processor_us() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}

template <int kThreads>
bool measure(const char* policy, std::uint64_t schedule) {
  simt::GlobalBuffer<int> rows(std::size_t{kRows} * kTopk);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = static_cast<int>(i * 2654435761u % 30000);  // a quarter of the context stays empty
  }
  simt::Config config;
  config.grid = kRows;
  config.block = kThreads;
  config.schedule = schedule;
  double best_us = 1e30;
  for (int repeat = 0; repeat < 5; ++repeat) {
    const double start = processor_us();
    const simt::Report report =
        simt::launch(config, scatter_rows<kThreads>, rows.data(), kvwitness::SegmentCount(kSegments));
    if (!report.ok()) {
      std::fputs(report.to_string().c_str(), stderr);
      return false;
    }
    best_us = std::min(best_us, (processor_us() - start) / kRows);
  }
  std::printf("%4d threads  %-8s  %6.1f us a row\n", kThreads, policy, best_us);
  return true;
}

template <int kThreads>
bool measure_policies() {
  return measure<kThreads>("in order", simt::in_order) && measure<kThreads>("random", simt::random_schedule(1)) &&
         measure<kThreads>("pct", simt::pct_schedule(1));
}

}  // namespace

int main() {
  return measure_policies<32>() && measure_policies<128>() && measure_policies<256>() ? 0 : 1;
}
