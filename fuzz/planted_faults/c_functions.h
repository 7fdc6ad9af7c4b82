// The C functions with the planted fault in the one that it concerns.
#ifndef FUZZ_PLANTED_FAULTS_C_FUNCTIONS_H
#define FUZZ_PLANTED_FAULTS_C_FUNCTIONS_H

#include "fuzz/under_test.h"

namespace kvwitness::fuzz {

// The function that stands in for one of the C ABI or of the CUDA library's host checks: itself where no fault is
// planted in it.
AnyFunction planted_function(AnyFunction function);

}  // namespace kvwitness::fuzz

#endif  // FUZZ_PLANTED_FAULTS_C_FUNCTIONS_H
