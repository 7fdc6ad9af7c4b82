#include "kvwitness/select.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <tuple>

namespace kvwitness {
namespace {

constexpr std::uint64_t kGamma = 0x9E3779B97F4A7C15u;

// One step of splitmix64.
constexpr std::uint64_t mix(std::uint64_t z) {
  z += kGamma;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// The part of a shuffled pool that lies behind the drawn slots and has been moved: position -> token, where an absent
// position still holds its own number. Open addressing, at most half full.
class MovedTail {
 public:
  explicit MovedTail(std::size_t largest_count)
      : entries_(std::bit_ceil(2 * largest_count + 2)), shift_(64 - std::countr_zero(entries_.size())) {}

  void clear() { std::ranges::fill(entries_, Entry{}); }

  // Puts `token` at `position` and returns what was there.
  std::int32_t exchange(std::int32_t position, std::int32_t token) {
    const std::size_t mask = entries_.size() - 1;
    std::size_t index = static_cast<std::uint32_t>(position) * kGamma >> shift_;
    while (entries_[index].position != kFree && entries_[index].position != position) {
      index = (index + 1) & mask;
    }
    Entry& entry = entries_[index];
    const std::int32_t previous = entry.position == kFree ? position : entry.token;
    entry = {position, token};
    return previous;
  }

 private:
  static constexpr std::int32_t kFree = -1;
  struct Entry {
    std::int32_t position = kFree;
    std::int32_t token = 0;
  };
  std::vector<Entry> entries_;
  int shift_;
};

// A pool of up to this many times as many tokens as are drawn from it is written out; of a longer one, what moved.
constexpr std::size_t kShortPool = 16;

// Draws rows of up to `tokens` tokens, `largest_count` of them at most.
class Drawer {
 public:
  Drawer(std::size_t tokens, std::size_t largest_count)
      : is_short_(tokens / kShortPool <= largest_count),
        pool_(is_short_ ? tokens : 0),
        tail_(is_short_ ? 0 : std::min(largest_count, tokens - largest_count)) {}

  // The first `drawn.size()` entries of the shuffled pool [0 .. row], unordered.
  void draw(std::uint64_t row, std::uint64_t seed, std::span<std::int32_t> drawn) {
    if (is_short_) {
      const std::span<std::int32_t> pool = std::span(pool_).first(static_cast<std::size_t>(row) + 1);
      std::iota(pool.begin(), pool.end(), 0);
      for_each_pick(row, seed, drawn.size(),
                    [&](std::uint64_t slot, std::uint64_t pick) { std::swap(pool[slot], pool[pick]); });
      std::ranges::copy(pool.first(drawn.size()), drawn.begin());
      return;
    }
    // `drawn` itself holds the front of the pool, `tail` what was moved of the rest, so that the pool is never written
    // out.
    std::iota(drawn.begin(), drawn.end(), 0);
    tail_.clear();
    for_each_pick(row, seed, drawn.size(), [&](std::uint64_t slot, std::uint64_t pick) {
      if (pick < drawn.size()) {
        std::swap(drawn[slot], drawn[pick]);
      } else {
        drawn[slot] = tail_.exchange(static_cast<std::int32_t>(pick), drawn[slot]);
      }
    });
  }

 private:
  template <typename Swap>
  static void for_each_pick(std::uint64_t row, std::uint64_t seed, std::size_t count, const Swap& swap) {
    std::uint64_t state = mix(seed ^ (row * kGamma));
    for (std::uint64_t slot = 0; slot < count; ++slot) {
      state = mix(state);
      swap(slot, slot + state % (row + 1 - slot));
    }
  }

  bool is_short_;
  std::vector<std::int32_t> pool_;
  MovedTail tail_;
};

// Sorts offsets in [0, largest] in linear time (radix 256, least digit first); `buffer` is as long as `offsets`.
void sort_ascending(std::span<std::int32_t> offsets, std::span<std::int32_t> buffer, std::uint64_t largest) {
  for (int shift = 0; (largest >> shift) != 0; shift += 8) {
    const auto digit = [shift](std::int32_t offset) { return (static_cast<std::uint32_t>(offset) >> shift) & 255u; };
    std::array<std::size_t, 257> starts{};
    for (const std::int32_t offset : offsets) {
      ++starts[digit(offset) + 1];
    }
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    for (const std::int32_t offset : offsets) {
      buffer[starts[digit(offset)]++] = offset;
    }
    std::ranges::copy(buffer, offsets.begin());
  }
}

std::size_t count_of(const Random& random, std::size_t tokens) {
  return std::min(random.budget, tokens);
}
std::size_t count_of(const Local& local, std::size_t tokens) {
  return std::min(std::max<std::size_t>(local.window, 1), tokens);
}

// Tokens [0, row], counted; none for a negative row.
std::size_t tokens_up_to(std::int32_t row) {
  return row < 0 ? 0 : static_cast<std::size_t>(row) + 1;
}

std::size_t mask_rows(std::int32_t seq) {
  return static_cast<std::size_t>(std::max(seq, 0));
}

void fill_row(const Random& random, std::size_t tokens, std::span<std::int32_t> offsets) {
  if (offsets.empty()) {
    return;
  }
  Drawer drawer(tokens, offsets.size());
  std::vector<std::int32_t> buffer(offsets.size());
  drawer.draw(tokens - 1, random.seed, offsets);
  sort_ascending(offsets, buffer, tokens - 1);
}

void fill_row(const Local&, std::size_t tokens, std::span<std::int32_t> offsets) {
  std::iota(offsets.begin(), offsets.end(), static_cast<std::int32_t>(tokens - offsets.size()));
}

void fill_mask(const Random& random, std::size_t seq, std::span<std::uint8_t> mask) {
  Drawer drawer(seq, count_of(random, seq));
  std::vector<std::int32_t> drawn(count_of(random, seq));
  std::ranges::fill(mask, std::uint8_t{0});
  for (std::size_t row = 0; row < seq; ++row) {
    const std::span<std::int32_t> offsets = std::span(drawn).first(count_of(random, row + 1));
    drawer.draw(row, random.seed, offsets);
    for (const std::int32_t offset : offsets) {
      mask[row * seq + static_cast<std::size_t>(offset)] = 1;
    }
  }
}

void fill_mask(const Local& local, std::size_t seq, std::span<std::uint8_t> mask) {
  std::ranges::fill(mask, std::uint8_t{0});
  for (std::size_t row = 0; row < seq; ++row) {
    const std::size_t count = count_of(local, row + 1);
    std::ranges::fill(mask.subspan(row * seq + row + 1 - count, count), std::uint8_t{1});
  }
}

}  // namespace

// NOLINTNEXTLINE(bugprone-exception-escape): std::visit throws for a valueless variant, which trivial alternatives never leave
std::size_t selected_count(const Selector& selector, std::int32_t row) noexcept {
  return std::visit([row](const auto& chosen) { return count_of(chosen, tokens_up_to(row)); }, selector);
}

std::expected<void, BufferTooSmall> select_row_into(const Selector& selector, std::int32_t row,
                                                    std::span<std::int32_t> offsets) {
  const std::size_t count = selected_count(selector, row);
  if (offsets.size() < count) {
    return std::unexpected(BufferTooSmall{offsets.size(), count});
  }
  std::visit([&](const auto& chosen) { fill_row(chosen, tokens_up_to(row), offsets.first(count)); }, selector);
  return {};
}

std::vector<std::int32_t> select_row(const Selector& selector, std::int32_t row) {
  std::vector<std::int32_t> offsets(selected_count(selector, row));
  std::ignore = select_row_into(selector, row, offsets);  // the size is right
  return offsets;
}

std::expected<void, BufferTooSmall> select_mask_into(const Selector& selector, std::int32_t seq,
                                                     std::span<std::uint8_t> mask) {
  const std::size_t rows = mask_rows(seq);
  if (mask.size() < rows * rows) {
    return std::unexpected(BufferTooSmall{mask.size(), rows * rows});
  }
  std::visit([&](const auto& chosen) { fill_mask(chosen, rows, mask.first(rows * rows)); }, selector);
  return {};
}

std::vector<std::uint8_t> select_mask(const Selector& selector, std::int32_t seq) {
  const std::size_t rows = mask_rows(seq);
  std::vector<std::uint8_t> mask(rows * rows);
  std::ignore = select_mask_into(selector, seq, mask);  // the size is right
  return mask;
}

}  // namespace kvwitness
