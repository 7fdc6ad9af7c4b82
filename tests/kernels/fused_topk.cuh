// A top-k kernel with the witness pass fused into it: the picks never come back from memory.
#ifndef TESTS_KERNELS_FUSED_TOPK_CUH
#define TESTS_KERNELS_FUSED_TOPK_CUH

#include <cuda_runtime.h>

#include <kvwitness/witness.cuh>

// One block a row. picks[row] receives the row-relative offsets of its topk highest scores, -1 where the context is
// shorter, and in its last slots the witnesses of the segments that the picks miss.
template <int kThreads>
__global__ void __launch_bounds__(kThreads)
    topk_with_witnesses(const float* scores, const int* context_lens, int max_context_len, int topk,
                        kvwitness::SegmentCount segments, int* picks) {
  using Witness = kvwitness::BlockWitness<kThreads>;
  __shared__ typename Witness::TempStorage storage;
  const int context_len = context_lens[blockIdx.x];
  const float* const score = scores + static_cast<long long>(blockIdx.x) * max_context_len;
  int* const pick = picks + static_cast<long long>(blockIdx.x) * topk;

  Witness witness(storage, context_len, segments);
  for (int token = static_cast<int>(threadIdx.x); token < context_len; token += kThreads) {
    // Its rank, ties by offset. (A real kernel selects faster; the pass does not care how.)
    int rank = 0;
    for (int other = 0; other < context_len; ++other) {
      rank += score[other] > score[token] || (score[other] == score[token] && other < token) ? 1 : 0;
    }
    if (rank < topk) {
      pick[rank] = token;
      witness.add(token);
    }
  }
  for (int slot = context_len + static_cast<int>(threadIdx.x); slot < topk; slot += kThreads) {
    pick[slot] = -1;
  }
  witness.combine();
  const int budget = static_cast<int>(segments.num_segments());
  const int learned_keep = topk > budget ? topk - budget : 0;
  witness.emit(learned_keep, topk - learned_keep, [pick](long long slot, int token) { pick[slot] = token; });
}

#endif  // TESTS_KERNELS_FUSED_TOPK_CUH
