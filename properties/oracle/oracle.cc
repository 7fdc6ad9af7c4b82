#include <kvwitness/oracle.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kvwitness::harness {
namespace {

using Wide = __int128;

// e_segment <= offset: the defining inequality of the edge, which is the least offset for which it holds.
bool starts_by(std::int64_t segment, std::int64_t offset, std::int64_t context_len, std::int64_t effective_segments) {
  return Wide{offset} * effective_segments >= Wide{segment} * context_len;
}

// Calls visit(segment, edge) for the segments 0 .. S_eff-1 in order, scanning forward from one edge to the next. Every
// segment holds at least floor(L / S_eff) tokens, so the scan may skip that many; the inequality decides where it
// stops.
template <typename Visit>
void scan_edges(std::int64_t context_len, std::int64_t effective_segments, Visit visit) {
  if (effective_segments == 0) {
    return;
  }
  const std::int64_t least_length = context_len / effective_segments;
  std::int64_t edge = 0;
  for (std::int64_t segment = 0; segment < effective_segments; ++segment) {
    while (!starts_by(segment, edge, context_len, effective_segments)) {
      ++edge;
    }
    visit(segment, edge);
    edge += least_length;
  }
}

std::span<const std::int32_t> row_of(const Case& value, std::int64_t row) {
  return std::span(value.learned)
      .subspan(static_cast<std::size_t>(row * value.topk), static_cast<std::size_t>(value.topk));
}

std::vector<std::int32_t> expected_witness_indices(const Case& value) {
  std::vector<std::int32_t> result(static_cast<std::size_t>(value.rows() * value.num_segments), -1);
  for (std::int64_t row = 0; row < value.rows(); ++row) {
    const std::int64_t context_len = value.context_lens[static_cast<std::size_t>(row)];
    const std::vector<bool> occupied = oracle_occupancy(row_of(value, row), context_len, value.num_segments);
    scan_edges(context_len, static_cast<std::int64_t>(occupied.size()), [&](std::int64_t segment, std::int64_t edge) {
      if (!occupied[static_cast<std::size_t>(segment)]) {
        result[static_cast<std::size_t>(row * value.num_segments + segment)] = static_cast<std::int32_t>(edge);
      }
    });
  }
  return result;
}

std::vector<std::int32_t> expected_merge(const Case& value, std::int64_t learned_keep, std::int64_t max_replacements) {
  std::vector<std::int32_t> result = value.learned;
  const std::int64_t budget = std::min(max_replacements, value.topk - learned_keep);
  for (std::int64_t row = 0; row < value.rows(); ++row) {
    const std::int64_t context_len = value.context_lens[static_cast<std::size_t>(row)];
    const std::vector<std::int32_t> witnesses = oracle_witnesses(row_of(value, row), context_len, value.num_segments);
    for (std::int64_t i = 0; i < budget && i < static_cast<std::int64_t>(witnesses.size()); ++i) {
      result[static_cast<std::size_t>(row * value.topk + learned_keep + i)] = witnesses[static_cast<std::size_t>(i)];
    }
  }
  return result;
}

}  // namespace

std::vector<std::int32_t> expected_rows(const Case& value) {
  // A stride changes where the rows lie, never what they become.
  const bool refused = expected_status(value, false) != 0;
  if (refused || value.num_segments == 0) {  // of legal calls only a scatter has no segments
    return value.learned;
  }
  switch (value.operation) {
    case Operation::kWitnesses:
      return expected_witness_indices(value);
    case Operation::kApply:
      return expected_merge(value, value.learned_keep, value.max_replacements);
    case Operation::kScatter:
      return expected_merge(value, std::max<std::int64_t>(0, value.topk - value.num_segments), value.num_segments);
  }
  return value.learned;
}

std::int64_t oracle_effective_segments(std::int64_t context_len, std::int64_t num_segments) {
  return std::min(num_segments, context_len);
}

std::int64_t oracle_edge(std::int64_t segment, std::int64_t context_len, std::int64_t num_segments) {
  const std::int64_t effective_segments = oracle_effective_segments(context_len, num_segments);
  std::int64_t first = 0;
  std::int64_t last = context_len;  // the edge lies in [first, last]: L itself satisfies the inequality
  while (first < last) {
    const std::int64_t middle = first + (last - first) / 2;
    if (starts_by(segment, middle, context_len, effective_segments)) {
      last = middle;
    } else {
      first = middle + 1;
    }
  }
  return first;
}

std::int64_t oracle_segment(std::int64_t token, std::int64_t context_len, std::int64_t num_segments) {
  const std::int64_t effective_segments = oracle_effective_segments(context_len, num_segments);
  // e_first <= token < e_last throughout. Within the context e_(S_eff) = L is past the token; beyond it, token + 1
  // segments are enough, because no segment is shorter than one token.
  std::int64_t first = 0;
  std::int64_t last = token < context_len ? effective_segments : token + 1;
  while (last - first > 1) {
    const std::int64_t middle = first + (last - first) / 2;
    (starts_by(middle, token, context_len, effective_segments) ? first : last) = middle;
  }
  return first;
}

std::vector<bool> oracle_occupancy(std::span<const std::int32_t> row, std::int64_t context_len,
                                   std::int64_t num_segments) {
  if (context_len <= 0) {
    return {};
  }
  std::vector<bool> occupied(static_cast<std::size_t>(oracle_effective_segments(context_len, num_segments)), false);
  for (const std::int32_t token : row) {
    if (token < 0) {
      continue;
    }
    const std::int64_t marked = std::min(oracle_segment(token, context_len, num_segments), num_segments - 1);
    // Otherwise it lies outside the partition: a token past the end of a short row.
    if (marked < static_cast<std::int64_t>(occupied.size())) {
      occupied[static_cast<std::size_t>(marked)] = true;
    }
  }
  return occupied;
}

std::vector<std::int32_t> oracle_witnesses(std::span<const std::int32_t> row, std::int64_t context_len,
                                           std::int64_t num_segments) {
  const std::vector<bool> occupied = oracle_occupancy(row, context_len, num_segments);
  std::vector<std::int32_t> witnesses;
  scan_edges(context_len, static_cast<std::int64_t>(occupied.size()), [&](std::int64_t segment, std::int64_t edge) {
    if (!occupied[static_cast<std::size_t>(segment)]) {
      witnesses.push_back(static_cast<std::int32_t>(edge));
    }
  });
  return witnesses;
}

}  // namespace kvwitness::harness
