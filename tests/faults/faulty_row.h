// One row by the rule, with the fault that the plug-in was asked for.
#ifndef TESTS_FAULTS_FAULTY_ROW_H
#define TESTS_FAULTS_FAULTY_ROW_H

#include <cstdint>
#include <vector>

#include "tests/faults/faults.h"
#include "tests/rule/faulty_row.h"

namespace kvwitness::faults {

// What this plug-in was asked for: one a process, because a process loads one plug-in.
const FaultEntry& chosen_entry();
inline bool is(Fault fault) {
  return chosen_entry().fault == fault;
}
inline rule::Fault chosen_rule_fault() {
  return chosen_entry().rule_fault;
}

// A learned row and what surrounds it.
struct Row : rule::Row {
  std::int64_t following;  // elements after the row that belong to the batch
  std::int64_t spare;      // how many of them are spare columns
};

// e_s where segment s is a witness of the row, else -1; of its S_eff segments.
std::vector<std::int32_t> witnesses_of(const Row& row);
// Forgets the marks that earlier rows may have left: at the beginning of each call.
void forget_marks();

}  // namespace kvwitness::faults

#endif  // TESTS_FAULTS_FAULTY_ROW_H
