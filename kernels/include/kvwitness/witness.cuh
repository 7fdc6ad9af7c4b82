// The segment-witness pass as device collectives, for kernels that fuse it into their own top-k and for the
// kernels of this project.
//
// A row of topk learned token offsets over a context of L tokens is cut into S_eff = min(S, L) segments:
//
//     e_s      = ceil(s * L / S_eff)     the edge of segment s: its first token
//     sigma(x) = floor(x * S_eff / L)    the segment that token x lies in
//
// A token x >= 0 occupies segment min(sigma(x), S - 1). Negative entries are padding and occupy nothing.
// Each unoccupied segment s < S_eff has one witness, e_s. Rows with L <= 0 have none. Offsets are relative
// to the row.
//
// Two collectives, in the style of CUB, with one interface:
//
// - WarpWitness: 32 lanes a row. No block barrier: for many rows, or short ones.
// - BlockWitness<kThreads, kVectors>: one block a row, kVectors 128-bit loads a thread in flight. For few
//   rows, which more warps finish sooner; 64 threads of 8 loads have a row of 2,048 tokens on its way at
//   once.
//
// A pass has three steps. The first may be called by any thread, the others are called by all threads of
// the collective:
//
// 1. add(token), any number of times by any thread, with the tokens in any order and distribution; or
//    add(row), for a RowTokens in flight. Together the calls must cover the whole row, the part included
//    that witnesses will overwrite.
// 2. combine(): one synchronisation of the collective. What any thread wrote or read of the row before it
//    comes before what any thread writes after it, so the host kernel's picks may lie in memory already and
//    witnesses may go on top of them.
// 3. emit(learned_keep, budget, store): store(slot, token) for each witness, in ascending segment order
//    from slot learned_keep on, at most `budget` of them. Each call is made by one thread, neighbouring
//    slots by neighbouring lanes. Or emit_segments(store): store(segment, token or -1) for every segment
//    below S.
//
// Example, one warp, S = 4, L = 16, learned row [0, 5, 9, -1] in memory, keep 2, budget 2:
//
//     __shared__ kvwitness::WarpWitness::TempStorage storage;
//     kvwitness::WarpWitness witness(storage, 16, kvwitness::SegmentCount(4));
//     if (lane < 4) witness.add(row[lane]);  // segments 0, 1 and 2 are occupied
//     witness.combine();
//     witness.emit(2, 2, [=](long long slot, int token) { row[slot] = token; });
//
// leaves [0, 5, 12, -1]: the witness of segment 3 is e_3 = 12.
//
// Temporary storage: WarpWitness needs none; its TempStorage is empty and only completes the interface.
// BlockWitness reads its TempStorage until the last thread has returned from combine(), so the same storage
// may serve another row after a __syncthreads() that follows combine(). Two storages used in turn need
// none, because the combine() of the row between them is that barrier.
//
// No global state, no allocation, no recursion, no call: everything is inlined. C++17; the CUDA headers are
// the only dependency. The text also compiles for a CPU executor of CUDA's execution model, under which the
// project tests it. Source of the rule: vllm-project/vllm#47942.
#ifndef KVWITNESS_WITNESS_CUH
#define KVWITNESS_WITNESS_CUH

#include <cuda_runtime.h>
#include <kvwitness/segments.h>

#include <cstdint>

// 1 where a warp's masks are combined by shuffles, for want of the reduction that sm_80 brought.
#ifndef KVWITNESS_SHUFFLE_REDUCTION
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define KVWITNESS_SHUFFLE_REDUCTION 1
#else
#define KVWITNESS_SHUFFLE_REDUCTION 0
#endif
#endif

#if defined(__CUDACC__)
#define KVWITNESS_UNROLL _Pragma("unroll")
#else
#define KVWITNESS_UNROLL
#endif

// Which way a branch goes for nearly every row: the other way is kept out of its instructions.
#define KVWITNESS_LIKELY(condition) __builtin_expect(static_cast<bool>(condition), true)
#define KVWITNESS_UNLIKELY(condition) __builtin_expect(static_cast<bool>(condition), false)

