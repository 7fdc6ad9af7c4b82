#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <functional>

#include "kernels/src/launch.h"
#include "kernels/src/plan.h"
#include "tests/gpu/benchmark.h"
#include "tests/gpu/device_buffer.h"

namespace kvwitness::gpu_check {
namespace {

constexpr std::int64_t kTopk = 2048;
constexpr std::int64_t kSegments = 64;
constexpr std::size_t kFlushElements = std::size_t{1} << 26;  // 256 MiB, more than any L2 cache

__global__ void __launch_bounds__(256) copy_vectors(const int4* from, int4* to, std::size_t count) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    to[i] = from[i];
  }
}

__global__ void overwrite(int* memory, std::size_t count, int value) {
  const std::size_t step = static_cast<std::size_t>(gridDim.x) * blockDim.x;
  for (std::size_t i = static_cast<std::size_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) {
    memory[i] = value;
  }
}

__global__ void do_nothing() {}

using Work = std::function<void(cudaStream_t)>;

// The worst case of the pass: tokens of one segment alone, and half as many slots to fill as segments are missing. In
// place, each pass then fills the slots with the other half's witnesses, so that every one of them writes as many as
// the one before.
class Batch {
 public:
  explicit Batch(std::int64_t rows)
      : rows_(rows),
        tokens_(std::vector<std::int32_t>(static_cast<std::size_t>(rows * kTopk), 5)),
        copy_(static_cast<std::size_t>(rows * kTopk)),
        lens_(std::vector<std::int32_t>(static_cast<std::size_t>(rows), 131072)),
        lengths_{lens_.data(), nullptr, rows, 1, 1} {}

  Work pass(bool forced, kernels::Variant variant) {
    return [this, forced, variant](cudaStream_t stream) {
      kernels::MergePlan plan;
      require(kernels::plan_apply(tokens_.data(), rows_ * kTopk, kTopk, kTopk, &lengths_, rows_, kTopk - kSegments / 2,
                                  kSegments, kSegments, tokens_.data(), rows_ * kTopk, kTopk, plan));
      require(kernels::launch(plan, forced ? variant : kernels::choose_variant(rows_, kTopk), stream));
    };
  }
  Work copy() {
    return [this](cudaStream_t stream) {
      const auto vectors = static_cast<std::size_t>(rows_ * kTopk / 4);
      const auto blocks = static_cast<unsigned int>(std::min<std::size_t>((vectors + 255) / 256, 65535));
      copy_vectors<<<blocks, 256, 0, stream>>>(reinterpret_cast<const int4*>(tokens_.data()),
                                               reinterpret_cast<int4*>(copy_.data()), vectors);
    };
  }
  Work memcpy_async() {
    return [this](cudaStream_t stream) {
      require("cudaMemcpyAsync", cudaMemcpyAsync(copy_.data(), tokens_.data(),
                                                 static_cast<std::size_t>(rows_ * kTopk) * sizeof(std::int32_t),
                                                 cudaMemcpyDeviceToDevice, stream));
    };
  }

 private:
  std::int64_t rows_;
  DeviceBuffer tokens_;
  DeviceBuffer copy_;
  DeviceBuffer lens_;
  kvw_cuda_lengths lengths_;
};

class Timer {
 public:
  Timer() : flush_(kFlushElements) {
    require("cudaEventCreate", cudaEventCreate(&begin_));
    require("cudaEventCreate", cudaEventCreate(&end_));
  }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;
  ~Timer() {
    cudaEventDestroy(begin_);
    cudaEventDestroy(end_);
  }

  // Twenty launches in one graph, so that what is measured is the device's time.
  double warm_us(const Work& work) {
    constexpr int kLaunches = 20;
    const Graph graph(stream_, [&](cudaStream_t stream) {
      for (int i = 0; i < kLaunches; ++i) {
        work(stream);
      }
    });
    graph.replay(stream_);
    return median([&] { graph.replay(stream_); }, [] {}) / kLaunches;
  }

  // One launch after the cache was overwritten; contains the time of an event, as the empty kernel's does.
  double cold_us(const Work& work) {
    const Graph graph(stream_, work);
    return median([&] { graph.replay(stream_); },
                  [&] { overwrite<<<1024, 256, 0, stream_.get()>>>(flush_.data(), kFlushElements, ++round_); });
  }

 private:
  template <class Run, class Prepare>
  double median(Run run, Prepare prepare) {
    std::vector<float> times;
    for (int i = 0; i < 31; ++i) {
      prepare();
      require("cudaEventRecord", cudaEventRecord(begin_, stream_.get()));
      run();
      require("cudaEventRecord", cudaEventRecord(end_, stream_.get()));
      require("cudaEventSynchronize", cudaEventSynchronize(end_));
      float milliseconds = 0;
      require("cudaEventElapsedTime", cudaEventElapsedTime(&milliseconds, begin_, end_));
      times.push_back(milliseconds);
    }
    std::nth_element(times.begin(), times.begin() + 15, times.end());
    return static_cast<double>(times[15]) * 1000;
  }

  Stream stream_;
  DeviceBuffer flush_;
  cudaEvent_t begin_ = nullptr;
  cudaEvent_t end_ = nullptr;
  int round_ = 0;
};

}  // namespace

std::vector<Timing> benchmark() {
  Timer timer;
  std::vector<Timing> timings;
  const Work empty = [](cudaStream_t stream) { do_nothing<<<1, 32, 0, stream>>>(); };
  for (const std::int64_t rows : {1, 8, 32, 128, 512, 2048, 8192, 32768}) {
    Batch batch(rows);
    for (const bool cold : {false, true}) {
      const auto time = [&](const Work& work) { return cold ? timer.cold_us(work) : timer.warm_us(work); };
      timings.push_back({rows, cold ? "cold" : "warm", time(batch.pass(false, kernels::Variant::kBlock)),
                         time(batch.pass(true, kernels::Variant::kBlock)),
                         time(batch.pass(true, kernels::Variant::kWarp)), time(batch.copy()),
                         time(batch.memcpy_async()), time(empty)});
    }
  }
  return timings;
}

std::string to_table(const std::vector<Timing>& timings) {
  std::string text = "  rows cache   pass us  block us   warp us   copy us memcpy us  empty us  pass/copy\n";
  for (const Timing& timing : timings) {
    char line[160];
    std::snprintf(line, sizeof line, "%6lld %-5s %9.2f %9.2f %9.2f %9.2f %9.2f %9.2f %10.2f\n", timing.rows,
                  timing.cache, timing.pass_us, timing.block_us, timing.warp_us, timing.copy_us, timing.memcpy_us,
                  timing.empty_us, timing.pass_us / timing.copy_us);
    text += line;
  }
  return text;
}

std::string to_json(const std::vector<Timing>& timings, const std::string& device) {
  std::string text = "{\"kvwitness_gpu_bench\": 1, \"device\": \"" + device + "\", \"timings\": [";
  for (const Timing& timing : timings) {
    char line[256];
    std::snprintf(line, sizeof line,
                  "%s{\"rows\": %lld, \"cache\": \"%s\", \"pass_us\": %.3f, \"block_us\": %.3f, \"warp_us\": %.3f, "
                  "\"copy_us\": %.3f, "
                  "\"memcpy_us\": %.3f, \"empty_us\": %.3f}",
                  &timing == timings.data() ? "" : ", ", timing.rows, timing.cache, timing.pass_us, timing.block_us,
                  timing.warp_us, timing.copy_us, timing.memcpy_us, timing.empty_us);
    text += line;
  }
  return text + "]}\n";
}

}  // namespace kvwitness::gpu_check
