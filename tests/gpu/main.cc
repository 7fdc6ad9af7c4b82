// Checks and times the CUDA library on the GPU of this machine; needs its driver and nothing else.
//
//   kvwitness_gpu_check [--random COUNT] [--no-bench] [--json FILE] [CASE FILE...]
//
// Exit status: 0 all checks passed; 1 one failed; 2 usage; 3 there is no GPU that the CUDA runtime can use.
#include <cuda_runtime_api.h>

#include <charconv>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include "properties/implementations/registry.h"
#include "tests/gpu/benchmark.h"
#include "tests/gpu/case_checks.h"
#include "tests/gpu/check_log.h"
#include "tests/gpu/device_checks.h"

namespace {

using namespace kvwitness::gpu_check;

struct Options {
  int random_cases = 3000;
  bool bench = true;
  std::string json;
  std::vector<std::string> case_files;
};

std::optional<Options> parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--no-bench") {
      options.bench = false;
    } else if (argument == "--json" && i + 1 < argc) {
      options.json = argv[++i];
    } else if (argument == "--random" && i + 1 < argc) {
      const char* const text = argv[++i];
      const auto [end, error] = std::from_chars(text, text + std::strlen(text), options.random_cases);
      if (error != std::errc{} || *end != '\0' || options.random_cases < 0) {
        return std::nullopt;
      }
    } else if (argument.starts_with("-")) {
      return std::nullopt;
    } else {
      options.case_files.push_back(argument);
    }
  }
  return options;
}

// The device's name; nothing where the CUDA runtime finds no device, having said why.
std::optional<std::string> find_device() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error != cudaSuccess || count == 0) {
    std::fprintf(stderr, "kvwitness_gpu_check: no GPU: %s\n",
                 error == cudaSuccess ? "the CUDA runtime counts none" : cudaGetErrorString(error));
    return std::nullopt;
  }
  cudaDeviceProp properties{};
  if (cudaGetDeviceProperties(&properties, 0) != cudaSuccess) {
    std::fprintf(stderr, "kvwitness_gpu_check: no GPU: device 0 does not answer\n");
    return std::nullopt;
  }
  std::printf("device 0: %s, sm_%d%d\n", properties.name, properties.major, properties.minor);
  return properties.name;
}

bool run_benchmark(const Options& options, const std::string& device) {
  const std::vector<Timing> timings = benchmark();
  std::printf(
      "\napply in place, topk 2048, 64 segments, 32 witnesses a row; microseconds of one launch in a graph, "
      "medians\n%s",
      to_table(timings).c_str());
  if (options.json.empty()) {
    return true;
  }
  std::ofstream file(options.json);
  file << to_json(timings, device);
  file.close();
  if (!file) {
    std::fprintf(stderr, "kvwitness_gpu_check: %s cannot be written\n", options.json.c_str());
  }
  return static_cast<bool>(file);
}

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Options> options = parse(argc, argv);
  if (!options) {
    std::fprintf(stderr, "usage: kvwitness_gpu_check [--random COUNT] [--no-bench] [--json FILE] [CASE FILE...]\n");
    return 2;
  }
  const std::optional<std::string> device = find_device();
  if (!device) {
    return 3;
  }
  try {
    CheckLog log;
    const auto variants = kvwitness::harness::make_cuda();
    check_case_files(variants, options->case_files, log);
    check_random_cases(variants, options->random_cases, log);
    check_device(log);
    std::printf("%d checks passed, %d failed, %d skipped\n", log.passed(), log.failed(), log.skipped());
    const bool written = !options->bench || run_benchmark(*options, *device);
    return log.failed() == 0 && written ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "kvwitness_gpu_check: %s\n", error.what());
    return 1;
  }
}
