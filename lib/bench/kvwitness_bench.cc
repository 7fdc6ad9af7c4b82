// The scatter pass against memcpy and a pure read of the same buffer, in the same rounds.
//
// Each benchmark is one shape. Each of its iterations is a round in which the contenders run once, one after the other:
// memcpy of the buffer, a read of it, the C ABI's scatter, the same pass by the backend's own function, without the C
// ABI and its checks, and in some rounds the naive loop. Its counters are medians over the rounds, in microseconds a
// call, and the ratios of scatter, read and naive loop to memcpy. Scatter changes the tail of each row; that is put
// back between calls and its time taken off.
//
// Those named others/... are the null models, masks and metrics; see others_bench.h.
//
//     kvwitness_bench [--real_rows=FILE] [--benchmark_filter=REGEX]
//                     [--benchmark_out=FILE.json --benchmark_out_format=json]
//     kvwitness_bench --list_backends
//
// The second form prints the backends that can run here, best first.
#include <benchmark/benchmark.h>
#include <kvwitness/backend.h>
#include <kvwitness/kvwitness.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "lib/bench/interleave.h"
#include "lib/bench/naive.h"
#include "lib/bench/others_bench.h"
#include "lib/bench/workload.h"

namespace kvwitness::bench {
namespace {

// Enough calls a sample that the clock's own cost disappears, and rounds for a median.
constexpr std::size_t kElementsPerSample = std::size_t{1} << 18;
// 64-byte aligned, and half a page from where the rows start: memcpy is slow where the two are a few bytes apart in
// their pages.
constexpr std::size_t kCopyPlacement = 512;
constexpr int kRoundsBetweenNaive = 6;

// Four accumulators, so that the loads and not the chain of ORs set the pace.
#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target_clones("avx512f", "avx2", "default")))
#endif
std::int32_t
or_of(const std::int32_t* elements, std::size_t count) {
  typedef std::int32_t Vector __attribute__((vector_size(64), aligned(4)));
  constexpr std::size_t kStep = 4 * sizeof(Vector) / sizeof(std::int32_t);
  Vector all[4] = {};
  std::size_t i = 0;
  for (; i + kStep <= count; i += kStep) {
    const Vector* const vectors = reinterpret_cast<const Vector*>(elements + i);
    all[0] |= vectors[0];
    all[1] |= vectors[1];
    all[2] |= vectors[2];
    all[3] |= vectors[3];
  }
  const Vector together = (all[0] | all[1]) | (all[2] | all[3]);
  std::int32_t result = 0;
  for (std::size_t lane = 0; lane < sizeof(Vector) / sizeof(std::int32_t); ++lane) {
    result |= together[lane];
  }
  for (; i < count; ++i) {
    result |= elements[i];
  }
  return result;
}

void scatter(Workload& work) {
  const Shape& shape = work.shape();
  const kvw_status status = kvw_scatter(
      work.rows(), static_cast<std::int64_t>(work.elements()), static_cast<std::int64_t>(shape.topk),
      work.context_lens().data(), static_cast<std::int64_t>(shape.rows), static_cast<std::int64_t>(shape.num_segments));
  if (status != KVW_OK) {
    throw std::runtime_error(kvw_last_error());
  }
}

void scatter_unchecked(Workload& work) {
  const Shape& shape = work.shape();
  const RowBatch batch{work.rows(), shape.topk, shape.topk, work.context_lens().data(), shape.rows};
  const std::size_t budget = std::min(shape.topk, shape.num_segments);
  (*selected_backend())->apply(batch, {shape.topk - budget, shape.num_segments, budget}, work.rows(), shape.topk);
}

struct Contenders {
  Samples copy, read, scatter, unchecked, restoring, naive;
};

// One buffer of a benchmark: the rows, a twin that is worked on in turn with them so that a call never meets stores
// still in flight, and the destination of the copy.
class Bout {
 public:
  Bout(const Shape& shape, const Workload::RealRows& real, std::size_t first_real_row)
      : work_{Workload(shape, real, first_real_row), Workload(shape, real, first_real_row)},
        copy_(work_[0].elements(), kCopyPlacement),
        calls_(std::max<std::size_t>(1, kElementsPerSample / std::max<std::size_t>(1, work_[0].elements()))) {}

