// The host's side of CUDA. Calls come from the host only; one thread of the host at a time.
#include "kernels/simt/src/runtime.h"

#include <fcntl.h>
#include <kvwitness/simt/runtime.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <new>
#include <optional>
#include <set>
#include <string_view>

#include "kernels/simt/src/block.h"
#include "kernels/simt/src/memory.h"

struct CUstream_st {
  unsigned int number;  // Config::stream
};
struct CUevent_st {
  std::uint64_t edge = 0;
  std::optional<std::chrono::steady_clock::time_point> recorded;
};

namespace kvwitness::simt::detail {
namespace {

constexpr std::size_t kDefaultSharedLimit = std::size_t{48} * 1024, kSharedLimit = std::size_t{227} * 1024;

struct Runtime {
  cudaError_t last = cudaSuccess;
  bool broken = false;  // by a fault of a kernel: every call fails from then on, as on a GPU
  bool schedule_is_set = false;
  std::uint64_t schedule = in_order;
  std::map<const void*, std::size_t> symbols;  // bytes, by address
  std::map<const void*, std::size_t> dynamic_limit;
  std::set<CUstream_st*> streams;
  unsigned int streams_made = 0;
  std::set<CUevent_st*> events;
  std::set<void*> host_memory;
};

// Never destroyed: the destructors of a program's own static objects may still call cudaFree.
Runtime& runtime() {
  static Runtime* const instance = new Runtime;
  return *instance;
}

cudaError_t keep(cudaError_t error) {
  if (error != cudaSuccess) {
    runtime().last = error;
  }
  return error;
}

std::optional<std::uint64_t> number_in_environment(const char* name) {
  const char* const text = std::getenv(name);
  if (text == nullptr) {
    return std::nullopt;
  }
  const std::string_view digits = text;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || error != std::errc{} || end != digits.data() + digits.size()) {
    std::fprintf(stderr, "kvwitness simt: %s is '%s', not a decimal number\n", name, text);
    std::_Exit(2);
  }
  return value;
}

// The rest of the program under one schedule, in a process of its own, whose standard output is shown only if it fails.
// Returns in the child; in the parent after the child has ended well.
bool continue_in_child(std::uint64_t schedule) {
  std::fflush(nullptr);
  const int output = memfd_create("kvwitness_simt_output", MFD_CLOEXEC);
  const pid_t child = fork();
  if (child == 0) {
    if (output >= 0) {
      dup2(output, STDOUT_FILENO);
    }
    // ThreadSanitizer's own end waits a second for threads that never end here.
    on_exit(
        [](int code, void*) {
          std::fflush(nullptr);
          std::_Exit(code);
        },
        nullptr);
    return true;
  }
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child) {
    std::fprintf(stderr, "kvwitness simt: a process for schedule %llu could not be had\n",
                 static_cast<unsigned long long>(schedule));
    std::_Exit(2);
  }
  if (status != 0) {
    char buffer[4096];
    lseek(output, 0, SEEK_SET);
    for (ssize_t count; output >= 0 && (count = read(output, buffer, sizeof(buffer))) > 0;) {
      std::fwrite(buffer, 1, static_cast<std::size_t>(count), stdout);
    }
    std::fflush(stdout);
    const bool by_signal = WIFSIGNALED(status);
    std::fprintf(stderr,
                 "kvwitness simt: wrong under schedule %llu (%s %d); KVWITNESS_SIMT_SCHEDULE=%llu runs it again\n",
                 static_cast<unsigned long long>(schedule), by_signal ? "signal" : "exit status",
                 by_signal ? WTERMSIG(status) : WEXITSTATUS(status), static_cast<unsigned long long>(schedule));
    std::_Exit(by_signal ? 1 : WEXITSTATUS(status));
  }
  if (output >= 0) {
    close(output);
  }
  return false;
}

void choose_schedule() {
  Runtime& state = runtime();
  if (state.schedule_is_set) {
    return;
  }
  if (const std::optional<std::uint64_t> schedule = number_in_environment("KVWITNESS_SIMT_SCHEDULE")) {
    set_launch_schedule(*schedule);
    return;
  }
  set_launch_schedule(in_order);
  const std::uint64_t count = number_in_environment("KVWITNESS_SIMT_SCHEDULES").value_or(1);
  for (std::uint64_t i = 1; i < count; ++i) {
    const std::uint64_t schedule = i % 2 == 1 ? random_schedule(i / 2) : pct_schedule(i / 2);
    if (continue_in_child(schedule)) {
      set_launch_schedule(schedule);
      return;
    }
  }
}

