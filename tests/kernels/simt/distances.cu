// One racing pair in a large block, at every distance: each must be found, whatever the size of the block and however
// many slots ThreadSanitizer's runtime has. `distances THREADS STEP`
#include <cuda_runtime.h>
#include <kvwitness/simt.h>

#include <cstdlib>

namespace simt = kvwitness::simt;

namespace {

__global__ void race_of_a_pair(int* out, unsigned writer, unsigned reader) {
  __shared__ int box;
  if (threadIdx.x == writer) {
    box = 1;
  }
  __syncthreads();
  if (threadIdx.x == writer) {
    box = 2;
  }
  if (threadIdx.x == reader) {
    *out = box;
  }
  __syncthreads();
}

// A thread of one block and a thread of the next, after a barrier each.
__global__ void race_of_blocks(int* out, unsigned writer, unsigned reader) {
  __syncthreads();
  if (threadIdx.x == (blockIdx.x == 0 ? writer : reader)) {
    *out = 1;
  }
  __syncthreads();
}

// Two threads whose distance is a multiple of the number of slots share one under some schedules.
constexpr std::uint64_t kMostSchedules = 12;

bool is_found(void (*kernel)(int*, unsigned, unsigned), unsigned blocks, unsigned threads, unsigned writer,
              unsigned reader) {
  for (std::uint64_t n = 0; n < kMostSchedules; ++n) {
    simt::GlobalBuffer<int> out(1, 0);
    simt::Config config;
    config.grid = blocks;
    config.block = threads;
    config.schedule = simt::random_schedule(n);
    if (simt::launch(config, kernel, out.data(), writer, reader).races != 0) {
      return true;
    }
  }
  return false;
}

}  // namespace

// Each race counts, also when it is like one that was reported before; and what counts is the program's own status.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() {
  return "suppress_equal_stacks=0:suppress_equal_addresses=0:exitcode=0";
}

int main(int argc, char** argv) {
  const auto threads = static_cast<unsigned>(argc == 3 ? std::atoi(argv[1]) : 0);
  const auto step = static_cast<unsigned>(argc == 3 ? std::atoi(argv[2]) : 0);
  if (threads < 2 || threads > 1024 || step == 0) {
    std::fprintf(stderr, "usage: %s THREADS STEP\n", argv[0]);
    return 2;
  }
  unsigned pairs = 0, missed = 0;
  for (unsigned distance = 1; distance < threads; distance += step) {
    const unsigned writer = distance * 7 % (threads - distance);
    const unsigned reader = writer + distance;
    const bool in_block = is_found(race_of_a_pair, 1, threads, writer, reader);
    const bool between_blocks = is_found(race_of_blocks, 2, threads, writer, reader);
    if (!in_block || !between_blocks) {
      std::printf("threads %u and %u: not found %s\n", writer, reader, in_block ? "between two blocks" : "in a block");
      ++missed;
    }
    ++pairs;
  }
  std::printf(missed == 0 ? "simt: right under %u pairs, each of which was found\n" : "%u pairs\n", pairs);
  return missed == 0 ? 0 : 1;
}
