// Covering arrays: few combinations of levels in which all pairs of levels meet.
#ifndef PROPERTIES_GENERATORS_COVERING_ARRAY_H
#define PROPERTIES_GENERATORS_COVERING_ARRAY_H

#include <cstddef>
#include <functional>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace kvwitness::harness {

// A level for each factor: its number, from 0.
using Combination = std::vector<std::size_t>;

inline constexpr std::size_t kOpenLevel = static_cast<std::size_t>(-1);  // of a factor that has none yet

// What must meet: the levels of some factors, as (factor, level), factors ascending.
using LevelTuple = std::vector<std::pair<std::size_t, std::size_t>>;

// Factors whose levels must meet in every way that is possible: {2, 5} is a pair, {0, 1, 2} a triple.
using FactorGroup = std::vector<std::size_t>;

// Every pair of that many factors.
std::vector<FactorGroup> factor_pairs(std::size_t factor_count);

// The tuples of the groups that the combination has.
std::set<LevelTuple> tuples_of(const Combination& combination, std::span<const FactorGroup> groups);

struct CoveringArray {
  std::vector<Combination> combinations;
  std::set<LevelTuple> tuples;  // that are possible; each is in one of the combinations at least
};

// Combinations one by one, each around a tuple that no earlier one has, its other levels those that bring the most
// further such tuples; of equally good ones the first (Cohen, Dalal, Fredman and Patton: The AETG System, 1997; for pairs
// see also Lei and Tai: In-Parameter-Order, 1998). A tuple that no admitted combination has is not possible.
//
// @param level_counts  levels of each factor, at least 1
// @param groups        which factors must meet
// @param is_wanted     whether a tuple of a group must occur
// @param admits        whether a combination may be chosen; of one with open levels, whether it may
//                      become such a one
CoveringArray covering_array(std::span<const std::size_t> level_counts, std::span<const FactorGroup> groups,
                             const std::function<bool(const LevelTuple&)>& is_wanted,
                             const std::function<bool(const Combination&)>& admits);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_GENERATORS_COVERING_ARRAY_H
