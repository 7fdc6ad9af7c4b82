#include "fuzz/target.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "fuzz/target_list.h"

namespace kvwitness::fuzz {

namespace targets {
#define KVWITNESS_FUZZ_DECLARE(name, ...) extern const Target name;
KVWITNESS_FUZZ_TARGETS(KVWITNESS_FUZZ_DECLARE)
#undef KVWITNESS_FUZZ_DECLARE
}  // namespace targets

namespace {

// The controls last.
const std::vector<Target>& targets_and_controls() {
  static const std::vector<Target> kTargets = [] {
#define KVWITNESS_FUZZ_ELEMENT(name, ...) targets::name,
    std::vector<Target> all = {KVWITNESS_FUZZ_TARGETS(KVWITNESS_FUZZ_ELEMENT)};
#undef KVWITNESS_FUZZ_ELEMENT
    std::ranges::sort(all, {}, [](const Target& target) { return std::pair(target.is_control, target.name); });
    return all;
  }();
  return kTargets;
}

}  // namespace

std::span<const Target> all_targets() {
  const std::vector<Target>& all = targets_and_controls();
  return {all.begin(), std::ranges::find_if(all, &Target::is_control)};
}

const Target* find_target(std::string_view name) {
  const std::vector<Target>& all = targets_and_controls();
  const auto found = std::ranges::find(all, name, &Target::name);
  return found == all.end() ? nullptr : &*found;
}

}  // namespace kvwitness::fuzz
