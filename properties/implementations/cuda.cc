// The CUDA kernels on a GPU: cuda-block and cuda-warp. Built where nvcc is; cuda_absent.cc stands in
// elsewhere.
#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <kvwitness/legality.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "kernels/src/launch.h"
#include "properties/case/implementation.h"
#include "properties/implementations/cuda_call.h"
#include "properties/implementations/registry.h"
#include "properties/sandbox/host_implementation.h"
#include "properties/sandbox/system_calls.h"

namespace kvwitness::harness {
namespace {

// The first CUDA error of a sequence of calls, as a sentence; "" while there is none.
class CudaErrors {
 public:
  bool ok() const noexcept { return message_.empty(); }
  const std::string& message() const noexcept { return message_; }
  bool check(const char* call, cudaError_t error) {
    if (error != cudaSuccess && ok()) {
      message_ = std::string(call) + ": " + cudaGetErrorName(error) + " (" + cudaGetErrorString(error) + ")";
    }
    return ok();
  }

 private:
  std::string message_;
};

// A host buffer's copy on the device, at the same distance from a 64-byte boundary and between canaries.
class DeviceCopy {
 public:
  DeviceCopy(std::span<const std::int32_t> host, CudaErrors& errors) : host_(host), errors_(errors) {
    const auto offset = reinterpret_cast<std::uintptr_t>(host.data()) % 64 / sizeof(std::int32_t);
    before_ = kCanaries + offset;
    bytes_ = (before_ + host.size() + kCanaries) * sizeof(std::int32_t);
    std::vector<std::int32_t> all(bytes_ / sizeof(std::int32_t), kCanary);
    std::ranges::copy(host, all.begin() + static_cast<std::ptrdiff_t>(before_));
    void* memory = nullptr;
    if (errors_.check("cudaMalloc", cudaMalloc(&memory, bytes_))) {
      memory_ = static_cast<std::int32_t*>(memory);
      errors_.check("cudaMemcpy", cudaMemcpy(memory_, all.data(), bytes_, cudaMemcpyHostToDevice));
    }
  }
  DeviceCopy(const DeviceCopy&) = delete;
  DeviceCopy& operator=(const DeviceCopy&) = delete;
  ~DeviceCopy() { cudaFree(memory_); }

  std::int32_t* data() const noexcept { return memory_ == nullptr ? nullptr : memory_ + before_; }

  // The contents now; "" or what happened to the canaries.
  std::string read(std::vector<std::int32_t>& contents) const {
    std::vector<std::int32_t> all(bytes_ / sizeof(std::int32_t));
    if (!errors_.check("cudaMemcpy", cudaMemcpy(all.data(), memory_, bytes_, cudaMemcpyDeviceToHost))) {
      return "";
    }
    const auto first = all.begin() + static_cast<std::ptrdiff_t>(before_);
    const auto last = first + static_cast<std::ptrdiff_t>(host_.size());
    contents.assign(first, last);
    const auto is_canary = [](std::int32_t value) { return value == kCanary; };
    return std::all_of(all.begin(), first, is_canary) && std::all_of(last, all.end(), is_canary)
               ? ""
               : "the kernel wrote outside a buffer on the device";
  }

 private:
  static constexpr std::size_t kCanaries = 1024;  // a multiple of 16, so that the offset is kept
  static constexpr std::int32_t kCanary = 0x0C0FFEE0;

  std::span<const std::int32_t> host_;
  CudaErrors& errors_;
  std::size_t before_ = 0;
  std::size_t bytes_ = 0;
  std::int32_t* memory_ = nullptr;
};

// Whether the CUDA runtime finds a GPU, asked in a process of its own: one that has initialised CUDA may not fork any
// more.
Availability probe() {
  if (dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL) == nullptr) {
    return {false, "no NVIDIA driver is installed (libcuda.so.1 was not found)"};
  }
  const pid_t child = fork();
  if (child < 0) {
    return {false, "no process to look for a GPU in could be started"};
  }
  if (child == 0) {
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    _exit(error != cudaSuccess ? 1 : count == 0 ? 2 : 0);
  }
  int status = 0;
  if (wait_for(child, &status) != child || !WIFEXITED(status)) {
    return {false, "looking for a GPU ended in a crash"};
  }
  return WEXITSTATUS(status) == 0 ? Availability{}
                                  : Availability{false, "the CUDA runtime finds no GPU that it can use"};
}

class CudaImplementation final : public HostImplementation {
 public:
  CudaImplementation(std::string name, kernels::Variant variant) : name_(std::move(name)), variant_(variant) {}

