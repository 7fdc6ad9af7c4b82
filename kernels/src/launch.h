// Launches what a plan says: host code that needs the CUDA runtime.
#ifndef KERNELS_SRC_LAUNCH_H
#define KERNELS_SRC_LAUNCH_H

#include "kernels/src/plan.h"

namespace kvwitness::kernels {

// At most one kernel launch into the stream, by the given variant (indices of more than 64 segments have
// only one way); none for an empty plan. KVW_CUDA with a message where the runtime refuses. Touches the
// runtime's last error no more than the launch itself does.
kvw_status launch(const MergePlan& plan, Variant variant, void* stream) noexcept;
kvw_status launch(const IndicesPlan& plan, Variant variant, void* stream) noexcept;

}  // namespace kvwitness::kernels

#endif  // KERNELS_SRC_LAUNCH_H
