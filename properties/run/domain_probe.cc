#include "properties/run/domain_probe.h"

#include <kvwitness/legality.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <optional>
#include <vector>

namespace kvwitness::harness {
namespace {

struct ProbedShape {
  std::int64_t topk;
  std::int64_t num_segments;
  std::int64_t rows = 2;
  std::int32_t base_offset = 0;
  std::optional<std::int64_t> row_stride = std::nullopt;
};

Case call_of(Operation operation, const ProbedShape& shape, std::int64_t max_context) {
  Case value;
  value.operation = operation;
  value.topk = shape.topk;
  value.num_segments = shape.num_segments;
  value.max_replacements = operation == Operation::kApply ? shape.num_segments : 0;
  for (std::int64_t row = 0; row < shape.rows; ++row) {
    value.context_lens.push_back(
        static_cast<std::int32_t>(std::min<std::int64_t>(row % 2 == 0 ? 128 : 4096, max_context)));
  }
  value.learned.assign(static_cast<std::size_t>(shape.rows * shape.topk), -1);
  value.base_offset = shape.base_offset;
  value.row_stride = shape.row_stride;
  return value;
}

constexpr std::int64_t kFewRows = 16, kShortRow = 16;

class Probe {
 public:
  Probe(const Domain& domain, Implementation& implementation, const std::function<bool()>& is_over)
      : domain_(domain), implementation_(implementation), is_over_(is_over) {}

  // Whether one of the domain's operations is served in this shape. One that fails over the question is not asked much
  // further: each answer may cost a deadline, and its failure is for the properties to tell.
  bool served(const ProbedShape& shape) {
    return std::ranges::any_of(domain_.operations, [&](Operation operation) { return served_by(operation, shape); });
  }
  // The same of one operation. Asks nothing outside the domain.
  bool served_by(Operation operation, const ProbedShape& shape) {
    constexpr int kMostFailures = 2;
    if (failures_ >= kMostFailures || is_over_()) return true;
    const Case value = call_of(operation, shape, domain_.max_context);
    if (!is_legal(value) || !admits_call(domain_, value) || !implementation_.supports(value)) return false;
    const Outcome outcome = implementation_.run(value);
    if (!came_back(outcome)) ++failures_;
    return outcome.ending != Ending::kUnsupported;
  }

  // The candidates that `call_shape_of` makes served shapes of; an empty list where it is all of them.
  template <typename ShapeOf>
  std::vector<std::int64_t> served_of(const std::vector<std::int64_t>& candidates, ShapeOf call_shape_of) {
    std::vector<std::int64_t> list;
    std::ranges::copy_if(candidates, std::back_inserter(list),
                         [&](std::int64_t value) { return served(call_shape_of(value)); });
    return list;
  }

