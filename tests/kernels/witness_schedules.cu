// The witness kernels under many schedules, intact or with one synchronisation changed (witness_mutants.cmake).
//
//   PROGRAM SCENARIO[@LANE] [SCHEDULE | --schedules COUNT]
//
// LANE is the lane that some of the changes leave out.
#include <kvwitness/simt.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

// What the changed synchronisations read; declared before them.
namespace kvwitness {
inline unsigned int left_out_lane = 0;
}

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

// A batch of rows in device memory. The rows start 4 bytes past a 16-byte boundary, so that heads, vectors and tails all
// occur.
struct Batch {
  std::int64_t rows;
  std::int64_t topk;
  std::int64_t num_segments;
  std::vector<std::int32_t> context_lens;
  std::vector<std::int32_t> learned;

  // Rows that need every thread: each of the `threads` that work on a row holds the only token of a segment of its own,
  // so that an occupancy left out is a wrong answer, or has a witness to store over what others read. (In a block of 64
  // every other thread does the one and the rest the other, which changes from row to row; a lane does both.) Rows 2 and
  // 3, or of warps 4, 6 and 7, are empty, between two others of the same block or warp.
  Batch(std::int64_t rows_, std::int64_t topk_, int threads) : Batch(rows_, topk_, std::int64_t{64}, 0) {
    for (std::int64_t row = 0; row < rows; ++row) {
      const bool is_empty = threads == kWarpThreads ? row / 4 == 1 && row != 5 : row == 2 || row == 3;
      const std::int32_t length = is_empty ? 0 : 6400 + 37 * static_cast<std::int32_t>(row);
      context_lens.push_back(length);
      const std::int64_t turn = row / 2 % 2;
      const std::int64_t head = std::min((4 - (1 + row * topk) % 4) % 4, topk);
      const std::int64_t vectors = (topk - head) / 4;
      for (std::int64_t slot = 0; slot < topk; ++slot) {
        const std::int64_t vector = (slot - head) / 4;
        const std::int64_t thread = slot < head ? slot : vector < vectors ? vector % threads : slot - vectors * 4;
        const bool occupies = threads == kWarpThreads || thread % 2 == turn;
        // Not the segment that the thread itself answers for, but one of another half of the warp or block.
        const std::int64_t segment =
            threads == kWarpThreads ? (thread + 16) % 32 + 32 * turn : (thread + 34) % num_segments;
        const std::int64_t edge = (segment * length + num_segments - 1) / num_segments;
        learned.push_back(occupies && !is_empty ? static_cast<std::int32_t>(edge) + draw(90) : -1);
      }
    }
  }

  // Rows of random tokens from a quarter of the context, so that most segments are missing, with some padding; an empty
  // row and one shorter than S among them.
  static Batch random(std::int64_t rows, std::int64_t topk, std::int64_t num_segments) {
    Batch batch(rows, topk, num_segments, 0);
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int32_t length = row == 2 ? 0 : row == 3 ? 50 : 200 + 37 * static_cast<std::int32_t>(row);
      batch.context_lens.push_back(length);
      for (std::int64_t slot = 0; slot < topk; ++slot) {
        batch.learned.push_back(batch.draw(9) == 0 ? -1 : batch.draw(static_cast<std::uint32_t>(length / 4 + 1)));
      }
    }
    return batch;
  }

  Batch(std::int64_t rows_, std::int64_t topk_, std::int64_t num_segments_, std::uint32_t seed)
      : rows(rows_), topk(topk_), num_segments(num_segments_), state_(12345 + seed) {}

  std::int32_t draw(std::uint32_t below) {
    state_ = state_ * 1664525u + 1013904223u;
    return static_cast<std::int32_t>((state_ >> 8) % below);
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

 private:
  std::uint32_t state_;
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
  constexpr std::int64_t kKeep = 100;  // so that witnesses go over slots that other threads read
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
  constexpr int kThreads = kernels::kManySegmentsThreads;
  const simt::Report report = simt::launch(grid_of<BlockWitness<kThreads>>(blocks, schedule),
                                           kernels::witness_indices_of_many_segments<kThreads>, call);
  return report.ok() ? difference(witnesses.to_vector(), batch.expected_indices()) : report.to_string();
}

