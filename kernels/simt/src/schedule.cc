#include "kernels/simt/src/schedule.h"

#include <bit>

namespace kvwitness::simt::detail {

void RunnableThreads::start(Policy policy, std::uint32_t count, Random& random) noexcept {
  policy_ = policy;
  random_ = &random;
  size_ = 0;
  head_ = 0;
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
  next_rank_ = count;
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

void RunnableThreads::change_priority(std::uint32_t thread) noexcept {
  make_last(thread);
  ++changes_;
}

// The thread runs at this moment, so its rank is not among the runnable ones.
void RunnableThreads::make_last(std::uint32_t thread) noexcept {
  if (next_rank_ == kRanks) {
    renumber_ranks();
  }
  rank_of_[thread] = static_cast<std::uint16_t>(next_rank_);
  thread_of_[next_rank_] = static_cast<std::uint16_t>(thread);
  ++next_rank_;
}

// Closes the gaps that threads left when they were made last; there are at most kMaxBlockThreads threads.
void RunnableThreads::renumber_ranks() noexcept {
  std::uint32_t next = 0;
  for (std::uint32_t rank = 0; rank < next_rank_; ++rank) {
    const std::uint16_t thread = thread_of_[rank];
    if (rank_of_[thread] == rank) {
      const bool runnable = (ranks_[rank / 64] >> (rank % 64) & 1u) != 0;
      ranks_[rank / 64] &= ~(std::uint64_t{1} << (rank % 64));
      ranks_[next / 64] |= std::uint64_t{runnable} << (next % 64);
      rank_of_[thread] = static_cast<std::uint16_t>(next);
      thread_of_[next] = thread;
      ++next;
    }
  }
  next_rank_ = next;
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
  if (policy_ == Policy::kPct) {
    make_last(thread);  // in order, a thread that yields goes to the back of the queue anyway; a random choice is fair
  }
}

}  // namespace kvwitness::simt::detail
