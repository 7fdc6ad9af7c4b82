#include "lib/bench/naive.h"

#include <algorithm>
#include <vector>

namespace kvwitness::bench {

void naive_scatter(Workload& work) {
  const Shape& shape = work.shape();
  const auto num_segments = static_cast<std::int64_t>(shape.num_segments);
  for (std::size_t row = 0; row < shape.rows; ++row) {
    std::int32_t* const slots = work.rows() + row * shape.topk;
    const std::int64_t len = work.context_lens()[row];
    const std::int64_t segments = std::min(len, num_segments);
    std::vector<bool> seen(shape.num_segments);
    for (std::size_t slot = 0; slot < shape.topk; ++slot) {
      if (slots[slot] >= 0) {
        seen[static_cast<std::size_t>(std::min(slots[slot] * segments / len, num_segments - 1))] = true;
      }
    }
    std::size_t slot = shape.topk - std::min(shape.topk, shape.num_segments);
    for (std::int64_t segment = 0; segment < segments && slot < shape.topk; ++segment) {
      if (!seen[static_cast<std::size_t>(segment)]) {
        slots[slot++] = static_cast<std::int32_t>((segment * len + segments - 1) / segments);
      }
    }
  }
}

}  // namespace kvwitness::bench
