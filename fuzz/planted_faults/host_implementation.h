// The C ABI as an implementation, with the planted fault in its rows.
#ifndef FUZZ_PLANTED_FAULTS_HOST_IMPLEMENTATION_H
#define FUZZ_PLANTED_FAULTS_HOST_IMPLEMENTATION_H

#include <memory>

#include "properties/case/implementation.h"

namespace kvwitness::fuzz {

std::unique_ptr<harness::Implementation> make_planted_host();

}  // namespace kvwitness::fuzz

#endif  // FUZZ_PLANTED_FAULTS_HOST_IMPLEMENTATION_H