namespace kvwitness {

inline constexpr int kWarpThreads = 32;

namespace device {

inline constexpr unsigned kAllLanes = 0xFFFFFFFFu;

// Bit `position` of a 64-bit mask, and 0 for a position of 64 or more. In C++ such a shift is undefined; in
// PTX it clamps, as wanted.
__device__ __forceinline__ std::uint64_t bit_or_nothing(std::uint32_t position) {
#if defined(__CUDA_ARCH__)
  std::uint64_t bit;
  asm("shl.b64 %0, 1, %1;" : "=l"(bit) : "r"(position));
  return bit;
#else
  return position < 64 ? std::uint64_t{1} << position : 0;
#endif
}

// The or of a word over the lanes of a full warp, in every lane. Orders no memory.
__device__ __forceinline__ std::uint32_t warp_or(std::uint32_t word) {
#if KVWITNESS_SHUFFLE_REDUCTION
  KVWITNESS_UNROLL
  for (int distance = kWarpThreads / 2; distance > 0; distance /= 2) {
    word |= __shfl_xor_sync(kAllLanes, word, distance);
  }
  return word;
#else
  return __reduce_or_sync(kAllLanes, word);
#endif
}

__device__ __forceinline__ std::uint64_t warp_or(std::uint64_t mask) {
  const std::uint64_t high = warp_or(static_cast<std::uint32_t>(mask >> 32));
  return (high << 32) | warp_or(static_cast<std::uint32_t>(mask));
}

// A store that races with stores of the same value by other threads of the block.
__device__ __forceinline__ void store_relaxed(std::int32_t* address, std::int32_t value) {
#if defined(__CUDA_ARCH__)
  asm volatile("st.relaxed.cta.s32 [%0], %1;" ::"l"(address), "r"(value) : "memory");
#else
  __atomic_store_n(address, value, __ATOMIC_RELAXED);
#endif
}

// Four tokens that one 128-bit load brings.
struct alignas(16) TokenVector {
  std::int32_t tokens[4];
};

// Which segment a token of one row marks. Four instructions a token where NewtonSegmentReciprocal covers
// the row, which is every row but the very short (no more bits in L than in S) and the very long
// (millions of tokens).
class SegmentMarker {
 public:
  // A context_len of 0 or less is read as 1; the caller discards the segments of such a row.
  __device__ __forceinline__ SegmentMarker(std::int32_t context_len, std::uint64_t num_segments)
      : context_len_(context_len > 0 ? static_cast<std::uint32_t>(context_len) : 1u),
        segments_(num_segments < context_len_ ? static_cast<std::uint32_t>(num_segments) : context_len_),
        last_token_(segments_ == num_segments ? static_cast<std::int32_t>(context_len_ - 1) : INT32_MAX),
        is_narrow_(NewtonSegmentReciprocal::covers(context_len_, segments_)),
        narrow_(context_len_, segments_),
        wide_(is_narrow_ || segments_ == context_len_  // S_eff = L: sigma(x) = x, as for L = 1
                  ? SegmentReciprocal(1, 1)
                  : SegmentReciprocal::by_long_division(context_len_, segments_)) {
    KVWITNESS_ASSERT(num_segments >= 1, num_segments);
  }

  // The same for every thread that works on the row.
  __device__ __forceinline__ bool is_narrow() const { return is_narrow_; }
  __device__ __forceinline__ std::uint32_t context_len() const { return context_len_; }
  __device__ __forceinline__ std::uint32_t effective_segments() const { return segments_; }

