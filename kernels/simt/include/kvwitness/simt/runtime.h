// The host's side of CUDA for a source that runs on the executor: memory, copies, symbols, streams, events, errors, and
// what `kernel<<<grid, block, bytes, stream>>>(arguments)` becomes in kvwitness_add_simt_test.
//
// - A launch runs where it is written, to its end, whatever its stream. To ThreadSanitizer, launches on
//   different streams are ordered only as by simt::Config::stream: by events, by what synchronises, and by
//   the default stream. A copy is the host's work and comes before everything that is launched after it.
// - Device memory is that of GlobalBuffer: what a kernel accesses beside it is a fault. It holds what
//   GlobalBuffer's holds at first.
// - A fault of a kernel is printed with its schedule; every later call returns an error, as on a GPU, and the
//   program ends with exit status 1 whatever main() returns.
// - The schedule is that of the innermost run_schedules(), else the environment's KVWITNESS_SIMT_SCHEDULE,
//   else in_order. With KVWITNESS_SIMT_SCHEDULES=COUNT the program is forked at its first call and goes on
//   once under each.
//
// Source of the meaning of each name: NVIDIA, "CUDA Runtime API". C++17.
#ifndef KVWITNESS_SIMT_RUNTIME_H
#define KVWITNESS_SIMT_RUNTIME_H

#include <kvwitness/simt.h>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#define CUDART_VERSION 13000
#define CUDART_CB
#define CUDARTAPI

enum cudaError : int {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInitializationError = 3,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInvalidSymbol = 13,
  cudaErrorInvalidMemcpyDirection = 21,
  cudaErrorInvalidDeviceFunction = 98,
  cudaErrorNoDevice = 100,
  cudaErrorInvalidDevice = 101,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorAssert = 710,
  cudaErrorMisalignedAddress = 716,
  cudaErrorLaunchFailure = 719,
  cudaErrorNotSupported = 801,
  cudaErrorUnknown = 999,
};
using cudaError_t = cudaError;

enum cudaMemcpyKind : int {
  cudaMemcpyHostToHost = 0,
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3,
  cudaMemcpyDefault = 4,
};
enum cudaFuncAttribute : int {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout = 9,
};
enum cudaSharedMemConfig : int {
  cudaSharedMemBankSizeDefault = 0,
  cudaSharedMemBankSizeFourByte = 1,
  cudaSharedMemBankSizeEightByte = 2,
};
enum cudaDeviceAttr : int {
  cudaDevAttrMaxThreadsPerBlock = 1,
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrWarpSize = 10,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97,
};

struct CUstream_st;
struct CUevent_st;
using cudaStream_t = CUstream_st*;
using cudaEvent_t = CUevent_st*;

struct cudaDeviceProp {
  char name[256];
  std::size_t totalGlobalMem;
  std::size_t sharedMemPerBlock;
  std::size_t sharedMemPerBlockOptin;
  int regsPerBlock;
  int warpSize;
  int maxThreadsPerBlock;
  int maxThreadsDim[3];
  int maxGridSize[3];
  int major;
  int minor;
  int multiProcessorCount;
  int maxThreadsPerMultiProcessor;
};
struct cudaFuncAttributes {
  int maxThreadsPerBlock;
  int maxDynamicSharedSizeBytes;
};

inline constexpr unsigned int cudaStreamDefault = 0, cudaStreamNonBlocking = 1;
inline constexpr unsigned int cudaEventDefault = 0, cudaEventBlockingSync = 1, cudaEventDisableTiming = 2;
inline constexpr unsigned int cudaMemAttachGlobal = 1, cudaMemAttachHost = 2;
inline constexpr unsigned int cudaHostAllocDefault = 0, cudaHostAllocPortable = 1, cudaHostAllocMapped = 2,
                              cudaHostAllocWriteCombined = 4;
#define cudaStreamLegacy (reinterpret_cast<cudaStream_t>(std::uintptr_t{1}))
#define cudaStreamPerThread (reinterpret_cast<cudaStream_t>(std::uintptr_t{2}))

// ---- Errors --------------------------------------------------------------------------------------------------------------------------

cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorName(cudaError_t error);
const char* cudaGetErrorString(cudaError_t error);

// ---- The device -----------------------------------------------------------------------------------------------------------------------

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaDeviceReset();
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaDriverGetVersion(int* version);
inline cudaError_t cudaProfilerStart() {
  return cudaSuccess;
}
inline cudaError_t cudaProfilerStop() {
  return cudaSuccess;
}

// ---- Memory ---------------------------------------------------------------------------------------------------------------------------

