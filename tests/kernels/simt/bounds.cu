// Accesses outside of a kernel's memory. `bounds CASE [SCHEDULE]`; a comment marks the line at which a sanitizer must
// report the case.
#include <cuda_runtime.h>
#include <kvwitness/simt.h>

#include <cstring>

namespace simt = kvwitness::simt;

namespace {

constexpr int kThreads = 64;

__global__ void read_past_global(const int* values, int* out, int last) {
  const int i = static_cast<int>(threadIdx.x);
  out[i] = values[i + last - kThreads + 1];  // control global-after
}

__global__ void write_before_global(int* values) {
  const int i = static_cast<int>(threadIdx.x);
  values[i - 1] = i;  // control global-before
}

__global__ void write_past_dynamic_shared(int* out) {
  extern __shared__ int shared[];
  const int i = static_cast<int>(threadIdx.x);
  shared[i + 1] = i;  // control dynamic-shared
  __syncthreads();
  out[i] = shared[i];
}

__global__ void write_past_static_shared(int* out, int shift) {
  __shared__ int shared[kThreads];
  const int i = static_cast<int>(threadIdx.x);
  shared[i + shift] = i;  // control static-shared
  __syncthreads();
  out[i] = shared[i];
}

__global__ void load_misaligned_vector(const int* values, int* out) {
  if (threadIdx.x == 0) {
    *out = reinterpret_cast<const int4*>(values + 1)->x;  // control misaligned
  }
}

std::string run_case(const char* name, std::uint64_t schedule) {
  const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
  simt::GlobalBuffer<int> values(kThreads + 4, 1), out(kThreads);
  simt::Config config;
  config.block = kThreads;
  config.schedule = schedule;
  simt::Report report;
  if (is("global-after") || is("global-last")) {
    report = simt::launch(config, read_past_global, values.data(), out.data(),
                          static_cast<int>(values.size()) - (is("global-last") ? 1 : 0));
  } else if (is("global-before")) {
    report = simt::launch(config, write_before_global, out.data());
  } else if (is("dynamic-shared")) {
    config.dynamic_shared_bytes = kThreads * sizeof(int);
    report = simt::launch(config, write_past_dynamic_shared, out.data());
  } else if (is("dynamic-shared-fits")) {
    config.dynamic_shared_bytes = (kThreads + 1) * sizeof(int);
    report = simt::launch(config, write_past_dynamic_shared, out.data());
  } else if (is("static-shared")) {
    report = simt::launch(config, write_past_static_shared, out.data(), 1);
  } else if (is("misaligned")) {
    report = simt::launch(config, load_misaligned_vector, values.data(), out.data());
  } else {
    return std::string("no case of the name ") + name;
  }
  return report.to_string();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    return 2;
  }
  const char* const name = argv[1];
  argv[1] = argv[0];
  return simt::run_schedules(argc - 1, argv + 1, 4,
                             [name](std::uint64_t schedule) { return run_case(name, schedule); });
}
