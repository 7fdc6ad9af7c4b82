// Every function of segments.h under a name of its own: the object code by which mutants of the header are told apart.
#include <kvwitness/segments.h>

using namespace kvwitness;

extern "C" {

std::uint64_t surface_effective_segments(std::uint64_t len, std::uint64_t segments) {
  return effective_segments(len, segments);
}
std::uint64_t surface_max_merge_segments() {
  return kMaxMergeSegments;
}
detail::Product128 surface_multiply(std::uint64_t a, std::uint64_t b) {
  return detail::multiply(a, b);
}
detail::Quotient surface_divide(std::uint64_t high, std::uint64_t low, std::uint64_t divisor) {
  return detail::divide({high, low}, divisor);
}
std::uint64_t surface_segment_of(std::uint64_t token, std::uint64_t len, std::uint64_t segments) {
  return segment_of(token, len, segments);
}
std::uint64_t surface_segment_edge(std::uint64_t segment, std::uint64_t len, std::uint64_t segments) {
  return segment_edge(segment, len, segments);
}
std::uint64_t surface_multiplier(std::uint64_t len, std::uint64_t segments) {
  return SegmentReciprocal(len, segments).multiplier();
}
std::uint64_t surface_long_division(std::uint32_t len, std::uint32_t segments) {
  return SegmentReciprocal::by_long_division(len, segments).multiplier();
}
std::uint64_t surface_reciprocal(const SegmentReciprocal* reciprocal, std::uint64_t token) {
  return reciprocal->segment_of(token);
}
std::uint64_t surface_reciprocal_limits(int which) {
  return which == 0   ? SegmentReciprocal::kTokenLimit
         : which == 1 ? SegmentReciprocal::kContextLimit
                      : SegmentReciprocal52::kContextLimit;
}
void surface_narrow(std::uint32_t len, std::uint32_t segments, NarrowSegmentReciprocal* made) {
  *made = NarrowSegmentReciprocal(len, segments);
}
std::uint64_t surface_narrow_of(const NarrowSegmentReciprocal* reciprocal, std::uint32_t token) {
  return reciprocal->segment_of(token) + reciprocal->multiplier() * std::uint64_t{3} + reciprocal->shift() * 5u +
         (reciprocal->exact() ? 7u : 0u);
}
void surface_52(std::uint32_t len, std::uint32_t segments, SegmentReciprocal52* made) {
  *made = SegmentReciprocal52(len, segments);
}
std::uint64_t surface_52_of(const SegmentReciprocal52* reciprocal, std::uint32_t token) {
  return reciprocal->segment_of(token) + reciprocal->multiplier() * 3;
}
bool surface_52_covers(std::uint32_t len, std::uint32_t segments) {
  return SegmentReciprocal52::covers(len, segments);
}
std::uint32_t surface_multiply_high(std::uint32_t a, std::uint32_t b) {
  return detail::multiply_high(a, b);
}
std::uint32_t surface_bit_width(std::uint32_t value) {
  return detail::bit_width(value);
}
std::uint32_t surface_reciprocal_below(std::uint32_t divisor) {
  return detail::reciprocal_below(divisor);
}
void surface_newton(std::uint32_t len, std::uint32_t segments, NewtonSegmentReciprocal* made) {
  *made = NewtonSegmentReciprocal(len, segments);
}
std::uint32_t surface_newton_of(const NewtonSegmentReciprocal* reciprocal, std::uint32_t token) {
  return reciprocal->segment_of(token);
}
bool surface_newton_covers(std::uint32_t len, std::uint32_t segments) {
  return NewtonSegmentReciprocal::covers(len, segments);
}
void surface_divisor(std::uint64_t divisor, FixedDivisor* made) {
  *made = FixedDivisor(divisor);
}
std::uint64_t surface_quotient(const FixedDivisor* divisor, std::uint64_t x) {
  return divisor->quotient(x) + divisor->divisor() * 3;
}
void surface_edges(std::uint32_t len, std::uint32_t segments, SegmentEdges* made) {
  *made = SegmentEdges(len, segments);
}
std::uint32_t surface_edge(const SegmentEdges* edges, std::uint32_t segment) {
  return edges->edge(segment);
}
std::uint32_t surface_edge_terms(const SegmentEdges* edges, int which) {
  return which == 0 ? edges->quotient() : which == 1 ? edges->remainder() : edges->multiplier();
}
void surface_count(std::uint32_t segments, SegmentCount* made) {
  *made = SegmentCount(segments);
}
void surface_count_edges(const SegmentCount* count, std::uint32_t len, SegmentEdges* made) {
  *made = count->edges(len);
}
std::uint32_t surface_num_segments(const SegmentCount* count) {
  return count->num_segments();
}

}  // extern "C"
