// The kernels behind kvwitness_cuda.h: rows on grid.x, a block or a warp to a row.
//
// One text for nvcc and for the CPU executor. Every kernel covers all rows by a grid-stride loop, whatever the grid.
#ifndef KERNELS_SRC_KERNELS_CUH
#define KERNELS_SRC_KERNELS_CUH

#include <kvwitness/segments.h>

#include <cstdint>
#include <kvwitness/witness.cuh>

namespace kvwitness::kernels {

inline constexpr int kThreads = 256;  // of every block, in both variants
inline constexpr int kWarpsPerBlock = kThreads / kWarpThreads;

// How many storages the blocks' rows use in turn; 2, or 1 for the positive control that shows why.
#ifndef KVWITNESS_ROW_STORAGES
#define KVWITNESS_ROW_STORAGES 2
#endif

// How row r gets its context length: lens[q] - starts[q] - next_n + r % next_n + 1 with q = r / next_n, clamped to
// int32.
struct RowLengths {
  const std::int32_t* lens;
  const std::int32_t* starts;  // or null
  std::int64_t stride;         // elements between two lengths, and between two starts
  std::int64_t next_n;         // rows a request
  FixedDivisor requests;       // min(next_n, rows), which divides row numbers as next_n does

  __device__ __forceinline__ std::int32_t context_len(std::int64_t row) const {
    std::int64_t request = row;
    std::int64_t token = 0;  // of the request's tokens, counted back from its last: 0 or less
    if (next_n != 1) {
      request = static_cast<std::int64_t>(requests.quotient(static_cast<std::uint64_t>(row)));
      token = row - request * static_cast<std::int64_t>(requests.divisor()) + 1 - next_n;
    }
    // Beyond 2^33 below its last token every row is empty; the bound keeps the sum from wrapping.
    constexpr std::int64_t kFarBack = -(std::int64_t{1} << 33);
    std::int64_t length = token < kFarBack ? kFarBack : token;
    length += lens[request * stride];
    if (starts != nullptr) {
      length -= starts[request * stride];
    }
    constexpr std::int64_t kLeast = INT32_MIN;
    constexpr std::int64_t kMost = INT32_MAX;
    return static_cast<std::int32_t>(length < kLeast ? kLeast : length > kMost ? kMost : length);
  }
};

// The arguments of a launch, checked and prepared by the host. Elements throughout.
struct MergeArguments {
  const std::int32_t* learned;
  std::int64_t row_stride;
  std::int64_t topk;
  RowLengths lengths;
  std::int64_t rows;
  std::int64_t learned_keep;
  int budget;  // at most 64, and learned_keep + budget <= topk
  SegmentCount segments;
  std::int32_t* out;  // learned itself, or disjoint from it
  std::int64_t out_row_stride;
};

template <class Segments>  // SegmentCount for at most 64 segments, FixedDivisor for any number
struct IndicesArguments {
  const std::int32_t* learned;
  std::int64_t row_stride;
  std::int64_t topk;
  RowLengths lengths;
  std::int64_t rows;
  Segments segments;
  std::int32_t* witnesses;  // [rows, S]
};

// Copies what a RowTokens delivers to the same slots of another row, which may be misaligned in another way.
struct RowCopy {
  std::int32_t* out;

  __device__ __forceinline__ void operator()(std::int64_t slot, const device::TokenVector& vector) const {
    if (slot < 0) {
      return;
    }
    if (reinterpret_cast<std::uintptr_t>(out + slot) % sizeof(device::TokenVector) == 0) {
      *reinterpret_cast<device::TokenVector*>(out + slot) = vector;
      return;
    }
    KVWITNESS_UNROLL
    for (int i = 0; i < 4; ++i) {
      out[slot + i] = vector.tokens[i];
    }
  }
  __device__ __forceinline__ void operator()(std::int64_t slot, std::int32_t token) const { out[slot] = token; }
};

// The grid's rows, as one collective sees them: a block or a warp.
template <class Witness>
struct RowRange;
template <>
struct RowRange<BlockWitness<kThreads>> {
  __device__ __forceinline__ static std::int64_t first() { return blockIdx.x; }
  __device__ __forceinline__ static std::int64_t step() { return gridDim.x; }
};
template <>
struct RowRange<WarpWitness> {
  __device__ __forceinline__ static std::int64_t first() {
    return static_cast<std::int64_t>(blockIdx.x) * kWarpsPerBlock + threadIdx.x / kWarpThreads;
  }
  __device__ __forceinline__ static std::int64_t step() {
    return static_cast<std::int64_t>(gridDim.x) * kWarpsPerBlock;
  }
};

template <class Witness, bool kCopies>
__device__ __forceinline__ void merge_row(const MergeArguments& call, std::int64_t row,
                                          typename Witness::TempStorage& storage) {
  std::int32_t* const out = call.out + row * call.out_row_stride;
  const std::int32_t context_len = call.lengths.context_len(row);
  typename Witness::Row tokens(call.learned + row * call.row_stride, call.topk, Witness::thread_rank());
  Witness witness(storage, context_len, call.segments);
  if constexpr (kCopies) {
    witness.add(tokens, RowCopy{out}, RowCopy{out});
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
  const std::int32_t context_len = call.lengths.context_len(row);
  typename Witness::Row tokens(call.learned + row * call.row_stride, call.topk, Witness::thread_rank());
  Witness witness(storage, context_len, call.segments);
  witness.add(tokens);
  witness.combine();
  witness.emit_segments([witnesses](int segment, std::int32_t token) { witnesses[segment] = token; });
}

// apply and scatter, the latter being an apply in place.
template <class Witness, bool kCopies>
__global__ void __launch_bounds__(kThreads) merge_rows(const MergeArguments call) {
  __shared__ typename Witness::TempStorage storages[KVWITNESS_ROW_STORAGES];
  unsigned int turn = 0;
  for (std::int64_t row = RowRange<Witness>::first(); row < call.rows; row += RowRange<Witness>::step()) {
    merge_row<Witness, kCopies>(call, row, storages[turn]);
    turn = (turn + 1) % KVWITNESS_ROW_STORAGES;
  }
}

// Witness indices for at most 64 segments.
template <class Witness>
__global__ void __launch_bounds__(kThreads) witness_indices(const IndicesArguments<SegmentCount> call) {
  __shared__ typename Witness::TempStorage storages[KVWITNESS_ROW_STORAGES];
  unsigned int turn = 0;
  for (std::int64_t row = RowRange<Witness>::first(); row < call.rows; row += RowRange<Witness>::step()) {
    indices_row<Witness>(call, row, storages[turn]);
    turn = (turn + 1) % KVWITNESS_ROW_STORAGES;
  }
}

// Witness indices for any number of segments, a block to a row.
template <int kBlockThreads>
__global__ void __launch_bounds__(kBlockThreads)
    witness_indices_of_many_segments(const IndicesArguments<FixedDivisor> call) {
  for (std::int64_t row = blockIdx.x; row < call.rows; row += gridDim.x) {
    write_witness_indices<kBlockThreads>(call.learned + row * call.row_stride, call.topk, call.lengths.context_len(row),
                                         call.segments,
                                         call.witnesses + row * static_cast<std::int64_t>(call.segments.divisor()));
  }
}

}  // namespace kvwitness::kernels

#endif  // KERNELS_SRC_KERNELS_CUH
