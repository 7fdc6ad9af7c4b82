// The results of a report as text, for a terminal or a log: a table, rates and a last line.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "properties/report/paint.h"
#include "properties/report/report.h"
#include "properties/report/table_cells.h"

namespace kvwitness::harness {

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

std::vector<std::string> properties_of(const RunReport& report) {
  std::vector<std::string> names;
  for (const ImplementationResult& result : report.implementations) {
    for (const PropertyResult& property : result.properties) {
      if (std::find(names.begin(), names.end(), property.property) == names.end()) names.push_back(property.property);
    }
  }
  return names;
}

namespace {

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
      if (property.kind == ResultKind::kSkipped) {
        add(result.implementation, fmt::format("{} skipped: {}", property.property, property.reason));
      }
      if (property.kind == ResultKind::kNotProvided) {
        add(result.implementation, fmt::format("no call, {}: {}", property.property, property.reason));
      }
      if (property.kind == ResultKind::kUnsupported) {
        add(result.implementation, fmt::format("unsupported, {}: {}", property.property, property.reason));
      }
    }
  }
  std::string text;
  for (const auto& [sentence, names] : notes) {
    text += fmt::format("{} ({})\n", printable(sentence), printable(fmt::format("{}", fmt::join(names, ", "))));
  }
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

// What the time limit cost.
std::string time_notes(const RunReport& report) {
  std::string text;
  for (const ImplementationResult& result : report.implementations) {
    const std::string name = printable(result.implementation);
    if (result.cut_by_clock) {
      text += fmt::format("cut: the time of {} was up before all cases were judged; --time SECONDS gives more\n", name);
    }
    if (result.left_out > 0) {
      text += fmt::format(
          "left out: {} cases whose calls take {} too long, large ones or of new shapes; --time gives more\n",
          result.left_out, name);
    }
  }
  return text;
}

// How many pairs of serving shapes met; implementations with equal numbers in one line.
std::string serving_notes(const RunReport& report) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::string>> by_numbers;
  for (const ImplementationResult& result : report.implementations) {
    const auto& [met, possible] = result.serving_pairs;
    if (possible > 0) by_numbers[{possible, met}].push_back(printable(result.implementation));
  }
  std::string text;
  for (const auto& [numbers, names] : by_numbers) {
    text += fmt::format(
        "serving shapes: {} of {} pairs of rows, topk, S, length, placement, stride, base and missing "
        "segment met ({})\n",
        numbers.second, numbers.first, fmt::join(names, ", "));
  }
  return text;
}

}  // namespace

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
    while (end < columns.size() && (end == begin || used + gap.size() + columns[end].width <= style.width)) {
      used += gap.size() + columns[end++].width;
    }
    if (begin > 0) text += '\n';
    text += table_block(std::span(columns).subspan(begin, end - begin), names, name_width, gap, style);
    begin = end;
  }
  return text + table_notes(report) + floor_notes(report) + serving_notes(report) + unsupported_counts(report) +
         time_notes(report);
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
  const std::string_view word = headline_of(conclusion.verdict);
  std::vector<Skipped> skipped;
  for (const ImplementationResult& result : report.implementations) {
    if (result.kind == ResultKind::kSkipped) skipped.push_back({result.implementation, result.reason});
  }
  return fmt::format("{} {}; skipped: {}; seed {}; {:.1f} s\n", paint(style, pass ? kGreen : kRed, word),
                     printable(conclusion.message), skipped_listing(skipped), report.seed, report.seconds);
}

}  // namespace kvwitness::harness