// The beginning of every call: an error where the device is broken.
cudaError_t enter() {
  refuse_in_kernel({nullptr, 0});
  choose_schedule();
  return runtime().broken ? cudaErrorLaunchFailure : cudaSuccess;
}

// A program whose kernel had a fault fails, whatever its main() makes of the error.
void break_device() {
  if (!runtime().broken) {
    std::atexit([] {
      std::fflush(nullptr);
      std::_Exit(1);
    });
  }
  runtime().broken = true;
  runtime().last = cudaErrorLaunchFailure;
}

bool in_symbol(const void* address, std::size_t bytes) {
  const auto& symbols = runtime().symbols;
  auto after = symbols.upper_bound(address);
  if (after == symbols.begin()) {
    return false;
  }
  --after;
  const auto offset =
      static_cast<std::size_t>(static_cast<const std::byte*>(address) - static_cast<const std::byte*>(after->first));
  return offset <= after->second && bytes <= after->second - offset;
}

bool on_device(const void* address, std::size_t bytes) {
  const std::optional<std::size_t> left = global_bytes_from(address);
  return left ? bytes <= *left : in_symbol(address, bytes);
}

cudaError_t allocate(void** memory, std::size_t bytes) {
  if (const cudaError_t error = enter(); error != cudaSuccess) {
    return error;
  }
  if (memory == nullptr) {
    return keep(cudaErrorInvalidValue);
  }
  *memory = nullptr;
  if (bytes == 0) {
    return cudaSuccess;
  }
  // As much alignment as leaves no room behind the last byte: cudaMalloc promises 256, but the first access past the
  // end must be a fault.
  std::size_t alignment = 16;
  while (alignment < 256 && bytes % (2 * alignment) == 0) {
    alignment *= 2;
  }
  try {
    *memory = allocate_global(bytes, alignment, 0);
  } catch (const std::bad_alloc&) {
    return keep(cudaErrorMemoryAllocation);
  }
  return cudaSuccess;
}

cudaError_t copy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (const cudaError_t error = enter(); error != cudaSuccess) {
    return error;
  }
  if (bytes == 0) {
    return cudaSuccess;
  }
  if (kind < cudaMemcpyHostToHost || kind > cudaMemcpyDefault) {
    return keep(cudaErrorInvalidMemcpyDirection);
  }
  // Whichever side is device memory must hold all of it, and the side that the direction names must be device memory.
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  const auto fits = [bytes](const void* side, bool device) {
    return side != nullptr && (device || global_bytes_from(side) ? on_device(side, bytes) : true);
  };
  if (!fits(to, to_device) || !fits(from, from_device)) {
    return keep(cudaErrorInvalidValue);
  }
  std::memmove(to, from, bytes);
  return cudaSuccess;
}

}  // namespace

void set_launch_schedule(std::uint64_t schedule) noexcept {
  runtime().schedule_is_set = true;
  runtime().schedule = schedule;
  seed_global_poison(schedule);
}

void register_symbol(void* symbol, std::size_t bytes) {
  runtime().symbols[symbol] = bytes;
}

cudaError_t copy_symbol(void* to, const void* from, std::size_t bytes, std::size_t offset, std::size_t symbol_bytes,
                        bool into_symbol) {
  if (const cudaError_t error = enter(); error != cudaSuccess) {
    return error;
  }
  if (offset > symbol_bytes || bytes > symbol_bytes - offset || to == nullptr || from == nullptr) {
    return keep(cudaErrorInvalidValue);
  }
  if (into_symbol) {
    std::memcpy(static_cast<std::byte*>(to) + offset, from, bytes);
  } else {
    std::memcpy(to, static_cast<const std::byte*>(from) + offset, bytes);
  }
  return cudaSuccess;
}

cudaError_t set_dynamic_shared_limit(const void* kernel, cudaFuncAttribute attribute, int value) {
  if (const cudaError_t error = enter(); error != cudaSuccess) {
    return error;
  }
  if (kernel == nullptr) {
    return keep(cudaErrorInvalidDeviceFunction);
  }
  if (attribute == cudaFuncAttributeMaxDynamicSharedMemorySize) {
    if (value < 0 || static_cast<std::size_t>(value) > kSharedLimit) {
      return keep(cudaErrorInvalidValue);
    }
    runtime().dynamic_limit[kernel] = static_cast<std::size_t>(value);
  }
  return cudaSuccess;
}