cudaError_t cudaMalloc(void** memory, std::size_t bytes);
cudaError_t cudaMallocManaged(void** memory, std::size_t bytes, unsigned int flags = cudaMemAttachGlobal);
cudaError_t cudaMallocHost(void** memory, std::size_t bytes, unsigned int flags = cudaHostAllocDefault);
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned int flags);
cudaError_t cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t stream);
cudaError_t cudaFree(void* memory);
cudaError_t cudaFreeHost(void* memory);
cudaError_t cudaFreeAsync(void* memory, cudaStream_t stream);
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void* memory, int value, std::size_t bytes);
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream = nullptr);

template <class T>
cudaError_t cudaMalloc(T** memory, std::size_t bytes) {
  return cudaMalloc(reinterpret_cast<void**>(memory), bytes);
}
template <class T>
cudaError_t cudaMallocManaged(T** memory, std::size_t bytes, unsigned int flags = cudaMemAttachGlobal) {
  return cudaMallocManaged(reinterpret_cast<void**>(memory), bytes, flags);
}
template <class T>
cudaError_t cudaMallocHost(T** memory, std::size_t bytes, unsigned int flags = cudaHostAllocDefault) {
  return cudaMallocHost(reinterpret_cast<void**>(memory), bytes, flags);
}
template <class T>
cudaError_t cudaHostAlloc(T** memory, std::size_t bytes, unsigned int flags) {
  return cudaHostAlloc(reinterpret_cast<void**>(memory), bytes, flags);
}
template <class T>
cudaError_t cudaMallocAsync(T** memory, std::size_t bytes, cudaStream_t stream) {
  return cudaMallocAsync(reinterpret_cast<void**>(memory), bytes, stream);
}

// ---- Streams and events ----------------------------------------------------------------------------------------------------------------

cudaError_t cudaStreamCreate(cudaStream_t* stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamQuery(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags = 0);
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int flags);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
// The time that the executor took, which says nothing about a GPU.
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop);

// ---- Symbols: variables that are __device__, __constant__ or __managed__ ---------------------------------------------------------------

namespace kvwitness::simt::detail {

void register_symbol(void* symbol, std::size_t bytes);
cudaError_t copy_symbol(void* to, const void* from, std::size_t bytes, std::size_t offset, std::size_t symbol_bytes,
                        bool into_symbol);
cudaError_t set_dynamic_shared_limit(const void* kernel, cudaFuncAttribute attribute, int value);
// What a launch is about. `kernel` is null where its address is not known, as for a template whose arguments the call
// deduces.
struct ChevronSite {
  const void* kernel;
  bool has_address;
  Site site;
};
// Runs the launch, prints its faults, and keeps the error.
void launch_by_chevron(const Grid& grid, const ChevronSite& where);

// Config::stream of a stream that is none is kStreams, and the launch is refused.
unsigned int stream_number(cudaStream_t stream);

// What stands between <<< and >>>.
class ChevronConfig {
 public:
  ChevronConfig(dim3 grid, dim3 block, std::size_t dynamic_shared_bytes = 0, cudaStream_t stream = nullptr,
                const char* file = __builtin_FILE(), int line = __builtin_LINE())
      : site_{file, line} {
    config_.grid = grid;
    config_.block = block;
    config_.dynamic_shared_bytes = dynamic_shared_bytes;
    config_.stream = stream_number(stream);
  }
  const Config& config() const noexcept { return config_; }
  Site site() const noexcept { return site_; }

 private:
  Config config_;
  Site site_;
};

// Called with a kernel's name, gives its address.
struct KernelAddress {
  template <class... Parameters>
  const void* operator()(void (*kernel)(Parameters...)) const {
    return reinterpret_cast<const void*>(kernel);
  }
};

// kernel<<<grid, block>>>(arguments) is written
// chevron([&](auto&&... a) -> decltype(kernel(a...)) { return kernel(a...); },
//         [&](auto address) -> decltype(address(kernel)) { return address(kernel); },
//         ChevronConfig(grid, block))(arguments)
template <class Call, class Address>
class Chevron {
 public:
  Chevron(Call call, Address address, const ChevronConfig& config) : call_(call), address_(address), config_(config) {}

  template <class... Arguments>
  void operator()(Arguments&&... arguments) const {
    constexpr bool kCallable = std::is_invocable_v<const Call&, const std::decay_t<Arguments>&...>;
    static_assert(kCallable,
                  "kvwitness simt: what stands before <<<>>> is no kernel, or takes other arguments than it is given");
    if constexpr (kCallable) {
      static_assert(std::is_void_v<std::invoke_result_t<const Call&, const std::decay_t<Arguments>&...>>,
                    "kvwitness simt: what stands before <<<>>> is no kernel: a kernel returns void");
      const Context<std::decay_t<Arguments>...> context{call_, {std::forward<Arguments>(arguments)...}};
      ChevronSite where{nullptr, false, config_.site()};
      if constexpr (std::is_invocable_v<const Address&, KernelAddress>) {
        where.kernel = address_(KernelAddress{});
        where.has_address = true;
      }
      launch_by_chevron(
          {config_.config(), &Context<std::decay_t<Arguments>...>::run, &context, sizeof(context), where.kernel},
          where);
    }
  }