  std::string name() const override { return name_; }
  std::span<const std::unique_ptr<Implementation>> peers() const override { return runnable_backends(); }

  Availability availability() const override {
    static const Availability found = probe();
    return found;
  }

  // Whole spans travel to the device and back.
  bool supports(const Case& value) const override {
    return is_cuda_case(value) && (!is_legal(value) || extent_of(value).spanned <= kMaxTouchedElements);
  }

  Answer call(const Call& call) override {
    const LengthsForm lengths(call.context_lens, call.rows, fingerprint(call));
    const kvw_cuda_lengths described = lengths.at(lengths.lens().data(), lengths.starts().data());
    const CudaPlan planned = plan_call(call, described, const_cast<std::int32_t*>(call.learned), call.out);
    if (planned.status != KVW_OK) {
      return {planned.status, kernels::last_error()};
    }
    if (!planned.merge && !planned.indices.few && !planned.indices.many) {
      return {KVW_OK, ""};
    }
    return run_on_device(call, lengths);
  }

 private:
  Answer run_on_device(const Call& call, const LengthsForm& lengths) const {
    CudaErrors errors;
    const auto token_count = static_cast<std::size_t>(call.topk == 0 ? 0 : covered_elements(call));
    const std::span<const std::int32_t> tokens(call.learned, token_count);
    const bool in_place = call.out == call.learned;
    const std::size_t output_count =
        call.operation == Operation::kWitnesses ? static_cast<std::size_t>(call.rows * call.num_segments) : token_count;
    const DeviceCopy learned(tokens, errors);
    const DeviceCopy output(std::span<const std::int32_t>(call.out, in_place ? 0 : output_count), errors);
    const DeviceCopy lens(lengths.lens(), errors);
    const DeviceCopy starts(lengths.starts(), errors);
    if (errors.ok()) {
      const CudaPlan plan = plan_call(call, lengths.at(lens.data(), starts.data()), learned.data(),
                                      in_place ? learned.data() : output.data());
      kvw_status status = plan.status;
      if (status == KVW_OK) {
        status = plan.merge ? kernels::launch(plan.merge, variant_, nullptr)
                            : kernels::launch(plan.indices, variant_, nullptr);
      }
      if (status != KVW_OK) {
        return {status, kernels::last_error()};
      }
      errors.check("cudaDeviceSynchronize", cudaDeviceSynchronize());
    }
    return collect(call, errors, tokens, learned, in_place ? learned : output, lens, lengths.lens());
  }

  // Writes the result over the call's output and says what else the kernel changed.
  static Answer collect(const Call& call, CudaErrors& errors, std::span<const std::int32_t> tokens,
                        const DeviceCopy& learned, const DeviceCopy& output, const DeviceCopy& lens,
                        const std::vector<std::int32_t>& given_lens) {
    std::vector<std::int32_t> result;
    std::vector<std::int32_t> learned_now;
    std::vector<std::int32_t> lens_now;
    std::string stray = output.read(result);
    for (const std::string& found : {learned.read(learned_now), lens.read(lens_now)}) {
      stray = stray.empty() ? found : stray;
    }
    if (!errors.ok()) {
      return {KVW_CUDA, errors.message()};
    }
    if (lens_now != given_lens || (&learned != &output && !std::ranges::equal(learned_now, tokens))) {
      stray = "the kernel changed one of its inputs";
    }
    std::ranges::copy(result, call.out);
    return stray.empty() ? Answer{KVW_OK, ""} : Answer{KVW_CUDA, stray};
  }

  std::string name_;
  kernels::Variant variant_;
};

}  // namespace

std::vector<std::unique_ptr<Implementation>> make_cuda() {
  std::vector<std::unique_ptr<Implementation>> made;
  made.push_back(std::make_unique<CudaImplementation>("cuda-block", kernels::Variant::kBlock));
  made.push_back(std::make_unique<CudaImplementation>("cuda-warp", kernels::Variant::kWarp));
  return made;
}

}  // namespace kvwitness::harness