void launch_by_chevron(const Grid& grid, const ChevronSite& where) {
  refuse_in_kernel(where.site);
  if (enter() != cudaSuccess) {
    return;
  }
  Runtime& state = runtime();
  const auto refuse = [&](cudaError_t error, const char* reason) {
    std::fprintf(stderr, "kvwitness simt: %s:%d: not launched: %s\n", where.site.file, where.site.line, reason);
    keep(error);
  };
  if (where.has_address && where.kernel == nullptr) {
    refuse(cudaErrorInvalidDeviceFunction, "the kernel is a null pointer");
    return;
  }
  std::size_t limit = kDefaultSharedLimit;
  for (const auto& [kernel, bytes] : state.dynamic_limit) {
    // Without an address, the limit of any kernel.
    limit = !where.has_address || kernel == where.kernel ? std::max(limit, bytes) : limit;
  }
  if (grid.config.dynamic_shared_bytes > limit) {
    refuse(cudaErrorInvalidValue,
           "more than 48 KiB of dynamic shared memory needs cudaFuncSetAttribute("
           "kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes)");
    return;
  }
  Grid scheduled = grid;
  scheduled.config.schedule = state.schedule;
  scheduled.config.max_dynamic_shared_bytes = limit;
  const Report report = run(scheduled);
  if (report.ok()) {
    return;
  }
  if (report.faults.size() == 1 && report.faults[0].kind == Fault::Kind::kBadLaunch) {
    refuse(cudaErrorInvalidConfiguration, report.faults[0].message.c_str());
    return;
  }
  std::fprintf(stderr, "kvwitness simt: the launch at %s:%d: %s\n", where.site.file, where.site.line,
               report.to_string().c_str());
  break_device();
}

std::uint64_t clock_ticks() {
  static std::uint64_t ticks = 0;
  calling_thread();
  relinquish();
  return ticks += 16;
}

unsigned int lane_id() {
  return calling_thread().index % 32;
}

void outside_kernel() {
  std::fflush(nullptr);
  std::fputs(
      "kvwitness simt: a device function was called outside of a kernel (threadIdx, a barrier, a collective, an "
      "atomic, "
      "dynamic shared memory); launch it with <<<>>> or simt::launch\n",
      stderr);
  std::_Exit(1);
}

}  // namespace kvwitness::simt::detail

using kvwitness::simt::detail::allocate;
using kvwitness::simt::detail::enter;
using kvwitness::simt::detail::keep;
using kvwitness::simt::detail::runtime;

// ---- Errors --------------------------------------------------------------------------------------------------------------------------

cudaError_t cudaPeekAtLastError() {
  const cudaError_t error = enter();
  return error != cudaSuccess ? error : runtime().last;
}

cudaError_t cudaGetLastError() {
  const cudaError_t error = cudaPeekAtLastError();
  runtime().last = cudaSuccess;
  return error;
}

namespace {

struct ErrorText {
  cudaError_t error;
  const char* name;
  const char* text;
};
constexpr ErrorText kErrorTexts[] = {
    {cudaSuccess, "cudaSuccess", "no error"},
    {cudaErrorInvalidValue, "cudaErrorInvalidValue", "an argument is outside of what the call accepts"},
    {cudaErrorMemoryAllocation, "cudaErrorMemoryAllocation", "the memory could not be had"},
    {cudaErrorInitializationError, "cudaErrorInitializationError", "no start"},
    {cudaErrorInvalidConfiguration, "cudaErrorInvalidConfiguration", "no device can run this grid or block"},
    {cudaErrorInvalidSymbol, "cudaErrorInvalidSymbol", "no such symbol"},
    {cudaErrorInvalidMemcpyDirection, "cudaErrorInvalidMemcpyDirection", "no such direction of a copy"},
    {cudaErrorInvalidDeviceFunction, "cudaErrorInvalidDeviceFunction", "no such kernel"},
    {cudaErrorNoDevice, "cudaErrorNoDevice", "no device"},
    {cudaErrorInvalidDevice, "cudaErrorInvalidDevice", "no such device"},
    {cudaErrorInvalidResourceHandle, "cudaErrorInvalidResourceHandle", "no such stream or event"},
    {cudaErrorNotReady, "cudaErrorNotReady", "not finished yet"},
    {cudaErrorIllegalAddress, "cudaErrorIllegalAddress", "a kernel accessed a bad address"},
    {cudaErrorAssert, "cudaErrorAssert", "an assertion failed in a kernel"},
    {cudaErrorMisalignedAddress, "cudaErrorMisalignedAddress", "a kernel accessed a misaligned address"},
    {cudaErrorLaunchFailure, "cudaErrorLaunchFailure", "a kernel had a fault, which the executor has printed"},
    {cudaErrorNotSupported, "cudaErrorNotSupported", "the executor does not serve this call"},
};

const ErrorText* text_of(cudaError_t error) {
  const auto* const found = std::find_if(std::begin(kErrorTexts), std::end(kErrorTexts),
                                         [error](const ErrorText& e) { return e.error == error; });
  return found == std::end(kErrorTexts) ? nullptr : found;
}

}  // namespace

