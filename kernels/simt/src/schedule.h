// The choices of a run, all drawn from the schedule's number.
#ifndef KVWITNESS_KERNELS_SIMT_SRC_SCHEDULE_H
#define KVWITNESS_KERNELS_SIMT_SRC_SCHEDULE_H

#include <kvwitness/simt.h>

#include <cstdint>

namespace kvwitness::simt::detail {

inline constexpr std::uint32_t kMaxBlockThreads = 1024;

// splitmix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept : state_(seed) {}
  std::uint64_t next() noexcept {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  // Below a bound of at least 1 and less than 2^32; the bias is below bound / 2^32.
  std::uint32_t below(std::uint32_t bound) noexcept {
    return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
  }
  bool coin() noexcept { return (next() >> 63) != 0; }

 private:
  std::uint64_t state_;
};

enum class Policy : std::uint8_t { kInOrder, kRandom, kPct };

inline Policy policy_of(std::uint64_t schedule) noexcept {
  return schedule == in_order ? Policy::kInOrder : schedule % 2 == 1 ? Policy::kRandom : Policy::kPct;
}

// The threads of one block that can run, and which of them runs next.
class RunnableThreads {
 public:
  void start(Policy policy, std::uint32_t count, Random& random) noexcept;

  bool empty() const noexcept { return size_ == 0; }
  void add(std::uint32_t thread) noexcept;
  // Takes out the next one; not empty.
  std::uint32_t take() noexcept;

  // A yield point that `thread`, which runs, has reached: PCT changes a priority at a few of them.
  void step(std::uint32_t thread) noexcept {
    if (policy_ == Policy::kPct && ++steps_ == change_at_[changes_]) {
      change_priority(thread);
    }
  }
  // Whether `thread`, which could go on, lets others go first at a yield point that does not block.
  bool preempts() noexcept { return policy_ == Policy::kRandom ? random_->coin() : policy_ == Policy::kPct; }
  // `thread` has polled for long: whatever the policy, another that can run goes first.
  void defer(std::uint32_t thread) noexcept;

 private:
  static constexpr std::uint32_t kMaxChanges = 2;
  static constexpr std::uint32_t kRanks = 2 * kMaxBlockThreads;
  static constexpr std::uint32_t kWords = kRanks / 64;

  void change_priority(std::uint32_t thread) noexcept;
  void make_last(std::uint32_t thread) noexcept;
  void renumber_ranks() noexcept;
  void start_pct(std::uint32_t count) noexcept;
  std::uint32_t take_first_rank() noexcept;

  Policy policy_ = Policy::kInOrder;
  Random* random_ = nullptr;
  std::uint32_t size_ = 0;
  std::uint32_t head_ = 0;                   // in order: the front of the ring
  std::uint16_t threads_[kMaxBlockThreads];  // in order: a ring; random: a bag
  std::uint64_t ranks_[kWords];  // PCT: the ranks of the threads that can run; rank 0 is the highest priority
  std::uint16_t rank_of_[kMaxBlockThreads];
  std::uint16_t thread_of_[kRanks];
  std::uint32_t next_rank_ = 0;  // lower than every priority given so far
  std::uint64_t steps_ = 0;
  std::uint64_t change_at_[kMaxChanges + 1];  // ascending, the last one unreachable
  std::uint32_t changes_ = 0;
};

inline void RunnableThreads::add(std::uint32_t thread) noexcept {
  switch (policy_) {
    case Policy::kInOrder:
      threads_[(head_ + size_) % kMaxBlockThreads] = static_cast<std::uint16_t>(thread);
      break;
    case Policy::kRandom:
      threads_[size_] = static_cast<std::uint16_t>(thread);
      break;
    case Policy::kPct:
      ranks_[rank_of_[thread] / 64] |= std::uint64_t{1} << (rank_of_[thread] % 64);
      break;
  }
  ++size_;
}

inline std::uint32_t RunnableThreads::take() noexcept {
  --size_;
  switch (policy_) {
    case Policy::kInOrder: {
      const std::uint32_t thread = threads_[head_];
      head_ = (head_ + 1) % kMaxBlockThreads;
      return thread;
    }
    case Policy::kRandom: {
      const std::uint32_t slot = random_->below(size_ + 1);
      const std::uint32_t thread = threads_[slot];
      threads_[slot] = threads_[size_];
      return thread;
    }
    case Policy::kPct:
      break;
  }
  return take_first_rank();
}

}  // namespace kvwitness::simt::detail

#endif  // KVWITNESS_KERNELS_SIMT_SRC_SCHEDULE_H
