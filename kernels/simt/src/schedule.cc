#include "kernels/simt/src/schedule.h"

#include <bit>

namespace kvwitness::simt::detail {

void RunnableThreads::start(Policy policy, std::uint32_t count, Random& random) noexcept {
  policy_ = policy;
  random_ = &random;
  size_ = 0;
  head_ = 0;
  count_ = count;
  if (policy == Policy::kPct) {
    start_pct(count);
  }
}

void RunnableThreads::start_pct(std::uint32_t count) noexcept {
  for (std::uint64_t& word : ranks_) {
    word = 0;
  }
  for (std::uint32_t i = 0; i < count; ++i) {  // a random permutation, built from the inside out
    const std::uint32_t j = random_->below(i + 1);
    thread_of_[i] = thread_of_[j];
    thread_of_[j] = static_cast<std::uint16_t>(i);
  }
  for (std::uint32_t rank = 0; rank < count; ++rank) {
    rank_of_[thread_of_[rank]] = static_cast<std::uint16_t>(rank);
  }
  steps_ = 0;
  changes_ = 0;
  for (std::uint64_t& step : change_at_) {
    step = 0;  // never reached: the first step is number 1
  }
  // The number of steps is not known beforehand, so its order of magnitude is drawn too.
  const std::uint32_t changes = random_->below(kMaxChanges + 1);
  const std::uint32_t horizon = count << random_->below(7);
  for (std::uint32_t i = 0; i < changes; ++i) {
    change_at_[i] = 1 + random_->below(horizon);
  }
  if (changes == 2 && change_at_[0] > change_at_[1]) {
    const std::uint64_t later = change_at_[0];
    change_at_[0] = change_at_[1];
    change_at_[1] = later;
  }
}

// The thread runs at this moment, so its rank is not among the runnable ones.
void RunnableThreads::change_priority(std::uint32_t thread) noexcept {
  const std::uint32_t rank = count_ + changes_;
  rank_of_[thread] = static_cast<std::uint16_t>(rank);
  thread_of_[rank] = static_cast<std::uint16_t>(thread);
  ++changes_;
}

std::uint32_t RunnableThreads::take_first_rank() noexcept {
  std::uint32_t word = 0;
  while (ranks_[word] == 0) {
    ++word;
  }
  const auto bit = static_cast<std::uint32_t>(std::countr_zero(ranks_[word]));
  ranks_[word] &= ranks_[word] - 1;
  return thread_of_[word * 64 + bit];
}

void RunnableThreads::defer(std::uint32_t thread) noexcept {
  if (policy_ != Policy::kPct || size_ == 0) {
    return;  // in order the thread goes to the back of the queue anyway, and a random choice is fair
  }
  std::uint32_t word = kWords - 1;
  while (ranks_[word] == 0) {
    --word;
  }
  const auto last =
      static_cast<std::uint16_t>(word * 64 + 63 - static_cast<std::uint32_t>(std::countl_zero(ranks_[word])));
  if (last < rank_of_[thread]) {
    return;
  }
  // Exchange the ranks of the two; the other one stays runnable under its new rank.
  const std::uint16_t first = rank_of_[thread], other = thread_of_[last];
  rank_of_[thread] = last;
  thread_of_[last] = static_cast<std::uint16_t>(thread);
  rank_of_[other] = first;
  thread_of_[first] = other;
  ranks_[last / 64] &= ~(std::uint64_t{1} << (last % 64));
  ranks_[first / 64] |= std::uint64_t{1} << (first % 64);
}

}  // namespace kvwitness::simt::detail