const char* cudaGetErrorName(cudaError_t error) {
  const ErrorText* const found = text_of(error);
  return found != nullptr ? found->name : "cudaErrorUnknown";
}

const char* cudaGetErrorString(cudaError_t error) {
  const ErrorText* const found = text_of(error);
  return found != nullptr ? found->text : "an error without a name";
}

// ---- The device -----------------------------------------------------------------------------------------------------------------------

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return enter();
}

cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return enter();
}

cudaError_t cudaSetDevice(int device) {
  const cudaError_t error = enter();
  return error != cudaSuccess ? error : device == 0 ? cudaSuccess : keep(cudaErrorInvalidDevice);
}

cudaError_t cudaDeviceReset() {
  return cudaDeviceSynchronize();
}

cudaError_t cudaDeviceSynchronize() {
  kvwitness::simt::synchronize();
  return enter();
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (const cudaError_t error = cudaSetDevice(device); error != cudaSuccess) {
    return error;
  }
  *properties = {};
  std::snprintf(properties->name, sizeof(properties->name), "kvwitness simt, an executor on the CPU");
  properties->totalGlobalMem = std::size_t{1} << 33;
  properties->sharedMemPerBlock = kvwitness::simt::detail::kDefaultSharedLimit;
  properties->sharedMemPerBlockOptin = kvwitness::simt::detail::kSharedLimit;
  properties->regsPerBlock = 65536;
  properties->warpSize = warpSize;
  properties->maxThreadsPerBlock = 1024;
  properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = 1024;
  properties->maxThreadsDim[2] = 64;
  properties->maxGridSize[0] = 0x7FFFFFFF;
  properties->maxGridSize[1] = properties->maxGridSize[2] = 65535;
  properties->major = 9;
  properties->multiProcessorCount = 2;  // blocks that the executor has at hand
  properties->maxThreadsPerMultiProcessor = 1024;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  cudaDeviceProp properties;
  if (const cudaError_t error = cudaGetDeviceProperties(&properties, device); error != cudaSuccess) {
    return error;
  }
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
      *value = properties.maxThreadsPerBlock;
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = static_cast<int>(properties.sharedMemPerBlock);
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = static_cast<int>(properties.sharedMemPerBlockOptin);
      return cudaSuccess;
    case cudaDevAttrWarpSize:
      *value = properties.warpSize;
      return cudaSuccess;
    case cudaDevAttrMultiProcessorCount:
      *value = properties.multiProcessorCount;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor:
      *value = properties.major;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
      *value = properties.minor;
      return cudaSuccess;
  }
  return keep(cudaErrorInvalidValue);
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  return cudaRuntimeGetVersion(version);
}

// ---- The checks of streams and events ------------------------------------------------------------------------------------------------

namespace {

bool is_stream(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy || stream == cudaStreamPerThread ||
         runtime().streams.count(stream) != 0;
}

// Two streams that share a number count as ordered. A stream of cudaStreamNonBlocking is one like the others.
constexpr unsigned int kStreamOfTheThread = kvwitness::simt::kStreams - 1;
unsigned int number_of(cudaStream_t stream) {
  return stream == nullptr || stream == cudaStreamLegacy ? 0
         : stream == cudaStreamPerThread                 ? kStreamOfTheThread
                                                         : stream->number;
}

cudaError_t check_stream(cudaStream_t stream) {
  const cudaError_t error = enter();
  return error != cudaSuccess ? error : is_stream(stream) ? cudaSuccess : keep(cudaErrorInvalidResourceHandle);
}

cudaError_t check_event(cudaEvent_t event) {
  const cudaError_t error = enter();
  return error != cudaSuccess                 ? error
         : runtime().events.count(event) != 0 ? cudaSuccess
                                              : keep(cudaErrorInvalidResourceHandle);
}

}  // namespace

namespace kvwitness::simt::detail {

unsigned int stream_number(cudaStream_t stream) {
  return is_stream(stream) ? number_of(stream) : kStreams;
}

}  // namespace kvwitness::simt::detail

// ---- Memory ---------------------------------------------------------------------------------------------------------------------------

cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  return allocate(memory, bytes);
}
cudaError_t cudaMallocManaged(void** memory, std::size_t bytes, unsigned int) {
  return allocate(memory, bytes);
}
cudaError_t cudaMallocAsync(void** memory, std::size_t bytes, cudaStream_t) {
  return allocate(memory, bytes);
}

