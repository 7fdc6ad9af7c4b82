// The CUDA kernels on the CPU executor: cuda-emulated-block and cuda-emulated-warp.
#include <cuda_runtime.h>
#include <kvwitness/simt.h>

#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/src/kernels.cuh"
#include "properties/cuda_call.h"
#include "properties/implementations.h"

namespace kvwitness::harness {
namespace {

using Block = BlockWitness<kernels::kThreads>;
using Warp = WarpWitness;

// Runs the kernels' own source, thread by thread, after the CUDA library's own host checks. The schedule and the form of the lengths
// follow from the call's values, so that a case runs the same way each time and different cases run differently. What the executor finds
// (a race, a deadlock, an access outside) is the answer KVW_CUDA, which no legal call may give.
template <class Witness>
class EmulatedImplementation final : public HostImplementation {
 public:
  explicit EmulatedImplementation(std::string name) : name_(std::move(name)) {}

  std::string name() const override { return name_; }

  bool supports(const Case& value) const override { return is_cuda_case(value); }

  // The executor needs some hundred microseconds a row, more under a sanitizer.
  Patience::Limits limits() const override {
    return {.call = std::chrono::seconds(60), .unfamiliar = std::chrono::seconds(60)};
  }

  Answer call(const Call& call) override {
    const std::uint64_t seed = fingerprint(call);
    const LengthsForm lengths(call.context_lens, call.rows, seed);
    const kvw_cuda_lengths described = lengths.at(lengths.lens().data(), lengths.starts().data());
    const CudaPlan plan = plan_call(call, described, const_cast<std::int32_t*>(call.learned), call.out);
    if (plan.status != KVW_OK) {
      return {plan.status, kernels::last_error()};
    }
    const simt::Report report = launch(plan, seed);
    return report.ok() ? Answer{KVW_OK, ""} : Answer{KVW_CUDA, report.to_string()};
  }

 private:
  static simt::Report launch(const CudaPlan& plan, std::uint64_t seed) {
    if (plan.merge) {
      const auto kernel = plan.merge->out == plan.merge->learned ? kernels::merge_rows<Witness, false>
                                                                 : kernels::merge_rows<Witness, true>;
      return simt::launch(config(plan.merge->rows, kernels::Grid<Witness>::kRowsPerBlock, seed), kernel, *plan.merge);
    }
    if (plan.indices.few) {
      return simt::launch(config(plan.indices.few->rows, kernels::Grid<Witness>::kRowsPerBlock, seed),
                          kernels::witness_indices<Witness>, *plan.indices.few);
    }
    if (plan.indices.many) {
      return simt::launch(config(plan.indices.many->rows, 1, seed),
                          kernels::witness_indices_of_many_segments<kernels::kThreads>, *plan.indices.many);
    }
    return {};
  }

  // A few rows more than blocks now and then, so that blocks take several rows each.
  static simt::Config config(std::int64_t rows, std::int64_t rows_per_block, std::uint64_t seed) {
    simt::Config made;
    const unsigned int blocks = kernels::grid_blocks(rows, rows_per_block);
    made.grid = seed % 4 == 0 && blocks > 2 ? blocks / 2 : blocks;
    made.block = kernels::kThreads;
    made.schedule = seed % 2 == 0 ? simt::random_schedule(seed >> 8) : simt::pct_schedule(seed >> 8);
    return made;
  }

  std::string name_;
};

}  // namespace

std::vector<std::unique_ptr<Implementation>> make_cuda_emulated() {
  std::vector<std::unique_ptr<Implementation>> made;
  made.push_back(std::make_unique<EmulatedImplementation<Block>>("cuda-emulated-block"));
  made.push_back(std::make_unique<EmulatedImplementation<Warp>>("cuda-emulated-warp"));
  return made;
}

}  // namespace kvwitness::harness
