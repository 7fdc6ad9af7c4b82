#include "lib/bench/others_bench.h"

#include <benchmark/benchmark.h>
#include <kvwitness/metrics.h>
#include <kvwitness/nulls.h>
#include <kvwitness/select.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "lib/bench/interleave.h"

namespace kvwitness::bench {
namespace {

constexpr std::size_t kBudget = 2048;
constexpr std::int32_t kMaskTokens = 4096;
constexpr std::size_t kMaskBudget = 512;

using Work = std::function<void()>;

// `calls` of each a sample.
void add(const std::string& name, int calls, int rounds, const Work& work, const Work& yardstick) {
  const auto run = [=](benchmark::State& state) {
    Samples measured, least_possible;
    const auto sample = [calls](const Work& one) {
      return seconds_of([&] {
               for (int call = 0; call < calls; ++call) {
                 one();
                 benchmark::ClobberMemory();
               }
             }) /
             calls;
    };
    work();
    for (auto _ : state) {
      least_possible.add(sample(yardstick));
      measured.add(sample(work));
      state.SetIterationTime(measured.median());
    }
    state.counters["us"] = measured.median() * 1e6;
    state.counters["yardstick_us"] = least_possible.median() * 1e6;
    state.counters["ratio"] = measured.median() / least_possible.median();
  };
  benchmark::RegisterBenchmark(name.c_str(), run)->UseManualTime()->Unit(benchmark::kMicrosecond)->Iterations(rounds);
}

// Four sums side by side: one alone would wait for its own additions.
double sum_of(const std::vector<double>& values) {
  double sums[4] = {};
  for (std::size_t i = 0; i + 4 <= values.size(); i += 4) {
    for (std::size_t sum = 0; sum < 4; ++sum) {
      sums[sum] += values[i + sum];
    }
  }
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void add_masks() {
  static std::vector<std::uint8_t> mask(static_cast<std::size_t>(kMaskTokens) * kMaskTokens);
  const Work clear = [] {
    std::memset(mask.data(), 0, mask.size());
    benchmark::DoNotOptimize(mask.data());
  };
  add(
      "others/mask_local/seq:4096/window:512/against:memset", 1, 15,
      [] { std::ignore = select_mask_into(Local{kMaskBudget}, kMaskTokens, mask); }, clear);
  add(
      "others/mask_random/seq:4096/budget:512/against:memset", 1, 5,
      [] { std::ignore = select_mask_into(Random{kMaskBudget, 1}, kMaskTokens, mask); }, clear);
}

void add_nulls(std::int32_t context_len) {
  static std::vector<std::int32_t> offsets(kBudget);
  const std::string shape = "/budget:2048/L:" + std::to_string(context_len) + "/against:writing";
  const Work write = [] {
    std::iota(offsets.begin(), offsets.end(), 1);
    benchmark::DoNotOptimize(offsets.data());
  };
  add(
      "others/null_random" + shape, 20, 20, [=] { std::ignore = random_null_into(context_len, kBudget, 1, offsets); },
      write);
  add(
      "others/null_locality" + shape, 500, 20, [=] { std::ignore = locality_null_into(context_len, kBudget, offsets); },
      write);
}

void add_metrics(std::int32_t context_len) {
  std::mt19937 random(1);
  std::vector<std::int32_t> candidates(kBudget);
  for (std::int32_t& candidate : candidates) {
    candidate = std::uniform_int_distribution<std::int32_t>(0, context_len - 1)(random);
  }
  std::vector<double> attention(static_cast<std::size_t>(context_len), 1.0 / context_len);
  const std::string shape = "/candidates:2048/L:" + std::to_string(context_len);
  for (const std::size_t num_segments : {std::size_t{64}, std::size_t{256}}) {
    add(
        "others/coverage" + shape + "/S:" + std::to_string(num_segments) + "/against:reading", 200, 20,
        [=] { benchmark::DoNotOptimize(segment_coverage(candidates, context_len, num_segments)); },
        // NOLINTNEXTLINE(bugprone-fold-init-type): the sum wraps around; it stands for reading
        [=] { benchmark::DoNotOptimize(std::accumulate(candidates.begin(), candidates.end(), 0u)); });
  }
  add(
      "others/recall" + shape + "/against:adding", 4, 20,
      [=] { benchmark::DoNotOptimize(attention_mass_recall(candidates, attention)); },
      [=] { benchmark::DoNotOptimize(sum_of(attention)); });
}

}  // namespace

void add_others() {
  add_masks();
  for (const std::int32_t context_len : {8192, 131072, 1000000}) {
    add_nulls(context_len);
    add_metrics(context_len);
  }
}

}  // namespace kvwitness::bench
