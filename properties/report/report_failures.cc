// The failures of a report as text, for a terminal or a log.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "properties/report/failure_groups.h"
#include "properties/report/paint.h"
#include "properties/report/report.h"
#include "properties/report/row_text.h"

namespace kvwitness::harness {
namespace {

constexpr std::size_t kShownOriginal = 2000;  // characters; a longer case says less than its shape

struct Fields {
  std::vector<Field> list;
  void add(std::string_view label, std::string content) {
    if (!content.empty()) list.push_back({label, std::move(content)});
  }
};

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

// "row 3, slot 40: expected 2, got 1".
std::string difference_text(const Difference& difference) {
  return fmt::format("row {}, slot {}: expected {}, got {}", difference.row, difference.slot, difference.expected,
                     difference.actual);
}

// Where the answer is wrong, with the row as the rule has it and as it was, and a picture of a short context.
void add_difference(Fields& fields, const Counterexample& found) {
  const std::optional<Difference>& difference = found.verdict.difference;
  if (!found.wrong_row) {
    if (difference) fields.add("first difference", difference_text(*difference));
    return;
  }
  const WrongRow& wrong = *found.wrong_row;
  fields.add("first difference", fmt::format("{}{}{}", wrong.is_of_compared_case ? "in the call compared with, " : "",
                                             difference_text({.row = wrong.index,
                                                              .slot = wrong.slot,
                                                              .expected = wrong.expected_value(),
                                                              .actual = wrong.actual_value()}),
                                             wrong.is_unwritten ? ", which stood there before the call" : ""));
  fields.add("the rule gives", row_text(wrong.expected, wrong.slot));
  fields.add("it gave", row_text(wrong.actual, wrong.slot));
}

std::string shrinking_text(const Counterexample& found) {
  return fmt::format("{} step{} in {} attempt{}{}", found.shrinks, found.shrinks == 1 ? "" : "s", found.shrink_attempts,
                     found.shrink_attempts == 1 ? "" : "s",
                     found.is_shrinking_cut ? "; its limit ended it, so a smaller case may fail too" : "");
}

void add_counterexample(Fields& fields, const Counterexample& found, const std::string& implementation,
                        const std::string& property, const ReplayCommands& replays) {
  const Case minimal = counterexample_case(found, property);
  fields.add("original case", shown_original(found, property));
  const std::string json = to_json(minimal);
  const bool is_in_file = json.size() > kLongestPastedCase && !found.failure_file.empty();
  fields.add("minimal case", is_in_file ? fmt::format("{}... ({}; {} characters in all, in the file below)",
                                                      json.substr(0, 200), shape(minimal), json.size())
                                        : json);
  if (found.verdict.compared_with) fields.add("compared with", to_json(*found.verdict.compared_with));
  add_difference(fields, found);
  if (was_seen_again(found)) {
    fields.add("what matters", matters(minimal, found.irrelevant_fields));
  }
  fields.add("shrunk", shrinking_text(found));
  fields.add("kept in", printable(found.failure_file));
  if (found.reproduction == Reproduction::kNot) {
    fields.add("beware", "it did not fail again, with or without prior calls: the replay may pass");
  }
  if (found.reproduction == Reproduction::kUntried) {
    fields.add("beware", "the run ended before it was tried again: it may need calls made before, and the replay pass");
  }
  fields.add("replay", replays.command(implementation, property, found));
  fields.add("to debug", replays.debug_command(implementation, property, found));
}

// Why the property failed: the words of the verdict, or the reason where there is no counterexample.
std::string broken_words(const PropertyResult& result) {
  return printable(result.counterexample ? result.counterexample->verdict.what : result.reason);
}

std::string render_group(const ImplementationResult& result, const FailureGroup& group, const ReplayCommands& replays,
                         const TextStyle& style) {
  constexpr std::size_t kIndent = 2, kLabelWidth = 17, kContent = kIndent + kLabelWidth + 1;
  std::string text = paint(style, kRed, fmt::format("FAIL {}", heading_of(result, group))) + "\n";
  const auto add = [&](std::string_view label, std::string_view content) {
    text += fmt::format("{:{}}{:<{}} {}\n", "", kIndent, label, kLabelWidth, content);
  };
  for (const Field& field : failure_fields(result, group, replays)) {
    add(field.label, field.content);
    const auto& found = group.shown->counterexample;
    if (field.label != "it gave" || !found->wrong_row) continue;
    const std::string picture = render_picture(picture_of(*found->wrong_row), style.width, kContent);
    if (!picture.empty()) add("picture", std::string_view(picture).substr(kContent, picture.size() - kContent - 1));
  }
  return text + "\n";
}

}  // namespace

std::vector<Field> failure_fields(const ImplementationResult& result, const FailureGroup& group,
                                  const ReplayCommands& replays) {
  const PropertyResult& shown = *group.shown;
  Fields fields;
  fields.add("also breaks", others_of(group));
  fields.add("the rule", std::string(statement_of(shown.property)));
  fields.add("broken here", broken_words(shown));
  if (shown.counterexample) {
    add_counterexample(fields, *shown.counterexample, result.implementation, shown.property, replays);
  }
  return std::move(fields.list);
}

std::string render_failures(const RunReport& report, const ReplayCommands& replays, const TextStyle& style) {
  std::string text;
  for (const ImplementationResult& result : report.implementations) {
    const std::vector<FailureGroup> groups = failure_groups(result);
    for (const FailureGroup& group : groups) text += render_group(result, group, replays, style);
    if (groups.empty() && result.kind == ResultKind::kFail) {
      text +=
          paint(style, kRed, fmt::format("FAIL {}: {}", printable(result.implementation), printable(result.reason))) +
          "\n\n";
    }
  }
  return text;
}

}  // namespace kvwitness::harness
