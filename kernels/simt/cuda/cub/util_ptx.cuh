// Found instead of CUB's header of this name when a CUDA source is compiled for the executor: what the rest of CUB takes
// from it, on the executor's warp collectives instead of PTX.
//
// Source of the meaning of each name: CCCL 3.0, the interface of cub/util_ptx.cuh. Of the shuffles: NVIDIA, "PTX ISA",
// "shfl.sync": the operand c holds the last lane (up: the first) in its low five bits and the lanes that stay fixed in
// bits 8 to 12; a source outside of that leaves the lane its own value.
#ifndef KVWITNESS_SIMT_CUB_UTIL_PTX
#define KVWITNESS_SIMT_CUB_UTIL_PTX

#include <kvwitness/simt/device.h>

// clang-format off
#include <cub/config.cuh>
#include <cub/util_debug.cuh>
#include <cub/util_type.cuh>
// clang-format on

#include <cstdint>
#include <cstring>

CUB_NAMESPACE_BEGIN

namespace detail {

// A trivially copyable value as words, of which each is moved by `move(word)`.
template <class T, class Move>
T kvwitness_by_words(const T& value, Move move) {
  constexpr std::size_t kWords = (sizeof(T) + 3) / 4;
  std::uint32_t words[kWords] = {};
  std::memcpy(words, static_cast<const void*>(&value), sizeof(T));
  for (std::uint32_t& word : words) {
    word = move(word);
  }
  T result = value;
  std::memcpy(static_cast<void*>(&result), words, sizeof(T));
  return result;
}

// Lanes of a segment that may end anywhere: every lane names its source, the own where that is outside.
inline std::uint32_t kvwitness_shuffle_up(std::uint32_t word, int delta, int c, std::uint32_t mask) {
  const int lane = static_cast<int>(kvwitness::simt::detail::lane_id());
  const int fixed = c >> 8 & 31, first = (lane & fixed) | (c & 31 & ~fixed);
  return __shfl_sync(mask, word, lane - delta >= first ? lane - delta : lane);
}
inline std::uint32_t kvwitness_shuffle_down(std::uint32_t word, int delta, int c, std::uint32_t mask) {
  const int lane = static_cast<int>(kvwitness::simt::detail::lane_id());
  const int fixed = c >> 8 & 31, last = (lane & fixed) | (c & 31 & ~fixed);
  return __shfl_sync(mask, word, lane + delta <= last ? lane + delta : lane);
}

template <int kLanes>
constexpr int kvwitness_fixed_lanes = (32 - kLanes) << 8;

inline std::uint32_t LogicShiftLeft(std::uint32_t value, std::uint32_t bits) {
  return bits < 32 ? value << bits : 0;
}
inline std::uint32_t LogicShiftRight(std::uint32_t value, std::uint32_t bits) {
  return bits < 32 ? value >> bits : 0;
}

// The lanes with the same low kLabelBits of the label, of the first kActiveThreads.
template <int kLabelBits, int kActiveThreads>
struct warp_matcher_t {
  static unsigned int match_any(unsigned int label) {
    constexpr unsigned int kActive = kActiveThreads == 32 ? ~0u : (1u << (kActiveThreads % 32)) - 1;
    constexpr unsigned int kLabel = kLabelBits >= 32 ? ~0u : (1u << (kLabelBits % 32)) - 1;
    return __match_any_sync(~0u, label & kLabel) & kActive;
  }
};

}  // namespace detail

template <class Bits>
unsigned int BFE(Bits source, unsigned int first, unsigned int count) {
  return static_cast<unsigned int>(static_cast<unsigned long long>(source) >> first & ((1ull << count) - 1));
}

inline unsigned int SHFL_UP_SYNC(unsigned int word, int delta, int flags, unsigned int mask) {
  return detail::kvwitness_shuffle_up(word, delta, flags, mask);
}
inline unsigned int SHFL_DOWN_SYNC(unsigned int word, int delta, int flags, unsigned int mask) {
  return detail::kvwitness_shuffle_down(word, delta, flags, mask);
}

inline int RowMajorTid(int width, int height, int) {
  return static_cast<int>(threadIdx.x) +
         width * (static_cast<int>(threadIdx.y) + height * static_cast<int>(threadIdx.z));
}

// The mask of the caller's logical warp. One of a size that is no power of two is the first in its warp.
template <int kLanes>
unsigned int WarpMask(unsigned int logical_warp) {
  constexpr unsigned int kMask = 0xFFFFFFFFu >> (32 - kLanes);
  if constexpr ((kLanes & (kLanes - 1)) == 0 && kLanes != 32) {
    return kMask << (logical_warp * kLanes);
  } else {
    static_cast<void>(logical_warp);
    return kMask;
  }
}

template <int kLanes, class T>
T ShuffleUp(T value, int delta, int first_thread, unsigned int mask) {
  return detail::kvwitness_by_words(value, [=](std::uint32_t word) {
    return detail::kvwitness_shuffle_up(word, delta, first_thread | detail::kvwitness_fixed_lanes<kLanes>, mask);
  });
}
template <int kLanes, class T>
T ShuffleDown(T value, int delta, int last_thread, unsigned int mask) {
  return detail::kvwitness_by_words(value, [=](std::uint32_t word) {
    return detail::kvwitness_shuffle_down(word, delta, last_thread | detail::kvwitness_fixed_lanes<kLanes>, mask);
  });
}
template <int kLanes, class T>
T ShuffleIndex(T value, int source, unsigned int mask) {
  return detail::kvwitness_by_words(value, [=](std::uint32_t word) { return __shfl_sync(mask, word, source, kLanes); });
}

template <int kLabelBits, int kActiveThreads = 32>
unsigned int MatchAny(unsigned int label) {
  return detail::warp_matcher_t<kLabelBits, kActiveThreads>::match_any(label);
}

CUB_NAMESPACE_END

#endif  // KVWITNESS_SIMT_CUB_UTIL_PTX