  // min(sigma(token), S - 1) where that is below S_eff; for negative tokens and for all else a number of
  // S_eff or more.
  //
  // Where S_eff = S, a token at or past the context's end belongs to segment S - 1, which is that of token
  // L - 1; where S_eff < S it lies outside the partition, as its number says. Padding read without sign is
  // 2^31 or more, and the multiplication takes that past the partition too. The choice is the same for all
  // threads and all tokens of the row; kNarrow needs is_narrow().
  template <bool kNarrow>
  __device__ __forceinline__ std::uint32_t segment_of(std::int32_t token) const {
    const auto offset = static_cast<std::uint32_t>(token < last_token_ ? token : last_token_);
    if constexpr (kNarrow) {
      return narrow_.segment_of(offset);
    } else {
      return static_cast<std::uint32_t>(wide_.segment_of(offset));
    }
  }
  __device__ __forceinline__ std::uint32_t segment_of(std::int32_t token) const {
    return is_narrow_ ? segment_of<true>(token) : segment_of<false>(token);
  }

 private:
  std::uint32_t context_len_;
  std::uint32_t segments_;
  std::int32_t last_token_;  // what larger tokens are read as
  bool is_narrow_;
  NewtonSegmentReciprocal narrow_;
  SegmentReciprocal wide_;
};

}  // namespace device

// One row of tokens on its way from memory, spread over kThreads threads: a thread's first kVectors 128-bit
// loads are under way when the constructor returns, and what else the row needs can be computed meanwhile.
// Construct it before anything that waits for memory, the row's length above all.
//
// Thread-to-data arrangement: the row's 16-byte aligned middle goes round in vectors of four tokens, vector
// v to thread v mod kThreads. Up to three tokens before it and up to three after it go one to a thread,
// from the first thread on. Where the last round has no vector for a thread, it takes the row's last one
// again, which spares the loop its conditions and leaves an occupancy as it is. Any row that is aligned to
// its elements and any topk >= 0 will do; with topk 0 the row is not read.
template <int kThreads, int kVectors>
class RowTokens {
  static_assert(kThreads >= 6 && kVectors >= 1, "each loose token of a row has a thread of its own");

 public:
  // `thread` is the caller's rank among the kThreads, which all construct one for the same row.
  __device__ __forceinline__ RowTokens(const std::int32_t* row, std::int64_t topk, int thread) : thread_(thread) {
    KVWITNESS_ASSERT(topk >= 0 && 0 <= thread && thread < kThreads, topk, thread);
    const auto misaligned_tokens = static_cast<int>(reinterpret_cast<std::uintptr_t>(row) / sizeof(std::int32_t) % 4);
    const int wanted_head = (4 - misaligned_tokens) % 4;
    const int head = topk < wanted_head ? static_cast<int>(topk) : wanted_head;
    const auto behind_head = static_cast<std::uint64_t>(topk - head);
    left_ = static_cast<std::int64_t>(behind_head / 4);
    round_slot_ = head;
    round_ = reinterpret_cast<const device::TokenVector*>(row + head);
    if (left_ > 0) {
      load();
    }
    const int loose = head + static_cast<int>(behind_head % 4);
    if (KVWITNESS_UNLIKELY(loose > 0) && thread < loose) {
      // The first threads have the slots of the head, the next ones those of the tail.
      loose_slot_ = thread < head ? thread : left_ * 4 + thread;
      loose_token_ = row[loose_slot_];
    }
  }

  // Slots from one of a thread's vectors to its next.
  static constexpr int kSlotStep = kThreads * 4;

  // Calls consume_round(slot, vectors, own) for each round of loads, `vectors` being an array of kVectors. All
  // hold tokens of the row; the first `own` of them are the caller's, vectors[i] those of the slots from
  // slot + i * kSlotStep on, and the others are another thread's too. Calls consume_token(slot, token) for the
  // caller's loose token, if it has one. Once all threads have called it, every token of the row has been
  // consumed, and as the caller's own once. To be called once.
  template <class ConsumeRound, class ConsumeToken>
  __device__ __forceinline__ void consume(ConsumeRound consume_round, ConsumeToken consume_token) {
    while (left_ > 0) {
      int own = kVectors;
      if (KVWITNESS_UNLIKELY(left_ < kRound)) {
        const int behind = static_cast<int>(left_) - thread_;  // vectors from the thread's first on
        own = behind > 0 ? (behind + kThreads - 1) / kThreads : 0;
      }
      consume_round(round_slot_ + std::int64_t{thread_} * 4, in_flight_, own);
      left_ -= kRound;
      round_ += kRound;
      round_slot_ += std::int64_t{kRound} * 4;
      if (left_ > 0) {
        load();
      }
    }
    if (KVWITNESS_UNLIKELY(loose_slot_ >= 0)) {
      consume_token(loose_slot_, loose_token_);
    }
  }

