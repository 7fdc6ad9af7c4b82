#include "tests/gpu/device_checks.h"

#include <kvwitness/case.h>
#include <kvwitness/oracle.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "tests/gpu/device_buffer.h"

namespace kvwitness::gpu_check {
namespace {

using harness::Case;
using harness::Operation;

// A scatter of clustered rows, drawn from the seed.
Case scatter_case(std::int64_t rows, std::int64_t topk, std::int64_t num_segments, std::uint64_t seed) {
  Case value;
  value.operation = Operation::kScatter;
  value.topk = topk;
  value.num_segments = num_segments;
  std::mt19937_64 random(seed);
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto length = static_cast<std::int32_t>(random() % 100000);
    value.context_lens.push_back(length);
    for (std::int64_t slot = 0; slot < topk; ++slot) {
      value.learned.push_back(
          random() % 16 == 0 ? -1 : static_cast<std::int32_t>(random() % static_cast<std::uint64_t>(length / 3 + 1)));
    }
  }
  return value;
}

kvw_cuda_lengths plain(const DeviceBuffer& lens, const Case& value) {
  return {.lens = lens.data(), .starts = nullptr, .count = value.rows(), .stride = 1, .next_n = 1};
}

std::string compare(const std::vector<std::int32_t>& actual, const std::vector<std::int32_t>& expected) {
  const auto [at, wanted] = std::ranges::mismatch(actual, expected);
  return at == actual.end() ? ""
                            : "element " + std::to_string(at - actual.begin()) + " is " + std::to_string(*at) +
                                  ", not " + std::to_string(*wanted);
}

void scatter(const DeviceBuffer& rows, const DeviceBuffer& lens, const Case& value, cudaStream_t stream) {
  const kvw_cuda_lengths lengths = plain(lens, value);
  require(kvw_cuda_scatter(rows.data(), static_cast<std::int64_t>(value.learned.size()), value.topk, value.topk,
                           &lengths, value.rows(), value.num_segments, stream));
}

// Three rows whose last one starts beyond element 2^31.
std::string huge_offsets() {
  const Case value = scatter_case(3, 2048, 64, 5);
  const std::int64_t stride = (std::int64_t{1} << 30) + 5;
  const std::int64_t span = 2 * stride + value.topk;
  DeviceBuffer rows(static_cast<std::size_t>(span));
  const DeviceBuffer lens(value.context_lens);
  for (std::int64_t row = 0; row < 3; ++row) {
    const auto first = value.learned.begin() + row * value.topk;
    rows.write({first, first + value.topk}, static_cast<std::size_t>(row * stride));
  }
  const kvw_cuda_lengths lengths = plain(lens, value);
  require(kvw_cuda_scatter(rows.data(), span, stride, value.topk, &lengths, 3, value.num_segments, nullptr));
  std::vector<std::int32_t> all;
  for (std::int64_t row = 0; row < 3; ++row) {
    const std::vector<std::int32_t> one =
        rows.read(static_cast<std::size_t>(value.topk), static_cast<std::size_t>(row * stride));
    all.insert(all.end(), one.begin(), one.end());
  }
  return compare(all, harness::expected_rows(value));
}

std::string many_rows() {
  const Case value = scatter_case(200000, 6, 5, 6);
  const DeviceBuffer rows(value.learned);
  const DeviceBuffer lens(value.context_lens);
  scatter(rows, lens, value, nullptr);
  return compare(rows.read(value.learned.size()), harness::expected_rows(value));
}

std::string graph_replay() {
  const Stream stream;
  const Case first = scatter_case(40, 2048, 64, 7);
  DeviceBuffer rows(first.learned);
  DeviceBuffer lens(first.context_lens);
  const Graph graph(stream, [&](cudaStream_t captured) { scatter(rows, lens, first, captured); });
  for (const std::uint64_t seed : {8u, 9u, 10u}) {
    const Case value = scatter_case(40, 2048, 64, seed);
    rows.write(value.learned);
    lens.write(value.context_lens);
    graph.replay(stream);
    stream.synchronise();
    if (std::string wrong = compare(rows.read(value.learned.size()), harness::expected_rows(value)); !wrong.empty()) {
      return wrong;
    }
  }
  return "";
}

std::string several_streams() {
  constexpr int kStreams = 4;
  std::vector<std::unique_ptr<Stream>> streams;
  std::vector<Case> cases;
  std::vector<std::unique_ptr<DeviceBuffer>> rows;
  std::vector<std::unique_ptr<DeviceBuffer>> lens;
  for (std::uint64_t i = 0; i < kStreams; ++i) {
    streams.push_back(std::make_unique<Stream>());
    cases.push_back(scatter_case(i % 2 == 0 ? 16 : 3000, 2048, 64, 20 + i));
    rows.push_back(std::make_unique<DeviceBuffer>(cases[i].learned));
    lens.push_back(std::make_unique<DeviceBuffer>(cases[i].context_lens));
  }
  require("cudaDeviceSynchronize", cudaDeviceSynchronize());
  for (std::size_t i = 0; i < kStreams; ++i) {
    scatter(*rows[i], *lens[i], cases[i], streams[i]->get());
  }
  for (std::size_t i = 0; i < kStreams; ++i) {
    streams[i]->synchronise();
    if (std::string wrong = compare(rows[i]->read(cases[i].learned.size()), harness::expected_rows(cases[i]));
        !wrong.empty()) {
      return "stream " + std::to_string(i) + ": " + wrong;
    }
  }
  return "";
}

// An error that someone else left in the runtime is neither returned nor cleared by a call that succeeds.
std::string foreign_error() {
  const Case value = scatter_case(2, 64, 8, 30);
  const DeviceBuffer rows(value.learned);
  const DeviceBuffer lens(value.context_lens);
  void* nothing = nullptr;
  if (cudaMalloc(&nothing, std::size_t{1} << 60) == cudaSuccess) {
    cudaFree(nothing);
    return "an allocation of 2^60 bytes succeeded";
  }
  const kvw_cuda_lengths lengths = plain(lens, value);
  const kvw_status status = kvw_cuda_scatter(rows.data(), static_cast<std::int64_t>(value.learned.size()), value.topk,
                                             value.topk, &lengths, value.rows(), value.num_segments, nullptr);
  const cudaError_t left = cudaGetLastError();
  if (status != KVW_OK) {
    return std::string("the call failed: ") + kvw_cuda_last_error();
  }
  return left == cudaErrorMemoryAllocation ? "" : std::string("the runtime's last error is ") + cudaGetErrorName(left);
}

template <class Check>
void run(const char* name, CheckLog& log, Check check) {
  std::string wrong;
  try {
    wrong = check();
  } catch (const std::exception& error) {
    wrong = error.what();
  }
  log.report(name, wrong);
}

}  // namespace

void check_device(CheckLog& log) {
  std::size_t free_bytes = 0;
  std::size_t total_bytes = 0;
  constexpr std::size_t kNeeded = std::size_t{9} << 30;
  if (cudaMemGetInfo(&free_bytes, &total_bytes) == cudaSuccess && free_bytes >= kNeeded) {
    run("rows beyond element 2^31", log, huge_offsets);
  } else {
    log.skip("rows beyond element 2^31",
             "9 GiB of free device memory are needed, and " + std::to_string(free_bytes >> 30) + " are free");
  }
  run("200,000 rows", log, many_rows);
  run("graph capture and replay with new contents", log, graph_replay);
  run("several streams", log, several_streams);
  run("an error of someone else", log, foreign_error);
}

}  // namespace kvwitness::gpu_check
