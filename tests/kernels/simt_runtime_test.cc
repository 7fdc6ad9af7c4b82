// The host's side of CUDA: what the small files of strangers/ do not reach.
#include <gtest/gtest.h>
#include <kvwitness/simt/runtime.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>

namespace {

namespace simt = kvwitness::simt;

void add_one(int* values) {
  values[threadIdx.x] += 1;
}

// What kernel<<<1, block, bytes>>>(argument) is translated to.
template <class... Arguments>
void launch(void (*kernel)(Arguments...), dim3 block, std::size_t bytes, Arguments... arguments) {
  simt::detail::chevron([&](auto&&... a) -> decltype(kernel(a...)) { return kernel(a...); },
                        [&](auto address) -> decltype(address(kernel)) { return address(kernel); },
                        simt::detail::ChevronConfig(1, block, bytes))(arguments...);
}

TEST(SimtRuntime, ErrorsHaveNamesAndTexts) {
  EXPECT_STREQ(cudaGetErrorName(cudaSuccess), "cudaSuccess");
  EXPECT_STREQ(cudaGetErrorName(cudaErrorInvalidValue), "cudaErrorInvalidValue");
  EXPECT_STREQ(cudaGetErrorString(cudaSuccess), "no error");
  EXPECT_STREQ(cudaGetErrorName(static_cast<cudaError_t>(12345)), "cudaErrorUnknown");
  EXPECT_STREQ(cudaGetErrorString(static_cast<cudaError_t>(12345)), "an error without a name");
}

TEST(SimtRuntime, TheDeviceDescribesItself) {
  int value = -1;
  EXPECT_EQ(cudaGetDeviceCount(&value), cudaSuccess);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(cudaGetDevice(&value), cudaSuccess);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaSetDevice(1), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaRuntimeGetVersion(&value), cudaSuccess);
  EXPECT_EQ(value, CUDART_VERSION);
  EXPECT_EQ(cudaDriverGetVersion(&value), cudaSuccess);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaProfilerStart(), cudaSuccess);
  EXPECT_EQ(cudaProfilerStop(), cudaSuccess);
  cudaDeviceProp properties;
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 0), cudaSuccess);
  const std::array<std::pair<cudaDeviceAttr, int>, 7> attributes{{
      {cudaDevAttrMaxThreadsPerBlock, properties.maxThreadsPerBlock},
      {cudaDevAttrMaxSharedMemoryPerBlock, static_cast<int>(properties.sharedMemPerBlock)},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, static_cast<int>(properties.sharedMemPerBlockOptin)},
      {cudaDevAttrWarpSize, 32},
      {cudaDevAttrMultiProcessorCount, properties.multiProcessorCount},
      {cudaDevAttrComputeCapabilityMajor, properties.major},
      {cudaDevAttrComputeCapabilityMinor, properties.minor},
  }};
  for (const auto& [attribute, expected] : attributes) {
    EXPECT_EQ(cudaDeviceGetAttribute(&value, attribute, 0), cudaSuccess);
    EXPECT_EQ(value, expected);
  }
  EXPECT_EQ(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 2), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&value, add_one, 32, 0), cudaSuccess);
  static_cast<void>(cudaGetLastError());
}

TEST(SimtRuntime, AllocationsRefuseWhatNoDeviceHas) {
  void* memory = static_cast<void*>(&memory);
  EXPECT_EQ(cudaMalloc(static_cast<void**>(nullptr), 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMalloc(&memory, 0), cudaSuccess);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(cudaMalloc(&memory, std::size_t{1} << 60), cudaErrorMemoryAllocation);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(cudaMallocHost(&memory, std::size_t{1} << 60), cudaErrorMemoryAllocation);
  EXPECT_EQ(cudaMallocHost(&memory, 0), cudaSuccess);
  static_cast<void>(cudaGetLastError());
}

TEST(SimtRuntime, CudaMallocAlignsAsFarAsTheSizeAllows) {
  for (const std::size_t bytes : {std::size_t{4}, std::size_t{32}, std::size_t{256}, std::size_t{4096}}) {
    void* memory = nullptr;
    ASSERT_EQ(cudaMalloc(&memory, bytes), cudaSuccess);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory) % (bytes < 16 ? 16 : bytes > 256 ? 256 : bytes), 0u) << bytes;
    EXPECT_NE(*static_cast<unsigned char*>(memory), 0u) << "fresh memory holds no zeros";
    EXPECT_EQ(cudaFree(memory), cudaSuccess);
  }
}

TEST(SimtRuntime, HostMemoryIsFreedByItsOwnCall) {
  int* memory = nullptr;
  ASSERT_EQ(cudaHostAlloc(&memory, 16, cudaHostAllocDefault), cudaSuccess);
  EXPECT_EQ(cudaFree(memory), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(memory), cudaSuccess);
  EXPECT_EQ(cudaFreeHost(memory), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(nullptr), cudaSuccess);
  static_cast<void>(cudaGetLastError());
}

