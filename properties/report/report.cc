#include "properties/report/report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
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
    case RunVerdict::kInterrupted:
      return "interrupted";
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

std::string_view word(Reproduction reproduction) {
  switch (reproduction) {
    case Reproduction::kFresh:
      return "in a fresh process";
    case Reproduction::kSameProcess:
      return "in the same process";
    case Reproduction::kUntried:
      return "not tried again";
    case Reproduction::kNot:
      break;
  }
  return "not reproduced";
}

std::string failing_message(const RunReport& report) {
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

std::string floors_message(const RunReport& report) {
  std::vector<std::string> missed;
  for (const MissedFloor& floor : report.missed_floors) {
    if (!floor.enforced) continue;
    missed.push_back(fmt::format("{}/{}: {} had {} cases of at least {}", floor.implementation, floor.property,
                                 floor.case_class, floor.hits, floor.floor));
  }
  return fmt::format("class floors were missed, which is a fault of the harness and of no implementation: {}",
                     fmt::join(missed, "; "));
}

std::string passing_message(const RunReport& report) {
  std::size_t implementations = 0;
  std::set<std::string> properties;
  for (const ImplementationResult& result : report.implementations) {
    if (result.kind != ResultKind::kPass) continue;
    ++implementations;
    for (const PropertyResult& property : result.properties) {
      if (property.kind == ResultKind::kPass) properties.insert(property.property);
    }
  }
  const std::string excluded =
      report.excluded_cases == 0
          ? std::string{}
          : fmt::format("; options exclude {} case{}", report.excluded_cases, report.excluded_cases == 1 ? "" : "s");
  return fmt::format("{} implementation{} kept {} propert{} on {} pinned and {} generated cases{}{}", implementations,
                     implementations == 1 ? "" : "s", properties.size(), properties.size() == 1 ? "y" : "ies",
                     report.pinned_cases, report.generated_cases, excluded,
                     report.cut_by_clock ? "; the time was up before all cases were judged (--time)" : "");
}

std::string signal_name(int signal) {
  switch (signal) {
    case SIGHUP:
      return "SIGHUP";
    case SIGINT:
      return "SIGINT";
    case SIGTERM:
      return "SIGTERM";
    default:
      return fmt::format("signal {}", signal);
  }
}

Json case_json(const Case& value) {
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
  if (result.outside_domain > 0) json["outside_domain"] = result.outside_domain;
  json["classes"] = Json::object();
  for (const auto& [name, count] : result.classes) json["classes"][name] = count;
  if (!result.counterexample) return json;
  const Counterexample& found = *result.counterexample;
  if (const Property* const property = find_property(result.property)) json["statement"] = property->statement;
  json["what"] = found.verdict.what;
  if (!found.likely_cause.empty()) json["likely_cause"] = found.likely_cause;
  if (found.verdict.difference) json["difference"] = difference_json(*found.verdict.difference);
  if (found.wrong_row && found.wrong_row->is_of_compared_case) json["difference"]["in"] = "compared_with";
  json["counterexample"] = case_json(counterexample_case(found, result.property));
  if (found.verdict.compared_with) json["compared_with"] = case_json(*found.verdict.compared_with);
  json["original_source"] = found.original_source;
  if (!found.failure_file.empty()) json["failure_file"] = found.failure_file;
  json["irrelevant"] = found.irrelevant_fields;
  json["reproduction"] = word(found.reproduction);
  json["shrinks"] = found.shrinks;
  json["replay"] = replays.command(implementation, result.property, found);
  return json;
}

Json implementation_json(const ImplementationResult& result, const ReplayCommands& replays) {
  Json json = {{"name", result.implementation},
               {"verdict", word(result.kind)},
               {"reason", result.reason},
               {"cut_by_clock", result.cut_by_clock},
               {"left_out", result.left_out},
               {"serving_pairs", {{"met", result.serving_pairs.met}, {"possible", result.serving_pairs.possible}}},
               {"properties", Json::array()}};
  for (const PropertyResult& property : result.properties) {
    json["properties"].push_back(property_json(property, result.implementation, replays));
  }
  return json;
}

}  // namespace

Conclusion conclude(const RunReport& report, std::span<const std::string> forced, std::span<const Skipped> absent) {
  const auto& results = report.implementations;
  const bool has_failed =
      std::any_of(results.begin(), results.end(), [](const auto& result) { return result.kind == ResultKind::kFail; });
  if (const int signal = report.interrupted_by; signal != 0) {
    return {.verdict = RunVerdict::kInterrupted,
            .exit_status = 128 + signal,
            .message = fmt::format("{} ended the run before everything was judged; {}", signal_name(signal),
                                   has_failed ? "by then " + failing_message(report) : "nothing had failed by then")};
  }
  if (has_failed) {
    return {.verdict = RunVerdict::kFail, .exit_status = 1, .message = failing_message(report)};
  }
  const auto& floors = report.missed_floors;
  if (std::any_of(floors.begin(), floors.end(), [](const MissedFloor& floor) { return floor.enforced; })) {
    return {.verdict = RunVerdict::kError, .exit_status = 2, .message = floors_message(report)};
  }
  if (!absent.empty()) {
    return {.verdict = RunVerdict::kError,
            .exit_status = 3,
            .message = "asked for by name, but cannot run here: " + skipped_listing(absent)};
  }
  if (report.judged_cases == 0) {
    return {.verdict = RunVerdict::kError,
            .exit_status = 2,
            .message =
                "not one case was judged, so nothing is shown; give cases that the chosen properties are about, or "
                "generate some"};
  }
  std::vector<Skipped> unjudged;
  for (const ImplementationResult& result : results) {
    const bool asked = std::find(forced.begin(), forced.end(), result.implementation) != forced.end();
    if (asked && result.kind == ResultKind::kSkipped) unjudged.push_back({result.implementation, result.reason});
  }
  if (!unjudged.empty()) {
    return {.verdict = RunVerdict::kError,
            .exit_status = 3,
            .message = "asked for by name, but not judged by one case: " + skipped_listing(unjudged)};
  }
  return {.verdict = RunVerdict::kPass, .exit_status = 0, .message = passing_message(report)};
}