 private:
  static constexpr int kRound = kThreads * kVectors;  // vectors

  // The vectors of one round. A whole round, which is every round of most rows, needs one address.
  __device__ __forceinline__ void load() {
    if (KVWITNESS_LIKELY(left_ >= kRound)) {
      KVWITNESS_UNROLL
      for (int i = 0; i < kVectors; ++i) {
        in_flight_[i] = round_[thread_ + i * kThreads];
      }
      return;
    }
    const int last = static_cast<int>(left_) - 1;
    KVWITNESS_UNROLL
    for (int i = 0; i < kVectors; ++i) {
      const int vector = thread_ + i * kThreads;
      in_flight_[i] = round_[vector < last ? vector : last];
    }
  }

  int thread_;
  std::int64_t left_;        // vectors of the row from this round on
  std::int64_t round_slot_;  // the slot of this round's first token
  const device::TokenVector* round_;
  std::int64_t loose_slot_ = -1;
  std::int32_t loose_token_ = -1;
#if defined(__CUDA_ARCH__)
  device::TokenVector in_flight_[kVectors];  // consumed only where loaded
#else
  device::TokenVector in_flight_[kVectors] = {};  // for compilers that cannot see that
#endif
};

namespace device {

// What both collectives share: one thread's part in the pass over one row of at most 64 segments.
template <int kThreads>
class RowWitness {
 public:
  // For a context length of 0 or less the row has no witness, whatever is added.
  __device__ __forceinline__ RowWitness(std::int32_t context_len, const SegmentCount& segments, int thread)
      : thread_(thread),
        num_segments_(segments.num_segments()),
        marker_(context_len, segments.num_segments()),
        edges_(segments.edges(marker_.context_len())),
        partition_(context_len > 0 ? bit_or_nothing(marker_.effective_segments()) - 1 : 0) {}

  // A token of the row; negative ones are padding and occupy nothing.
  __device__ __forceinline__ void add(std::int32_t token) { occupied_ |= bit_or_nothing(marker_.segment_of(token)); }

  // A row in flight; take_round and take_token see what is consumed (RowTokens::consume), to copy it, say.
  template <int kVectors, class TakeRound, class TakeToken>
  __device__ __forceinline__ void add(RowTokens<kThreads, kVectors>& row, TakeRound take_round, TakeToken take_token) {
    if (marker_.is_narrow()) {
      add_by<true>(row, take_round, take_token);
    } else {
      add_by<false>(row, take_round, take_token);
    }
  }
  template <int kVectors>
  __device__ __forceinline__ void add(RowTokens<kThreads, kVectors>& row) {
    add(row, [](std::int64_t, const TokenVector(&)[kVectors], int) {}, [](std::int64_t, std::int32_t) {});
  }

  // After combine(): bit s is set where segment s < S_eff has no token. The same for every thread.
  __device__ __forceinline__ std::uint64_t missing_segments() const { return partition_ & ~occupied_; }

  // After combine(): store(slot, token) for each of the first `budget` witnesses, in ascending segment
  // order from slot learned_keep on.
  //
  // @param learned_keep  a slot, 0 or more
  // @param budget        witnesses, 0 or more
  // @param store         called by one thread for each
  template <class Store>
  __device__ __forceinline__ void emit(std::int64_t learned_keep, int budget, Store store) const {
    KVWITNESS_ASSERT(learned_keep >= 0 && budget >= 0, learned_keep, budget);
    const std::uint64_t missing = missing_segments();
    KVWITNESS_UNROLL
    for (int round = 0; round < kRounds; ++round) {
      const int segment = thread_ + round * kThreads;
      const std::uint64_t bit = bit_or_nothing(static_cast<std::uint32_t>(segment));
      const int rank = __popcll(missing & (bit - 1));
      if ((missing & bit) != 0 && rank < budget) {
        store(learned_keep + rank, edge(segment));
      }
    }
  }

