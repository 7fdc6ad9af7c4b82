#include "properties/report/row_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <kvwitness/oracle.h>

#include <algorithm>

namespace kvwitness::harness {
namespace {

constexpr std::size_t kShownSlots = 16;  // of a row that is shown whole
constexpr std::size_t kShownAround = 5;  // runs on each side of the slot in question
constexpr std::size_t kShownAtEnds = 2;  // runs at each end of the row
constexpr std::size_t kShortestRun = 3;  // slots; fewer are written one by one
constexpr char kLearned = 'o', kWitness = 'w', kNothing = '.';

struct Run {
  std::int32_t token;
  std::size_t begin, count;
};

std::vector<Run> runs_of(std::span<const std::int32_t> row) {
  std::vector<Run> runs;
  for (std::size_t slot = 0; slot < row.size();) {
    std::size_t end = slot + 1;
    while (end < row.size() && row[end] == row[slot]) ++end;
    if (end - slot >= kShortestRun) {
      runs.push_back({row[slot], slot, end - slot});
    } else {
      for (std::size_t single = slot; single < end; ++single) runs.push_back({row[single], single, 1});
    }
    slot = end;
  }
  return runs;
}

std::string run_text(const Run& run) {
  return run.count == 1 ? fmt::format("{}", run.token) : fmt::format("{} x {}", run.token, run.count);
}

// The tokens that the implementation gave as witnesses: of a merged row those of slots that changed.
std::vector<std::int32_t> witnesses_in(const WrongRow& wrong, std::span<const std::int32_t> result) {
  std::vector<std::int32_t> tokens;
  for (std::size_t slot = 0; slot < result.size(); ++slot) {
    const bool is_merged = wrong.row.operation != Operation::kWitnesses;
    if (result[slot] != (is_merged ? wrong.row.learned[slot] : -1)) tokens.push_back(result[slot]);
  }
  return tokens;
}

PictureLine line_of(std::string_view label, std::span<const std::int32_t> tokens, std::int32_t len, char letter) {
  std::string text(static_cast<std::size_t>(len), kNothing);
  for (const std::int32_t token : tokens) {
    if (token >= 0 && token < len) text[static_cast<std::size_t>(token)] = letter;
  }
  return {label, std::move(text)};
}

}  // namespace

std::string row_text(std::span<const std::int32_t> row, std::int64_t slot) {
  if (row.size() <= kShownSlots) return fmt::format("[{}]", fmt::join(row, ", "));
  const std::vector<Run> runs = runs_of(row);
  const auto focus = static_cast<std::size_t>(
      std::ranges::find_if(runs,
                           [&](const Run& run) { return static_cast<std::size_t>(slot) < run.begin + run.count; }) -
      runs.begin());
  std::vector<std::string> parts;
  std::size_t left_out = 0;
  const auto close_gap = [&] {
    if (left_out > 0) parts.push_back(fmt::format("({} slots)", left_out));
    left_out = 0;
  };
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const bool is_near = i + kShownAround >= focus && i <= focus + kShownAround;
    if (is_near || i < kShownAtEnds || i + kShownAtEnds >= runs.size()) {
      close_gap();
      parts.push_back(run_text(runs[i]));
    } else {
      left_out += runs[i].count;
    }
  }
  return fmt::format("[{}]", fmt::join(parts, ", "));
}

Picture picture_of(const WrongRow& wrong) {
  const std::int32_t len = wrong.row.context_lens[0];
  if (len <= 0 || len > kLongestPicture) return {};
  Picture picture;
  const std::int64_t segments = oracle_effective_segments(len, wrong.row.num_segments);
  // Where each token is a segment, edges say nothing.
  for (std::int64_t s = 0; s < segments && segments < len; ++s) {
    picture.edges.push_back(oracle_edge(s, len, wrong.row.num_segments));
  }
  const std::vector<std::int32_t> wanted = witnesses_in(wrong, wrong.expected);
  const std::vector<std::int32_t> given = witnesses_in(wrong, wrong.actual);
  if (wanted == given) return {};  // what differs is where they stand
  picture.lines = {line_of("learned", wrong.row.learned, len, kLearned), line_of("the rule", wanted, len, kWitness),
                   line_of("it gave", given, len, kWitness)};
  picture.legend = fmt::format("L = {}, S = {}: {} a learned token, {} a witness, {}", len, wrong.row.num_segments,
                               kLearned, kWitness, segments < len ? "| an edge" : "each token a segment");
  std::vector<std::int32_t> outside;
  std::ranges::copy_if(given, std::back_inserter(outside),
                       [&](std::int32_t token) { return token < 0 || token >= len; });
  if (!outside.empty()) {
    outside.resize(std::min<std::size_t>(outside.size(), 4));
    picture.legend += fmt::format("; it wrote {} too, outside the context", fmt::join(outside, ", "));
  }
  return picture;
}

std::string render_picture(const Picture& picture, std::size_t width, std::size_t indent) {
  if (picture.lines.empty()) return "";
  constexpr std::size_t kLabel = 10;
  const std::size_t room = std::max<std::size_t>(width, indent + kLabel + 20) - indent - kLabel;
  // Each line with its bars, cut into blocks at the same columns.
  std::vector<std::string> barred;
  for (const PictureLine& line : picture.lines) {
    std::string text;
    std::size_t segment = 0;
    for (std::size_t token = 0; token < line.tokens.size(); ++token) {
      if (segment < picture.edges.size() && picture.edges[segment] == static_cast<std::int64_t>(token)) {
        text += '|';
        ++segment;
      }
      text += line.tokens[token];
    }
    barred.push_back(std::move(text));
  }
  std::string text;
  for (std::size_t begin = 0; begin < barred.front().size(); begin += room) {
    for (std::size_t i = 0; i < barred.size(); ++i) {
      text += fmt::format("{:{}}{:<{}}{}\n", "", indent, picture.lines[i].label, kLabel, barred[i].substr(begin, room));
    }
  }
  return text + fmt::format("{:{}}{}\n", "", indent, picture.legend);
}

}  // namespace kvwitness::harness
