// The HTML form of a report: one file without outside parts.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

#include "properties/report/failure_groups.h"
#include "properties/report/markup.h"
#include "properties/report/paint.h"
#include "properties/report/report.h"
#include "properties/report/row_text.h"
#include "properties/report/table_cells.h"

namespace kvwitness::harness {
namespace {

constexpr std::string_view kStyle = R"(
:root { color-scheme: light dark; --line: #8885; --bad: #c62828; --good: #2e7d32; --other: #b26a00; --pick: #5c6bc0; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 72rem; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.15rem; margin-top: 2.5rem; }
.fail { color: var(--bad); } .pass { color: var(--good); } .other { color: var(--other); }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .7rem; border-bottom: 1px solid var(--line); text-align: right; white-space: nowrap; }
th:first-child { text-align: left; font-weight: normal; }
dl { display: grid; grid-template-columns: 9rem 1fr; gap: .2rem 1rem; }
dt { color: #888; } dd { margin: 0; overflow-wrap: anywhere; }
code, pre { font: 13px/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
.picture { display: grid; gap: 2px; overflow-x: auto; }
.picture div { display: flex; align-items: center; }
.picture span { flex: 0 0 6rem; color: #888; }
.picture i { flex: 0 0 .7rem; height: 1.1rem; margin-right: 1px; background: #8882; }
.picture i.edge { margin-left: 5px; }
.picture i.learned { background: var(--pick); }
.picture i.right { background: var(--good); } .picture i.wrong { background: var(--bad); }
.picture i.missing { background: none; outline: 2px solid var(--bad); outline-offset: -2px; }
)";

std::string_view class_of(std::string_view colour) {
  return colour == kRed ? "fail" : colour == kYellow ? "other" : colour == kGreen ? "pass" : "";
}

std::string table(const RunReport& report) {
  std::string head, body;
  for (const ImplementationResult& result : report.implementations) {
    if (result.kind == ResultKind::kSkipped) continue;
    head += fmt::format("<th>{}</th>", escaped(printable(result.implementation)));
  }
  for (const std::string& name : properties_of(report)) {
    std::string cells;
    for (const ImplementationResult& result : report.implementations) {
      if (result.kind == ResultKind::kSkipped) continue;
      const auto found = std::ranges::find(result.properties, name, &PropertyResult::property);
      const Cell cell = found == result.properties.end() ? Cell{"-", ""} : cell_of(*found);
      cells += fmt::format("<td class=\"{}\">{}</td>", class_of(cell.colour), escaped(cell.text));
    }
    body += fmt::format("<tr><th title=\"{}\">{}</th>{}</tr>\n", escaped(statement_of(name)), escaped(name), cells);
  }
  return head.empty() ? ""
                      : fmt::format(
                            "<h2>Properties and the cases that each judged</h2>\n<div class=\"scroll\"><table>\n"
                            "<tr><th></th>{}</tr>\n{}</table></div>\n",
                            head, body);
}

// The class of a token's box. The last line, of what was given, is told by that of the rule above it.
std::string_view box_class(const Picture& drawn, std::size_t line, std::size_t token) {
  const auto is_marked = [&](std::size_t other) { return drawn.lines[other].tokens[token] != '.'; };
  if (line == 0) return is_marked(line) ? "learned" : "";
  const bool is_wanted = is_marked(1);
  if (line == 1) return is_wanted ? "right" : "";
  return is_marked(line) ? (is_wanted ? "right" : "wrong") : is_wanted ? "missing" : "";
}

// A box for each token, a gap before each segment.
std::string picture(const WrongRow& wrong) {
  const Picture drawn = picture_of(wrong);
  if (drawn.lines.empty()) return "";
  std::string lines;
  for (std::size_t line = 0; line < drawn.lines.size(); ++line) {
    std::string boxes;
    for (std::size_t token = 0; token < drawn.lines[line].tokens.size(); ++token) {
      const bool is_edge = std::ranges::binary_search(drawn.edges, static_cast<std::int64_t>(token));
      boxes += fmt::format("<i class=\"{}{}\" title=\"token {}\"></i>", is_edge ? "edge " : "",
                           box_class(drawn, line, token), token);
    }
    lines += fmt::format("<div><span>{}</span>{}</div>\n", escaped(drawn.lines[line].label), boxes);
  }
  return fmt::format(
      "<dt>picture</dt><dd><div class=\"picture\">\n{}</div>L = {}, S = {}; a box is a token of the "
      "context{}; green: a witness of the rule, red: one that is wrong or missing</dd>\n",
      lines, wrong.row.context_lens[0], wrong.row.num_segments,
      drawn.edges.empty() ? " and a segment" : ", a gap stands before each segment");
}

std::string failure(const ImplementationResult& result, const FailureGroup& group, const ReplayCommands& replays) {
  std::string text = fmt::format("<h2 class=\"fail\">{}</h2>\n<dl>\n", escaped(heading_of(result, group)));
  for (const Field& field : failure_fields(result, group, replays)) {
    const bool is_prose = field.label == "the rule" || field.label == "broken here" || field.label == "also breaks";
    const std::string_view tag = is_prose ? "span" : "code";
    text += fmt::format("<dt>{}</dt><dd><{}>{}</{}></dd>\n", field.label, tag, escaped(field.content), tag);
    const auto& found = group.shown->counterexample;
    if (field.label == "it gave" && found->wrong_row) text += picture(*found->wrong_row);
  }
  return text + "</dl>\n";
}

std::string failures(const RunReport& report, const ReplayCommands& replays) {
  std::string text;
  for (const ImplementationResult& result : report.implementations) {
    const auto groups = failure_groups(result);
    for (const FailureGroup& group : groups) text += failure(result, group, replays);
    if (groups.empty() && result.kind == ResultKind::kFail) {
      text += fmt::format("<h2 class=\"fail\">{}: {}</h2>\n", escaped(printable(result.implementation)),
                          escaped(printable(result.reason)));
    }
  }
  return text;
}

}  // namespace

std::string render_html(const RunReport& report, const Conclusion& conclusion, const ReplayCommands& replays) {
  const bool passed = conclusion.verdict == RunVerdict::kPass;
  const std::string_view word = headline_of(conclusion.verdict);
  return fmt::format(
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width\">\n<title>kvwitness: "
      "{}</title>\n<style>{}</style>\n</head>\n<body>\n<h1>kvwitness: "
      "<span class=\"{}\">{}</span></h1>\n<p>{}</p>\n<p>Seed {}; {:.1f} s.</p>\n{}{}</body>\n</html>\n",
      word, kStyle, passed ? "pass" : "fail", word, escaped(printable(conclusion.message)), report.seed, report.seconds,
      failures(report, replays), table(report));
}

}  // namespace kvwitness::harness
