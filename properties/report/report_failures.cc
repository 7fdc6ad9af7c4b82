// The failures of a report as text, for a terminal or a log.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "properties/report/paint.h"
#include "properties/report/report.h"

namespace kvwitness::harness {
namespace {

constexpr std::size_t kShownOriginal = 2000;  // characters; a longer case says less than its shape
constexpr std::int64_t kShownSlots = 16;      // slots of a row around the one in question

std::string shape(const Case& value) {
  return fmt::format("{}, {} rows, topk {}, num_segments {}", name_of(value.operation), value.rows(), value.topk,
                     value.num_segments);
}

std::string shown_original(const Counterexample& found, const std::string& property) {
  Case original = found.original;
  original.attention.reset();
  if (property != kExpectation) original.expect.reset();
  const std::string json = to_json(original);
  const std::string source = printable(found.original_source);
  if (json.size() <= kShownOriginal) return fmt::format("{} ({})", json, source);
  return fmt::format("{}... ({}; {}; {} characters in all, --failures DIR keeps them)", json.substr(0, 200), source,
                     shape(original), json.size());
}

std::int64_t row_width(const Case& value) {
  return value.operation == Operation::kWitnesses ? value.num_segments : value.topk;
}

// The row's slots around `slot`, as JSON with an ellipsis where some are left out.
std::string row_around(std::span<const std::int32_t> rows, std::int64_t width, const Difference& where) {
  const auto row_count = width > 0 ? static_cast<std::int64_t>(rows.size()) / width : 0;
  if (where.row < 0 || where.row >= row_count || where.slot < 0 || where.slot >= width) return "";
  const std::int64_t begin = std::max<std::int64_t>(0, where.slot - kShownSlots / 2);
  const std::int64_t end = std::min(width, begin + kShownSlots);
  const auto row = rows.subspan(static_cast<std::size_t>(where.row * width), static_cast<std::size_t>(width));
  std::vector<std::int32_t> shown(row.begin() + begin, row.begin() + end);
  return fmt::format("[{}{}{}]", begin > 0 ? "..., " : "", fmt::join(shown, ", "), end < width ? ", ..." : "");
}

std::string matters(const Case& minimal, const std::vector<std::string>& irrelevant) {
  std::vector<std::string> relevant;
  const nlohmann::ordered_json fields = nlohmann::ordered_json::parse(to_json(minimal));
  for (const auto& [key, unused] : fields.items()) {
    const bool named = std::find(irrelevant.begin(), irrelevant.end(), key) != irrelevant.end();
    if (!named && key != "kvwitness_case" && key != "expect" && key != "note") relevant.push_back(key);
  }
  std::string text = fmt::format("{}", fmt::join(relevant, ", "));
  if (!irrelevant.empty()) {
    text += fmt::format("; not {}: every other value that was tried fails too", fmt::join(irrelevant, ", "));
  }
  return text;
}

// A label and what it labels, on a line of their own.
std::string labelled(std::string_view label, std::string_view content) {
  return content.empty() ? "" : fmt::format("  {:<17} {}\n", label, content);
}

// The first slot that is wrong, with the row around it as it must be and as it was.
std::string shown_difference(const Counterexample& found) {
  const std::optional<Difference>& difference = found.verdict.difference;
  if (!difference) return "";
  const std::int64_t width = row_width(found.minimal);
  const auto index = static_cast<std::size_t>(difference->row * width + difference->slot);
  const std::vector<std::int32_t>& before = found.outcome.before;
  const bool is_unwritten = index < before.size() && before[index] == difference->actual;
  std::string text =
      labelled("first difference", fmt::format("row {}, slot {}: expected {}, got {}{}", difference->row,
                                               difference->slot, difference->expected, difference->actual,
                                               is_unwritten ? ", which stood there before the call" : ""));
  if (found.expected_rows && found.outcome.ending == Ending::kReturned && found.outcome.status == 0) {
    text += labelled("the rule gives", row_around(*found.expected_rows, width, *difference));
    text += labelled("it gave", row_around(found.outcome.rows, width, *difference));
  }
  return text;
}

std::string render_counterexample(const Counterexample& found, const std::string& implementation,
                                  const std::string& property, const ReplayCommands& replays) {
  const Case minimal = counterexample_case(found, property);
  std::string text = labelled("original case", shown_original(found, property));
  const std::string json = to_json(minimal);
  const bool is_in_file = json.size() > kLongestPastedCase && !found.failure_file.empty();
  text += labelled("minimal case", is_in_file ? fmt::format("{}... ({}; {} characters in all, in the file below)",
                                                            json.substr(0, 200), shape(minimal), json.size())
                                              : json);
  if (found.verdict.compared_with) text += labelled("compared with", to_json(*found.verdict.compared_with));
  text += shown_difference(found);
  if (found.reproduction != Reproduction::kNot) {
    text += labelled("what matters", matters(minimal, found.irrelevant_fields));
  }
  text += labelled("shrunk", fmt::format("{} steps in {} attempts", found.shrinks, found.shrink_attempts));
  text += labelled("kept in", printable(found.failure_file));
  if (found.reproduction == Reproduction::kNot) {
    text += labelled("beware", "it did not fail again, with or without prior calls: the replay may pass");
  }
  return text + labelled("replay", replays.command(implementation, property, found));
}

using Failures = std::vector<const PropertyResult*>;

// The failures of one implementation, those with the same minimal case together.
std::vector<Failures> grouped_failures(const ImplementationResult& result) {
  std::vector<Failures> groups;
  for (const PropertyResult& property : result.properties) {
    if (property.kind != ResultKind::kFail) continue;
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const Failures& group) {
      const PropertyResult& first = *group.front();
      return property.counterexample && first.counterexample &&
             counterexample_case(*property.counterexample, property.property) ==
                 counterexample_case(*first.counterexample, first.property);
    });
    if (same == groups.end()) {
      groups.push_back({&property});
    } else {
      same->push_back(&property);
    }
  }
  return groups;
}

// Why the property failed: the words of the verdict, or the reason where there is no counterexample.
std::string broken_words(const PropertyResult& result) {
  return printable(result.counterexample ? result.counterexample->verdict.what : result.reason);
}

std::string render_group(const ImplementationResult& result, const Failures& group, const ReplayCommands& replays,
                         const TextStyle& style) {
  const std::string name = printable(result.implementation);
  std::string text;
  for (const PropertyResult* const property : group) {
    const std::string_view also = property == group.front() ? "" : "also ";
    text += paint(style, kRed, fmt::format("FAIL {} {}breaks {}", name, also, property->property)) + "\n";
    text += labelled("the rule", statement_of(property->property));
    text += labelled("broken here", broken_words(*property));
  }
  const PropertyResult& first = *group.front();
  if (!first.counterexample) return text + "\n";
  return text + render_counterexample(*first.counterexample, result.implementation, first.property, replays) + "\n";
}

}  // namespace

std::string render_failures(const RunReport& report, const ReplayCommands& replays, const TextStyle& style) {
  std::string text;
  for (const ImplementationResult& result : report.implementations) {
    const std::vector<Failures> groups = grouped_failures(result);
    for (const Failures& group : groups) text += render_group(result, group, replays, style);
    if (groups.empty() && result.kind == ResultKind::kFail) {
      text +=
          paint(style, kRed, fmt::format("FAIL {}: {}", printable(result.implementation), printable(result.reason))) +
          "\n\n";
    }
  }
  return text;
}

}  // namespace kvwitness::harness
