// The witness kernels under many schedules, intact or with one synchronisation left out
// (KVWITNESS_OMIT_SYNCHRONISATION) or one storage for the rows of a block (KVWITNESS_ROW_STORAGES).
//
//   PROGRAM SCENARIO [SCHEDULE | --schedules COUNT]
#include <kvwitness/simt.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>

#include "kernels/src/kernels.cuh"

namespace {

using namespace kvwitness;

// The rule by scanning, for one row: the edges of the segments without a token, in ascending order, -1 for the others.
std::vector<std::int32_t> rule(const std::int32_t* row, std::int64_t topk, std::int64_t context_len,
                               std::int64_t num_segments) {
  std::vector<std::int32_t> answer(static_cast<std::size_t>(num_segments), -1);
  const std::int64_t segments = context_len <= 0 ? 0 : std::min(num_segments, context_len);
  for (std::int64_t s = 0; s < segments; ++s) {
    const bool occupied = std::any_of(row, row + topk, [&](std::int64_t token) {
      return token >= 0 && std::min(token * segments / context_len, num_segments - 1) == s;
    });
    if (!occupied) {
      answer[static_cast<std::size_t>(s)] = static_cast<std::int32_t>((s * context_len + segments - 1) / segments);
    }
  }
  return answer;
}

// A batch of rows in device memory; the rows start 4 bytes past a 16-byte boundary, so that heads, vectors and tails
// all occur.
struct Batch {
  std::int64_t rows;
  std::int64_t topk;
  std::int64_t num_segments;
  std::vector<std::int32_t> context_lens;
  std::vector<std::int32_t> learned;

  Batch(std::int64_t rows_, std::int64_t topk_, std::int64_t num_segments_)
      : rows(rows_), topk(topk_), num_segments(num_segments_) {
    std::uint32_t state = 12345;
    const auto draw = [&state](std::uint32_t below) {
      state = state * 1664525u + 1013904223u;
      return static_cast<std::int32_t>((state >> 8) % below);
    };
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int32_t length = row == 1 ? 0 : row == 2 ? 50 : 200 + 37 * static_cast<std::int32_t>(row);
      context_lens.push_back(length);
      for (std::int64_t slot = 0; slot < topk; ++slot) {
        // A quarter of the context, so that most segments are missing; some padding.
        learned.push_back(draw(9) == 0 ? -1 : draw(static_cast<std::uint32_t>(length / 4 + 1)));
      }
    }
  }

  kernels::RowLengths lengths(const simt::GlobalBuffer<std::int32_t>& on_device) const {
    return {on_device.data(), nullptr, 1, 1, rows};
  }
  std::vector<std::int32_t> expected_indices() const {
    std::vector<std::int32_t> all;
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto one =
          rule(learned.data() + row * topk, topk, context_lens[static_cast<std::size_t>(row)], num_segments);
      all.insert(all.end(), one.begin(), one.end());
    }
    return all;
  }
  std::vector<std::int32_t> expected_rows(std::int64_t learned_keep, std::int64_t budget) const {
    std::vector<std::int32_t> all = learned;
    for (std::int64_t row = 0; row < rows; ++row) {
      const auto one =
          rule(learned.data() + row * topk, topk, context_lens[static_cast<std::size_t>(row)], num_segments);
      std::int64_t slot = row * topk + learned_keep;
      const std::int64_t end = slot + budget;
      for (const std::int32_t witness : one) {
        if (witness >= 0 && slot < end) {
          all[static_cast<std::size_t>(slot++)] = witness;
        }
      }
    }
    return all;
  }
};

std::string difference(const std::vector<std::int32_t>& actual, const std::vector<std::int32_t>& expected) {
  const auto [at, should_be] = std::mismatch(actual.begin(), actual.end(), expected.begin());
  return at == actual.end() ? ""
                            : "wrong answer: element " + std::to_string(at - actual.begin()) + " is " +
                                  std::to_string(*at) + ", not " + std::to_string(*should_be);
}

template <class Witness>
simt::Config grid_of(unsigned int blocks, std::uint64_t schedule) {
  simt::Config config;
  config.grid = blocks;
  config.block = static_cast<unsigned int>(kernels::Grid<Witness>::kThreads);
  config.schedule = schedule;
  return config;
}