  // Runs every contender; returns scatter's seconds a call.
  double round(bool with_naive) {
    const std::size_t bytes = work_[0].elements() * sizeof(std::int32_t);
    const auto calls = static_cast<double>(calls_);
    contenders_.copy.add(seconds_of([&] {
                           for (std::size_t call = 0; call < calls_; ++call) {
                             std::memcpy(copy_.data(), work_[0].rows(), bytes);
                             benchmark::DoNotOptimize(copy_.data());
                             benchmark::ClobberMemory();
                           }
                         }) /
                         calls);
    contenders_.read.add(seconds_of([&] {
                           for (std::size_t call = 0; call < calls_; ++call) {
                             benchmark::DoNotOptimize(or_of(work_[0].rows(), work_[0].elements()));
                             benchmark::ClobberMemory();
                           }
                         }) /
                         calls);
    const double seconds = timed_in_place(scatter);
    contenders_.scatter.add(seconds);
    contenders_.unchecked.add(timed_in_place(scatter_unchecked));
    contenders_.restoring.add(calls_ == 1 ? 0 : timed_in_place([](Workload&) {}));
    if (with_naive) {
      contenders_.naive.add(timed_in_place(naive_scatter));
    }
    return seconds;
  }

  const Contenders& contenders() const { return contenders_; }

 private:
  // Where a sample is many calls, the seconds hold the restoring too, which is a contender of its own.
  template <class Call>
  double timed_in_place(Call call) {
    if (calls_ == 1) {
      const double seconds = seconds_of([&] { call(work_[0]); });
      work_[0].restore();
      return seconds;
    }
    const double seconds = seconds_of([&] {
      for (std::size_t index = 0; index < calls_; ++index) {
        call(work_[index % 2]);
        work_[(index + 1) % 2].restore();
        benchmark::ClobberMemory();
      }
    });
    work_[0].restore();
    work_[1].restore();
    return seconds / static_cast<double>(calls_);
  }

  std::array<Workload, 2> work_;
  Buffer copy_;
  std::size_t calls_;
  Contenders contenders_;
};

std::string title(const Shape& shape) {
  return "scatter/" + std::string(name_of(shape.pattern)) + "/rows:" + std::to_string(shape.rows) +
         "/topk:" + std::to_string(shape.topk) + "/S:" + std::to_string(shape.num_segments) +
         "/L:" + std::to_string(shape.context_len) + "/offset:" + std::to_string(shape.misaligned_elements);
}

template <class Statistic>
double total_microseconds(const std::vector<Bout>& bouts, Samples Contenders::* contender, Statistic statistic) {
  double total = 0;
  for (const Bout& bout : bouts) {
    total += (bout.contenders().*contender.*statistic)() * 1e6;
  }
  return total / static_cast<double>(bouts.size());
}

void run(benchmark::State& state, const Shape& shape, const Workload::RealRows& real) {
  // Few real rows a call: as many groups as it takes to have had each row once.
  const std::size_t groups = shape.pattern == Pattern::kReal ? (real.rows.size() + shape.rows - 1) / shape.rows : 1;
  std::vector<Bout> bouts;
  bouts.reserve(groups);
  for (std::size_t group = 0; group < groups; ++group) {
    bouts.emplace_back(shape, real, group * shape.rows);
  }
  int rounds = 0;
  for (auto _ : state) {
    double seconds = 0;
    for (Bout& bout : bouts) {
      seconds += bout.round(rounds % kRoundsBetweenNaive == 0);
    }
    ++rounds;
    state.SetIterationTime(seconds / static_cast<double>(groups));
  }
  const auto median = [&](Samples Contenders::* contender) {
    return total_microseconds(bouts, contender, &Samples::median);
  };
  const auto least = [&](Samples Contenders::* contender) {
    return total_microseconds(bouts, contender, &Samples::least);
  };
  const double copy = median(&Contenders::copy);
  const double scatter = median(&Contenders::scatter) - median(&Contenders::restoring);
  state.counters["us"] = scatter;
  state.counters["copy_us"] = copy;
  state.counters["ratio"] = scatter / copy;
  state.counters["ratio_of_least"] =
      (least(&Contenders::scatter) - least(&Contenders::restoring)) / least(&Contenders::copy);
  state.counters["read_ratio"] = median(&Contenders::read) / copy;
  state.counters["call_ns"] = 1e3 * (median(&Contenders::scatter) - median(&Contenders::unchecked));
  state.counters["naive_ratio"] = (median(&Contenders::naive) - median(&Contenders::restoring)) / copy;
}

int rounds_for(std::size_t elements) {
  return elements <= (std::size_t{1} << 18) ? 60 : elements <= (std::size_t{1} << 20) ? 40 : 12;
}

class Suite {
 public:
  explicit Suite(const std::string& real_rows_file)
      : real_2048_(read_real_rows(real_rows_file, 2048)), real_512_(read_real_rows(real_rows_file, 512)) {}

