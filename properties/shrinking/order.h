// The strict order in which shrinking descends: what it means that one case is simpler than another.
#ifndef PROPERTIES_SHRINKING_ORDER_H
#define PROPERTIES_SHRINKING_ORDER_H

#include <kvwitness/case.h>

#include <compare>
#include <cstddef>
#include <cstdint>

namespace kvwitness::harness::shrinking {

// Wide enough for every sum and product of counts.
using Wide = __int128;

// Compared from the first member to the last.
struct Complexity {
  std::size_t calls = 0;
  Wide values = 0;     // tokens and lengths, of all calls
  int placements = 0;  // of the ways in which the call is not the plainest one
  Wide numbers = 0;    // the counts and lengths themselves
  Wide tokens = 0;
  Wide positions = 0;  // slots, in their rows, of what is not plain padding
  auto operator<=>(const Complexity&) const = default;
};

Complexity complexity_of(const Case& value);

// How large a count or a length is: 0, then -1 and 1, and so on away from zero.
Wide size_of_number(std::int64_t value);

// The same status, and no prior call refused where none was.
bool keeps_status(const Case& candidate, const Case& value);

}  // namespace kvwitness::harness::shrinking

#endif  // PROPERTIES_SHRINKING_ORDER_H
