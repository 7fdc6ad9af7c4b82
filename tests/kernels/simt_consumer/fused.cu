// A stranger's kernel that fuses the pass: each warp keeps the even tokens of its row's context and adds the witnesses
// itself.
#include <cuda_runtime.h>

#include <kvwitness/witness.cuh>

#ifdef KVWITNESS_SIMT
#include <kvwitness/simt.h>
#endif

// Rows of 8 slots, the last 4 of them for witnesses.
__global__ void __launch_bounds__(64)
    pick_even_tokens(const int* context_lens, int rows, kvwitness::SegmentCount segments, int* picks) {
  __shared__ kvwitness::WarpWitness::TempStorage storage[2];
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int row = blockIdx.x * 2 + warp;
  if (row >= rows) {
    return;
  }
  int* const pick = picks + row * 8;
  kvwitness::WarpWitness witness(storage[warp], context_lens[row], segments);
  if (lane < 8) {
    pick[lane] = lane < 4 && 2 * lane < context_lens[row] ? 2 * lane : -1;
    witness.add(pick[lane]);
  }
  witness.combine();
  witness.emit(4, 4, [pick](long long slot, int token) { pick[slot] = token; });
}

#ifdef KVWITNESS_SIMT
int main(int argc, char** argv) {
  namespace simt = kvwitness::simt;
  simt::GlobalBuffer<int> lens(3);
  lens[0] = 16;
  lens[1] = 0;
  lens[2] = 3;
  // Picks 0 2 4 6 of 16 tokens in 4 segments leave the last two segments empty; of 3 tokens, 0 and 2 leave 1.
  const int expected[3][8] = {
      {0, 2, 4, 6, 8, 12, -1, -1}, {-1, -1, -1, -1, -1, -1, -1, -1}, {0, 2, -1, -1, 1, -1, -1, -1}};
  return simt::run_schedules(argc, argv, 50, [&](std::uint64_t schedule) -> std::string {
    simt::GlobalBuffer<int> picks(24);
    simt::Config config;
    config.grid = 2;
    config.block = 64;
    config.schedule = schedule;
    const simt::Report report =
        simt::launch(config, pick_even_tokens, lens.data(), 3, kvwitness::SegmentCount(4), picks.data());
    if (!report.ok()) {
      return report.to_string();
    }
    for (int i = 0; i < 24; ++i) {
      if (picks[i] != expected[i / 8][i % 8]) {
        return "row " + std::to_string(i / 8) + ", slot " + std::to_string(i % 8) + " is " + std::to_string(picks[i]);
      }
    }
    return "";
  });
}
#endif
