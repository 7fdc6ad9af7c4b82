#include "tests/faults/faulty_row.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace kvwitness::faults {
namespace {

using std::int32_t;
using std::int64_t;
using std::uint32_t;

bool wide_seen = false;

// How many tokens of each segment there are. Kept from row to row, as a kernel's shared memory is.
rule::Marks marks;
rule::Marks other_marks;
rule::Marks stamps;
uint32_t epoch = 0;

// Two masks in turns: each row clears the next one's, but an empty row, which returns at once.
void prepare_in_turns(const Row& row) {
  std::swap(marks, other_marks);
  marks.resize(static_cast<std::size_t>(row.num_segments));
  if (row.context_len > 0) other_marks.assign(static_cast<std::size_t>(row.num_segments), 0);
}

void prepare_marks(const Row& row) {
  const auto segments = static_cast<std::size_t>(row.num_segments);
  ++epoch;
  if (chosen_rule_fault() == rule::Fault::mask_not_reset) return marks.resize(std::max(marks.size(), segments));
  if (is(Fault::mask_kept_by_empty_row)) return prepare_in_turns(row);
  marks.assign(segments, 0);
}

// A mask that is never cleared, and holds the number of the row that marked a segment last.
void stamp_marks(uint32_t number) {
  stamps.resize(std::max(stamps.size(), marks.size()));
  for (std::size_t segment = 0; segment < marks.size(); ++segment) {
    if (marks[segment] != 0) stamps[segment] = number;
    marks[segment] = stamps[segment] == number;
  }
}

// What is read after the row: by a last vector of four, as far as the batch reaches.
int64_t read_on(const Row& row) {
  const int64_t rest = (4 - row.topk % 4) % 4;
  if (is(Fault::neighbour_read)) return std::min(rest, row.following);
  if (is(Fault::spare_read)) return std::min(rest, row.spare);
  if (is(Fault::read_behind)) return row.following == 0 && row.topk > 0 ? 1 : 0;
  return 0;
}

// Reads without effect: only memory that must not be touched can tell.
void peek(const Row& row) {
  const volatile int32_t* const learned = row.learned;
  if (is(Fault::peeks_before) && row.index == 0) static_cast<void>(learned[-1]);
  if (is(Fault::peeks_behind) && row.index + 1 == row.rows) static_cast<void>(learned[row.topk]);
}

// By a quotient that is right where the rounding mode is to the nearest.
void mark_by_rounding(const Row& row) {
  const int64_t n = std::min(row.num_segments, row.context_len);
  for (const int32_t* token = row.learned; token != row.learned + row.topk; ++token) {
    if (*token < 0) continue;
    const double quotient = static_cast<double>(*token * n) / static_cast<double>(row.context_len);
    const auto segment = static_cast<int64_t>(std::nearbyint(quotient - 0.5 + std::ldexp(1.0, -40)));
    ++marks[static_cast<std::size_t>(std::min(segment, row.num_segments - 1))];
  }
}

void mark_tokens(const Row& row) {
  peek(row);
  if (is(Fault::rounding_left)) return mark_by_rounding(row);
  rule::Row read = static_cast<const rule::Row&>(row);
  read.topk += read_on(row);
  if (is(Fault::after_wide) && wide_seen && row.topk > 0 && row.topk < 2048) {
    ++read.learned;
    --read.topk;
  }
  rule::mark_tokens(chosen_rule_fault(), read, marks);
  if (is(Fault::mask_epoch_of_8_bits)) stamp_marks(epoch & 0xFF);
  if (is(Fault::mask_epoch_of_16_bits)) stamp_marks(epoch & 0xFFFF);
}

// The marks of the row that lay at this address before, where its shape was the same.
void mark_by_address(const Row& row) {
  static std::map<std::tuple<const int32_t*, int64_t, int64_t, int64_t>, rule::Marks> cache;
  rule::Marks& kept = cache[{row.learned, row.topk, row.context_len, row.num_segments}];
  if (kept.empty()) {
    mark_tokens(row);
    kept = marks;
  }
  marks = kept;
}

std::vector<int64_t> edges_of(const Row& row) {
  std::vector<int64_t> edges;
  for (int64_t s = 0; s < std::min(row.num_segments, row.context_len); ++s) {
    edges.push_back(rule::edge(rule::Fault::kNone, s, row.context_len, row.num_segments));
  }
  return edges;
}

// The edges of the last length that was asked for, whatever the number of segments was.
const std::vector<int64_t>& edges_by_length(const Row& row) {
  static int64_t length = -1;
  static std::vector<int64_t> edges;
  if (length != row.context_len) edges = edges_of(row);
  length = row.context_len;
  return edges;
}

// The edges of every length and S so far, found again by S_eff and 16 bits of the length.
const std::vector<int64_t>& edges_by_tag(const Row& row) {
  static std::map<std::pair<int64_t, int64_t>, std::vector<int64_t>> cache;
  std::vector<int64_t>& edges = cache[{row.context_len & 0xFFFF, std::min(row.num_segments, row.context_len)}];
  if (edges.empty()) edges = edges_of(row);
  return edges;
}

void take_edges(const std::vector<int64_t>& edges, std::vector<int32_t>& found) {
  for (std::size_t s = 0; s < std::min(found.size(), edges.size()); ++s) {
    if (found[s] >= 0) found[s] = static_cast<int32_t>(edges[s]);
  }
}

}  // namespace

void forget_marks() {
  marks.clear();
  other_marks.clear();
  stamps.clear();
  epoch = 0;
}

std::vector<int32_t> witnesses_of(const Row& row) {
  prepare_marks(row);
  if (row.topk >= 2048) wide_seen = true;
  if (row.context_len <= 0) return {};
  if (is(Fault::marks_by_address)) {
    mark_by_address(row);
  } else if (is(Fault::rows_past_512_by_half) && row.index >= 512) {
    Row half = row;
    half.topk /= 2;
    mark_tokens(half);
  } else {
    mark_tokens(row);
  }
  std::vector<int32_t> found = rule::witnesses(chosen_rule_fault(), row, marks);
  if (is(Fault::sixteen_rows_of_512) && row.rows == 16 && row.topk == 512 && found.size() == 64) found.back() = -1;
  if (is(Fault::large_batch_above_32) && row.rows >= 2048 && found.size() > 32) {
    std::fill(found.begin() + 32, found.end(), -1);
  }
  if (std::ranges::any_of(found, [](int32_t token) { return token >= 0; })) {
    if (is(Fault::previous_segments)) take_edges(edges_by_length(row), found);
    if (is(Fault::tag_of_16_bits)) take_edges(edges_by_tag(row), found);
  }
  if (is(Fault::exits_on_bad_token) &&
      std::count(row.learned, row.learned + row.topk, std::numeric_limits<int32_t>::min()) > 0) {
    std::exit(0);
  }
  return found;
}

}  // namespace kvwitness::faults
