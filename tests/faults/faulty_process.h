// Faults of the process rather than of the arithmetic: what a call does beside its work.
#ifndef TESTS_FAULTS_FAULTY_PROCESS_H
#define TESTS_FAULTS_FAULTY_PROCESS_H

#include <cstdint>

#include "tests/faults/faulty_checks.h"

namespace kvwitness::faults {

// At the beginning of a call that is served.
void misbehave(const Arguments& call);
// A status other than 0 where a legal call is refused for what it is; else 0.
std::int32_t refused_for_nothing(const Arguments& call);

}  // namespace kvwitness::faults

#endif  // TESTS_FAULTS_FAULTY_PROCESS_H
