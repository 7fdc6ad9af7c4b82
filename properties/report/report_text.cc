// The text form of a report, for a terminal or a log.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "properties/report/report.h"

namespace kvwitness::harness {
namespace {

constexpr std::string_view kRed = "31", kGreen = "32", kYellow = "33", kBold = "1";

std::string paint(const TextStyle& style, std::string_view colour, std::string_view text) {
  return style.colour ? fmt::format("\x1b[{}m{}\x1b[0m", colour, text) : std::string(text);
}

// ---- the table ----

struct Cell {
  std::string text;
  std::string_view colour;  // "": none
};

Cell cell_of(const PropertyResult& result) {
  switch (result.kind) {
    case ResultKind::kPass:
      return {fmt::format("{} ok", result.cases), ""};
    case ResultKind::kFail:
      return {fmt::format("{} FAIL", result.cases), kRed};
    case ResultKind::kSkipped:
      return {"skipped", kYellow};
    case ResultKind::kNotProvided:
      return {"no call", kYellow};
    case ResultKind::kUnsupported:
      break;
  }
  return {"unsupp.", kYellow};
}

struct Column {
  std::vector<std::string> heading;  // lines, top first
  std::vector<Cell> cells;           // one a property, then the implementation's verdict
  std::size_t width = 0;
};

// A name broken at its hyphens into lines of at most `width` characters, where its parts allow.
std::vector<std::string> broken_name(std::string_view name, std::size_t width) {
  std::vector<std::string> lines(1);
  while (!name.empty()) {
    const std::size_t hyphen = name.find('-');
    const std::size_t length = hyphen == std::string_view::npos ? name.size() : hyphen + 1;
    if (!lines.back().empty() && lines.back().size() + length > width) lines.emplace_back();
    lines.back() += name.substr(0, length);
    name.remove_prefix(length);
  }
  return lines;
}

Column column_of(const ImplementationResult& result, const std::vector<std::string>& properties) {
  Column column;
  for (const std::string& name : properties) {
    const auto found = std::find_if(result.properties.begin(), result.properties.end(),
                                    [&](const PropertyResult& property) { return property.property == name; });
    column.cells.push_back(found == result.properties.end() ? Cell{"-", ""} : cell_of(*found));
  }
  const bool failed = result.kind == ResultKind::kFail;
  column.cells.push_back({failed ? "FAIL" : "pass", failed ? kRed : kGreen});
  column.width = 8;
  for (const Cell& cell : column.cells) column.width = std::max(column.width, cell.text.size());
  column.heading = broken_name(printable(result.implementation), column.width);
  for (const std::string& line : column.heading) column.width = std::max(column.width, line.size());
  return column;
}

// Properties in the order of their first mention.
std::vector<std::string> properties_of(const RunReport& report) {
  std::vector<std::string> names;
  for (const ImplementationResult& result : report.implementations) {
    for (const PropertyResult& property : result.properties) {
      if (std::find(names.begin(), names.end(), property.property) == names.end()) names.push_back(property.property);
    }
  }
  return names;
}

std::string right_aligned(const TextStyle& style, const Cell& cell, std::size_t width) {
  const std::string padding(width - std::min(width, cell.text.size()), ' ');
  return padding + (cell.colour.empty() ? cell.text : paint(style, cell.colour, cell.text));
}

// As many columns as fit beside the names.
std::string table_block(std::span<const Column> columns, const std::vector<std::string>& names, std::size_t name_width,
                        const std::string& gap, const TextStyle& style) {
  std::size_t heading_lines = 0;
  for (const Column& column : columns) heading_lines = std::max(heading_lines, column.heading.size());
  std::string text;
  for (std::size_t line = 0; line < heading_lines; ++line) {
    text += std::string(name_width, ' ');
    for (const Column& column : columns) {
      const std::size_t blank = heading_lines - column.heading.size();
      text += gap + right_aligned(style, {line < blank ? "" : column.heading[line - blank], kBold}, column.width);
    }
    text += '\n';
  }
  for (std::size_t row = 0; row < names.size(); ++row) {
    text += fmt::format("{:<{}}", names[row], name_width);
    for (const Column& column : columns) text += gap + right_aligned(style, column.cells[row], column.width);
    text += '\n';
  }
  return text;
}

// What the cells had no room to say; the implementations that share a sentence are named together.
std::string table_notes(const RunReport& report) {
  std::vector<std::pair<std::string, std::vector<std::string>>> notes;
  const auto add = [&](const std::string& implementation, std::string sentence) {
    const auto found =
        std::find_if(notes.begin(), notes.end(), [&](const auto& note) { return note.first == sentence; });
    auto& names = found == notes.end() ? notes.emplace_back(std::move(sentence), std::vector<std::string>{}).second
                                       : found->second;
    if (names.empty() || names.back() != implementation) names.push_back(implementation);
  };
  for (const ImplementationResult& result : report.implementations) {
    if (result.kind == ResultKind::kSkipped) continue;  // the last line says why
    for (const PropertyResult& property : result.properties) {
      if (property.kind == ResultKind::kSkipped)
        add(result.implementation, fmt::format("{} skipped: {}", property.property, property.reason));
      if (property.kind == ResultKind::kNotProvided)
        add(result.implementation, fmt::format("no call, {}: {}", property.property, property.reason));
      if (property.kind == ResultKind::kUnsupported)
        add(result.implementation, fmt::format("unsupported, {}: {}", property.property, property.reason));
    }
  }
  std::string text;
  for (const auto& [sentence, names] : notes)
    text += fmt::format("{} ({})\n", printable(sentence), printable(fmt::format("{}", fmt::join(names, ", "))));
  return text;
}

// The classes that occurred too seldom: those that make the run an error one by one, the others by their number.
std::string floor_notes(const RunReport& report) {
  std::string text;
  std::size_t other = 0;
  for (const MissedFloor& floor : report.missed_floors) {
    if (floor.enforced) {
      text += fmt::format("below floor, {} of {}: class {} had {} of at least {} cases\n", floor.property,
                          printable(floor.implementation), floor.case_class, floor.hits, floor.floor);
    } else {
      ++other;
    }
  }
  if (other > 0) {
    text +=
        fmt::format("below floor: {} class{} of generated cases, which changes no verdict at this number of cases\n",
                    other, other == 1 ? "" : "es");
  }
  return text;
}

// The cases that implementations said are outside their domain, all properties together; equal numbers in one line.
std::string unsupported_counts(const RunReport& report) {
  std::map<std::int64_t, std::vector<std::string>> by_count;
  for (const ImplementationResult& result : report.implementations) {
    std::int64_t count = 0;
    for (const PropertyResult& property : result.properties) count += property.unsupported;
    if (count > 0) by_count[count].push_back(printable(result.implementation));
  }
  std::string text;
  for (const auto& [count, names] : by_count) {
    text += fmt::format("not judged: {} cases outside the domain of {}\n", count, fmt::join(names, ", "));
  }
  return text;
}

// ---- a failure ----

constexpr std::size_t kShownOriginal = 2000;  // characters; a longer case says less than its shape
constexpr std::int64_t kShownSlots = 16;      // slots of a row around the one in question

std::string shape(const Case& value) {
  return fmt::format("{}, {} rows, topk {}, num_segments {}", name_of(value.operation), value.rows(), value.topk,
                     value.num_segments);
}

constexpr std::size_t kShownMinimal = 100'000;  // characters; more of a case that is kept in a file is not shown

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
  if (!irrelevant.empty())
    text += fmt::format("; not {}: every other value that was tried fails too", fmt::join(irrelevant, ", "));
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
  const bool is_in_file = json.size() > kShownMinimal && !found.failure_file.empty();
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

std::string render_table(const RunReport& report, const TextStyle& style) {
  std::vector<std::string> names = properties_of(report);
  std::vector<Column> columns;
  for (const ImplementationResult& result : report.implementations) {
    if (result.kind != ResultKind::kSkipped) columns.push_back(column_of(result, names));
  }
  names.emplace_back("verdict");
  std::size_t name_width = 0;
  for (const std::string& name : names) name_width = std::max(name_width, name.size());
  const auto total_width = [&](std::size_t gap_width) {
    std::size_t total = name_width;
    for (const Column& column : columns) total += gap_width + column.width;
    return total;
  };
  // Closer columns are better than a table in two parts.
  const std::string gap(total_width(2) > style.width && total_width(1) <= style.width ? 1 : 2, ' ');
  std::string text;
  for (std::size_t begin = 0; begin < columns.size();) {
    std::size_t end = begin, used = name_width;
    while (end < columns.size() && (end == begin || used + gap.size() + columns[end].width <= style.width))
      used += gap.size() + columns[end++].width;
    if (begin > 0) text += '\n';
    text += table_block(std::span(columns).subspan(begin, end - begin), names, name_width, gap, style);
    begin = end;
  }
  return text + table_notes(report) + floor_notes(report) + unsupported_counts(report);
}

std::string render_rates(const RunReport& report, const TextStyle& style) {
  const std::string title = "generated cases a second (share of the implementation itself):";
  std::string text;
  std::size_t used = title.size();
  for (const ImplementationResult& result : report.implementations) {
    if (result.generated == 0 || result.generated_seconds <= 0) continue;
    const std::string rate = fmt::format("{} {:.0f} ({:.0f}%)", printable(result.implementation),
                                         static_cast<double>(result.generated) / result.generated_seconds,
                                         100 * result.own_seconds / result.generated_seconds);
    if (!text.empty()) text += ',';
    const bool fits = used + 2 + rate.size() <= style.width;
    text += (fits ? " " : "\n  ") + rate;
    used = (fits ? used + 2 : 3) + rate.size();
  }
  return text.empty() ? "" : title + text + "\n";
}

std::string render_last_line(const RunReport& report, const Conclusion& conclusion, const TextStyle& style) {
  const bool pass = conclusion.verdict == RunVerdict::kPass;
  const std::string_view word = pass ? "PASS" : conclusion.verdict == RunVerdict::kFail ? "FAIL" : "ERROR";
  std::vector<Skipped> skipped;
  for (const ImplementationResult& result : report.implementations) {
    if (result.kind == ResultKind::kSkipped) skipped.push_back({result.implementation, result.reason});
  }
  return fmt::format("{} {}; skipped: {}; seed {}; {:.1f} s\n", paint(style, pass ? kGreen : kRed, word),
                     printable(conclusion.message), skipped_listing(skipped), report.seed, report.seconds);
}

}  // namespace kvwitness::harness
