#include "properties/report/failure_groups.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "properties/report/report.h"

namespace kvwitness::harness {
namespace {

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

// How many of the properties name each cause.
std::map<std::string, std::size_t> support_of_causes(const ImplementationResult& result) {
  std::map<std::string, std::size_t> support;
  for (const PropertyResult& property : result.properties) {
    if (property.counterexample && returned(property)) ++support[property.counterexample->likely_cause];
  }
  return support;
}

}  // namespace

std::vector<FailureGroup> failure_groups(const ImplementationResult& result) {
  const auto support = support_of_causes(result);
  std::size_t returning = 0;
  for (const auto& [cause, count] : support) returning += count;
  const auto main =
      std::ranges::max_element(support, {}, [](const auto& entry) { return entry.first.empty() ? 0 : entry.second; });
  // One fault shows in many ways, and few of them tell which it is: what another cause explains better stands by itself
  // only where that one explains several properties.
  const bool is_one_fault = main != support.end() && !main->first.empty() && 2 * main->second >= returning;
  const auto key_of = [&](const PropertyResult& property) -> std::string {
    if (!property.counterexample) return "no counterexample";
    if (!returned(property)) {
      return "ending " + std::to_string(static_cast<int>(property.counterexample->outcome.ending));
    }
    const std::string& cause = property.counterexample->likely_cause;
    if (!cause.empty() && support.at(cause) > 1) return cause;
    return is_one_fault ? main->first : "";
  };
  std::vector<std::pair<std::string, std::vector<const PropertyResult*>>> members;
  for (const PropertyResult& property : result.properties) {
    if (property.kind != ResultKind::kFail) continue;
    const std::string key = key_of(property);
    const auto same = std::ranges::find(members, key, [](const auto& group) { return group.first; });
    (same == members.end() ? members.emplace_back(key, std::vector<const PropertyResult*>{}) : *same)
        .second.push_back(&property);
  }
  std::vector<FailureGroup> groups;
  for (auto& [cause, group] : members) {
    // Of those that name the group's cause, where it has one.
    const auto names_it = [&](const PropertyResult* member) {
      return member->counterexample && member->counterexample->likely_cause == cause;
    };
    const auto shown = std::ranges::min_element(group, {}, [&](const PropertyResult* member) {
      return std::pair(!cause.empty() && !names_it(member), reading_effort(*member));
    });
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