  void add(const Shape& shape) {
    const Workload::RealRows& real = shape.topk == 512 ? real_512_ : real_2048_;
    benchmark::RegisterBenchmark(title(shape).c_str(),
                                 [shape, &real](benchmark::State& state) { run(state, shape, real); })
        ->UseManualTime()
        ->Unit(benchmark::kMicrosecond)
        ->Iterations(rounds_for(shape.rows * shape.topk));
  }

  void add_all() {
    constexpr Pattern kPatterns[] = {Pattern::kReal, Pattern::kAlternate, Pattern::kOneSegment, Pattern::kOneMissing,
                                     Pattern::kSpread};
    for (const Pattern pattern : kPatterns) {
      for (const std::size_t rows : {1u, 2u, 4u, 8u, 32u, 128u, 512u, 2048u, 8192u}) {
        add({pattern, rows, 2048, 64, 131072, 0});
      }
      for (const std::size_t rows : {1u, 8u, 512u}) {
        add({pattern, rows, 2048, 64, 131072, 1});  // 4-byte aligned
        add({pattern, rows, 2048, 8, 131072, 0});   // few segments
        add({pattern, rows, 512, 64, 131072, 0});   // narrow rows
        if (pattern != Pattern::kReal) {
          add({pattern, rows, 1024, 64, 131072, 0});
          add({pattern, rows, 2048, 64, 4096, 0});
          add({pattern, rows, 2048, 64, 1000000, 0});
        }
      }
    }
  }

 private:
  Workload::RealRows real_2048_;
  Workload::RealRows real_512_;
};

}  // namespace
}  // namespace kvwitness::bench

int main(int argc, char** argv) {
  std::string real_rows_file = KVWITNESS_REAL_ROWS;
  std::vector<char*> rest;
  for (int argument = 0; argument < argc; ++argument) {
    constexpr std::string_view kOption = "--real_rows=";
    if (argv[argument] == std::string_view("--list_backends")) {
      for (const kvwitness::Backend* const backend : kvwitness::backends()) {
        if (backend->runnable()) {
          std::puts(backend->name);
        }
      }
      return 0;
    }
    if (std::string_view(argv[argument]).starts_with(kOption)) {
      real_rows_file = argv[argument] + kOption.size();
    } else {
      rest.push_back(argv[argument]);
    }
  }
  int rest_count = static_cast<int>(rest.size());
  benchmark::Initialize(&rest_count, rest.data());
  if (benchmark::ReportUnrecognizedArguments(rest_count, rest.data())) {
    return 2;
  }
  try {
    kvwitness::bench::Suite suite(real_rows_file);
    suite.add_all();
    kvwitness::bench::add_others();
    benchmark::AddCustomContext("backend", kvw_backend());
    benchmark::RunSpecifiedBenchmarks();
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "kvwitness_bench: %s\n", failure.what());
    return 2;
  }
  return 0;
}
