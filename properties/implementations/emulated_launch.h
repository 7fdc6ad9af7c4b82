// One planned call on the CPU executor, with every choice that a schedule leaves open.
#ifndef PROPERTIES_IMPLEMENTATIONS_EMULATED_LAUNCH_H
#define PROPERTIES_IMPLEMENTATIONS_EMULATED_LAUNCH_H

#include <kvwitness/simt.h>

#include <cstdint>

#include "kernels/src/plan.h"
#include "properties/implementations/cuda_call.h"

namespace kvwitness::harness {

struct EmulatedRun {
  kernels::Variant variant;
  std::uint64_t schedule;  // a number of simt.h
  // The grid has this part of the blocks that the library would launch (at least one), so that blocks take several
  // rows.
  unsigned int grid_divisor = 1;
  // Blocks of 64 threads where the library launches 256: a quarter of the work here, and the same source.
  bool narrow_blocks = false;
};

// Runs the kernels' own source. An empty plan runs nothing and is ok.
simt::Report launch_emulated(const CudaPlan& plan, const EmulatedRun& run);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_IMPLEMENTATIONS_EMULATED_LAUNCH_H
