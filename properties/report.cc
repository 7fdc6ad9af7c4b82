#include "properties/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

namespace kvwitness::harness {
namespace {

using Json = nlohmann::ordered_json;

std::string_view word(RunVerdict verdict) {
  switch (verdict) {
    case RunVerdict::kPass:
      return "pass";
    case RunVerdict::kFail:
      return "fail";
    case RunVerdict::kError:
      break;
  }
  return "error";
}

std::string_view word(ResultKind kind) {
  switch (kind) {
    case ResultKind::kPass:
      return "pass";
    case ResultKind::kFail:
      return "fail";
    case ResultKind::kSkipped:
      return "skipped";
    case ResultKind::kNotProvided:
      return "not provided";
    case ResultKind::kUnsupported:
      break;
  }
  return "unsupported";
}

std::string failing_message(const Report& report) {
  std::vector<std::string> failing;
  std::size_t judged = 0;
  for (const ImplementationResult& result : report.implementations) {
    if (result.kind != ResultKind::kSkipped) ++judged;
    if (result.kind != ResultKind::kFail) continue;
    std::vector<std::string> broken;
    for (const PropertyResult& property : result.properties) {
      if (property.kind == ResultKind::kFail) broken.push_back(property.property);
    }
    if (broken.empty()) broken.push_back(result.reason);
    failing.push_back(fmt::format("{} breaks {}", result.implementation, fmt::join(broken, ", ")));
  }
  return fmt::format("{} of {} implementation{} failed: {}", failing.size(), judged, judged == 1 ? "" : "s",
                     fmt::join(failing, "; "));
}

std::string floors_message(const Report& report) {
  std::vector<std::string> missed;
  for (const MissedFloor& floor : report.missed_floors) {
    if (!floor.enforced) continue;
    missed.push_back(fmt::format("{}/{}: {} had {} cases of at least {}", floor.implementation, floor.property,
                                 floor.case_class, floor.hits, floor.floor));
  }
  return fmt::format("class floors were missed, which is a fault of the harness and of no implementation: {}",
                     fmt::join(missed, "; "));
}

std::int64_t judged_cases(const Report& report) {
  std::int64_t count = 0;
  for (const ImplementationResult& result : report.implementations) {
    for (const PropertyResult& property : result.properties) count += property.cases;
  }
  return count;
}

std::string passing_message(const Report& report) {
  std::size_t implementations = 0;
  std::set<std::string> properties;
  for (const ImplementationResult& result : report.implementations) {
    if (result.kind != ResultKind::kPass) continue;
    ++implementations;
    for (const PropertyResult& property : result.properties) {
      if (property.kind == ResultKind::kPass) properties.insert(property.property);
    }
  }
  return fmt::format("{} implementation{} kept {} propert{} on {} pinned and {} generated cases{}", implementations,
                     implementations == 1 ? "" : "s", properties.size(), properties.size() == 1 ? "y" : "ies",
                     report.pinned_cases, report.generated_cases,
                     report.cut_by_clock ? "; a clock cut the run short, so another run may judge other cases" : "");
}

Json counterexample_json(const Case& value) {
  return Json::parse(to_json(value));
}

Json difference_json(const Difference& difference) {
  return {{"row", difference.row},
          {"slot", difference.slot},
          {"expected", difference.expected},
          {"actual", difference.actual}};
}

Json property_json(const PropertyResult& result, const std::string& implementation, const ReplayCommands& replays) {
  Json json = {{"name", result.property}, {"verdict", word(result.kind)}, {"cases", result.cases}};
  if (!result.reason.empty()) json["reason"] = result.reason;
  if (result.unsupported > 0) json["unsupported"] = result.unsupported;
  json["classes"] = Json::object();
  for (const auto& [name, count] : result.classes) json["classes"][name] = count;
  if (!result.counterexample) return json;
  const Counterexample& found = *result.counterexample;
  const Case minimal = counterexample_case(found, result.property);
  const Property* const property = find_property(result.property);
  if (property != nullptr) json["statement"] = property->statement;
  json["what"] = found.verdict.what;
  if (found.verdict.difference) json["difference"] = difference_json(*found.verdict.difference);
  json["counterexample"] = counterexample_json(minimal);
  json["original_source"] = found.original_source;
  json["irrelevant"] = found.irrelevant_fields;
  json["shrinks"] = found.shrinks;
  json["replay"] = replays.command(implementation, minimal);
  return json;
}

Json implementation_json(const ImplementationResult& result, const ReplayCommands& replays) {
  Json json = {{"name", result.implementation},
               {"verdict", word(result.kind)},
               {"reason", result.reason},
               {"properties", Json::array()}};
  for (const PropertyResult& property : result.properties)
    json["properties"].push_back(property_json(property, result.implementation, replays));
  return json;
}

}  // namespace

Conclusion conclude(const Report& report, std::span<const std::string> forced) {
  const auto& results = report.implementations;
  if (std::any_of(results.begin(), results.end(),
                  [](const auto& result) { return result.kind == ResultKind::kFail; })) {
    return {.verdict = RunVerdict::kFail, .exit_status = 1, .message = failing_message(report)};
  }
  const auto& floors = report.missed_floors;
  if (std::any_of(floors.begin(), floors.end(), [](const MissedFloor& floor) { return floor.enforced; })) {
    return {.verdict = RunVerdict::kError, .exit_status = 2, .message = floors_message(report)};
  }
  std::vector<std::string> absent;
  for (const ImplementationResult& result : results) {
    const bool asked = std::find(forced.begin(), forced.end(), result.implementation) != forced.end();
    if (asked && result.kind == ResultKind::kSkipped)
      absent.push_back(fmt::format("{} ({})", result.implementation, result.reason));
  }
  if (!absent.empty()) {
    return {.verdict = RunVerdict::kError,
            .exit_status = 3,
            .message = fmt::format("asked for by name, but cannot run here: {}", fmt::join(absent, ", "))};
  }
  if (judged_cases(report) == 0) {
    return {.verdict = RunVerdict::kError,
            .exit_status = 2,
            .message =
                "not one case was judged, so nothing is shown; give cases that the chosen properties speak about, or "
                "generate some"};
  }
  return {.verdict = RunVerdict::kPass, .exit_status = 0, .message = passing_message(report)};
}

Conclusion refuse_to_run(std::string message) {
  return {.verdict = RunVerdict::kError, .exit_status = 2, .message = std::move(message)};
}

std::string shell_quote(std::string_view text) {
  std::string quoted = "'";
  for (const char letter : text) {
    if (letter == '\'') {
      quoted += "'\\''";
    } else {
      quoted += letter;
    }
  }
  return quoted + "'";
}

std::string printable(std::string_view text) {
  std::string shown(text);
  std::replace_if(
      shown.begin(), shown.end(),
      [](char letter) { return static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f; }, '?');
  return shown;
}

std::string ReplayCommands::command(const std::string& implementation, const Case& value) const {
  const auto selector = selectors.find(implementation);
  const auto variable = variables.find(implementation);
  return fmt::format("printf '%s\\n' {} | {}{} replay -{}", shell_quote(to_json(value)),
                     variable == variables.end() ? "" : variable->second + " ", shell_quote(program),
                     selector == selectors.end() ? "" : " " + selector->second);
}

Case counterexample_case(const Counterexample& counterexample, std::string_view property) {
  Case value = counterexample.minimal;
  value.attention.reset();
  if (property == "expect") return value;
  value.expect.reset();
  for (Case& before : value.after) before.expect.reset();
  return value;
}

std::string render_json(const Report& report, const Conclusion& conclusion, const ReplayCommands& replays) {
  Json json = {{"kvwitness_report", 1},
               {"verdict", word(conclusion.verdict)},
               {"message", conclusion.message},
               {"seed", report.seed},
               {"seconds", std::round(report.seconds * 1000) / 1000},
               {"cut_by_clock", report.cut_by_clock},
               {"pinned_cases", report.pinned_cases},
               {"generated_cases", report.generated_cases},
               {"below_floor", Json::array()},
               {"implementations", Json::array()}};
  for (const MissedFloor& floor : report.missed_floors) {
    json["below_floor"].push_back({{"implementation", floor.implementation},
                                   {"property", floor.property},
                                   {"class", floor.case_class},
                                   {"cases", floor.hits},
                                   {"floor", floor.floor},
                                   {"enforced", floor.enforced}});
  }
  for (const ImplementationResult& result : report.implementations)
    json["implementations"].push_back(implementation_json(result, replays));
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace kvwitness::harness