template <class Witness, bool kCopies>
std::string run_merge(const Batch& batch, unsigned int blocks, std::uint64_t schedule) {
  constexpr std::int64_t kKeep = 3;
  const auto budget = static_cast<std::int32_t>(batch.topk - kKeep);
  simt::GlobalBuffer<std::int32_t> learned(batch.learned, 64, 4);
  simt::GlobalBuffer<std::int32_t> out(batch.learned.size(), -77, 64, kCopies ? 8 : 0);
  simt::GlobalBuffer<std::int32_t> lens(batch.context_lens);
  const kernels::MergeArguments call{learned.data(),
                                     batch.topk,
                                     batch.topk,
                                     batch.lengths(lens),
                                     batch.rows,
                                     kKeep,
                                     std::min(budget, 64),
                                     SegmentCount(static_cast<std::uint32_t>(batch.num_segments)),
                                     kCopies ? out.data() : learned.data(),
                                     batch.topk};
  const simt::Report report =
      simt::launch(grid_of<Witness>(blocks, schedule), kernels::merge_rows<Witness, kCopies>, call);
  return report.ok() ? difference((kCopies ? out : learned).to_vector(), batch.expected_rows(kKeep, budget))
                     : report.to_string();
}

template <class Witness>
std::string run_indices(const Batch& batch, unsigned int blocks, std::uint64_t schedule) {
  simt::GlobalBuffer<std::int32_t> learned(batch.learned, 64, 4);
  simt::GlobalBuffer<std::int32_t> witnesses(static_cast<std::size_t>(batch.rows * batch.num_segments), -77);
  simt::GlobalBuffer<std::int32_t> lens(batch.context_lens);
  const kernels::IndicesArguments<SegmentCount> call{
      learned.data(),      batch.topk, batch.topk,
      batch.lengths(lens), batch.rows, SegmentCount(static_cast<std::uint32_t>(batch.num_segments)),
      witnesses.data()};
  const simt::Report report = simt::launch(grid_of<Witness>(blocks, schedule), kernels::witness_indices<Witness>, call);
  return report.ok() ? difference(witnesses.to_vector(), batch.expected_indices()) : report.to_string();
}

std::string run_many_segments(const Batch& batch, unsigned int blocks, std::uint64_t schedule) {
  simt::GlobalBuffer<std::int32_t> learned(batch.learned, 64, 4);
  simt::GlobalBuffer<std::int32_t> witnesses(static_cast<std::size_t>(batch.rows * batch.num_segments), -77);
  simt::GlobalBuffer<std::int32_t> lens(batch.context_lens);
  const kernels::IndicesArguments<FixedDivisor> call{
      learned.data(),      batch.topk, batch.topk,
      batch.lengths(lens), batch.rows, FixedDivisor(static_cast<std::uint64_t>(batch.num_segments)),
      witnesses.data()};
  const simt::Report report =
      simt::launch(grid_of<BlockWitness<64>>(blocks, schedule), kernels::witness_indices_of_many_segments<64>, call);
  return report.ok() ? difference(witnesses.to_vector(), batch.expected_indices()) : report.to_string();
}

struct Scenario {
  const char* name;
  std::function<std::string(std::uint64_t schedule)> run;
};

std::vector<Scenario> scenarios() {
  using Block = BlockWitness<64>;
  // Three rows a block, so that each block's storages are used again.
  static const Batch batch(6, 43, 20);
  // Ten rows for the eight warps of one block, so that a warp has two.
  static const Batch warp_batch(10, 43, 20);
  static const Batch many(4, 43, 130);
  return {
      {"block-scatter", [](std::uint64_t s) { return run_merge<Block, false>(batch, 2, s); }},
      {"block-apply", [](std::uint64_t s) { return run_merge<Block, true>(batch, 2, s); }},
      {"block-witnesses", [](std::uint64_t s) { return run_indices<Block>(batch, 2, s); }},
      {"warp-scatter", [](std::uint64_t s) { return run_merge<WarpWitness, false>(warp_batch, 1, s); }},
      {"warp-apply", [](std::uint64_t s) { return run_merge<WarpWitness, true>(warp_batch, 1, s); }},
      {"warp-witnesses", [](std::uint64_t s) { return run_indices<WarpWitness>(warp_batch, 1, s); }},
      {"witnesses-above-64", [](std::uint64_t s) { return run_many_segments(many, 2, s); }},
  };
}

}  // namespace

// Read only by ThreadSanitizer: a control is reported once, not for each of its hundreds of races.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() {
  return "halt_on_error=1";
}

int main(int argc, char** argv) {
  for (const Scenario& scenario : scenarios()) {
    if (argc >= 2 && std::strcmp(argv[1], scenario.name) == 0) {
      return simt::run_schedules(argc - 1, argv + 1, 100, scenario.run);
    }
  }
  std::fprintf(stderr, "usage: %s SCENARIO [SCHEDULE | --schedules COUNT]\n", argv[0]);
  return 2;
}
