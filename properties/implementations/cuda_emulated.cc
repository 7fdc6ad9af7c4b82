// The CUDA kernels on the CPU executor: cuda-emulated-block and cuda-emulated-warp.
#include <cuda_runtime.h>
#include <kvwitness/legality.h>
#include <kvwitness/simt.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "kernels/src/kernels.cuh"
#include "properties/case/implementation.h"
#include "properties/implementations/cuda_call.h"
#include "properties/implementations/emulated_launch.h"
#include "properties/implementations/registry.h"
#include "properties/sandbox/host_implementation.h"

namespace kvwitness::harness {
namespace {

template <class Witness>
simt::Config config_of(const EmulatedRun& run, std::int64_t rows) {
  constexpr std::int64_t kRowsPerBlock = kernels::Grid<Witness>::kRowsPerBlock;
  simt::Config made;
  const unsigned int blocks = kernels::grid_blocks(rows, kRowsPerBlock);
  made.grid = std::max(1u, blocks / std::max(1u, run.grid_divisor));
  // Warps without a row need not be run.
  made.block =
      static_cast<unsigned int>(kernels::Grid<Witness>::kThreads / kRowsPerBlock * std::min(rows, kRowsPerBlock));
  made.schedule = run.schedule;
  return made;
}

template <class Witness>
simt::Report launch_as(const CudaPlan& plan, const EmulatedRun& run) {
  if (plan.merge) {
    const auto kernel = plan.merge->out == plan.merge->learned ? kernels::merge_rows<Witness, false>
                                                               : kernels::merge_rows<Witness, true>;
    return simt::launch(config_of<Witness>(run, plan.merge->rows), kernel, *plan.merge);
  }
  if (plan.indices.few) {
    return simt::launch(config_of<Witness>(run, plan.indices.few->rows), kernels::witness_indices<Witness>,
                        *plan.indices.few);
  }
  if (plan.indices.many) {
    constexpr int kThreads = kernels::kManySegmentsThreads;
    return simt::launch(config_of<BlockWitness<kThreads>>(run, plan.indices.many->rows),
                        kernels::witness_indices_of_many_segments<kThreads>, *plan.indices.many);
  }
  return {};
}

// Runs the kernels' own source, thread by thread, after the CUDA library's own host checks. The schedule and the form
// of the lengths follow from the call's values, so that a case runs the same way each time and different cases run
// differently. What the executor finds (a race, a deadlock, an access outside) is the answer KVW_CUDA, which no legal
// call may give.
class EmulatedImplementation final : public HostImplementation {
 public:
  EmulatedImplementation(std::string name, kernels::Variant variant) : name_(std::move(name)), variant_(variant) {}

  std::string name() const override { return name_; }
  std::span<const std::unique_ptr<Implementation>> peers() const override { return runnable_backends(); }
  bool is_slow() const override { return true; }

  // Thousands of rows take seconds here. Of short rows there may be as many as a grid needs to pass 65,535.
  bool supports(const Case& value) const override {
    return is_cuda_case(value) && (value.rows() <= most_rows(value.topk) || !is_legal(value));
  }

  // The executor needs some hundred microseconds a row, more under a sanitizer.
  DeadlineLimits limits() const override {
    return {.call = std::chrono::seconds(60), .warm_up_call = std::chrono::seconds(60)};
  }

  Answer call(const Call& call) override {
    const std::uint64_t seed = fingerprint(call);
    const LengthsForm lengths(call.context_lens, call.rows, seed);
    const kvw_cuda_lengths described = lengths.at(lengths.lens().data(), lengths.starts().data());
    const CudaPlan plan = plan_call(call, described, const_cast<std::int32_t*>(call.learned), call.out);
    if (plan.status != KVW_OK) {
      return {plan.status, kernels::last_error()};
    }
    const simt::Report report = launch_emulated(plan, run_of(call, seed));
    return report.ok() ? Answer{KVW_OK, ""} : Answer{KVW_CUDA, report.to_string()};
  }

 private:
  static constexpr std::int64_t kMostRows = 2048, kMostShortRows = 70'000, kMostSlotsOfShortRows = 4;

  static constexpr std::int64_t most_rows(std::int64_t topk) {
    return topk <= kMostSlotsOfShortRows ? kMostShortRows : kMostRows;
  }

  // A few rows more than blocks now and then, so that blocks take several rows each; and now and then wider blocks than
  // the library's, as a kernel may have that fuses the pass.
  EmulatedRun run_of(const Call& call, std::uint64_t seed) const {
    return {.variant = variant_,
            .schedule = seed % 2 == 0 ? simt::random_schedule(seed >> 8) : simt::pct_schedule(seed >> 8),
            .grid_divisor = seed % 4 == 0 ? 2u : 1u,
            .wide_blocks = call.rows <= kMostRows && seed % 8 == 1};
  }

  std::string name_;
  kernels::Variant variant_;
};

}  // namespace

simt::Report launch_emulated(const CudaPlan& plan, const EmulatedRun& run) {
  if (run.variant == kernels::Variant::kWarp) {
    return launch_as<kernels::Warp>(plan, run);
  }
  return run.wide_blocks ? launch_as<BlockWitness<256>>(plan, run) : launch_as<kernels::Block>(plan, run);
}

std::vector<std::unique_ptr<Implementation>> make_cuda_emulated() {
  std::vector<std::unique_ptr<Implementation>> made;
  made.push_back(std::make_unique<EmulatedImplementation>("cuda-emulated-block", kernels::Variant::kBlock));
  made.push_back(std::make_unique<EmulatedImplementation>("cuda-emulated-warp", kernels::Variant::kWarp));
  return made;
}

}  // namespace kvwitness::harness