 private:
  // Copies of the arguments, taken once; each thread's parameters are copies of these.
  template <class... Values>
  struct Context {
    const Call& call;
    std::tuple<Values...> arguments;
    static void run(const void* context) {
      const auto& self = *static_cast<const Context*>(context);
      std::apply(self.call, self.arguments);
    }
  };
  Call call_;
  Address address_;
  ChevronConfig config_;
};
template <class Call, class Address>
Chevron<Call, Address> chevron(Call call, Address address, const ChevronConfig& config) {
  return {call, address, config};
}

}  // namespace kvwitness::simt::detail

template <class T>
cudaError_t cudaMemcpyToSymbol(T& symbol, const void* from, std::size_t bytes, std::size_t offset = 0,
                               cudaMemcpyKind = cudaMemcpyHostToDevice) {
  return kvwitness::simt::detail::copy_symbol(const_cast<void*>(static_cast<const volatile void*>(&symbol)), from,
                                              bytes, offset, sizeof(T), true);
}
template <class T>
cudaError_t cudaMemcpyToSymbolAsync(T& symbol, const void* from, std::size_t bytes, std::size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t = nullptr) {
  return cudaMemcpyToSymbol(symbol, from, bytes, offset, kind);
}
template <class T>
cudaError_t cudaMemcpyFromSymbol(void* to, const T& symbol, std::size_t bytes, std::size_t offset = 0,
                                 cudaMemcpyKind = cudaMemcpyDeviceToHost) {
  return kvwitness::simt::detail::copy_symbol(to, const_cast<const void*>(static_cast<const volatile void*>(&symbol)),
                                              bytes, offset, sizeof(T), false);
}
template <class T>
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const T& symbol, std::size_t bytes, std::size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t = nullptr) {
  return cudaMemcpyFromSymbol(to, symbol, bytes, offset, kind);
}
template <class T>
cudaError_t cudaGetSymbolAddress(void** address, const T& symbol) {
  *address = const_cast<void*>(static_cast<const volatile void*>(&symbol));
  kvwitness::simt::detail::register_symbol(*address, sizeof(T));
  return cudaSuccess;
}
template <class T>
cudaError_t cudaGetSymbolSize(std::size_t* bytes, const T&) {
  *bytes = sizeof(T);
  return cudaSuccess;
}
template <class... Parameters>
cudaError_t cudaFuncSetAttribute(void (*kernel)(Parameters...), cudaFuncAttribute attribute, int value) {
  return kvwitness::simt::detail::set_dynamic_shared_limit(reinterpret_cast<const void*>(kernel), attribute, value);
}
inline cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  return kvwitness::simt::detail::set_dynamic_shared_limit(kernel, attribute, value);
}
template <class Kernel>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, Kernel, int, std::size_t) {
  *blocks = 1;
  return cudaSuccess;
}

#define KVWITNESS_SIMT_REFUSE_CALL(name, words)                                            \
  template <class... Arguments>                                                            \
  cudaError_t name(Arguments&&...) {                                                       \
    static_assert(kvwitness::simt::detail::never<Arguments...>, "kvwitness simt: " words); \
    return cudaErrorNotSupported;                                                          \
  }
KVWITNESS_SIMT_REFUSE_CALL(cudaLaunchKernel, "cudaLaunchKernel is not served; launch with <<<>>> or simt::launch")
KVWITNESS_SIMT_REFUSE_CALL(cudaLaunchKernelEx,
                           "cudaLaunchKernelEx is not served; launch with <<<>>> or simt::launch_overlapped")
KVWITNESS_SIMT_REFUSE_CALL(cudaLaunchCooperativeKernel,
                           "cooperative launches (cudaLaunchCooperativeKernel) are not served")
KVWITNESS_SIMT_REFUSE_CALL(cudaMemcpy2D, "cudaMemcpy2D is not served; copy row by row")
KVWITNESS_SIMT_REFUSE_CALL(cudaMallocPitch, "cudaMallocPitch is not served; compute the pitch and call cudaMalloc")
KVWITNESS_SIMT_REFUSE_CALL(cudaStreamBeginCapture, "CUDA graphs (cudaStreamBeginCapture) are not served")
KVWITNESS_SIMT_REFUSE_CALL(cudaGraphLaunch, "CUDA graphs (cudaGraphLaunch) are not served")
KVWITNESS_SIMT_REFUSE_CALL(cudaLaunchHostFunc, "host functions in streams (cudaLaunchHostFunc) are not served")
#undef KVWITNESS_SIMT_REFUSE_CALL

#endif  // KVWITNESS_SIMT_RUNTIME_H
