// One row by the rule, with the fault that the plug-in was asked for.
#ifndef TESTS_FAULTS_FAULTY_ROW_H
#define TESTS_FAULTS_FAULTY_ROW_H

#include <cstdint>
#include <vector>

#include "tests/faults/faults.h"

namespace kvwitness::faults {

// The fault of this plug-in. One a process, because a process loads one plug-in.
Fault chosen_fault();
inline bool is(Fault fault) {
  return chosen_fault() == fault;
}

// How a call merges: witnesses overwrite `budget` slots from `keep` on. Witness indices overwrite none.
struct Merge {
  std::int64_t keep;
  std::int64_t budget;
};

// A learned row and what surrounds it.
struct Row {
  const std::int32_t* learned;
  std::int64_t topk;
  std::int64_t context_len;
  std::int64_t num_segments;
  Merge merge;
  std::int64_t index;      // in its batch
  std::int64_t following;  // elements behind the row that belong to the batch
  std::int64_t spare;      // how many of them are spare columns
  bool merges;             // not witness indices
  std::int64_t rows;       // of the batch
};

// e_s where segment s is a witness of the row, else -1; of min(S, L) segments.
std::vector<std::int32_t> witnesses_of(const Row& row);
// Forgets the marks that rows before may have left: at the beginning of each call.
void forget_marks();

}  // namespace kvwitness::faults

#endif  // TESTS_FAULTS_FAULTY_ROW_H
