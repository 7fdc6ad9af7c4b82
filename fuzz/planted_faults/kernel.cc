#include "fuzz/planted_faults/kernel.h"

#include <cuda_runtime.h>

#include "fuzz/planted_faults/catalogue.h"
#include "tests/rule/faulty_row.h"

namespace kvwitness::fuzz {
namespace {

constexpr int kThreads = 64;

// The fault, and the same as one of the rule itself.
struct Planted {
  PlantedFault fault;
  rule::Fault rule_fault;
};

// What both operations need of a call: a row as if it were the first one, with its stride and all lengths.
struct Rows {
  rule::Row first;
  std::int64_t row_stride;
  kernels::RowLengths lengths;

  __device__ rule::Row row(std::int64_t index, rule::Fault fault) const {
    rule::Row at = first;
    at.learned += index * row_stride;
    at.index = index;
    at.context_len = rule::length(fault, lengths.context_len(index));
    return at;
  }
};

__device__ void mark_row(const rule::Row& row, rule::Fault fault, unsigned int* marks) {
  const auto mark = [&](std::int64_t segment) {
    if (fault == rule::Fault::mask_exclusive) {
      atomicXor(&marks[segment / 32], 1u << (segment % 32));
    } else {
      atomicOr(&marks[segment / 32], 1u << (segment % 32));
    }
  };
  for (std::int64_t slot = threadIdx.x; slot < row.topk; slot += kThreads) {
    if (!rule::is_skipped(fault, slot, row)) {
      rule::mark_token(fault, row.learned[slot], row, mark);
    }
  }
}

// The number that the fault makes of a row's.
__device__ std::int64_t faulty_number(std::int64_t index, PlantedFault fault) {
  switch (fault) {
    case PlantedFault::rows_wrap_at_256:
      return index & 0xFF;
    case PlantedFault::rows_wrap_at_4096:
      return index & 0xFFF;
    case PlantedFault::rows_wrap_at_32768:
      return index & 0x7FFF;
    case PlantedFault::rows_wrap_at_65536:
      return index & 0xFFFF;
    default:
      return index;
  }
}

// Marks each row's segments in shared memory, then one thread emits its witnesses: emit(row, segment, edge or -1).
template <class Copy, class Emit>
__device__ void each_row(const Rows& rows, const Planted& planted, const Copy& copy, const Emit& emit) {
  __shared__ unsigned int marks[2];
  const std::int64_t end = planted.fault == PlantedFault::rows_end_at_65535 ? 65535 : rows.first.rows;
  for (std::int64_t number = blockIdx.x; number < rows.first.rows && number < end; number += gridDim.x) {
    const std::int64_t index = faulty_number(number, planted.fault);
    const rule::Row row = rows.row(index, planted.rule_fault);
    if (threadIdx.x < 2) {
      marks[threadIdx.x] = 0;
    }
    if (planted.fault != PlantedFault::no_barrier_after_clear) {
      __syncthreads();
    }
    if (row.context_len > 0) {
      mark_row(row, planted.rule_fault, marks);
    }
    copy(index);
    if (planted.fault != PlantedFault::no_barrier_before_read) {
      __syncthreads();
    }
    if (threadIdx.x == 0) {
      const std::int64_t len = row.context_len;
      const std::int64_t effective = len > 0 ? rule::effective_segments(planted.rule_fault, len, row.num_segments) : 0;
      for (std::int64_t segment = 0; segment < row.num_segments; ++segment) {
        const bool witness = segment < effective && (marks[segment / 32] >> (segment % 32) & 1u) == 0;
        emit(index, segment, witness ? rule::edge(planted.rule_fault, segment, len, row.num_segments) : -1);
      }
    }
    if (planted.fault != PlantedFault::no_barrier_between_rows) {
      __syncthreads();
    }
    if (planted.fault == PlantedFault::first_row_of_a_block_alone) {
      break;
    }
  }
}

__global__ void merge_planted(const kernels::MergeArguments call, Planted planted) {
  const Rows rows{
      {call.learned, call.topk, 0, call.segments.num_segments(), true, call.learned_keep, call.budget, 0, call.rows},
      call.row_stride,
      call.lengths};
  const auto copy = [&call](std::int64_t row) {
    for (std::int64_t slot = threadIdx.x; slot < call.topk && call.out != call.learned; slot += kThreads) {
      call.out[row * call.out_row_stride + slot] = call.learned[row * call.row_stride + slot];
    }
  };
  std::int64_t at_row = -1;
  std::int64_t slot = 0;
  const std::int64_t end = call.learned_keep + rule::budget(planted.rule_fault, rows.first);
  each_row(rows, planted, copy, [&](std::int64_t row, std::int64_t, std::int64_t edge) {
    slot = row == at_row ? slot : call.learned_keep;
    at_row = row;
    if (edge >= 0 && slot < end) {
      call.out[row * call.out_row_stride + slot++] = static_cast<std::int32_t>(edge);
    }
  });
}

__global__ void indices_planted(const kernels::IndicesArguments<SegmentCount> call, Planted planted) {
  const std::int64_t num_segments = call.segments.num_segments();
  const Rows rows{
      {call.learned, call.topk, 0, num_segments, false, call.topk, 0, 0, call.rows}, call.row_stride, call.lengths};
  each_row(
      rows, planted, [](std::int64_t) {},
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
  const Planted planted{planted_fault(), planted_rule_fault()};
  if (plan.merge) {
    return simt::launch(config_of(run, plan.merge->rows), merge_planted, *plan.merge, planted);
  }
  if (plan.indices.few) {
    return simt::launch(config_of(run, plan.indices.few->rows), indices_planted, *plan.indices.few, planted);
  }
  return harness::launch_emulated(plan, run);
}

}  // namespace kvwitness::fuzz