Conclusion refuse_to_run(std::string message) {
  return {.verdict = RunVerdict::kError, .exit_status = 2, .message = std::move(message)};
}

Conclusion not_at_its_end() {
  return {.verdict = RunVerdict::kInterrupted,
          .exit_status = 2,
          .message = "the run has not come to its end: it goes on, or was killed"};
}

std::string_view headline_of(RunVerdict verdict) {
  switch (verdict) {
    case RunVerdict::kPass:
      return "PASS";
    case RunVerdict::kFail:
      return "FAIL";
    case RunVerdict::kInterrupted:
      return "INTERRUPTED";
    case RunVerdict::kError:
      break;
  }
  return "ERROR";
}

std::string_view statement_of(std::string_view property) {
  const Property* const rule = find_property(property);
  return rule == nullptr ? "the case file's own `expect`" : rule->statement;
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

std::string skipped_listing(std::span<const Skipped> skipped) {
  std::vector<std::pair<std::string, std::vector<std::string>>> by_reason;
  for (const Skipped& one : skipped) {
    const auto same =
        std::find_if(by_reason.begin(), by_reason.end(), [&](const auto& group) { return group.first == one.reason; });
    auto& names =
        same == by_reason.end() ? by_reason.emplace_back(one.reason, std::vector<std::string>{}).second : same->second;
    names.push_back(one.name);
  }
  if (by_reason.empty()) return "nothing";
  std::vector<std::string> groups;
  for (const auto& [reason, names] : by_reason) {
    groups.push_back(fmt::format("{} ({})", fmt::join(names, ", "), reason));
  }
  return printable(fmt::format("{}", fmt::join(groups, ", ")));
}

namespace {

// The implementation's words before or after the program, where there are any.
std::string words_of(const std::map<std::string, std::string>& all, const std::string& implementation) {
  const auto entry = all.find(implementation);
  return entry == all.end() ? std::string{} : entry->second;
}

// How a command gets its case: pasted, or by the file that keeps it.
struct CaseForCommand {
  std::string json;
  bool is_in_file;
};
CaseForCommand case_for_command(std::string_view property, const Counterexample& found) {
  constexpr std::size_t kLongCase = 8000;  // characters; more is no pleasure to paste
  std::string json = to_json(counterexample_case(found, property));
  const bool is_in_file = json.size() > kLongCase && !found.failure_file.empty();
  return {std::move(json), is_in_file};
}

std::string file_of(const Counterexample& found) {
  return shell_quote(std::filesystem::absolute(found.failure_file).string());
}

}  // namespace

std::string ReplayCommands::command(const std::string& implementation, std::string_view property,
                                    const Counterexample& found) const {
  const auto [json, is_in_file] = case_for_command(property, found);
  const std::string variable = words_of(variables, implementation), selector = words_of(selectors, implementation);
  const std::string call = fmt::format("{}{}{}", variable, variable.empty() ? "" : " ", shell_quote(program));
  const std::string chosen = selector.empty() ? "" : " " + selector;
  if (is_in_file) return fmt::format("{} replay {}{}", call, file_of(found), chosen);
  return fmt::format("printf '%s\\n' {} | {} replay -{}", shell_quote(json), call, chosen);
}

std::string ReplayCommands::debug_command(const std::string& implementation, std::string_view property,
                                          const Counterexample& found) const {
  const std::string selector = words_of(selectors, implementation);
  if (selector.empty() || selector.starts_with("--pipe")) return "";
  const auto [json, is_in_file] = case_for_command(property, found);
  const std::string variable = words_of(variables, implementation);
  return fmt::format("{}{}{}gdb --args {} replay --in-process {} {}",
                     is_in_file ? "" : fmt::format("printf '%s\\n' {} >case.json; ", shell_quote(json)), variable,
                     variable.empty() ? "" : " ", shell_quote(program), is_in_file ? file_of(found) : "case.json",
                     selector);
}

Case counterexample_case(const Counterexample& counterexample, std::string_view property) {
  Case value = counterexample.minimal;
  value.attention.reset();
  if (property == kExpectation) return value;
  value.expect.reset();
  for (Case& prior : value.prior_calls) prior.expect.reset();
  return value;
}

std::string render_json(const RunReport& report, const Conclusion& conclusion, const ReplayCommands& replays) {
  Json json = {{"kvwitness_report", 1},
               {"verdict", word(conclusion.verdict)},
               {"message", conclusion.message},
               {"seed", report.seed},
               {"seconds", std::round(report.seconds * 1000) / 1000},
               {"cut_by_clock", report.cut_by_clock},
               {"pinned_cases", report.pinned_cases},
               {"excluded_cases", report.excluded_cases},
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
  for (const ImplementationResult& result : report.implementations) {
    json["implementations"].push_back(implementation_json(result, replays));
  }
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace kvwitness::harness
