// A plain kernel of the project's rule with the planted fault in it, for the CPU executor.
#ifndef FUZZ_PLANTED_FAULTS_KERNEL_H
#define FUZZ_PLANTED_FAULTS_KERNEL_H

#include "properties/implementations/emulated_launch.h"

namespace kvwitness::fuzz {

// As harness::launch_emulated, but for the fault. Calls of more than 64 segments go to the project's own kernel.
simt::Report launch_planted(const harness::CudaPlan& plan, const harness::EmulatedRun& run);

}  // namespace kvwitness::fuzz

#endif  // FUZZ_PLANTED_FAULTS_KERNEL_H
