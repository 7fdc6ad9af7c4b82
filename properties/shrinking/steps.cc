#include "properties/shrinking/steps.h"

#include <algorithm>
#include <limits>
#include <span>
#include <utility>

#include "properties/shrinking/order.h"

namespace kvwitness::harness::shrinking {

std::vector<std::int64_t> smaller_numbers(std::int64_t value) {
  std::vector<std::int64_t> list;
  const auto add = [&](std::int64_t candidate) {
    if (size_of_number(candidate) < size_of_number(value) && std::ranges::find(list, candidate) == list.end()) {
      list.push_back(candidate);
    }
  };
  for (const std::int64_t small : {0, 1, 2, 3, 4, 8, 16, 64}) {
    add(small);
  }
  if (value < 0) {
    add(-1);
  }
  for (std::int64_t step = value / 2; step != 0; step /= 2) {
    add(value - step);
  }
  add(value / 3);
  add(value / 4);
  for (std::int64_t power = 128; power <= value / 4; power *= 4) {
    add(power);
  }
  return list;
}

std::vector<Chunk> chunks(std::size_t count) {
  std::vector<Chunk> list;
  if (count == 0) {
    return list;
  }
  list.push_back({0, count});
  for (std::size_t left = 1; left <= count / 4; left *= 2) {
    list.push_back({left, count});
  }
  const std::size_t least = std::max<std::size_t>(count / 64, 1);
  for (std::size_t size = (count + 1) / 2; size >= least; size = size == 1 ? 0 : (size + 1) / 2) {
    for (std::size_t begin = 0; begin < count; begin += size) {
      list.push_back({begin, std::min(begin + size, count)});
    }
    if (size == 1) {
      break;
    }
  }
  for (std::size_t size = least / 2; size > 0; size /= 2) {
    list.push_back({count - size, count});
  }
  // What keeps the rest in its lane of a tile.
  for (std::size_t size = 1024; size > 0; size /= 2) {
    if (size < count && (size >= 8 || size < least)) {
      list.push_back({0, size});
    }
  }
  return list;
}

bool packed_rows(const Case& value) {
  return value.topk > 0 && Wide{value.rows()} * value.topk == static_cast<Wide>(value.learned.size());
}

std::int32_t moved_token(std::int32_t token, std::int64_t len, std::int64_t segments, std::int64_t new_len,
                         std::int64_t new_segments) {
  if (token < 0 || len <= 0 || new_len <= 0 || segments < 1 || new_segments < 1) {
    return token;
  }
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  if (token >= len) {
    return static_cast<std::int32_t>(std::min(new_len + (token - len), kMax));
  }
  const std::int64_t effective = std::min(segments, len), new_effective = std::min(new_segments, new_len);
  const auto edge = [](Wide segment, Wide length, Wide count) {
    return static_cast<std::int64_t>((segment * length + count - 1) / count);
  };
  const auto segment = static_cast<std::int64_t>(Wide{token} * effective / len);
  if (segment >= new_effective) {
    return -1;
  }
  const std::int64_t first = edge(segment, new_len, new_effective),
                     last = edge(segment + 1, new_len, new_effective) - 1;
  const bool at_end = token + 1 == edge(segment + 1, len, effective) && token != edge(segment, len, effective);
  const std::int64_t moved = at_end ? last : first + (token - edge(segment, len, effective));
  return static_cast<std::int32_t>(std::min(moved, last));
}

void cut_to_segments(Case& edited, std::int64_t segments) {
  const std::int64_t old_segments = std::exchange(edited.num_segments, segments);
  const auto topk = static_cast<std::size_t>(edited.topk);
  for (std::size_t row = 0; row < edited.context_lens.size(); ++row) {
    const std::int64_t old = edited.context_lens[row];
    if (old < old_segments) {
      continue;
    }
    const auto len = static_cast<std::int32_t>(Wide{old} * segments / old_segments);
    edited.context_lens[row] = len;
    for (auto& token : std::span(edited.learned).subspan(row * topk, topk)) {
      token = moved_token(token, old, old_segments, len, segments);
    }
  }
}

}  // namespace kvwitness::harness::shrinking
