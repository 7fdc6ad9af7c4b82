// The fused top-k kernel under many schedules, against sorting the scores and the rule by scanning.
#include <kvwitness/simt.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <numeric>
#include <string>
#include <vector>

#include "fused_topk.cuh"

namespace simt = kvwitness::simt;

namespace {

constexpr int kTopk = 24;
constexpr int kSegments = 10;
constexpr int kMaxContextLen = 90;

// The picks of one row, and over its last kSegments slots the witnesses.
std::vector<int> expected_row(const float* scores, int context_len) {
  std::vector<int> order(static_cast<std::size_t>(context_len));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return scores[a] > scores[b]; });
  order.resize(kTopk, -1);
  const int segments = std::min(kSegments, context_len);
  std::vector<int> row = order;
  int slot = kTopk - kSegments;
  for (int s = 0; s < segments; ++s) {
    const bool occupied = std::any_of(order.begin(), order.end(),
                                      [&](int token) { return token >= 0 && token * segments / context_len == s; });
    if (!occupied) {
      row[static_cast<std::size_t>(slot++)] = (s * context_len + segments - 1) / segments;
    }
  }
  return row;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<int> lens = {90, 3, 0, 57};
  const unsigned int rows = static_cast<unsigned int>(lens.size());
  std::vector<float> scores;
  std::vector<int> expected;
  for (unsigned int row = 0; row < rows; ++row) {
    for (int token = 0; token < kMaxContextLen; ++token) {
      // High in the middle, so that the picks miss the ends; with ties.
      scores.push_back(static_cast<float>(40 - std::abs(token - 30 - static_cast<int>(row)) / 2));
    }
    const std::vector<int> one = expected_row(scores.data() + row * kMaxContextLen, lens[row]);
    expected.insert(expected.end(), one.begin(), one.end());
  }
  simt::GlobalBuffer<float> on_device(scores);
  simt::GlobalBuffer<int> context_lens(lens);
  return simt::run_schedules(argc, argv, 200, [&](std::uint64_t schedule) -> std::string {
    simt::GlobalBuffer<int> picks(rows * kTopk, -77);
    simt::Config config;
    config.grid = rows;
    config.block = 64;
    config.schedule = schedule;
    const simt::Report report = simt::launch(config, topk_with_witnesses<64>, on_device.data(), context_lens.data(),
                                             kMaxContextLen, kTopk, kvwitness::SegmentCount(kSegments), picks.data());
    return !report.ok()                    ? report.to_string()
           : picks.to_vector() == expected ? ""
                                           : "the picks are not those of the rule";
  });
}
