// The first row of a call that is not as the rule has it, by itself: what a person looks at and what a cause is read from.
#ifndef PROPERTIES_RUN_WRONG_ROW_H
#define PROPERTIES_RUN_WRONG_ROW_H

#include <kvwitness/case.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "properties/case/outcome.h"

namespace kvwitness::harness {

struct WrongRow {
  Case row;                            // the call with this row only, packed
  std::int64_t index = 0;              // in the batch
  std::int64_t rows = 1;               // of the batch
  std::int64_t slot = 0;               // the first that differs
  std::vector<std::int32_t> expected;  // by the oracle
  std::vector<std::int32_t> actual;
  bool is_unwritten = false;  // the slot holds what stood there before the call
  // Whether it is a row of the case that a relation compares with, because the minimal case's own rows are right.
  bool is_of_compared_case = false;
  // What was read before this row: the row before it in the batch or, of row 0, the last row of the last prior call.
  std::vector<std::int32_t> previous;
  std::optional<std::int32_t> previous_len;

  std::int32_t expected_value() const { return expected[static_cast<std::size_t>(slot)]; }
  std::int32_t actual_value() const { return actual[static_cast<std::size_t>(slot)]; }
};

// Nothing where no row is wrong, where the call is refused by the rule, or where the rule's answer would take too long:
// above 2^22 elements of the case or of its result. `before` is what the output held, empty where that is not known.
// O(elements * log L).
std::optional<WrongRow> find_wrong_row(const Case& value, std::span<const std::int32_t> rows,
                                       std::span<const std::int32_t> before);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUN_WRONG_ROW_H
