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
  // Blocks of 256 threads where the library launches 64: the same source with more warps to a row.
  bool wide_blocks = false;
};

// Runs the kernels' own source. An empty plan runs nothing and is ok.
simt::Report launch_emulated(const CudaPlan& plan, const EmulatedRun& run);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_IMPLEMENTATIONS_EMULATED_LAUNCH_H
