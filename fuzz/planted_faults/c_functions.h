// The C ABI's table with the planted fault in the function that it concerns.
#ifndef FUZZ_PLANTED_FAULTS_C_FUNCTIONS_H
#define FUZZ_PLANTED_FAULTS_C_FUNCTIONS_H

#include "fuzz/c_functions/c_abi.h"

namespace kvwitness::fuzz {

CAbi planted_c_abi();

}  // namespace kvwitness::fuzz

#endif  // FUZZ_PLANTED_FAULTS_C_FUNCTIONS_H
