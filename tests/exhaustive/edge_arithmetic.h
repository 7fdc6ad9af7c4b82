// Both sides of every edge of a partition, by everything in segments.h that replaces a division, against the
// definitions.
//
// Nothing is divided here. An edge e is ceil(s * L / n) exactly where 0 <= e * n - s * L < n. What gives a token's
// segment is monotone in the token, so one that is right on both sides of every edge and at the context's two ends is
// right for every token between.
#ifndef TESTS_EXHAUSTIVE_EDGE_ARITHMETIC_H
#define TESTS_EXHAUSTIVE_EDGE_ARITHMETIC_H

#include <kvwitness/segments.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kvwitness {

struct EdgeFault {
  std::string_view what;  // the class that is wrong
  std::uint32_t context_len;
  std::uint32_t num_segments;
  std::uint32_t segment;

  std::string message() const {
    return std::string(what) + " at L = " + std::to_string(context_len) + ", S = " + std::to_string(num_segments) +
           ", segment " + std::to_string(segment);
  }
};

// Whether `map` takes `edge` to `segment` and the token before it to the segment before.
template <class Map>
bool turns_at(const Map& map, std::uint32_t edge, std::uint32_t segment) {
  return map.segment_of(edge) == segment && map.segment_of(edge - 1) == segment - 1;
}

// Whether `map` takes the context's last token to the last segment and what is past it to none.
template <class Map>
bool ends_at(const Map& map, std::uint32_t context_len, std::uint32_t segments) {
  return map.segment_of(0) == 0 && map.segment_of(context_len - 1) == segments - 1 &&
         map.segment_of(context_len) >= segments && map.segment_of(0x7FFFFFFFu) >= segments;
}

// Whether FixedDivisor and the exact functions agree with the edge too. They take no part in every length: they cost a
// division each.
inline bool divides_exactly(const FixedDivisor& divisor, std::uint32_t context_len, std::uint32_t segments,
                            std::uint32_t segment, std::uint32_t edge) {
  return divisor.quotient(std::uint64_t{segment} * context_len + segments - 1) == edge &&
         segment_edge(segment, context_len, segments) == edge &&
         kvwitness::segment_of(edge, context_len, segments) == segment &&
         kvwitness::segment_of(edge - 1, context_len, segments) == segment - 1;
}

// What to check beside the reciprocals that take one product.
enum class EdgeChecks : std::uint8_t { kReciprocals, kReciprocalsAndDivisions };

// The first fault of a context of L >= 1 tokens in S segments, 1 <= S <= 64; none where everything is exact. `count` is
// SegmentCount(S).
template <EdgeChecks kChecks>
std::optional<EdgeFault> find_edge_fault(std::uint32_t context_len, const SegmentCount& count,
                                         const FixedDivisor& divisor) {
  const std::uint32_t num_segments = count.num_segments();
  const std::uint32_t segments = num_segments < context_len ? num_segments : context_len;
  const SegmentReciprocal wide(context_len, segments);
  const NarrowSegmentReciprocal narrow(context_len, segments);
  const bool has_newton = NewtonSegmentReciprocal::covers(context_len, segments);
  const NewtonSegmentReciprocal newton(context_len, segments);
  const bool has_52 = SegmentReciprocal52::covers(context_len, segments);
  const SegmentReciprocal52 of_52(context_len, segments);
  const SegmentEdges edges(context_len, segments);
  const SegmentEdges counted = count.edges(context_len);
  const auto fault = [&](std::string_view what, std::uint32_t segment) {
    return EdgeFault{what, context_len, num_segments, segment};
  };

  if (edges.edge(0) != 0 || counted.edge(0) != 0) return fault("SegmentEdges", 0);
  for (std::uint32_t segment = 1; segment < segments; ++segment) {
    const std::uint32_t edge = edges.edge(segment);
    const std::uint64_t excess =
        std::uint64_t{edge} * segments - std::uint64_t{segment} * context_len;  // wraps below 0
    if (excess >= segments) return fault("SegmentEdges", segment);
    if (counted.edge(segment) != edge) return fault("SegmentCount", segment);
    if (!turns_at(wide, edge, segment)) return fault("SegmentReciprocal", segment);
    if (narrow.exact() && !turns_at(narrow, edge, segment)) return fault("NarrowSegmentReciprocal", segment);
    if (has_newton && !turns_at(newton, edge, segment)) return fault("NewtonSegmentReciprocal", segment);
    if (has_52 && !turns_at(of_52, edge, segment)) return fault("SegmentReciprocal52", segment);
    if constexpr (kChecks == EdgeChecks::kReciprocalsAndDivisions) {
      if (segments == num_segments && !divides_exactly(divisor, context_len, segments, segment, edge)) {
        return fault("FixedDivisor, segment_edge or segment_of", segment);
      }
    }
  }
  if (!ends_at(wide, context_len, segments)) return fault("SegmentReciprocal", segments);
  // Past the context's end the narrow one needs no exactness.
  if (narrow.segment_of(context_len) < segments || (narrow.exact() && !ends_at(narrow, context_len, segments))) {
    return fault("NarrowSegmentReciprocal", segments);
  }
  if (has_52 && !ends_at(of_52, context_len, segments)) return fault("SegmentReciprocal52", segments);
  if (has_newton && !ends_at(newton, context_len, segments)) return fault("NewtonSegmentReciprocal", segments);
  return {};
}

}  // namespace kvwitness

#endif  // TESTS_EXHAUSTIVE_EDGE_ARITHMETIC_H