  // After combine(): store(segment, token) for each segment below S, the token being the segment's witness
  // or -1.
  template <class Store>
  __device__ __forceinline__ void emit_segments(Store store) const {
    const std::uint64_t missing = missing_segments();
    KVWITNESS_UNROLL
    for (int round = 0; round < kRounds; ++round) {
      const int segment = thread_ + round * kThreads;
      if (segment < static_cast<int>(num_segments_)) {
        const std::uint64_t bit = bit_or_nothing(static_cast<std::uint32_t>(segment));
        store(segment, (missing & bit) != 0 ? edge(segment) : -1);
      }
    }
  }

 protected:
  std::uint64_t occupied_ = 0;

 private:
  // How many segments a thread answers for.
  static constexpr int kRounds = (static_cast<int>(kMaxMergeSegments) + kThreads - 1) / kThreads;

  template <bool kNarrow, int kVectors, class TakeRound, class TakeToken>
  __device__ __forceinline__ void add_by(RowTokens<kThreads, kVectors>& row, TakeRound take_round,
                                         TakeToken take_token) {
    const auto mark = [this](std::int32_t token) {
      return bit_or_nothing(marker_.template segment_of<kNarrow>(token));
    };
    row.consume(
        [&](std::int64_t slot, const TokenVector(&vectors)[kVectors], int own) {
          KVWITNESS_UNROLL
          for (int i = 0; i < kVectors; ++i) {
            occupied_ |= mark(vectors[i].tokens[0]) | mark(vectors[i].tokens[1]);
            occupied_ |= mark(vectors[i].tokens[2]) | mark(vectors[i].tokens[3]);
          }
          take_round(slot, vectors, own);
        },
        [&](std::int64_t slot, std::int32_t token) {
          occupied_ |= mark(token);
          take_token(slot, token);
        });
  }

  __device__ __forceinline__ std::int32_t edge(int segment) const {
    return static_cast<std::int32_t>(edges_.edge(static_cast<std::uint32_t>(segment)));
  }

  int thread_;
  std::uint32_t num_segments_;
  SegmentMarker marker_;
  SegmentEdges edges_;
  std::uint64_t partition_;  // bit s is set for each segment s < S_eff
};

}  // namespace device

// The pass over one row by the 32 lanes of a warp, which must be whole. See the head of this file.
class WarpWitness : public device::RowWitness<kWarpThreads> {
 public:
  struct TempStorage {};
  using Row = RowTokens<kWarpThreads, 8>;  // 1,024 tokens in flight

  // The caller's rank: its lane.
  __device__ __forceinline__ static int thread_rank() { return static_cast<int>(threadIdx.x % 32u); }

  // The same context_len and segments in every lane.
  __device__ __forceinline__ WarpWitness(TempStorage&, std::int32_t context_len, const SegmentCount& segments)
      : RowWitness(context_len, segments, thread_rank()) {}

  // Makes every lane know what all of them added. Once, by all lanes.
  __device__ __forceinline__ void combine() {
    occupied_ = device::warp_or(occupied_);
    __syncwarp();  // the reduction orders no memory
  }
};

// The pass over one row by a block of kThreads threads in one dimension, a multiple of 32 up to 1,024. A Row
// has kVectors 128-bit loads a thread in flight. See the head of this file.
template <int kThreads, int kVectors = 2>
class BlockWitness : public device::RowWitness<kThreads> {
  static_assert(kThreads % kWarpThreads == 0 && kThreads <= 1024, "a block of whole warps");
  static constexpr int kWarps = kThreads / kWarpThreads;

