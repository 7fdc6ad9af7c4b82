#include "fuzz/planted_faults/kernel.h"

#include <cuda_runtime.h>

#include "fuzz/planted_faults/catalogue.h"
#include "fuzz/planted_faults/rule.h"

namespace kvwitness::fuzz {
namespace {

constexpr int kThreads = 64;

// What both operations need of a call.
struct Rows {
  const std::int32_t* learned;
  std::int64_t row_stride;
  std::int64_t topk;
  kernels::RowLengths lengths;
  std::int64_t rows;
  std::int64_t num_segments;
  std::int64_t learned_keep;
};

__device__ void mark_row(const Rows& call, std::int64_t row, std::int64_t context_len, PlantedFault fault,
                         unsigned int* marks) {
  for (std::int64_t slot = threadIdx.x; slot < call.topk; slot += kThreads) {
    const std::int64_t segment = planted_mark(fault, slot, call.learned[row * call.row_stride + slot], context_len,
                                              call.num_segments, call.topk, call.learned_keep);
    if (segment >= 0 && fault == PlantedFault::toggled_bit) {
      atomicXor(&marks[segment / 32], 1u << (segment % 32));
    } else if (segment >= 0) {
      atomicOr(&marks[segment / 32], 1u << (segment % 32));
    }
  }
}

// Marks each row's segments in shared memory, then one thread emits its witnesses: emit(row, segment, edge or -1).
template <class Copy, class Emit>
__device__ void each_row(const Rows& call, PlantedFault fault, const Copy& copy, const Emit& emit) {
  __shared__ unsigned int marks[2];
  for (std::int64_t row = blockIdx.x; row < call.rows; row += gridDim.x) {
    const std::int64_t context_len = planted_length(fault, call.lengths.context_len(row));
    if (threadIdx.x < 2) {
      marks[threadIdx.x] = 0;
    }
    if (fault != PlantedFault::no_barrier_after_clear) {
      __syncthreads();
    }
    if (context_len > 0) {
      mark_row(call, row, context_len, fault, marks);
    }
    copy(row);
    if (fault != PlantedFault::no_barrier_before_read) {
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      const std::int64_t effective = context_len > 0 ? planted_effective(fault, context_len, call.num_segments) : 0;
      for (std::int64_t segment = 0; segment < call.num_segments; ++segment) {
        const bool witness = segment < effective && (marks[segment / 32] >> (segment % 32) & 1u) == 0;
        emit(row, segment, witness ? planted_edge(fault, segment, context_len, effective) : -1);
      }
    }
    if (fault != PlantedFault::no_barrier_between_rows) {
      __syncthreads();
    }
    if (fault == PlantedFault::first_row_of_a_block_alone) {
      break;
    }
  }
}

__global__ void merge_planted(const kernels::MergeArguments call, PlantedFault fault) {
  const Rows rows{call.learned,     call.row_stride, call.topk, call.lengths, call.rows, call.segments.num_segments(),
                  call.learned_keep};
  const auto copy = [&call](std::int64_t row) {
    for (std::int64_t slot = threadIdx.x; slot < call.topk && call.out != call.learned; slot += kThreads) {
      call.out[row * call.out_row_stride + slot] = call.learned[row * call.row_stride + slot];
    }
  };
  std::int64_t at_row = -1;
  std::int64_t slot = 0;
  const std::int64_t end = call.learned_keep + planted_budget(fault, call.budget, call.learned_keep, call.topk);
  each_row(rows, fault, copy, [&](std::int64_t row, std::int64_t, std::int64_t edge) {
    slot = row == at_row ? slot : call.learned_keep;
    at_row = row;
    if (edge >= 0 && slot < end) {
      call.out[row * call.out_row_stride + slot++] = static_cast<std::int32_t>(edge);
    }
  });
}

__global__ void indices_planted(const kernels::IndicesArguments<SegmentCount> call, PlantedFault fault) {
  const std::int64_t num_segments = call.segments.num_segments();
  const Rows rows{call.learned, call.row_stride, call.topk, call.lengths, call.rows, num_segments, call.topk};
  each_row(
      rows, fault, [](std::int64_t) {},
      [&](std::int64_t row, std::int64_t segment, std::int64_t edge) {
        call.witnesses[row * num_segments + segment] = static_cast<std::int32_t>(edge);
      });
}

simt::Config config_of(const harness::EmulatedRun& run, std::int64_t rows) {
  simt::Config config;
  config.grid = std::max(1u, kernels::grid_blocks(rows, 1) / run.grid_divisor);
  config.block = kThreads;
  config.schedule = run.schedule;
  return config;
}

}  // namespace

simt::Report launch_planted(const harness::CudaPlan& plan, const harness::EmulatedRun& run) {
  const PlantedFault fault = planted_fault();
  if (plan.merge) {
    return simt::launch(config_of(run, plan.merge->rows), merge_planted, *plan.merge, fault);
  }
  if (plan.indices.few) {
    return simt::launch(config_of(run, plan.indices.few->rows), indices_planted, *plan.indices.few, fault);
  }
  return harness::launch_emulated(plan, run);
}

}  // namespace kvwitness::fuzz
