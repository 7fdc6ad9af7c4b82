#include "properties/generators/covering_array.h"

#include <kvwitness/assertions.h>

#include <algorithm>
#include <optional>

namespace kvwitness::harness {
namespace {

class Builder {
 public:
  Builder(std::span<const std::size_t> level_counts, std::span<const FactorGroup> groups,
          const std::function<bool(const LevelTuple&)>& is_wanted,
          const std::function<bool(const Combination&)>& admits)
      : level_counts_(level_counts), groups_(groups), is_wanted_(is_wanted), admits_(admits) {}

  CoveringArray build() {
    for (const FactorGroup& group : groups_) add_tuples(group, {});
    CoveringArray array;
    const std::set<LevelTuple> wanted = open_;
    for (const LevelTuple& tuple : wanted) {
      if (!open_.contains(tuple)) continue;
      Combination combination(level_counts_.size(), kOpenLevel);
      for (const auto& [factor, level] : tuple) combination[factor] = level;
      if (!complete(combination)) {
        open_.erase(tuple);  // not possible
        continue;
      }
      for (const LevelTuple& met : tuples_of(combination, groups_)) {
        if (open_.erase(met) > 0) array.tuples.insert(met);
      }
      array.combinations.push_back(std::move(combination));
    }
    return array;
  }

 private:
  void add_tuples(const FactorGroup& group, LevelTuple tuple) {
    if (tuple.size() == group.size()) {
      if (is_wanted_(tuple)) open_.insert(std::move(tuple));
      return;
    }
    const std::size_t factor = group[tuple.size()];
    for (std::size_t level = 0; level < level_counts_[factor]; ++level) {
      tuple.emplace_back(factor, level);
      add_tuples(group, tuple);
      tuple.pop_back();
    }
  }

  // How many tuples that are still open the choice of this factor's level closes.
  std::size_t gain(Combination& combination, std::size_t factor, std::size_t level) const {
    combination[factor] = level;
    std::size_t count = 0;
    for (const FactorGroup& group : groups_) {
      if (std::ranges::find(group, factor) == group.end()) continue;
      LevelTuple tuple;
      for (const std::size_t member : group) {
        if (combination[member] != kOpenLevel) tuple.emplace_back(member, combination[member]);
      }
      count += tuple.size() == group.size() && open_.contains(tuple);
    }
    combination[factor] = kOpenLevel;
    return count;
  }

  // Chooses the open levels, factor by factor, going back where no level leads to an admitted combination.
  bool complete(Combination& combination) const {
    if (!admits_(combination)) return false;
    const auto open = std::ranges::find(combination, kOpenLevel);
    if (open == combination.end()) return true;
    const auto factor = static_cast<std::size_t>(open - combination.begin());
    std::vector<std::pair<std::size_t, std::size_t>> choices;  // gain, level
    for (std::size_t level = 0; level < level_counts_[factor]; ++level) {
      choices.emplace_back(gain(combination, factor, level), level);
    }
    std::ranges::sort(choices, [](const auto& one, const auto& other) {
      return one.first != other.first ? one.first > other.first : one.second < other.second;
    });
    for (const auto& [closed, level] : choices) {
      combination[factor] = level;
      if (complete(combination)) return true;
    }
    combination[factor] = kOpenLevel;
    return false;
  }

  std::span<const std::size_t> level_counts_;
  std::span<const FactorGroup> groups_;
  const std::function<bool(const LevelTuple&)>& is_wanted_;
  const std::function<bool(const Combination&)>& admits_;
  std::set<LevelTuple> open_;
};

}  // namespace

std::vector<FactorGroup> factor_pairs(std::size_t factor_count) {
  std::vector<FactorGroup> pairs;
  for (std::size_t first = 0; first < factor_count; ++first) {
    for (std::size_t second = first + 1; second < factor_count; ++second) pairs.push_back({first, second});
  }
  return pairs;
}

std::set<LevelTuple> tuples_of(const Combination& combination, std::span<const FactorGroup> groups) {
  std::set<LevelTuple> tuples;
  for (const FactorGroup& group : groups) {
    LevelTuple tuple;
    for (const std::size_t factor : group) tuple.emplace_back(factor, combination[factor]);
    tuples.insert(std::move(tuple));
  }
  return tuples;
}

CoveringArray covering_array(std::span<const std::size_t> level_counts, std::span<const FactorGroup> groups,
                             const std::function<bool(const LevelTuple&)>& is_wanted,
                             const std::function<bool(const Combination&)>& admits) {
  KVWITNESS_ASSERT(std::ranges::none_of(level_counts, [](std::size_t count) { return count == 0; }));
  return Builder(level_counts, groups, is_wanted, admits).build();
}

}  // namespace kvwitness::harness
