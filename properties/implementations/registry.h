// The registry: every implementation that this build knows, in the order of `kvwitness list`.
#ifndef PROPERTIES_IMPLEMENTATIONS_REGISTRY_H
#define PROPERTIES_IMPLEMENTATIONS_REGISTRY_H

#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "properties/case/implementation.h"

namespace kvwitness::harness {

// Every implementation this build knows, in the order of `kvwitness list`: oracle, c-abi, the backends,
// cuda-emulated-*, cuda-*. Includes those that cannot run here (their availability says why).
std::vector<std::unique_ptr<Implementation>> all_implementations();
// One by name; null where the name is unknown.
std::unique_ptr<Implementation> find_implementation(std::string_view name);

// The families that all_implementations() lists, in this order; each may live in a file of its own.
std::unique_ptr<Implementation> make_oracle();
std::unique_ptr<Implementation> make_c_abi();
std::vector<std::unique_ptr<Implementation>> make_backends();
// The backends that can run here, in this process: the peers of every implementation of this library.
std::span<const std::unique_ptr<Implementation>> runnable_backends();
// The CUDA kernels, a block and a warp to a row: on the CPU executor, and on a GPU.
std::vector<std::unique_ptr<Implementation>> make_cuda_emulated();
std::vector<std::unique_ptr<Implementation>> make_cuda();

}  // namespace kvwitness::harness

#endif  // PROPERTIES_IMPLEMENTATIONS_REGISTRY_H
