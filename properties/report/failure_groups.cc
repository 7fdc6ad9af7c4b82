#include "properties/report/failure_groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "properties/report/report.h"

namespace kvwitness::harness {
namespace {

bool have_one_cause(const PropertyResult& a, const PropertyResult& b) {
  if (!a.counterexample || !b.counterexample) return false;
  const Counterexample &one = *a.counterexample, &other = *b.counterexample;
  if (one.outcome.ending != Ending::kReturned || other.outcome.ending != Ending::kReturned) {
    return one.outcome.ending == other.outcome.ending;
  }
  return counterexample_case(one, a.property) == counterexample_case(other, b.property) ||
         (!one.likely_cause.empty() && one.likely_cause == other.likely_cause);
}

bool returned(const PropertyResult& result) {
  return !result.counterexample || result.counterexample->outcome.ending == Ending::kReturned;
}

// What is shown first: the shortest case and, of equal ones, a property that says more than that the answer is wrong. Of
// calls that do not return, the property that says that they do.
std::tuple<bool, std::size_t, bool> reading_effort(const PropertyResult& result) {
  if (!result.counterexample) return {false, 0, false};
  return {!returned(result) && result.property != "bounds",
          to_json(counterexample_case(*result.counterexample, result.property)).size(),
          result.property == "oracle_equality"};
}

}  // namespace

std::vector<FailureGroup> failure_groups(const ImplementationResult& result) {
  std::vector<std::vector<const PropertyResult*>> members;
  for (const PropertyResult& property : result.properties) {
    if (property.kind != ResultKind::kFail) continue;
    const auto same = std::ranges::find_if(members, [&](const auto& group) {
      return std::ranges::any_of(group, [&](const PropertyResult* other) { return have_one_cause(property, *other); });
    });
    if (same == members.end()) {
      members.push_back({&property});
    } else {
      same->push_back(&property);
    }
  }
  std::vector<FailureGroup> groups;
  for (auto& group : members) {
    const auto shown =
        std::ranges::min_element(group, {}, [](const PropertyResult* member) { return reading_effort(*member); });
    FailureGroup entry{.shown = *shown, .others = {}};
    group.erase(shown);
    entry.others = std::move(group);
    groups.push_back(std::move(entry));
  }
  return groups;
}

std::string heading_of(const ImplementationResult& result, const FailureGroup& group) {
  const PropertyResult& shown = *group.shown;
  std::string text = fmt::format("{} breaks {}", printable(result.implementation), shown.property);
  if (!returned(shown)) text += "; " + printable(shown.counterexample->verdict.what);
  if (shown.counterexample && !shown.counterexample->likely_cause.empty()) {
    text += "; likely cause: " + shown.counterexample->likely_cause;
  }
  return text;
}

std::string others_of(const FailureGroup& group) {
  if (!group.others.empty() && !returned(*group.shown)) {
    return fmt::format("all {} properties that need the call to return", group.others.size());
  }
  std::vector<std::string_view> names;
  for (const PropertyResult* const other : group.others) names.push_back(other->property);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace kvwitness::harness
