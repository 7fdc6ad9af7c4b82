// While it lives, an invalid access of a kernel ends its block with a fault instead of the process. Does nothing under
// a sanitizer, which reports such accesses itself, or for accesses of code that is no kernel.
#ifndef KVWITNESS_KERNELS_SIMT_SRC_FAULT_SIGNALS_H
#define KVWITNESS_KERNELS_SIMT_SRC_FAULT_SIGNALS_H

#include <signal.h>

namespace kvwitness::simt::detail {

class FaultSignals {
 public:
  FaultSignals();
  FaultSignals(const FaultSignals&) = delete;
  FaultSignals& operator=(const FaultSignals&) = delete;
  ~FaultSignals();

 private:
  bool installed_ = false;
  stack_t previous_stack_ = {};
};

}  // namespace kvwitness::simt::detail

#endif  // KVWITNESS_KERNELS_SIMT_SRC_FAULT_SIGNALS_H