// Pinned memory is the host's, and kernels may access it.
cudaError_t cudaMallocHost(void** memory, std::size_t bytes, unsigned int) {
  const cudaError_t error = allocate(memory, bytes);
  if (error == cudaSuccess && *memory != nullptr) {
    runtime().host_memory.insert(*memory);
  }
  return error;
}
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned int flags) {
  return cudaMallocHost(memory, bytes, flags);
}

cudaError_t cudaFree(void* memory) {
  if (const cudaError_t error = enter(); error != cudaSuccess) {
    return error;
  }
  kvwitness::simt::synchronize();
  if (memory == nullptr) {
    return cudaSuccess;
  }
  if (runtime().host_memory.count(memory) != 0 || !kvwitness::simt::detail::is_global(memory)) {
    return keep(cudaErrorInvalidValue);
  }
  kvwitness::simt::detail::release_global(memory);
  return cudaSuccess;
}
cudaError_t cudaFreeAsync(void* memory, cudaStream_t) {
  return cudaFree(memory);
}
cudaError_t cudaFreeHost(void* memory) {
  if (memory != nullptr && runtime().host_memory.erase(memory) == 0) {
    return keep(cudaErrorInvalidValue);
  }
  return cudaFree(memory);
}

// The host does the work of a copy, after what was launched before: on every stream, or on the copy's own.
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  kvwitness::simt::synchronize();
  return kvwitness::simt::detail::copy(to, from, bytes, kind);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  const cudaError_t error = cudaStreamSynchronize(stream);
  return error != cudaSuccess ? error : kvwitness::simt::detail::copy(to, from, bytes, kind);
}
cudaError_t cudaMemset(void* memory, int value, std::size_t bytes) {
  return cudaMemsetAsync(memory, value, bytes, nullptr);
}
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  if (const cudaError_t error = cudaStreamSynchronize(stream); error != cudaSuccess) {
    return error;
  }
  if (bytes != 0 && !kvwitness::simt::detail::on_device(memory, bytes)) {
    return keep(cudaErrorInvalidValue);
  }
  if (bytes != 0) {
    std::memset(memory, value, bytes);
  }
  return cudaSuccess;
}

// ---- Streams and events ----------------------------------------------------------------------------------------------------------------

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int) {
  if (const cudaError_t error = enter(); error != cudaSuccess) {
    return error;
  }
  *stream = new CUstream_st{1 + runtime().streams_made++ % (kStreamOfTheThread - 1)};
  runtime().streams.insert(*stream);
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (runtime().streams.erase(stream) == 0) {
    return keep(cudaErrorInvalidResourceHandle);
  }
  delete stream;
  return enter();
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  const cudaError_t error = check_stream(stream);
  if (error == cudaSuccess) {
    kvwitness::simt::synchronize(number_of(stream));
  }
  return error;
}
cudaError_t cudaStreamQuery(cudaStream_t stream) {
  return cudaStreamSynchronize(stream);
}
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int) {
  if (const cudaError_t error = check_stream(stream); error != cudaSuccess) {
    return error;
  }
  const cudaError_t error = check_event(event);
  if (error == cudaSuccess) {
    kvwitness::simt::detail::wait_for_event(number_of(stream), event->edge);
  }
  return error;
}
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int) {
  if (const cudaError_t error = enter(); error != cudaSuccess) {
    return error;
  }
  *event = new CUevent_st{};
  runtime().events.insert(*event);
  return cudaSuccess;
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (runtime().events.erase(event) == 0) {
    return keep(cudaErrorInvalidResourceHandle);
  }
  delete event;
  return enter();
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (const cudaError_t error = check_stream(stream); error != cudaSuccess) {
    return error;
  }
  if (const cudaError_t error = check_event(event); error != cudaSuccess) {
    return error;
  }
  event->recorded = std::chrono::steady_clock::now();
  kvwitness::simt::detail::record_event(event->edge, number_of(stream));
  return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const cudaError_t error = check_event(event);
  if (error == cudaSuccess) {
    kvwitness::simt::detail::tsan_acquire(&event->edge);
  }
  return error;
}
cudaError_t cudaEventQuery(cudaEvent_t event) {
  return cudaEventSynchronize(event);
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t stop) {
  for (CUevent_st* const event : {start, stop}) {
    if (const cudaError_t error = check_event(event); error != cudaSuccess) {
      return error;
    }
    if (!event->recorded) {
      return keep(cudaErrorInvalidResourceHandle);
    }
  }
  *milliseconds = std::chrono::duration<float, std::milli>(*stop->recorded - *start->recorded).count();
  return cudaSuccess;
}