 public:
  struct TempStorage {
    std::uint64_t occupied_by_warp[kWarps];
  };
  using Row = RowTokens<kThreads, kVectors>;

  __device__ __forceinline__ static int thread_rank() { return static_cast<int>(threadIdx.x); }

  // The same context_len and segments in every thread.
  __device__ __forceinline__ BlockWitness(TempStorage& storage, std::int32_t context_len, const SegmentCount& segments)
      : device::RowWitness<kThreads>(context_len, segments, thread_rank()), storage_(storage) {
    KVWITNESS_ASSERT(blockDim.x == kThreads && blockDim.y == 1 && blockDim.z == 1, blockDim.x, blockDim.y, blockDim.z);
  }

  // Makes every thread know what all of them added. Once, by all threads.
  __device__ __forceinline__ void combine() {
    const std::uint64_t of_warp = device::warp_or(this->occupied_);
    if (threadIdx.x % 32u == 0) {
      storage_.occupied_by_warp[threadIdx.x / 32u] = of_warp;
    }
    __syncthreads();
    std::uint64_t of_block = 0;
    KVWITNESS_UNROLL
    for (int warp = 0; warp < kWarps; ++warp) {
      of_block |= storage_.occupied_by_warp[warp];
    }
    this->occupied_ = of_block;
  }

 private:
  TempStorage& storage_;
};

// The witness indices of one row for any number of segments, by a block of kThreads threads in one
// dimension: witnesses[s] becomes e_s where segment s < S_eff has no token in the row, else -1. The output
// row itself keeps the occupancy, so that nothing but memory bounds S.
//
// @param row          the token offsets, in flight; constructed before context_len is read
// @param context_len  L in tokens; 0 or less is an empty row
// @param segments     S as a divisor, 1 <= S < 2^62
// @param witnesses    [S]; shares no memory with row
//
// All arguments are the same row's in every thread. Needs no temporary storage. What it wrote is visible
// only to the writing thread until the caller's next barrier.
template <int kThreads, int kVectors>
__device__ __forceinline__ void write_witness_indices(RowTokens<kThreads, kVectors>& row, std::int32_t context_len,
                                                      const FixedDivisor& segments, std::int32_t* witnesses) {
  KVWITNESS_ASSERT(segments.divisor() < std::uint64_t{1} << 62, segments.divisor());
  KVWITNESS_ASSERT(blockDim.x == kThreads && blockDim.y == 1 && blockDim.z == 1, blockDim.x, blockDim.y, blockDim.z);
  const device::SegmentMarker marker(context_len, segments.divisor());
  const std::uint32_t partition = context_len > 0 ? marker.effective_segments() : 0;  // S_eff, or 0 for an empty row

  const auto num_segments = static_cast<std::int64_t>(segments.divisor());
  const bool is_whole = partition == segments.divisor();
  for (std::int64_t segment = threadIdx.x; segment < num_segments; segment += kThreads) {
    // ceil(s * L / S), the product below 2^62; where S_eff = L every edge is its segment's number.
    const auto s = static_cast<std::uint64_t>(segment);
    const std::uint64_t edge = is_whole ? segments.quotient(s * marker.context_len() + partition - 1) : s;
    witnesses[segment] = s < partition ? static_cast<std::int32_t>(edge) : -1;
  }
  __syncthreads();
  const auto mark = [&](std::int32_t token) {
    const std::uint32_t segment = marker.segment_of(token);
    if (segment < partition) {
      device::store_relaxed(witnesses + segment, -1);
    }
  };
  row.consume(
      [&](std::int64_t, const device::TokenVector(&vectors)[kVectors], int) {
        KVWITNESS_UNROLL
        for (int i = 0; i < kVectors; ++i) {
          for (const std::int32_t token : vectors[i].tokens) {
            mark(token);
          }
        }
      },
      [&](std::int64_t, std::int32_t token) { mark(token); });
}

}  // namespace kvwitness

#endif  // KVWITNESS_WITNESS_CUH
