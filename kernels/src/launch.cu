#include <cuda_runtime.h>
#include <kvwitness/kvwitness_cuda.h>

#include "kernels/src/kernels.cuh"
#include "kernels/src/launch.h"

namespace kvwitness::kernels {
namespace {

// Blocks of one launch: how many rows one takes at a time, and its threads.
struct Blocks {
  int rows;
  int threads;
};
template <class Witness>
constexpr Blocks kBlocksOf{Grid<Witness>::kRowsPerBlock, Grid<Witness>::kThreads};

template <class Arguments>
kvw_status launch_rows(void (*kernel)(Arguments), Arguments arguments, Blocks blocks, void* stream) noexcept {
  void* const parameters[] = {&arguments};
  const cudaError_t error =
      cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(grid_blocks(arguments.rows, blocks.rows)),
                       dim3(static_cast<unsigned int>(blocks.threads)), const_cast<void**>(parameters), 0,
                       static_cast<cudaStream_t>(stream));
  if (error == cudaSuccess) {
    return KVW_OK;
  }
  return refuse(KVW_CUDA, "cudaLaunchKernel: %s (%s)", cudaGetErrorName(error), cudaGetErrorString(error));
}

}  // namespace

kvw_status launch(const MergePlan& plan, Variant variant, void* stream) noexcept {
  if (!plan) {
    return KVW_OK;
  }
  const bool copies = plan->out != plan->learned;
  if (variant == Variant::kBlock) {
    return launch_rows<MergeArguments>(copies ? merge_rows<Block, true> : merge_rows<Block, false>, *plan,
                                       kBlocksOf<Block>, stream);
  }
  return launch_rows<MergeArguments>(copies ? merge_rows<Warp, true> : merge_rows<Warp, false>, *plan, kBlocksOf<Warp>,
                                     stream);
}

kvw_status launch(const IndicesPlan& plan, Variant variant, void* stream) noexcept {
  if (plan.many) {
    return launch_rows<IndicesArguments<FixedDivisor>>(witness_indices_of_many_segments<kManySegmentsThreads>,
                                                       *plan.many, Blocks{1, kManySegmentsThreads}, stream);
  }
  if (!plan.few) {
    return KVW_OK;
  }
  const bool by_block = variant == Variant::kBlock;
  return launch_rows<IndicesArguments<SegmentCount>>(by_block ? witness_indices<Block> : witness_indices<Warp>,
                                                     *plan.few, by_block ? kBlocksOf<Block> : kBlocksOf<Warp>, stream);
}

}  // namespace kvwitness::kernels

using namespace kvwitness::kernels;

extern "C" {

const char* kvw_cuda_last_error(void) {
  return last_error();
}

kvw_status kvw_cuda_witness_indices(const int32_t* learned, int64_t learned_len, int64_t row_stride, int64_t topk,
                                    const kvw_cuda_lengths* lengths, int64_t rows, int64_t num_segments,
                                    int32_t* witnesses, int64_t witnesses_len, void* stream) {
  IndicesPlan plan;
  const kvw_status status = plan_witness_indices(learned, learned_len, row_stride, topk, lengths, rows, num_segments,
                                                 witnesses, witnesses_len, plan);
  return status == KVW_OK ? launch(plan, choose_variant(rows, topk), stream) : status;
}

kvw_status kvw_cuda_apply(const int32_t* learned, int64_t learned_len, int64_t row_stride, int64_t topk,
                          const kvw_cuda_lengths* lengths, int64_t rows, int64_t learned_keep, int64_t num_segments,
                          int64_t max_replacements, int32_t* out, int64_t out_len, int64_t out_row_stride,
                          void* stream) {
  MergePlan plan;
  const kvw_status status = plan_apply(learned, learned_len, row_stride, topk, lengths, rows, learned_keep,
                                       num_segments, max_replacements, out, out_len, out_row_stride, plan);
  return status == KVW_OK ? launch(plan, choose_variant(rows, topk), stream) : status;
}

kvw_status kvw_cuda_scatter(int32_t* topk_indices, int64_t topk_indices_len, int64_t row_stride, int64_t topk,
                            const kvw_cuda_lengths* lengths, int64_t rows, int64_t num_segments, void* stream) {
  MergePlan plan;
  const kvw_status status =
      plan_scatter(topk_indices, topk_indices_len, row_stride, topk, lengths, rows, num_segments, plan);
  return status == KVW_OK ? launch(plan, choose_variant(rows, topk), stream) : status;
}

}  // extern "C"
