// Device memory, streams and CUDA errors for the checks and the benchmark. An error ends the check that met it.
#ifndef TESTS_GPU_DEVICE_BUFFER_H
#define TESTS_GPU_DEVICE_BUFFER_H

#include <cuda_runtime_api.h>
#include <kvwitness/kvwitness_cuda.h>

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace kvwitness::gpu_check {

inline void require(const char* call, cudaError_t error) {
  if (error != cudaSuccess) {
    throw std::runtime_error(std::string(call) + ": " + cudaGetErrorName(error) + " (" + cudaGetErrorString(error) +
                             ")");
  }
}

inline void require(kvw_status status) {
  if (status != KVW_OK) {
    throw std::runtime_error("status " + std::to_string(status) + ": " + kvw_cuda_last_error());
  }
}

class DeviceBuffer {
 public:
  explicit DeviceBuffer(std::size_t count) {
    require("cudaMalloc", cudaMalloc(reinterpret_cast<void**>(&data_), count * sizeof(std::int32_t)));
  }
  explicit DeviceBuffer(const std::vector<std::int32_t>& values) : DeviceBuffer(values.size()) { write(values); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer() { cudaFree(data_); }

  std::int32_t* data() const noexcept { return data_; }
  void write(const std::vector<std::int32_t>& values, std::size_t first = 0) {
    require("cudaMemcpy",
            cudaMemcpy(data_ + first, values.data(), values.size() * sizeof(std::int32_t), cudaMemcpyHostToDevice));
  }
  std::vector<std::int32_t> read(std::size_t count, std::size_t first = 0) const {
    std::vector<std::int32_t> values(count);
    require("cudaMemcpy",
            cudaMemcpy(values.data(), data_ + first, count * sizeof(std::int32_t), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  std::int32_t* data_ = nullptr;
};

class Stream {
 public:
  Stream() { require("cudaStreamCreateWithFlags", cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking)); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  ~Stream() { cudaStreamDestroy(stream_); }

  cudaStream_t get() const noexcept { return stream_; }
  void synchronise() const { require("cudaStreamSynchronize", cudaStreamSynchronize(stream_)); }

 private:
  cudaStream_t stream_ = nullptr;
};

// What `record` puts into a stream, as a graph that can be replayed.
class Graph {
 public:
  template <class Record>
  Graph(const Stream& stream, Record record) {
    require("cudaStreamBeginCapture", cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal));
    record(stream.get());
    cudaGraph_t graph = nullptr;
    require("cudaStreamEndCapture", cudaStreamEndCapture(stream.get(), &graph));
    const cudaError_t error = cudaGraphInstantiate(&executable_, graph, 0);
    cudaGraphDestroy(graph);
    require("cudaGraphInstantiate", error);
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() { cudaGraphExecDestroy(executable_); }

  void replay(const Stream& stream) const { require("cudaGraphLaunch", cudaGraphLaunch(executable_, stream.get())); }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace kvwitness::gpu_check

#endif  // TESTS_GPU_DEVICE_BUFFER_H