struct Scenario {
  const char* name;
  std::function<std::string(std::uint64_t schedule)> run;
};

std::vector<Scenario> scenarios() {
  using kernels::Block;
  using kernels::Warp;
  // Several rows a block, so that each block's storages are used again, with an empty row between two others.
  static const Batch batch(7, 515, kernels::Grid<Block>::kThreads);
  // Three rows a warp, and two for the last warp, whose block has one: an empty one between two others again.
  static const Batch warp_batch(11, 515, kWarpThreads);
  // More than one round of loads, the last one with vectors for some threads only.
  static const Batch long_rows(2, 2311, kernels::Grid<Block>::kThreads);
  static const Batch warp_long_rows(2, 1287, kWarpThreads);
  static const Batch random_rows = Batch::random(6, 519, 20);
  static const Batch many = Batch::random(5, 515, 130);
  static const auto all = [](const Batch& rows) { return static_cast<unsigned int>(rows.rows); };
  return {
      {"block-scatter", [](std::uint64_t s) { return run_merge<Block, false>(batch, 2, s); }},
      {"block-apply", [](std::uint64_t s) { return run_merge<Block, true>(batch, 2, s); }},
      {"block-witnesses", [](std::uint64_t s) { return run_indices<Block>(batch, 2, s); }},
      {"block-scatter-alone", [](std::uint64_t s) { return run_merge<Block, false>(batch, all(batch), s); }},
      {"block-apply-long", [](std::uint64_t s) { return run_merge<Block, true>(long_rows, 1, s); }},
      {"block-scatter-random", [](std::uint64_t s) { return run_merge<Block, false>(random_rows, 2, s); }},
      {"warp-scatter", [](std::uint64_t s) { return run_merge<Warp, false>(warp_batch, 1, s); }},
      {"warp-apply", [](std::uint64_t s) { return run_merge<Warp, true>(warp_batch, 1, s); }},
      {"warp-witnesses", [](std::uint64_t s) { return run_indices<Warp>(warp_batch, 1, s); }},
      {"warp-scatter-alone", [](std::uint64_t s) { return run_merge<Warp, false>(warp_batch, 3, s); }},
      {"warp-apply-long", [](std::uint64_t s) { return run_merge<Warp, true>(warp_long_rows, 1, s); }},
      {"warp-scatter-random", [](std::uint64_t s) { return run_merge<Warp, false>(random_rows, 1, s); }},
      {"witnesses-above-64", [](std::uint64_t s) { return run_many_segments(many, 2, s); }},
      {"witnesses-above-64-alone", [](std::uint64_t s) { return run_many_segments(many, all(many), s); }},
  };
}

}  // namespace

// Read only by ThreadSanitizer: a control is reported once, not for each of its hundreds of races.
extern "C" const char* __tsan_default_options();
extern "C" const char* __tsan_default_options() {
  return "halt_on_error=1";
}

int main(int argc, char** argv) {
  const std::string name = argc >= 2 ? argv[1] : "";
  const std::size_t at = name.find('@');
  if (at != std::string::npos) {
    kvwitness::left_out_lane = static_cast<unsigned int>(std::atoi(name.c_str() + at + 1));
  }
  for (const Scenario& scenario : scenarios()) {
    if (name.substr(0, at) == scenario.name) {
      return simt::run_schedules(argc - 1, argv + 1, 100, scenario.run);
    }
  }
  std::fprintf(stderr, "usage: %s SCENARIO[@LANE] [SCHEDULE | --schedules COUNT]\n", argv[0]);
  return 2;
}