TEST(SimtRuntime, CopiesCheckBothSides) {
  char host[8] = {}, *device = nullptr;
  ASSERT_EQ(cudaMalloc(&device, 8), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(device, host, 0, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(device, host, 8, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(device + 1, host, 8, cudaMemcpyDefault), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device - 1, host, 8, cudaMemcpyDefault), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host, device, 9, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host, host, 8, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device, host, 8, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(nullptr, host, 8, cudaMemcpyHostToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host, nullptr, 8, cudaMemcpyHostToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host, host, 8, static_cast<cudaMemcpyKind>(5)), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpy(host, host, 8, static_cast<cudaMemcpyKind>(-1)), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemset(host, 0, 8), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(host, 0, 0), cudaSuccess);
  EXPECT_EQ(cudaFree(device), cudaSuccess);
  static_cast<void>(cudaGetLastError());
}

TEST(SimtRuntime, SymbolsHaveBounds) {
  static int symbol[4];
  int host[4] = {1, 2, 3, 4};
  void* address = nullptr;
  std::size_t bytes = 0;
  EXPECT_EQ(cudaGetSymbolSize(&bytes, symbol), cudaSuccess);
  EXPECT_EQ(bytes, sizeof(symbol));
  EXPECT_EQ(cudaGetSymbolAddress(&address, symbol), cudaSuccess);
  EXPECT_EQ(cudaMemset(address, 0, sizeof(symbol)), cudaSuccess);
  EXPECT_EQ(cudaMemset(address, 0, sizeof(symbol) + 1), cudaErrorInvalidValue);
  void* const behind = reinterpret_cast<void*>(reinterpret_cast<std::uintptr_t>(address) + sizeof(symbol) + 64);
  EXPECT_EQ(cudaMemset(behind, 0, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(reinterpret_cast<void*>(std::uintptr_t{16}), 0, 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbolAsync(symbol, host, 8, 8, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(symbol[3], 2);
  EXPECT_EQ(cudaMemcpyFromSymbolAsync(host, symbol, 8, 8, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(cudaMemcpyToSymbol(symbol, host, 4, 17), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbol(symbol, nullptr, 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyFromSymbol(nullptr, symbol, 4), cudaErrorInvalidValue);
  static_cast<void>(cudaGetLastError());
}

TEST(SimtRuntime, StreamsAndEventsAreHandles) {
  cudaStream_t stream = nullptr;
  cudaEvent_t event = nullptr, other = nullptr;
  float milliseconds = 0;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(cudaStreamLegacy), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(cudaStreamPerThread), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(stream, other), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, event, event), cudaErrorInvalidResourceHandle) << "never recorded";
  EXPECT_EQ(cudaEventElapsedTime(&milliseconds, event, other), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(other, stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(event), cudaSuccess);
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  EXPECT_EQ(cudaEventRecord(event, stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamWaitEvent(stream, event), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaErrorInvalidResourceHandle);
  static_cast<void>(cudaGetLastError());
}

TEST(SimtRuntime, DynamicSharedMemoryNeedsItsLimit) {
  simt::GlobalBuffer<int> values(1, 0);
  EXPECT_EQ(cudaFuncSetAttribute(static_cast<const void*>(nullptr), cudaFuncAttributeMaxDynamicSharedMemorySize, 1),
            cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaFuncSetAttribute(add_one, cudaFuncAttributeMaxDynamicSharedMemorySize, -1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(add_one, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(add_one, cudaFuncAttributePreferredSharedMemoryCarveout, 100), cudaSuccess);
  static_cast<void>(cudaGetLastError());
  launch(add_one, 1, 50000, values.data());
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFuncSetAttribute(add_one, cudaFuncAttributeMaxDynamicSharedMemorySize, 50000), cudaSuccess);
  launch(add_one, 1, 50000, values.data());
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  EXPECT_EQ(values[0], 1);
}

// A kernel that the executor runs, and one that another kernel may not.
void launch_again(int* values) {
  launch(add_one, 1, 0, values);
}
void launch_by_simt(int* values) {
  static_cast<void>(simt::launch({}, add_one, values));
}
void overlap_by_simt(int* values) {
  static_cast<void>(simt::launch_overlapped(simt::prepare({}, add_one, values), simt::prepare({}, add_one, values)));
}

TEST(SimtRuntime, AKernelThatLaunchesIsAFault) {
  simt::GlobalBuffer<int> values(1, 0);
  for (void (*const kernel)(int*) : {launch_again, launch_by_simt, overlap_by_simt}) {
    const simt::Report report = simt::launch({}, kernel, values.data());
    ASSERT_EQ(report.faults.size(), 1u);
    EXPECT_NE(report.faults[0].message.find("kernels that launch kernels are not served"), std::string::npos)
        << report.faults[0].message;
  }
}

TEST(SimtRuntime, ANullKernelIsABadLaunch) {
  void (*const kernel)(int*) = nullptr;
  const simt::Report report = simt::launch({}, kernel, nullptr);
  ASSERT_EQ(report.faults.size(), 1u);
  EXPECT_EQ(report.faults[0].kind, simt::Fault::Kind::kBadLaunch);
  launch(kernel, 1, 0, static_cast<int*>(nullptr));
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDeviceFunction);
}

}  // namespace