 private:
  const Domain& domain_;
  Implementation& implementation_;
  const std::function<bool()>& is_over_;
  int failures_ = 0;
};

const std::vector<std::int64_t>& or_default(const std::vector<std::int64_t>& list,
                                            const std::vector<std::int64_t>& standard) {
  return list.empty() ? standard : list;
}

// Every width up to 130, then those that tiles of 16 slots have.
std::vector<std::int64_t> odd_widths() {
  std::vector<std::int64_t> list(130);
  std::iota(list.begin(), list.end(), 1);
  for (std::int64_t width = 144; width <= 4096; width += 16) list.push_back(width);
  return list;
}

// Whether the operation is served in one of the shapes. Of those that an operation may decline all, few are asked for.
bool is_served_at_all(Probe& probe, Operation operation, const std::vector<std::int64_t>& widths,
                      const std::vector<std::int64_t>& segments, std::int64_t rows) {
  constexpr std::size_t kMostAsked = 100;
  std::size_t asked = 0;
  // By diagonals, so that both lists are gone through whichever ends first.
  for (std::size_t sum = 0; sum < widths.size() + segments.size() && asked < kMostAsked; ++sum) {
    for (std::size_t i = 0; i <= sum && asked < kMostAsked; ++i) {
      if (i >= widths.size() || sum - i >= segments.size()) continue;
      ++asked;
      if (probe.served_by(operation, {widths[widths.size() - 1 - i], segments[sum - i], rows})) return true;
    }
  }
  return false;
}

}  // namespace

Domain probed_domain(const Domain& domain, Implementation& implementation, const std::function<bool()>& is_over) {
  static const std::vector<std::int64_t> kWidths = {1,  2,   3,   4,    5,    7,    8,    16,
                                                    64, 192, 512, 1024, 2047, 2048, 2049, 2051};
  static const std::vector<std::int64_t> kRows = {2, 1, 3, 4, 8, 16, 64, 256, 1024};
  static const std::vector<std::int64_t> kSegments = {1, 2, 3, 4, 5, 8, 16, 31, 32, 33, 48, 63, 64};
  Domain narrowed = domain;
  Probe probe(domain, implementation, is_over);
  // One number of rows and one segment count that are served with some width, then all widths with them, then all
  // segment counts with one of those.
  std::vector<std::int64_t> widths = or_default(domain.topk, kWidths);
  std::vector<std::int64_t> segments = or_default(domain.num_segments, kSegments);
  std::vector<std::int64_t> served_widths;
  std::int64_t count = 0, rows = 0;
  const auto search = [&](const std::vector<std::int64_t>& some_rows) {
    for (const std::int64_t number : some_rows) {
      for (const std::int64_t candidate : segments) {
        rows = number;
        count = candidate;
        served_widths =
            probe.served_of(widths, [&](std::int64_t topk) { return ProbedShape{topk, candidate, number}; });
        if (!served_widths.empty()) return true;
      }
    }
    return false;
  };
  if (!search(kRows)) {
    // Odd ones, unless each question takes long.
    if (implementation.runs_together() > 1) return domain;
    if (domain.topk.empty()) widths = odd_widths();
    if (domain.num_segments.empty()) {
      segments.resize(64);
      std::iota(segments.begin(), segments.end(), 1);
    }
    if (!search({2, 1})) return domain;
  }
  if (served_widths.size() < widths.size()) narrowed.topk = served_widths;
  const std::int64_t width = served_widths.back();
  if (rows != kRows.front()) {
    narrowed.rows = probe.served_of(kRows, [&](std::int64_t number) { return ProbedShape{width, count, number}; });
    const std::int64_t fewest = std::ranges::min(narrowed.rows);
    std::erase_if(narrowed.rows,
                  [&](std::int64_t number) { return number > 4 * fewest; });  // so that a case stays cheap
    // Where it serves only long batches, those of short rows if it serves such.
    if (fewest > kFewRows && served_widths.front() <= kShortRow) {
      std::erase_if(served_widths, [](std::int64_t topk) { return topk > kShortRow; });
      narrowed.topk = served_widths;
    }
  }
  const auto served_segments = probe.served_of(segments, [&](std::int64_t s) { return ProbedShape{width, s, rows}; });
  if (served_segments.size() < segments.size()) narrowed.num_segments = served_segments;

  while (narrowed.align_bytes < 64 &&
         !probe.served({width, count, rows, static_cast<std::int32_t>(narrowed.align_bytes / 4)})) {
    narrowed.align_bytes *= 2;
  }
  const std::int64_t step = domain.align_bytes / static_cast<std::int64_t>(sizeof(std::int32_t));
  const auto strided = [&](std::int64_t spare) {
    const std::int64_t stride = (width + spare + step - 1) / step * step;
    return probe.served({width, count, rows, 0, stride > width ? stride : stride + step});
  };
  if (!narrowed.contiguous && !strided(1) && !strided(16) && !strided(64)) narrowed.contiguous = true;
  std::erase_if(narrowed.operations, [&](Operation operation) {
    return !is_served_at_all(probe, operation, or_default(narrowed.topk, widths),
                             or_default(narrowed.num_segments, segments), rows);
  });
  return narrowed;
}

}  // namespace kvwitness::harness
