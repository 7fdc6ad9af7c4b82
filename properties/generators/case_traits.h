// What a case is, by which coverage classes tell their cases.
#ifndef PROPERTIES_GENERATORS_CASE_TRAITS_H
#define PROPERTIES_GENERATORS_CASE_TRAITS_H

#include <kvwitness/case.h>

#include <cstdint>

namespace kvwitness::harness {

// What the coverage classes ask about a case: of it as a whole, and whether any of its rows is such a row.
struct CaseTraits {
  const Case* value = nullptr;
  std::int32_t status = 0;
  int malformations = 0;  // how many of the refusal's conditions hold at once

  bool empty = false, zero = false, negative_length = false, least_length = false, one = false;
  bool short_row = false, at_segments = false, at_topk = false, power_of_two = false;
  bool above_24 = false, above_26 = false, near_31 = false;
  bool at_edge = false, below_edge = false, at_length = false, past_length = false, past_short_row = false;
  bool garbage = false, absolute = false, hole = false, all_padding = false, odd_negative = false, least_token = false;
  bool duplicate = false, even_segment = false, full = false, one_missing = false, last_alone = false,
       last_missing = false;
  bool upper_half_alone = false, lower_half_alone = false, head_only = false, tail_only = false, rising = false,
       falling = false;
  bool lone_in_wide_row = false, lone_past_end = false;
  bool in_range = false, dropped = false, uncovered_by_merge = false, differing = false;

  bool legal() const { return status == 0; }
  bool is(Operation operation) const { return value->operation == operation; }
  // A call that the operation really works on; scatter with S = 0 is not.
  bool works() const { return legal() && value->num_segments > 0; }
};

// Linear in the case's size.
CaseTraits traits_of(const Case& value);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_GENERATORS_CASE_TRAITS_H
