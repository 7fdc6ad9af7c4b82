// What shrinking tries of one number, of one range and of one token.
#ifndef PROPERTIES_SHRINKING_STEPS_H
#define PROPERTIES_SHRINKING_STEPS_H

#include <kvwitness/case.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace kvwitness::harness::shrinking {

// Smaller magnitudes for a number, boldest first: 0, small ones, then what bisection would try, thirds, and the powers of
// two below it.
std::vector<std::int64_t> smaller_numbers(std::int64_t value);

struct Chunk {
  std::size_t begin;
  std::size_t end;
};

// What to drop of [0, count): all, all but a short beginning, all but a longer one; then halves, quarters, ... down to
// single elements, or to 1/64 of a long range; then short ends of it.
std::vector<Chunk> chunks(std::size_t count);

template <typename T>
void erase_range(std::vector<T>& values, std::size_t begin, std::size_t end) {
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(begin), values.begin() + static_cast<std::ptrdiff_t>(end));
}

// Whether the learned rows are as many and as long as the call says.
bool packed_rows(const Case& value);

// The token that stands in another context where `token` stands in this one: in the same segment, or as far past the
// end. Padding where the other context has no such segment.
std::int32_t moved_token(std::int32_t token, std::int64_t len, std::int64_t segments, std::int64_t new_len,
                         std::int64_t new_segments);

// Leaves the first segments, at the same width, in contexts cut to them.
void cut_to_segments(Case& edited, std::int64_t segments);

}  // namespace kvwitness::harness::shrinking

#endif  // PROPERTIES_SHRINKING_STEPS_H
