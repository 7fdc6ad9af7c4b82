#include "kvwitness/metrics.h"

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "kvwitness/segments.h"

namespace kvwitness {
namespace {

class Bitmap {
 public:
  explicit Bitmap(std::size_t bits) : words_((bits + 63) / 64) {}

  void insert(std::size_t bit) { words_[bit / 64] |= std::uint64_t{1} << (bit % 64); }
  std::size_t count() const {
    std::size_t bits = 0;
    for (const std::uint64_t word : words_) {
      bits += static_cast<std::size_t>(std::popcount(word));
    }
    return bits;
  }
  // Bit b of word w is bit 64 * w + b.
  std::span<const std::uint64_t> words() const { return words_; }

 private:
  std::vector<std::uint64_t> words_;
};

// Adds value(first) .. value(last - 1) pairwise: the rounding error grows with the logarithm of the length, not with
// the length. Eight sums side by side keep short stretches from waiting for one addition after the other.
template <typename Value>
double pairwise_sum(std::size_t first, std::size_t last, const Value& value) {
  constexpr std::size_t kPlain = 128;
  constexpr std::size_t kSums = 8;
  if (last - first > kPlain) {
    const std::size_t middle = first + (last - first) / 2;
    return pairwise_sum(first, middle, value) + pairwise_sum(middle, last, value);
  }
  double sums[kSums] = {};
  std::size_t index = first;
  for (; index + kSums <= last; index += kSums) {
    for (std::size_t sum = 0; sum < kSums; ++sum) {
      sums[sum] += value(index + sum);
    }
  }
  for (; index < last; ++index) {
    sums[0] += value(index);
  }
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) + ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

// The segments, at most 64, of those candidates that lie in the context. In a register: the words of a Bitmap would
// wait in memory for one another.
std::uint64_t few_segments_covered(std::span<const std::int32_t> candidates, std::uint32_t context_len,
                                   const SegmentReciprocal& reciprocal) {
  std::uint64_t covered = 0;
  for (const std::int32_t candidate : candidates) {
    const auto token = static_cast<std::uint32_t>(candidate);  // a negative one is above any length
    const std::uint64_t inside = token < context_len ? 1 : 0;
    covered |= inside << (reciprocal.segment_of(token) % 64);
  }
  return covered;
}

std::size_t segments_covered(std::span<const std::int32_t> candidates, std::int32_t context_len, std::size_t segments) {
  const SegmentReciprocal reciprocal(static_cast<std::uint64_t>(context_len), segments);
  if (segments <= 64) {
    const std::uint64_t covered = few_segments_covered(candidates, static_cast<std::uint32_t>(context_len), reciprocal);
    return static_cast<std::size_t>(std::popcount(covered));
  }
  Bitmap covered(segments);
  for (const std::int32_t candidate : candidates) {
    if (candidate >= 0 && candidate < context_len) {
      covered.insert(reciprocal.segment_of(static_cast<std::uint64_t>(candidate)));
    }
  }
  return covered.count();
}

}  // namespace

double segment_coverage(std::span<const std::int32_t> candidates, std::int32_t context_len, std::size_t num_segments) {
  if (context_len <= 0 || num_segments == 0) {
    return 1;
  }
  const auto len = static_cast<std::uint64_t>(context_len);
  const std::uint64_t segments = effective_segments(len, num_segments);
  return static_cast<double>(segments_covered(candidates, context_len, segments)) / static_cast<double>(segments);
}

double attention_mass_recall(std::span<const std::int32_t> candidates, std::span<const double> attention) {
  Bitmap selected(attention.size());
  for (const std::int32_t candidate : candidates) {
    if (candidate >= 0 && static_cast<std::size_t>(candidate) < attention.size()) {
      selected.insert(static_cast<std::size_t>(candidate));
    }
  }
  const auto scaled_total = [&](double scale) {
    return pairwise_sum(0, attention.size(), [&](std::size_t token) { return attention[token] * scale; });
  };
  // A sum above the largest double is taken of parts that are small enough: there are below 2^31 tokens.
  double scale = 1;
  double total = scaled_total(scale);
  if (std::isinf(total)) {
    scale = 0x1p-32;
    total = scaled_total(scale);
  }
  if (total == 0 || std::isinf(total)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  const auto selected_in_word = [&](std::size_t word) {
    double sum = 0;
    for (std::uint64_t bits = selected.words()[word]; bits != 0; bits &= bits - 1) {
      sum += attention[word * 64 + static_cast<std::size_t>(std::countr_zero(bits))] * scale;
    }
    return sum;
  };
  return pairwise_sum(0, selected.words().size(), selected_in_word) / total;
}

}  // namespace kvwitness
