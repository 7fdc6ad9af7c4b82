// Times of the pass on this device, beside those of moving the same bytes.
#ifndef TESTS_GPU_BENCHMARK_H
#define TESTS_GPU_BENCHMARK_H

#include <string>
#include <vector>

namespace kvwitness::gpu_check {

// Microseconds of one launch out of a replayed graph, for `rows` rows of 2,048 tokens at 64 segments; medians.
struct Timing {
  long long rows;
  const char* cache;  // "warm": the buffer was just used; "cold": the L2 cache was overwritten before each launch
  double pass_us;     // the library's own choice of variant
  double block_us;
  double warp_us;
  double copy_us;    // the project's own copy kernel, the buffer to another one
  double memcpy_us;  // cudaMemcpyAsync of the same
  double empty_us;   // a kernel that does nothing
};

std::vector<Timing> benchmark();

std::string to_table(const std::vector<Timing>& timings);
// {"kvwitness_gpu_bench": 1, "device": NAME, "timings": [{"rows", "cache", "pass_us", ...}]}
std::string to_json(const std::vector<Timing>& timings, const std::string& device);

}  // namespace kvwitness::gpu_check

#endif  // TESTS_GPU_BENCHMARK_H
