// Found instead of the header of this name when a CUDA source is compiled for the executor: the groups of a block and
// their collectives, on the executor's barriers and warp collectives.
//
// Source of the meaning of each name: NVIDIA, "CUDA C++ Programming Guide", chapter "Cooperative Groups".
//
// coalesced_threads() is the caller alone, which the guide permits: it promises no set of lanes. Grids and clusters
// cannot synchronise.
#ifndef KVWITNESS_SIMT_COOPERATIVE_GROUPS_H
#define KVWITNESS_SIMT_COOPERATIVE_GROUPS_H

#include <kvwitness/simt/device.h>

#include <cstddef>
#include <cstring>
#include <type_traits>

#define KVWITNESS_SIMT_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()

namespace cooperative_groups {

namespace details {

inline unsigned int rank_in_block() {
  return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
}
inline unsigned int threads_of_block() {
  return blockDim.x * blockDim.y * blockDim.z;
}
inline unsigned int blocks_of_grid() {
  return gridDim.x * gridDim.y * gridDim.z;
}
inline unsigned int block_rank() {
  return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

// A value of any size, moved word by word.
template <class T, class Move>
T by_words(const T& value, Move move) {
  static_assert(std::is_trivially_copyable_v<T>, "kvwitness simt: a shuffle moves trivially copyable values");
  constexpr std::size_t kWords = (sizeof(T) + 3) / 4;
  unsigned int words[kWords] = {};
  std::memcpy(words, &value, sizeof(T));
  for (unsigned int& word : words) {
    word = move(word);
  }
  T result = value;
  std::memcpy(&result, words, sizeof(T));
  return result;
}

// `size` lanes of the caller's warp from `first` on, by their mask.
class WarpGroup {
 public:
  void sync(KVWITNESS_SIMT_SITE) const { __syncwarp(mask_, file, line); }
  unsigned int thread_rank() const { return rank_; }
  unsigned int num_threads() const { return size_; }
  unsigned int size() const { return size_; }

  template <class T>
  T shfl(T value, int source, KVWITNESS_SIMT_SITE) const {
    return by_words(value, [&](unsigned int word) {
      return __shfl_sync(mask_, word, source, static_cast<int>(width()), file, line);
    });
  }
  template <class T>
  T shfl_up(T value, unsigned int delta, KVWITNESS_SIMT_SITE) const {
    return by_words(value, [&](unsigned int word) {
      return __shfl_up_sync(mask_, word, delta, static_cast<int>(width()), file, line);
    });
  }
  template <class T>
  T shfl_down(T value, unsigned int delta, KVWITNESS_SIMT_SITE) const {
    return by_words(value, [&](unsigned int word) {
      return __shfl_down_sync(mask_, word, delta, static_cast<int>(width()), file, line);
    });
  }
  template <class T>
  T shfl_xor(T value, unsigned int lanes, KVWITNESS_SIMT_SITE) const {
    return by_words(value, [&](unsigned int word) {
      return __shfl_xor_sync(mask_, word, static_cast<int>(lanes), static_cast<int>(width()), file, line);
    });
  }
  int any(int predicate, KVWITNESS_SIMT_SITE) const { return __any_sync(mask_, predicate, file, line); }
  int all(int predicate, KVWITNESS_SIMT_SITE) const { return __all_sync(mask_, predicate, file, line); }
  unsigned int ballot(int predicate, KVWITNESS_SIMT_SITE) const {
    return __ballot_sync(mask_, predicate, file, line) >> first_;
  }
  template <class T>
  unsigned int match_any(T value, KVWITNESS_SIMT_SITE) const {
    return __match_any_sync(mask_, value, file, line) >> first_;
  }
  template <class T>
  unsigned int match_all(T value, int& all_equal, KVWITNESS_SIMT_SITE) const {
    return __match_all_sync(mask_, value, &all_equal, file, line) >> first_;
  }

 protected:
  WarpGroup(unsigned int size, unsigned int rank)
      : size_(size), rank_(rank), first_(kvwitness::simt::detail::lane_id() - rank) {
    mask_ = (size >= 32 ? 0xFFFFFFFFu : (1u << size) - 1) << first_;
  }

 private:
  // The width of a shuffle that stays within the group.
  unsigned int width() const { return size_; }

  unsigned int size_, rank_, first_, mask_;
};

}  // namespace details

class thread_group;

// ---- The block -----------------------------------------------------------------------------------------------------------------------

class thread_block {
 public:
  static constexpr bool kIsBlock = true;
  static void sync(KVWITNESS_SIMT_SITE) { __syncthreads(file, line); }
  // The halves of a barrier: the executor lets nobody run past the first.
  struct arrival_token {};
  static unsigned int thread_rank() { return details::rank_in_block(); }
  static unsigned int num_threads() { return details::threads_of_block(); }
  static unsigned int size() { return details::threads_of_block(); }
  static dim3 group_index() { return blockIdx; }
  static dim3 thread_index() { return threadIdx; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block() {
  return {};
}

class grid_group {
 public:
  static unsigned long long thread_rank() {
    return static_cast<unsigned long long>(details::block_rank()) * details::threads_of_block() +
           details::rank_in_block();
  }
  static unsigned long long num_threads() {
    return static_cast<unsigned long long>(details::blocks_of_grid()) * details::threads_of_block();
  }
  static unsigned long long size() { return num_threads(); }
  static unsigned long long block_rank() { return details::block_rank(); }
  static unsigned long long num_blocks() { return details::blocks_of_grid(); }
  static dim3 group_dim() { return gridDim; }
  static dim3 dim_blocks() { return gridDim; }
  static dim3 block_index() { return blockIdx; }
  static bool is_valid() { return false; }
  template <class... Never>
  static void sync(Never...) {
    static_assert(kvwitness::simt::detail::never<Never...>,
                  "kvwitness simt: barriers of a whole grid (grid_group::sync) are not served");
  }
};
inline grid_group this_grid() {
  return {};
}

// ---- Tiles ----------------------------------------------------------------------------------------------------------------------------

template <unsigned int Size, class Parent = void>
class thread_block_tile : public details::WarpGroup {
  static_assert(Size != 0 && (Size & (Size - 1)) == 0, "kvwitness simt: the size of a tile is a power of two");
  static_assert(Size <= 32, "kvwitness simt: tiles of more than 32 threads are not served");

 public:
  thread_block_tile() : WarpGroup(Size, details::rank_in_block() % Size) {}
  static constexpr unsigned int size() { return Size; }
  static constexpr unsigned int num_threads() { return Size; }
  unsigned int meta_group_rank() const { return parent_rank() / Size; }
  unsigned int meta_group_size() const { return (parent_size() + Size - 1) / Size; }

 private:
  template <class P>
  static constexpr bool is_block = std::is_same_v<P, thread_block> || std::is_void_v<P>;
  static unsigned int parent_rank() {
    if constexpr (is_block<Parent>) {
      return details::rank_in_block();
    } else {
      return details::rank_in_block() % Parent::size();
    }
  }
  static unsigned int parent_size() {
    if constexpr (is_block<Parent>) {
      return details::threads_of_block();
    } else {
      return Parent::size();
    }
  }
};

template <unsigned int Size, class Parent>
thread_block_tile<Size, Parent> tiled_partition(const Parent&) {
  return {};
}

// The lanes that run together now, of which the caller knows only itself.
class coalesced_group : public details::WarpGroup {
 public:
  coalesced_group() : WarpGroup(1, 0) {}
  unsigned int meta_group_rank() const { return 0; }
  unsigned int meta_group_size() const { return 1; }
};
inline coalesced_group coalesced_threads() {
  return {};
}

// Any group, its size known at run time.
class thread_group : public details::WarpGroup {
 public:
  thread_group(const thread_block&) : WarpGroup(1, 0), is_block_(true) {}
  template <unsigned int Size, class Parent>
  thread_group(const thread_block_tile<Size, Parent>& tile) : WarpGroup(tile), is_block_(false) {}
  explicit thread_group(unsigned int size) : WarpGroup(size, details::rank_in_block() % size), is_block_(false) {}
  void sync(KVWITNESS_SIMT_SITE) const {
    if (is_block_) {
      __syncthreads(file, line);
    } else {
      WarpGroup::sync(file, line);
    }
  }
  unsigned int thread_rank() const { return is_block_ ? details::rank_in_block() : WarpGroup::thread_rank(); }
  unsigned int num_threads() const { return is_block_ ? details::threads_of_block() : WarpGroup::size(); }
  unsigned int size() const { return num_threads(); }

 private:
  bool is_block_;
};
inline thread_group tiled_partition(const thread_group&, unsigned int size) {
  return thread_group(size);
}
template <class... Arguments>
coalesced_group binary_partition(Arguments&&...) {
  static_assert(kvwitness::simt::detail::never<Arguments...>,
                "kvwitness simt: groups by predicate (binary_partition) are not served");
  return {};
}
template <class... Arguments>
coalesced_group labeled_partition(Arguments&&...) {
  static_assert(kvwitness::simt::detail::never<Arguments...>,
                "kvwitness simt: groups by label (labeled_partition) are not served");
  return {};
}

template <class Group>
void sync(const Group& group, KVWITNESS_SIMT_SITE) {
  group.sync(file, line);
}
template <class Group>
auto thread_rank(const Group& group) {
  return group.thread_rank();
}
template <class Group>
auto group_size(const Group& group) {
  return group.size();
}

// ---- Collectives of a tile: <cooperative_groups/reduce.h> and <cooperative_groups/scan.h> --------------------------------------------

template <class T = void>
struct plus {
  T operator()(T a, T b) const { return static_cast<T>(a + b); }
};
template <class T = void>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T = void>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T = void>
struct bit_and {
  T operator()(T a, T b) const { return static_cast<T>(a & b); }
};
template <class T = void>
struct bit_or {
  T operator()(T a, T b) const { return static_cast<T>(a | b); }
};
template <class T = void>
struct bit_xor {
  T operator()(T a, T b) const { return static_cast<T>(a ^ b); }
};

// A butterfly: every lane holds the result. The group's size is a power of two.
template <class Group, class T, class Operation>
T reduce(const Group& group, T value, Operation operation, KVWITNESS_SIMT_SITE) {
  for (unsigned int lanes = group.size() / 2; lanes != 0; lanes /= 2) {
    value = operation(value, group.shfl_xor(value, lanes, file, line));
  }
  return value;
}
template <class Group, class T, class Operation>
T inclusive_scan(const Group& group, T value, Operation operation, KVWITNESS_SIMT_SITE) {
  for (unsigned int delta = 1; delta < group.size(); delta *= 2) {
    const T below = group.shfl_up(value, delta, file, line);
    if (group.thread_rank() >= delta) {
      value = operation(below, value);
    }
  }
  return value;
}
template <class Group, class T>
T inclusive_scan(const Group& group, T value, KVWITNESS_SIMT_SITE) {
  return inclusive_scan(group, value, plus<T>(), file, line);
}
// The first lane gets T{}, as CUDA gives the sum of none.
template <class Group, class T, class Operation>
T exclusive_scan(const Group& group, T value, Operation operation, KVWITNESS_SIMT_SITE) {
  const T below = group.shfl_up(inclusive_scan(group, value, operation, file, line), 1, file, line);
  return group.thread_rank() == 0 ? T{} : below;
}
template <class Group, class T>
T exclusive_scan(const Group& group, T value, KVWITNESS_SIMT_SITE) {
  return exclusive_scan(group, value, plus<T>(), file, line);
}
// One lane of the group calls `action` and all get its value.
template <class Group, class Action>
auto invoke_one_broadcast(const Group& group, Action action, KVWITNESS_SIMT_SITE) {
  decltype(action()) value{};
  if (group.thread_rank() == 0) {
    value = action();
  }
  return group.shfl(value, 0, file, line);
}
template <class Group, class Action>
void invoke_one(const Group& group, Action action) {
  if (group.thread_rank() == 0) {
    action();
  }
}

template <class... Arguments>
void memcpy_async(Arguments&&...) {
  static_assert(kvwitness::simt::detail::never<Arguments...>,
                "kvwitness simt: asynchronous copies (cooperative_groups::memcpy_async) are not served");
}

}  // namespace cooperative_groups

#undef KVWITNESS_SIMT_SITE

#endif  // KVWITNESS_SIMT_COOPERATIVE_GROUPS_H
