// Small kernels, each right and broken, of the mistakes that CUDA lets pass. `verdicts CASE right|broken [SCHEDULE]`, `verdicts all right`. A
// comment marks the line at which the broken version must be reported.
#include <cuda_runtime.h>
#include <kvwitness/simt.h>
#include <kvwitness/simt/view.h>

#include <cstring>
#include <functional>

namespace simt = kvwitness::simt;

namespace {

constexpr unsigned kFull = 0xFFFFFFFFu;

__device__ int lane() {
  return static_cast<int>(threadIdx.x);
}

// ---- Races ---------------------------------------------------------------------------------------------------------

template <bool kBroken>
__global__ void neighbours(int* out) {
  __shared__ int box[1024];
  box[lane()] = lane();
  if constexpr (!kBroken) {
    __syncthreads();
  }
  const int value = box[(threadIdx.x + blockDim.x / 2) % blockDim.x];  // control neighbours
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

template <bool kBroken>
__global__ void lockstep(int* out) {
  __shared__ int box[32];
  box[lane()] = lane();
  if constexpr (!kBroken) {
    __syncwarp();
  }
  out[lane()] = box[(lane() + 1) % 32] == (lane() + 1) % 32 ? 1 : 0;  // control lockstep
}

template <bool kBroken>
__global__ void lockstep_by_volatile(int* out) {
  __shared__ volatile int box[64];
  box[lane()] = 1;
  box[lane() + 32] = 1;
  __syncwarp();
  for (int reach = 32; reach > 0; reach /= 2) {
    const int other = lane() + reach < 64 ? box[lane() + reach] : 0;  // control lockstep_by_volatile
    const int sum = box[lane()] + other;
    if constexpr (!kBroken) {
      __syncwarp();
    }
    box[lane()] = sum;
    if constexpr (!kBroken) {
      __syncwarp();
    }
  }
  out[lane()] = lane() == 0 ? box[0] : 0;
}

template <bool kBroken>
__global__ void same_value(int* out) {
  __shared__ int flag;
  if (kBroken || lane() == 0) {
    flag = static_cast<int>(blockDim.x);  // control same_value
  }
  __syncthreads();
  out[lane()] = flag;
}

template <bool kBroken>
__global__ void scratch_again(int* out) {
  __shared__ int scratch[4];
  int sum = 0;
  for (int row = 0; row < 3; ++row) {
    if (lane() % 32 == 0) {
      scratch[lane() / 32] = row;  // control scratch_again
    }
    __syncthreads();
    sum += scratch[0] + scratch[1] + scratch[2] + scratch[3];  // control scratch_again
    if constexpr (!kBroken) {
      __syncthreads();
    }
  }
  out[lane()] = sum;
}

template <bool kBroken>
__global__ void plain_increment(int* out) {
  __shared__ int bins[4];
  if (lane() < 4) {
    bins[lane()] = 0;
  }
  __syncthreads();
  if constexpr (kBroken) {
    bins[lane() % 4]++;  // control plain_increment
  } else {
    atomicAdd(&bins[lane() % 4], 1);
  }
  __syncthreads();
  out[lane()] = bins[lane() % 4];
}

template <bool kBroken>
__global__ void atomic_and_plain(int* out) {
  __shared__ int count;
  if (lane() == 0) {
    count = 0;
  }
  __syncthreads();
  atomicAdd(&count, 1);
  if constexpr (!kBroken) {
    __syncthreads();
  }
  out[lane()] = lane() == 40 ? count : 64;  // control atomic_and_plain
}

// Lane 31 reads unordered with what lane 0 writes later; the others have read too, in order.
template <bool kBroken>
__global__ void reader_among_many(int* out) {
  __shared__ int box;
  if (lane() == 0) {
    box = 5;
  }
  __syncwarp();
  int sum = box;  // control reader_among_many
  const unsigned apart = lane() < 31 ? 0x7FFFFFFFu : 0x80000000u;
  for (int round = 0; round < 5; ++round) {
    __syncwarp(apart);
    sum += lane() < 31 ? box : 0;
  }
  __syncwarp(kBroken ? apart : kFull);
  if (lane() == 0) {
    box = 7;  // control reader_among_many
  }
  out[lane()] = sum > 0 ? 1 : 0;
}

template <bool kBroken>
__global__ void blocks_count(int* out) {
  if (lane() == 0) {
    if constexpr (kBroken) {
      ++*out;  // control blocks_count
    } else {
      atomicAdd(out, 1);
    }
  }
}

// Two large blocks that write one value, after a barrier.
template <bool kBroken>
__global__ void large_blocks(int* out, int* box) {
  __syncthreads();
  if (lane() == 7) {
    box[kBroken ? 0 : blockIdx.x] = 5;  // control large_blocks
  }
  __syncthreads();
  if (lane() == 0 && blockIdx.x == 0) {
    out[0] = 5;
  }
}

// Of three blocks, the first and the last meet.
template <bool kBroken>
__global__ void blocks_apart(int* out, int* box) {
  if (lane() == 0 && blockIdx.x == 0) {
    *box = 1;  // control blocks_apart
  }
  if (lane() == 0 && blockIdx.x == 2) {
    out[0] = kBroken && *box < -5 ? 2 : 1;  // control blocks_apart
  }
}

// ---- Order ---------------------------------------------------------------------------------------------------------

__device__ void wait_for(int* flag) {
  while (atomicAdd(flag, 0) == 0) {
  }
  __threadfence();
}

template <bool kBroken>
__global__ void one_fence_for_two(int* out, int* box) {
  int* const flags = box + 2;
  if (lane() == 0) {
    box[0] = 1;
    __threadfence();
    atomicExch(&flags[0], 1);
    box[1] = 2;  // control one_fence_for_two
    if constexpr (!kBroken) {
      __threadfence();
    }
    atomicExch(&flags[1], 1);
  }
  if (lane() == 32) {
    wait_for(&flags[0]);
    const int first = box[0];
    wait_for(&flags[1]);
    out[0] = first + box[1];  // control one_fence_for_two
  }
}

template <bool kBroken>
__global__ void fence_too_early(int* out, int* box) {
  if (lane() == 0) {
    if constexpr (kBroken) {
      __threadfence();
    }
    box[0] = 1;  // control fence_too_early
    if constexpr (!kBroken) {
      __threadfence();
    }
    atomicExch(&box[1], 1);
  }
  if (lane() == 32) {
    wait_for(&box[1]);
    out[0] = box[0];  // control fence_too_early
  }
}

template <bool kBroken>
__global__ void no_fence(int* out, int* box) {
  if (lane() == 0) {
    box[0] = 1;  // control no_fence
    if constexpr (!kBroken) {
      __threadfence();
    }
    atomicExch(&box[1], 1);
  }
  if (lane() == 32) {
    wait_for(&box[1]);
    out[0] = box[0];  // control no_fence
  }
}

// Two flags after one fence: each publishes what came before the fence.
template <bool kBroken>
__global__ void one_fence_two_flags(int* out, int* box) {
  if (lane() == 0) {
    box[0] = 1;  // control one_fence_two_flags
    if constexpr (!kBroken) {
      __threadfence();
    }
    atomicExch(&box[1], 1);
    atomicExch(&box[2], 1);
  }
  if (lane() == 32 || lane() == 64) {
    wait_for(&box[lane() / 32]);
    out[lane() / 32 - 1] = box[0];  // control one_fence_two_flags
  }
}

template <bool kBroken>
__global__ void volatile_flag(int* out, int* box) {
  volatile int* const flag = box + 1;
  if (lane() == 0) {
    box[0] = 1;  // control volatile_flag
    if constexpr (!kBroken) {
      __threadfence();
    }
    *flag = 1;
  }
  if (lane() == 32) {
    while (*flag == 0) {
      __nanosleep(20);
    }
    __threadfence();
    out[0] = box[0];  // control volatile_flag
  }
}

// Without a pause, which is right as well.
__global__ void volatile_poll(int* out, int* box) {
  volatile int* const flag = box + 1;
  if (lane() == 0) {
    box[0] = 1;
    __threadfence();
    *flag = 1;
  }
  if (lane() == 32) {
    while (*flag == 0) {
    }
    __threadfence();
    out[0] = box[0];
  }
}

// Not seen: the model has one order of all atomics, whatever a GPU makes of relaxed ones.
template <bool kBroken>
__global__ void relaxed_message(int* out, int* box) {
  if (lane() == 0) {
    atomicExch(&box[0], 1);
    if constexpr (!kBroken) {
      __threadfence();
    }
    atomicExch(&box[1], 1);
  }
  if (lane() == 32) {
    wait_for(&box[1]);
    out[0] = atomicAdd(&box[0], 0);
  }
}
template <bool kBroken>
__global__ void both_too_late(int* out, int* box) {
  if (lane() % 32 == 0) {
    atomicExch(&box[lane() / 32], 1);
    if constexpr (!kBroken) {
      __threadfence();
    }
    box[2 + lane() / 32] = atomicAdd(&box[1 - lane() / 32], 0);
  }
  __syncthreads();
  if (lane() == 0) {
    out[0] = box[2] + box[3] == 0 ? 0 : 1;
  }
}
// Not seen: the cache for constant data holds what was there before.
template <bool kBroken>
__global__ void stale_constant(int* out, int* box) {
  if (lane() == 0) {
    box[0] = 1;
  }
  __syncthreads();
  out[lane()] = kBroken ? __ldg(box) : *box;
}

__global__ void write_box(int* box) {
  if (lane() == 0) {
    *box = 5;  // control streams
  }
}
__global__ void read_box(const int* box, int* out) {
  if (lane() == 0) {
    *out = *box;  // control streams
  }
}

// ---- Memory that nobody wrote --------------------------------------------------------------------------------------

template <bool kBroken>
__global__ void sum_from_nothing(int* out) {
  __shared__ int count;
  if constexpr (!kBroken) {
    if (lane() == 0) {
      count = 0;
    }
    __syncthreads();
  }
  atomicAdd(&count, 1);  // control sum_from_nothing
  __syncthreads();
  out[lane()] = count;
}

// Anything but zero is as good as a one.
template <bool kBroken>
__global__ void flag_from_nothing(int* out) {
  __shared__ int alive;
  if (!kBroken && lane() == 0) {
    alive = 1;
  }
  __syncthreads();
  if (alive != 0) {  // control flag_from_nothing
    out[lane()] = 1;
  }
}

// Not seen: what nobody wrote decides nothing.
template <bool kBroken>
__global__ void nothing_unused(int* out) {
  __shared__ int box[64];
  if (lane() < (kBroken ? 32 : 64)) {
    box[lane()] = 1;
  }
  __syncthreads();
  const int value = box[lane()];
  out[lane()] = (value & 0) + 1;
}

__global__ void copy_scratch(const int* scratch, int* out) {
  if (scratch[lane()] != 0) {  // control global_from_nothing
    atomicAdd(&out[lane()], 1);
  }
}

// ---- Bounds --------------------------------------------------------------------------------------------------------

__global__ void past_static(int* out, int shift) {
  __shared__ int first[32];
  __shared__ int second[32];
  int* const pointer = first;
  second[lane()] = 1;
  __syncthreads();
  pointer[lane() + shift] = shift == 0 ? 2 : 1;  // control past_static
  __syncthreads();
  out[lane()] = shift != 0 || (first[lane()] == 2 && second[lane()] == 1) ? 1 : 0;
}

// By the index of an array whose length the compiler knows.
__global__ void past_array(int* out, int shift) {
  __shared__ int box[64];
  box[lane() + shift] = 1;  // control past_array
  __syncthreads();
  out[lane()] = box[lane()];
}

// Not seen: parts of dynamic shared memory by pointers.
template <bool kBroken>
__global__ void past_part(int* out) {
  extern __shared__ int shared[];
  int* const first = shared;
  int* const second = shared + 32;
  second[lane()] = 1;
  __syncthreads();
  first[lane() + (kBroken ? 1 : 0)] = 1;
  __syncthreads();
  out[lane()] = second[lane()];
}

template <bool kBroken>
__global__ void past_carved(int* out) {
  extern __shared__ int shared[];
  const simt::View<int> first(shared, 32), second(shared + 32, 32);
  second[lane()] = 1;
  __syncthreads();
  first[lane() + (kBroken ? 1 : 0)] = 2;  // control past_carved
  __syncthreads();
  out[lane()] = second[lane()];
}

template <bool kBroken>
__global__ void past_row(int* out, const int* rows, long pitch) {
  out[blockIdx.x * 32 + threadIdx.x] = rows[blockIdx.x * pitch + lane() + (kBroken ? 1 : 0)];  // control past_row
}

template <bool kBroken>
__global__ void past_global(int* out, const int* in) {
  out[lane()] = in[lane() + (kBroken ? 4 : 0)];  // control past_global
}

__global__ void use_dynamic(int* out) {
  extern __shared__ int shared[];
  shared[lane()] = 1;
  out[lane()] = shared[lane()];
}

// ---- Alignment -----------------------------------------------------------------------------------------------------

template <bool kBroken>
__global__ void vector_of_four(int* out, const int* in) {
  const int4 value = *reinterpret_cast<const int4*>(in + 4 * lane() + (kBroken ? 1 : 0));  // control vector_of_four
  out[lane()] = value.x + value.w;
}
template <bool kBroken>
__global__ void vector_of_two(int* out, const int* in) {
  const int2 value = *reinterpret_cast<const int2*>(in + 2 * lane() + (kBroken ? 1 : 0));  // control vector_of_two
  out[lane()] = value.x + value.y;
}
template <bool kBroken>
__global__ void store_of_four(int* out, const int*) {
  *reinterpret_cast<int4*>(out + 4 * lane() + (kBroken ? 1 : 0)) = make_int4(2, 2, 2, 2);  // control store_of_four
}
template <bool kBroken>
__global__ void word_of_eight(int* out, const int* in) {
  out[lane()] =
      *reinterpret_cast<const long long*>(in + 2 * lane() + (kBroken ? 1 : 0)) != 0 ? 2 : 0;  // control word_of_eight
}

// Not seen: the executor compiles the branch of the host.
template <bool kBroken>
__global__ void branch_of_the_device(int* out) {
#if defined(__CUDA_ARCH__)
  out[lane()] = kBroken ? 0 : 1;
#else
  out[lane()] = 1;
#endif
}

// ---- Divergence and masks ------------------------------------------------------------------------------------------

template <bool kBroken>
__global__ void skipped_barrier(int* out) {
  if (!kBroken || lane() < 96) {
    __syncthreads();  // control skipped_barrier
  }
  out[lane()] = 1;
  __syncthreads();
}

__device__ void meet() {
  __syncthreads();
}
template <bool kBroken>
__global__ void two_calls(int* out) {
  if (kBroken && lane() < 64) {
    out[lane()] = 1;
    meet();  // control two_calls
  } else {
    out[lane()] = 1;
    meet();
  }
}

template <bool kBroken>
__global__ void fewer_rounds(int* out) {
  const int rounds = kBroken && lane() == 5 ? 2 : 3;
  for (int i = 0; i < rounds; ++i) {
    __syncthreads();
    out[lane()] = 1;
  }
}

template <bool kBroken>
__global__ void early_exit(int* out) {
  out[lane()] = 1;
  if (kBroken && lane() >= 100) {
    return;
  }
  __syncthreads();
}

template <bool kBroken>
__global__ void early_exit_of_lanes(int* out) {
  out[lane()] = 1;
  if (kBroken && lane() >= 20) {
    return;
  }
  out[lane()] = __shfl_sync(kFull, 1, 0);
}

// The value of a lane outside of the mask is shuffled and not used.
template <bool kBroken>
__global__ void shuffle_from_outside(int* out) {
  int value = 1;
  if (lane() < 16) {
    const int other = __shfl_down_sync(0xFFFFu, value, 1u, kBroken ? 32 : 16);  // control shuffle_from_outside
    value = lane() != 15 ? other : value;
  }
  out[lane()] = value;
}

template <bool kBroken>
__global__ void ballot_of_all_in_a_branch(int* out) {
  unsigned all = 0xFFFFu;
  if (lane() < 16) {
    all = __ballot_sync(kBroken ? kFull : 0xFFFFu, 1);
  }
  out[lane()] = all == 0xFFFFu ? 1 : 0;
}

template <bool kBroken>
__global__ void ballot_without_oneself(int* out) {
  const unsigned all = __ballot_sync(kBroken ? 0xFFFFu : kFull, 1);  // control ballot_without_oneself
  out[lane()] = (all & 1u) != 0 ? 1 : 0;
}

template <bool kBroken>
__global__ void ballot_one_short(int* out) {
  const unsigned mask = !kBroken ? kFull : lane() < 31 ? 0x7FFFFFFFu : 0x80000000u;
  out[lane()] = __ballot_sync(mask, lane() == 31) != 0 ? 1 : 0;
}

template <bool kBroken>
__global__ void active_lanes_as_mask(int* out) {
  int count = 16;
  if (lane() < 16) {
    count = __popc(__ballot_sync(kBroken ? __activemask() : 0xFFFFu, 1));
  }
  out[lane()] = count;
}

// ---- Running them --------------------------------------------------------------------------------------------------

// One launch of a case, judged by `count` values in front that must all be `value`.
struct Bench {
  std::uint64_t schedule;
  simt::GlobalBuffer<int> out{2048, 0}, box{16, 0}, in{512, 1};

  simt::Config config(unsigned blocks, unsigned threads) const {
    simt::Config config;
    config.grid = blocks;
    config.block = threads;
    config.schedule = schedule;
    return config;
  }
  std::string judge(const simt::Report& report, int value, int count) const {
    if (!report.ok()) {
      return report.to_string();
    }
    for (int i = 0; i < count; ++i) {
      const int found = out[static_cast<std::size_t>(i)];
      if (found != value) {
        return "out[" + std::to_string(i) + "] is " + std::to_string(found) + ", not " + std::to_string(value);
      }
    }
    return "";
  }
  std::string one(void (*kernel)(int*), unsigned blocks, unsigned threads, int value, int count = -1) {
    return judge(simt::launch(config(blocks, threads), kernel, out.data()), value,
                 count < 0 ? static_cast<int>(threads) : count);
  }
  std::string with_box(void (*kernel)(int*, int*), unsigned blocks, unsigned threads, int value, int count = 1) {
    return judge(simt::launch(config(blocks, threads), kernel, out.data(), box.data()), value, count);
  }
  std::string with_input(void (*kernel)(int*, const int*), int value, int count) {
    return judge(simt::launch(config(1, 32), kernel, out.data(), static_cast<const int*>(in.data())), value, count);
  }
};

template <bool kBroken>
std::string neighbours_of(Bench& bench, unsigned threads) {
  const simt::Report report = simt::launch(bench.config(2, threads), neighbours<kBroken>, bench.out.data());
  if (!report.ok()) {
    return report.to_string();
  }
  for (unsigned i = 0; i < 2 * threads; ++i) {
    if (bench.out[i] != static_cast<int>((i + threads / 2) % threads)) {
      return "a wrong neighbour";
    }
  }
  return "";
}

// ThreadSanitizer remembers a few readers only, drawn by chance, so that most schedules lose the one that matters.
template <bool kBroken>
std::string reader_among_many_of(Bench& bench) {
  constexpr std::uint64_t kTimes = 100;
  const std::uint64_t first = bench.schedule * kTimes;
  std::string wrong;
  for (std::uint64_t time = 0; time < (kBroken ? kTimes : 1) && wrong.empty(); ++time) {
    bench.schedule = simt::pct_schedule(first + time);
    wrong = bench.one(reader_among_many<kBroken>, 1, 32, 1);
  }
  return wrong;
}

template <bool kBroken>
std::string streams(Bench& bench) {
  simt::Config first = bench.config(1, 32), second = bench.config(1, 32);
  first.stream = 1;
  second.stream = 2;
  const simt::Report written = simt::launch(first, write_box, bench.box.data());
  if (!written.ok()) {
    return written.to_string();
  }
  if constexpr (!kBroken) {
    simt::order_after(2, 1);
  }
  const simt::Report read = simt::launch(second, read_box, static_cast<const int*>(bench.box.data()), bench.out.data());
  simt::synchronize();
  return bench.judge(read, 5, 1);
}

template <bool kBroken>
std::string dynamic_beyond_48_kib(Bench& bench) {
  simt::Config config = bench.config(1, 64);
  config.dynamic_shared_bytes = 100 * 1024;
  if constexpr (!kBroken) {
    config.max_dynamic_shared_bytes = 100 * 1024;
  }
  return bench.judge(simt::launch(config, use_dynamic, bench.out.data()), 1, 64);
}

template <bool kBroken>
std::string past_row_of(Bench& bench) {
  simt::GlobalRows<int> rows(3, 32, 1);
  return bench.judge(simt::launch(bench.config(3, 32), past_row<kBroken>, bench.out.data(),
                                  static_cast<const int*>(rows.data()), static_cast<long>(rows.pitch())),
                     1, 32);
}

std::string carved(Bench& bench, void (*kernel)(int*)) {
  simt::Config config = bench.config(1, 32);
  config.dynamic_shared_bytes = 64 * sizeof(int);
  return bench.judge(simt::launch(config, kernel, bench.out.data()), 1, 32);
}
template <bool kBroken>
std::string past_carved_of(Bench& bench) {
  return carved(bench, past_carved<kBroken>);
}
template <bool kBroken>
std::string past_part_of(Bench& bench) {
  return carved(bench, past_part<kBroken>);
}

template <bool kBroken>
std::string past_global_of(Bench& bench) {
  const simt::GlobalBuffer<int> in(std::vector<int>(32, 1));
  return bench.judge(simt::launch(bench.config(1, 32), past_global<kBroken>, bench.out.data(), in.data()), 1, 32);
}

template <bool kBroken>
std::string global_from_nothing(Bench& bench) {
  simt::GlobalBuffer<int> scratch(32);
  if constexpr (!kBroken) {
    for (int& value : scratch) {
      value = 0;
    }
  }
  return bench.judge(
      simt::launch(bench.config(1, 32), copy_scratch, static_cast<const int*>(scratch.data()), bench.out.data()), 0,
      32);
}

struct Case {
  const char* name;
  std::function<std::string(Bench&)> right, broken;
};

#define ONE(name, ...)                                              \
  {#name, [](Bench& b) { return b.one(name<false>, __VA_ARGS__); }, \
   [](Bench& b) { return b.one(name<true>, __VA_ARGS__); }}
#define WITH_BOX(name, ...)                                              \
  {#name, [](Bench& b) { return b.with_box(name<false>, __VA_ARGS__); }, \
   [](Bench& b) { return b.with_box(name<true>, __VA_ARGS__); }}
#define WITH_INPUT(name, ...)                                              \
  {#name, [](Bench& b) { return b.with_input(name<false>, __VA_ARGS__); }, \
   [](Bench& b) { return b.with_input(name<true>, __VA_ARGS__); }}
#define OWN(name, function) {#name, function<false>, function<true>}
#define SHIFTED(name, kernel, threads, shift)                                                                        \
  {#name, [](Bench& b) { return b.judge(simt::launch(b.config(1, threads), kernel, b.out.data(), 0), 1, threads); }, \
   [](Bench& b) { return b.judge(simt::launch(b.config(1, threads), kernel, b.out.data(), shift), 1, threads); }}
#define NEIGHBOURS(threads)                                                           \
  {"neighbours-" #threads, [](Bench& b) { return neighbours_of<false>(b, threads); }, \
   [](Bench& b) { return neighbours_of<true>(b, threads); }}

std::vector<Case> cases() {
  return {
      NEIGHBOURS(128),
      NEIGHBOURS(256),
      NEIGHBOURS(512),
      NEIGHBOURS(1024),
      ONE(lockstep, 1, 32, 1),
      ONE(lockstep_by_volatile, 1, 32, 64, 1),
      ONE(same_value, 1, 128, 128),
      ONE(scratch_again, 1, 128, 12),
      ONE(plain_increment, 1, 128, 32),
      ONE(atomic_and_plain, 1, 64, 64),
      OWN(reader_among_many, reader_among_many_of),
      ONE(blocks_count, 4, 32, 4, 1),
      WITH_BOX(blocks_apart, 3, 32, 1),
      WITH_BOX(large_blocks, 3, 1024, 5),
      WITH_BOX(one_fence_for_two, 1, 64, 3),
      WITH_BOX(fence_too_early, 1, 64, 1),
      WITH_BOX(no_fence, 1, 64, 1),
      WITH_BOX(one_fence_two_flags, 1, 96, 1, 2),
      WITH_BOX(volatile_flag, 1, 64, 1),
      {"volatile_poll", [](Bench& b) { return b.with_box(volatile_poll, 1, 64, 1); }, nullptr},
      WITH_BOX(relaxed_message, 1, 64, 1),
      WITH_BOX(both_too_late, 1, 64, 1),
      WITH_BOX(stale_constant, 1, 64, 1, 64),
      OWN(streams, streams),
      ONE(sum_from_nothing, 1, 64, 64),
      ONE(flag_from_nothing, 1, 64, 1),
      OWN(global_from_nothing, global_from_nothing),
      SHIFTED(past_static, past_static, 32, 1),
      SHIFTED(past_static_far, past_static, 32, 37),
      SHIFTED(past_static_inside, past_static, 32, 40),
      SHIFTED(past_array, past_array, 64, 1),
      OWN(past_part, past_part_of),
      OWN(past_carved, past_carved_of),
      OWN(past_row, past_row_of),
      OWN(past_global, past_global_of),
      ONE(branch_of_the_device, 1, 64, 1),
      ONE(nothing_unused, 1, 64, 1),
      OWN(dynamic_beyond_48_kib, dynamic_beyond_48_kib),
      WITH_INPUT(vector_of_four, 2, 32),
      WITH_INPUT(vector_of_two, 2, 32),
      WITH_INPUT(store_of_four, 2, 128),
      WITH_INPUT(word_of_eight, 2, 32),
      ONE(skipped_barrier, 1, 128, 1),
      ONE(two_calls, 1, 128, 1),
      ONE(fewer_rounds, 1, 128, 1),
      ONE(early_exit, 1, 128, 1),
      ONE(early_exit_of_lanes, 1, 32, 1),
      ONE(shuffle_from_outside, 1, 32, 1),
      ONE(ballot_of_all_in_a_branch, 1, 32, 1),
      ONE(ballot_without_oneself, 1, 32, 1),
      ONE(ballot_one_short, 1, 32, 1),
      ONE(active_lanes_as_mask, 1, 32, 16),
  };
}

}  // namespace

// Read only by ThreadSanitizer: one report is enough.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() {
  return "halt_on_error=1";
}

int main(int argc, char** argv) {
  if (argc >= 3 && std::strcmp(argv[1], "all") == 0 && std::strcmp(argv[2], "right") == 0) {
    argv[2] = argv[0];
    return simt::run_schedules(argc - 2, argv + 2, 60, [](std::uint64_t schedule) -> std::string {
      for (const Case& each : cases()) {
        Bench bench{schedule};
        if (const std::string wrong = each.right(bench); !wrong.empty()) {
          return std::string(each.name) + ": " + wrong;
        }
      }
      return "";
    });
  }
  for (const Case& each : cases()) {
    if (argc >= 3 && std::strcmp(argv[1], each.name) == 0) {
      const bool broken = std::strcmp(argv[2], "broken") == 0 && each.broken;
      argv[2] = argv[0];
      return simt::run_schedules(argc - 2, argv + 2, 60, [&](std::uint64_t schedule) {
        Bench bench{schedule};
        return (broken ? each.broken : each.right)(bench);
      });
    }
  }
  std::fprintf(stderr, "usage: %s CASE right|broken [SCHEDULE]\n", argv[0]);
  return 2;
}
