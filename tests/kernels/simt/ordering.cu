// What orders memory and what does not: each case is a few threads that pass a value through memory. `ordering CASE
// [SCHEDULE]`. A comment marks the line at which ThreadSanitizer must report the case of that name; the cases without
// one must be clean.
#include <cuda_runtime.h>
#include <kvwitness/simt.h>

#include <cstring>

namespace simt = kvwitness::simt;

namespace {

__device__ bool is_thread(unsigned index) {
  return threadIdx.x == index;
}

// ---- Warp collectives carry values and order no memory ----

__global__ void pass_by_syncwarp(int* out) {
  __shared__ int box;
  if (is_thread(0)) {
    box = 5;
  }
  __syncwarp();
  if (is_thread(1)) {
    *out = box;
  }
}

__global__ void pass_by_ballot(int* out) {
  __shared__ int box;
  if (is_thread(0)) {
    box = 5;
  }
  const unsigned all = __ballot_sync(0xFFFFFFFFu, 1);
  if (is_thread(1)) {
    *out = box + static_cast<int>(all & 0u);  // control ballot
  }
}

// ---- A __syncwarp orders the lanes that it names and no others ----

// Two halves of a warp meet apart, the upper half after the lower one; later in time is no order.
__global__ void pass_between_halves(int* out) {
  __shared__ int box;
  if (is_thread(0)) {
    box = 5;
  }
  while (threadIdx.x >= 16 && atomicAdd(&out[1], 0) == 0) {
  }
  __syncwarp(threadIdx.x < 16 ? 0x0000FFFFu : 0xFFFF0000u);
  if (is_thread(0)) {
    atomicExch(&out[1], 1);
  }
  if (is_thread(16)) {
    *out = box;  // control halves
  }
}

__global__ void pass_within_half(int* out) {
  __shared__ int box;
  if (is_thread(0)) {
    box = 5;
  }
  __syncwarp(threadIdx.x < 16 ? 0x0000FFFFu : 0xFFFF0000u);
  if (is_thread(15)) {
    *out = box;
  }
}

// ---- A barrier does not order what comes after it ----

__global__ void pass_after_syncwarp(int* out) {
  __shared__ int box;
  __syncwarp();
  if (is_thread(0)) {
    box = 5;
  }
  if (is_thread(1)) {
    *out = box;  // control after-syncwarp
  }
  __syncwarp();
}

__global__ void pass_after_syncthreads(int* out) {
  __shared__ int box;
  __syncthreads();
  if (is_thread(0)) {
    box = 5;
  }
  if (is_thread(40)) {
    *out = box;  // control after-syncthreads
  }
  __syncthreads();
}

__global__ void pass_by_voting_barrier(int* out) {
  __shared__ int box;
  if (is_thread(0)) {
    box = 5;
  }
  const int voters = __syncthreads_count(1);
  if (is_thread(40)) {
    *out = box + 0 * voters;
  }
}

// ---- Blocks have no order between them ----

__global__ void write_by_every_block(int* out) {
  if (is_thread(0)) {
    *out = 5;  // control blocks
  }
}

// The last block to finish reads what the others wrote (the CUDA guide's threadFenceReduction).
template <bool kWriterFences, bool kReaderFences>
__global__ void sum_by_last_block(int* parts, unsigned* finished, int* out) {
  if (!is_thread(0)) {
    return;
  }
  parts[blockIdx.x] = 5;
  if constexpr (kWriterFences) {
    __threadfence();
  }
  if (atomicAdd(finished, 1u) + 1 != gridDim.x) {
    return;
  }
  if constexpr (kReaderFences) {
    __threadfence();
  }
  int sum = 0;
  for (unsigned i = 0; i < gridDim.x; ++i) {
    sum += parts[i];  // control no-writer-fence, control no-reader-fence
  }
  *out = sum / static_cast<int>(gridDim.x);
}

// ---- Programmatic dependent launch ----

__global__ void produce(int* box) {
  cudaTriggerProgrammaticLaunchCompletion();
  if (is_thread(0)) {
    box[blockIdx.x] = 5;
  }
}

template <bool kEarly>
__global__ void consume(const int* box, int* out) {
  if (!is_thread(0)) {
    return;
  }
  int value = 0;
  if constexpr (kEarly) {
    value = *box;  // control dependent
  }
  cudaGridDependencySynchronize();
  out[blockIdx.x] = kEarly ? value : *box;
}

simt::Config config_of(unsigned blocks, unsigned threads, std::uint64_t schedule) {
  simt::Config config;
  config.grid = blocks;
  config.block = threads;
  config.schedule = schedule;
  return config;
}

std::string run_case(const char* name, std::uint64_t schedule) {
  const auto is = [name](const char* other) { return std::strcmp(name, other) == 0; };
  simt::GlobalBuffer<int> out(4, 0), box(4, 0);
  simt::GlobalBuffer<unsigned> finished(1, 0);
  simt::Report report;
  const auto one = [&](void (*kernel)(int*), unsigned blocks, unsigned threads) {
    report = simt::launch(config_of(blocks, threads, schedule), kernel, out.data());
  };
  if (is("syncwarp")) {
    one(pass_by_syncwarp, 1, 32);
  } else if (is("ballot")) {
    one(pass_by_ballot, 1, 32);
  } else if (is("halves")) {
    one(pass_between_halves, 1, 32);
  } else if (is("half")) {
    one(pass_within_half, 1, 32);
  } else if (is("after-syncwarp")) {
    one(pass_after_syncwarp, 1, 32);
  } else if (is("after-syncthreads")) {
    one(pass_after_syncthreads, 1, 64);
  } else if (is("voting-barrier")) {
    one(pass_by_voting_barrier, 1, 64);
  } else if (is("blocks")) {
    one(write_by_every_block, 2, 32);
  } else if (is("fence") || is("no-writer-fence") || is("no-reader-fence")) {
    const auto kernel = is("fence")             ? sum_by_last_block<true, true>
                        : is("no-writer-fence") ? sum_by_last_block<false, true>
                                                : sum_by_last_block<true, false>;
    report = simt::launch(config_of(2, 32, schedule), kernel, box.data(), finished.data(), out.data());
  } else if (is("dependent") || is("dependent-wait")) {
    const auto producer = simt::prepare(config_of(2, 32, schedule), produce, box.data());
    const auto consumer = simt::prepare(config_of(3, 32, schedule), is("dependent") ? consume<true> : consume<false>,
                                        box.data(), out.data());
    report = simt::launch_overlapped(producer, consumer);
  } else {
    return std::string("no case of the name ") + name;
  }
  if (!report.ok()) {
    return report.to_string();
  }
  return out[0] == 5 ? "" : "out[0] is " + std::to_string(out[0]) + ", not 5";
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    return 2;
  }
  const char* const name = argv[1];
  argv[1] = argv[0];
  return simt::run_schedules(argc - 1, argv + 1, 20,
                             [name](std::uint64_t schedule) { return run_case(name, schedule); });
}
