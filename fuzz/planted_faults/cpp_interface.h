// The C++ interface with the planted fault in the function that it concerns.
#ifndef FUZZ_PLANTED_FAULTS_CPP_INTERFACE_H
#define FUZZ_PLANTED_FAULTS_CPP_INTERFACE_H

#include "fuzz/under_test.h"

namespace kvwitness::fuzz {

// The function that stands in for one of the C++ interface: itself where no fault is planted in it.
AnyFunction planted_cpp_function(AnyFunction function);

}  // namespace kvwitness::fuzz

#endif  // FUZZ_PLANTED_FAULTS_CPP_INTERFACE_H
