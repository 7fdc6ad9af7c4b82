// The kernels behind kvwitness_cuda.h: rows on grid.x, a block or a warp to a row.
//
// One text for nvcc and for the CPU executor. Every kernel covers all rows by a grid-stride loop, whatever the grid.
#ifndef KERNELS_SRC_KERNELS_CUH
#define KERNELS_SRC_KERNELS_CUH

#include <kvwitness/segments.h>

#include <cstdint>
#include <kvwitness/witness.cuh>

#include "kernels/src/arguments.h"

namespace kvwitness::kernels {

// What the library launches: a block of two warps to a row, or a warp to a row and four rows a block.
using Block = BlockWitness<64, 8>;
using Warp = WarpWitness;
inline constexpr int kWarpBlockThreads = 128;
inline constexpr int kManySegmentsThreads = 128;  // witness indices of more than 64 segments

// One 128-bit store to global memory. (As an assignment beside the four stores of a misaligned row, the compiler takes
// the two for the same and stores token by token.)
__device__ __forceinline__ void store_vector(std::int32_t* address, const device::TokenVector& vector) {
#if defined(__CUDA_ARCH__)
  asm volatile("st.global.v4.s32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(address)),
               "r"(vector.tokens[0]), "r"(vector.tokens[1]), "r"(vector.tokens[2]), "r"(vector.tokens[3])
               : "memory");
#else
  *reinterpret_cast<device::TokenVector*>(address) = vector;
#endif
}

// Copies what a RowTokens delivers to the same slots of another row, which may be misaligned in another way.
template <class Row>
struct RowCopy {
  std::int32_t* out;

  template <int kVectors>
  __device__ __forceinline__ void operator()(std::int64_t slot, const device::TokenVector (&vectors)[kVectors],
                                             int own) const {
    std::int32_t* const first = out + slot;
    if (KVWITNESS_LIKELY(own == kVectors && reinterpret_cast<std::uintptr_t>(first) % sizeof(vectors[0]) == 0)) {
      KVWITNESS_UNROLL
      for (int i = 0; i < kVectors; ++i) {
        store_vector(first + i * Row::kSlotStep, vectors[i]);
      }
      return;
    }
    KVWITNESS_UNROLL
    for (int i = 0; i < kVectors; ++i) {
      if (i < own) {
        KVWITNESS_UNROLL
        for (int token = 0; token < 4; ++token) {
          first[i * Row::kSlotStep + token] = vectors[i].tokens[token];
        }
      }
    }
  }
  __device__ __forceinline__ void operator()(std::int64_t slot, std::int32_t token) const { out[slot] = token; }
};

// The grid, as one collective sees it: how many threads a block has, and which rows are the collective's.
template <class Witness>
struct Grid;
template <int kBlockThreads, int kVectors>
struct Grid<BlockWitness<kBlockThreads, kVectors>> {
  static constexpr int kThreads = kBlockThreads;
  static constexpr int kRowsPerBlock = 1;
  __device__ __forceinline__ static std::int64_t first_row() { return blockIdx.x; }
  __device__ __forceinline__ static std::int64_t row_step() { return gridDim.x; }
};
template <>
struct Grid<WarpWitness> {
  static constexpr int kThreads = kWarpBlockThreads;
  static constexpr int kRowsPerBlock = kThreads / kWarpThreads;
  __device__ __forceinline__ static std::int64_t first_row() {
    return static_cast<std::int64_t>(blockIdx.x) * kRowsPerBlock + threadIdx.x / 32u;
  }
  __device__ __forceinline__ static std::int64_t row_step() {
    return static_cast<std::int64_t>(gridDim.x) * kRowsPerBlock;
  }
};

template <class Witness, bool kCopies>
__device__ __forceinline__ void merge_row(const MergeArguments& call, std::int64_t row,
                                          typename Witness::TempStorage& storage) {
  std::int32_t* const out = call.out + row * call.out_row_stride;
  typename Witness::Row tokens(call.learned + row * call.row_stride, call.topk, Witness::thread_rank());
  const std::int32_t context_len = call.lengths.context_len(row);
  Witness witness(storage, context_len, call.segments);
  if constexpr (kCopies) {
    const RowCopy<typename Witness::Row> copy{out};
    witness.add(tokens, copy, copy);
  } else {
    witness.add(tokens);
  }
  witness.combine();
  witness.emit(call.learned_keep, call.budget, [out](std::int64_t slot, std::int32_t token) { out[slot] = token; });
}

template <class Witness>
__device__ __forceinline__ void indices_row(const IndicesArguments<SegmentCount>& call, std::int64_t row,
                                            typename Witness::TempStorage& storage) {
  std::int32_t* const witnesses = call.witnesses + row * call.segments.num_segments();
  typename Witness::Row tokens(call.learned + row * call.row_stride, call.topk, Witness::thread_rank());
  const std::int32_t context_len = call.lengths.context_len(row);
  Witness witness(storage, context_len, call.segments);
  witness.add(tokens);
  witness.combine();
  witness.emit_segments([witnesses](int segment, std::int32_t token) { witnesses[segment] = token; });
}

// apply and scatter, the latter being an apply in place.
template <class Witness, bool kCopies>
__global__ void __launch_bounds__(Grid<Witness>::kThreads) merge_rows(const MergeArguments call) {
  __shared__ typename Witness::TempStorage storages[2];  // in turn: see TempStorage
  unsigned int turn = 0;
  for (std::int64_t row = Grid<Witness>::first_row(); row < call.rows; row += Grid<Witness>::row_step()) {
    merge_row<Witness, kCopies>(call, row, storages[turn]);
    turn = 1 - turn;
  }
}

// Witness indices for at most 64 segments.
template <class Witness>
__global__ void __launch_bounds__(Grid<Witness>::kThreads) witness_indices(const IndicesArguments<SegmentCount> call) {
  __shared__ typename Witness::TempStorage storages[2];  // in turn: see TempStorage
  unsigned int turn = 0;
  for (std::int64_t row = Grid<Witness>::first_row(); row < call.rows; row += Grid<Witness>::row_step()) {
    indices_row<Witness>(call, row, storages[turn]);
    turn = 1 - turn;
  }
}

// Witness indices for any number of segments, a block to a row.
template <int kBlockThreads>
__global__ void __launch_bounds__(kBlockThreads)
    witness_indices_of_many_segments(const IndicesArguments<FixedDivisor> call) {
  constexpr int kVectors = 512 / kBlockThreads;  // 2,048 tokens in flight
  for (std::int64_t row = blockIdx.x; row < call.rows; row += gridDim.x) {
    RowTokens<kBlockThreads, kVectors> tokens(call.learned + row * call.row_stride, call.topk,
                                              static_cast<int>(threadIdx.x));
    write_witness_indices(tokens, call.lengths.context_len(row), call.segments,
                          call.witnesses + row * static_cast<std::int64_t>(call.segments.divisor()));
  }
}

}  // namespace kvwitness::kernels

#endif  // KERNELS_SRC_KERNELS_CUH
