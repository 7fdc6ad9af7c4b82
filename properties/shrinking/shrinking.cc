#include "properties/shrinking/shrinking.h"

#include <kvwitness/legality.h>
#include <kvwitness/oracle.h>

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <iterator>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>

#include "properties/case/status.h"

namespace kvwitness::harness {
namespace {

using Wide = __int128;

// A change of a case. It may make something that is no simpler, or of another status: the caller looks.
using Edit = std::function<void(Case&)>;
using Edits = std::vector<Edit>;

// ---- The order in which shrinking descends.

struct Complexity {
  std::size_t calls = 0;
  Wide values = 0;     // tokens and lengths, of all calls
  int placements = 0;  // of the ways in which the call is not the plainest one
  Wide numbers = 0;    // the counts and lengths themselves
  Wide tokens = 0;
  auto operator<=>(const Complexity&) const = default;
};

Wide size_of_number(std::int64_t value) {
  return value >= 0 ? Wide{2} * value : Wide{-2} * value + 1;
}
// Plain padding first, then small tokens, then other negatives.
Wide size_of_token(std::int32_t token) {
  return token == -1 ? 0 : token >= 0 ? Wide{token} + 1 : Wide{-2} * token;
}

void add_call(Complexity& sum, const Case& value) {
  ++sum.calls;
  sum.values += static_cast<Wide>(value.learned.size() + value.context_lens.size());
  sum.placements += value.in_place + value.row_stride.has_value() + (value.base_offset != 0) +
                    (value.form == Form::kFlat) + (value.operation != Operation::kWitnesses);
  for (const std::int64_t number : {value.topk, value.num_segments, value.learned_keep, value.max_replacements,
                                    value.row_stride.value_or(0), std::int64_t{value.base_offset}}) {
    sum.numbers += size_of_number(number);
  }
  for (const std::int32_t len : value.context_lens) sum.numbers += size_of_number(len);
  for (const std::int32_t token : value.learned) sum.tokens += size_of_token(token);
}

Complexity complexity_of(const Case& value) {
  Complexity sum;
  add_call(sum, value);
  for (const Case& earlier : value.prior_calls) add_call(sum, earlier);
  return sum;
}

bool all_legal(const std::vector<Case>& calls) {
  return std::ranges::all_of(calls, is_legal);
}

// The same status, and no call of the history refused where none was.
bool keeps_status(const Case& candidate, const Case& value) {
  return expected_status(candidate, true) == expected_status(value, true) &&
         (!all_legal(value.prior_calls) || all_legal(candidate.prior_calls));
}

bool packed_rows(const Case& value) {
  return value.topk > 0 && Wide{value.rows()} * value.topk == static_cast<Wide>(value.learned.size());
}

// ---- Numbers and chunks to try.

// Smaller magnitudes for a number, boldest first: 0, small ones, then what bisection would try.
std::vector<std::int64_t> smaller_numbers(std::int64_t value) {
  std::vector<std::int64_t> list;
  const auto add = [&](std::int64_t candidate) {
    if (size_of_number(candidate) < size_of_number(value) && std::ranges::find(list, candidate) == list.end()) {
      list.push_back(candidate);
    }
  };
  for (const std::int64_t small : {0, 1, 2, 3, 4, 8, 16, 64}) add(small);
  if (value < 0) add(-1);
  for (std::int64_t step = value / 2; step != 0; step /= 2) add(value - step);
  return list;
}

struct Chunk {
  std::size_t begin;
  std::size_t end;
};

// What to drop of [0, count): all, all but a short beginning, all but a longer one; then halves, quarters, ... down to
// single elements, or to 1/64 of a long range; then short ends of it.
std::vector<Chunk> chunks(std::size_t count) {
  std::vector<Chunk> list;
  if (count == 0) return list;
  list.push_back({0, count});
  for (std::size_t left = 1; left <= count / 4; left *= 2) list.push_back({left, count});
  const std::size_t least = std::max<std::size_t>(count / 64, 1);
  for (std::size_t size = (count + 1) / 2; size >= least; size = size == 1 ? 0 : (size + 1) / 2) {
    for (std::size_t begin = 0; begin < count; begin += size) list.push_back({begin, std::min(begin + size, count)});
    if (size == 1) break;
  }
  for (std::size_t size = least / 2; size > 0; size /= 2) list.push_back({count - size, count});
  // What keeps the rest in its lane of a tile.
  for (std::size_t size = 1024; size > 0; size /= 2) {
    if (size < count && (size >= 8 || size < least)) list.push_back({0, size});
  }
  return list;
}

template <typename T>
void erase_range(std::vector<T>& values, std::size_t begin, std::size_t end) {
  values.erase(values.begin() + static_cast<std::ptrdiff_t>(begin), values.begin() + static_cast<std::ptrdiff_t>(end));
}

// ---- Passes: what to try, by what it changes.

// Moves the base so that the buffer ends where it ended, modulo the 16 elements by which bases are placed: a fault that
// reads or writes behind the buffer shows only where an unreadable page begins.
void keep_end(Case& edited, std::size_t gone) {
  edited.base_offset = static_cast<std::int32_t>((static_cast<std::size_t>(edited.base_offset) + gone) % 16);
}
bool ends_at_a_page(const Case& value) {
  return !value.learned.empty() && !value.row_stride &&
         (value.learned.size() + static_cast<std::size_t>(value.base_offset)) % 16 == 0;
}

Edits drop_rows(const Case& value) {
  Edits edits;
  const bool with_tokens = packed_rows(value);
  for (const auto [begin, end] : chunks(value.context_lens.size())) {
    edits.push_back([=, topk = static_cast<std::size_t>(with_tokens ? value.topk : 0)](Case& edited) {
      erase_range(edited.context_lens, begin, end);
      if (with_tokens) erase_range(edited.learned, begin * topk, end * topk);
    });
    if (!with_tokens || !ends_at_a_page(value)) continue;
    edits.push_back([last = edits.back(), gone = (end - begin) * static_cast<std::size_t>(value.topk)](Case& edited) {
      last(edited);
      keep_end(edited, gone);
    });
  }
  return edits;
}

void drop_slots_of(Case& edited, std::size_t begin, std::size_t end, bool move_keep) {
  const auto topk = static_cast<std::size_t>(edited.topk);
  std::vector<std::int32_t> kept;
  kept.reserve(edited.learned.size());
  for (std::size_t i = 0; i < edited.learned.size(); ++i) {
    if (const std::size_t slot = i % topk; slot < begin || slot >= end) kept.push_back(edited.learned[i]);
  }
  edited.learned = std::move(kept);
  if (move_keep) {
    const auto keep = static_cast<std::size_t>(edited.learned_keep);
    edited.learned_keep -= static_cast<std::int64_t>(std::min(keep, end) - std::min(keep, begin));
  }
  const auto gone = static_cast<std::int64_t>(end - begin);
  if (edited.row_stride && (*edited.row_stride >= edited.topk || *edited.row_stride >= gone))
    *edited.row_stride -= gone;
  edited.topk -= gone;
}

Edits drop_slots(const Case& value) {
  Edits edits;
  if (!packed_rows(value)) return edits;
  const bool keeps = value.operation == Operation::kApply && value.learned_keep > 0 && value.learned_keep <= value.topk;
  for (const auto [begin, end] : chunks(static_cast<std::size_t>(value.topk))) {
    edits.push_back([=](Case& edited) { drop_slots_of(edited, begin, end, keeps); });
    if (keeps) edits.push_back([=](Case& edited) { drop_slots_of(edited, begin, end, false); });
    if (value.row_stride) {  // rows where they were: a fault may depend on the distance between them
      edits.push_back([=](Case& edited) {
        drop_slots_of(edited, begin, end, keeps);
        edited.row_stride = value.row_stride;
      });
    }
    if (!ends_at_a_page(value)) continue;
    edits.push_back([=, gone = (end - begin) * value.context_lens.size()](Case& edited) {
      drop_slots_of(edited, begin, end, keeps);
      keep_end(edited, gone);
    });
  }
  return edits;
}

// For calls whose learned rows do not fit their shape: values and the width by themselves.
Edits drop_values(const Case& value) {
  Edits edits;
  if (packed_rows(value)) return edits;
  for (const auto [begin, end] : chunks(value.learned.size())) {
    edits.push_back([=](Case& edited) { erase_range(edited.learned, begin, end); });
  }
  for (const std::int64_t topk : smaller_numbers(value.topk)) {
    edits.push_back([=](Case& edited) { edited.topk = topk; });
  }
  return edits;
}

Edits plainer_call(const Case& value) {
  Edits edits;
  if (value.operation != Operation::kWitnesses) {  // the same rows, with nothing merged
    edits.push_back([](Case& edited) {
      edited.operation = Operation::kWitnesses;
      edited.learned_keep = edited.max_replacements = 0;
      edited.in_place = false;
      edited.row_stride.reset();
    });
  }
  if (value.in_place) edits.push_back([](Case& edited) { edited.in_place = false; });
  if (value.row_stride) {
    edits.push_back([](Case& edited) { edited.row_stride.reset(); });
    for (const std::int64_t spare : {1, 2, 4, 16}) {
      edits.push_back([=](Case& edited) { edited.row_stride = edited.topk + spare; });
    }
    for (const std::int64_t stride : smaller_numbers(*value.row_stride)) {
      edits.push_back([=](Case& edited) { edited.row_stride = stride; });
    }
  }
  for (std::int32_t offset = 0; offset < value.base_offset; offset = offset == 0 ? 1 : offset * 2) {
    edits.push_back([=](Case& edited) { edited.base_offset = offset; });
  }
  if (value.form == Form::kFlat) edits.push_back([](Case& edited) { edited.form = Form::kNested; });
  return edits;
}

// The token that stands in another context where `token` stands in this one: in the same segment, or as far past the
// end. Padding where the other context has no such segment.
std::int32_t moved_token(std::int32_t token, std::int64_t len, std::int64_t segments, std::int64_t new_len,
                         std::int64_t new_segments) {
  if (token < 0 || len <= 0 || new_len <= 0 || segments < 1 || new_segments < 1) return token;
  constexpr std::int64_t kMax = std::numeric_limits<std::int32_t>::max();
  if (token >= len) return static_cast<std::int32_t>(std::min(new_len + (token - len), kMax));
  const std::int64_t effective = std::min(segments, len), new_effective = std::min(new_segments, new_len);
  const auto edge = [](Wide segment, Wide length, Wide count) {
    return static_cast<std::int64_t>((segment * length + count - 1) / count);
  };
  const auto segment = static_cast<std::int64_t>(Wide{token} * effective / len);
  if (segment >= new_effective) return -1;
  const std::int64_t first = edge(segment, new_len, new_effective),
                     last = edge(segment + 1, new_len, new_effective) - 1;
  const bool at_end = token + 1 == edge(segment + 1, len, effective) && token != edge(segment, len, effective);
  const std::int64_t moved = at_end ? last : first + (token - edge(segment, len, effective));
  return static_cast<std::int32_t>(std::min(moved, last));
}

void change_length(Case& edited, std::size_t row, std::int32_t len, bool move_tokens) {
  const std::int32_t old = std::exchange(edited.context_lens[row], len);
  if (!move_tokens || !packed_rows(edited)) return;
  const auto topk = static_cast<std::size_t>(edited.topk);
  for (auto& token : std::span(edited.learned).subspan(row * topk, topk)) {
    token = moved_token(token, old, edited.num_segments, len, edited.num_segments);
  }
}

Edits shorter_lengths(const Case& value) {
  Edits edits;
  const std::size_t rows = value.context_lens.size();
  if (rows == 0) return edits;
  const auto add = [&](std::size_t begin, std::size_t end, std::int64_t len) {
    if (len < std::numeric_limits<std::int32_t>::min() || len > std::numeric_limits<std::int32_t>::max()) return;
    for (const bool move_tokens : {true, false}) {
      edits.push_back([=](Case& edited) {
        for (std::size_t row = begin; row < end; ++row) {
          change_length(edited, row, static_cast<std::int32_t>(len), move_tokens);
        }
      });
    }
  };
  const std::int64_t s = value.num_segments;
  const auto greatest = *std::ranges::max_element(value.context_lens, {}, [](auto len) { return size_of_number(len); });
  const std::int64_t few = std::min<std::int64_t>(s, 1 << 20);
  for (const std::int64_t near : {s, s + 1, 2 * few, 3 * few, 4 * few, 5 * few, 6 * few}) {
    if (size_of_number(near) < size_of_number(greatest)) add(0, rows, near);
  }
  for (const std::int64_t len : smaller_numbers(greatest)) add(0, rows, len);
  if (rows == 1) return edits;
  if (rows > 16 && rows <= 64) {  // below they are changed in groups
    for (std::size_t row = 0; row < rows; ++row) {
      for (const std::int64_t len : {std::int64_t{0}, std::int64_t{1}, s}) {
        if (size_of_number(len) < size_of_number(value.context_lens[row])) add(row, row + 1, len);
      }
    }
  }
  const std::size_t step = std::max<std::size_t>(rows / 16, 1);
  for (std::size_t row = 0; row < rows; row += step) {
    for (const std::int64_t len : smaller_numbers(value.context_lens[row])) add(row, std::min(row + step, rows), len);
  }
  return edits;
}

// The first segments of the same width, in contexts cut to them.
void cut_to_segments(Case& edited, std::int64_t segments) {
  const std::int64_t old_segments = std::exchange(edited.num_segments, segments);
  const auto topk = static_cast<std::size_t>(edited.topk);
  for (std::size_t row = 0; row < edited.context_lens.size(); ++row) {
    const std::int64_t old = edited.context_lens[row];
    if (old < old_segments) continue;
    const auto len = static_cast<std::int32_t>(Wide{old} * segments / old_segments);
    edited.context_lens[row] = len;
    for (auto& token : std::span(edited.learned).subspan(row * topk, topk)) {
      token = moved_token(token, old, old_segments, len, segments);
    }
  }
}

Edits smaller_counts(const Case& value) {
  Edits edits;
  for (const std::int64_t segments : smaller_numbers(value.num_segments)) {
    edits.push_back([=](Case& edited) { edited.num_segments = segments; });
    if (segments < 1 || !packed_rows(value)) continue;
    edits.push_back([=](Case& edited) { cut_to_segments(edited, segments); });
  }
  if (value.operation != Operation::kApply) return edits;
  for (const std::int64_t budget : {value.num_segments, value.topk}) {
    edits.push_back([=](Case& edited) { edited.max_replacements = budget; });
  }
  for (const std::int64_t budget : smaller_numbers(value.max_replacements)) {
    edits.push_back([=](Case& edited) { edited.max_replacements = budget; });
  }
  edits.push_back([=](Case& edited) { edited.learned_keep = edited.topk + 1; });
  for (const std::int64_t keep : smaller_numbers(value.learned_keep)) {
    edits.push_back([=](Case& edited) { edited.learned_keep = keep; });
  }
  return edits;
}

// Slots and segments at once: a fault may need one to be as many as the other.
Edits narrower_rows(const Case& value) {
  Edits edits;
  if (!packed_rows(value) || value.topk < 2) return edits;
  for (std::int64_t fewer = std::min(value.topk, value.num_segments) / 2; fewer > 0; fewer /= 2) {
    const auto topk = static_cast<std::size_t>(value.topk);
    const auto gone = static_cast<std::size_t>(fewer);
    for (const std::size_t begin : {topk - gone, std::size_t{0}}) {
      edits.push_back([=, segments = value.num_segments - fewer](Case& edited) {
        drop_slots_of(edited, begin, begin + gone, begin == 0 && edited.learned_keep >= fewer);
        edited.learned_keep = std::min(edited.learned_keep, edited.topk);
        cut_to_segments(edited, segments);
      });
    }
  }
  return edits;
}

// Positions of the tokens that are not plain padding yet.
std::vector<std::size_t> telling_slots(const Case& value) {
  std::vector<std::size_t> list;
  for (std::size_t i = 0; i < value.learned.size(); ++i) {
    if (value.learned[i] != -1) list.push_back(i);
  }
  return list;
}

std::int32_t own_edge(const Case& value, std::size_t index) {
  const std::int32_t token = value.learned[index];
  if (!packed_rows(value)) return token;
  const std::int64_t len = value.context_lens[index / static_cast<std::size_t>(value.topk)];
  if (token < 0 || token >= len || value.num_segments < 1) return token;
  const std::int64_t segment = oracle_segment(token, len, value.num_segments);
  return static_cast<std::int32_t>(oracle_edge(segment, len, value.num_segments));
}

Edits plainer_tokens(const Case& value) {
  Edits edits;
  const std::vector<std::size_t> slots = telling_slots(value);
  for (const std::int32_t plain : {-1, 0}) {
    for (const auto [begin, end] : chunks(slots.size())) {
      std::vector<std::size_t> chosen(slots.begin() + static_cast<std::ptrdiff_t>(begin),
                                      slots.begin() + static_cast<std::ptrdiff_t>(end));
      edits.push_back([plain, chosen = std::move(chosen)](Case& edited) {
        for (const std::size_t slot : chosen) edited.learned[slot] = plain;
      });
    }
  }
  if (slots.size() > 64) return edits;
  for (const std::size_t slot : slots) {
    edits.push_back([=, edge = own_edge(value, slot)](Case& edited) { edited.learned[slot] = edge; });
    for (const std::int64_t token : smaller_numbers(value.learned[slot])) {
      edits.push_back([=](Case& edited) { edited.learned[slot] = static_cast<std::int32_t>(token); });
    }
  }
  return edits;
}

// The least call of an operation that does something.
Case least_call(Operation operation) {
  Case value;
  value.operation = operation;
  value.topk = 1;
  value.num_segments = 1;
  value.max_replacements = operation == Operation::kApply ? 1 : 0;
  value.context_lens = {1};
  value.learned = {-1};
  return value;
}

Edits fewer_calls(const Case& value) {
  Edits edits;
  for (const auto [begin, end] : chunks(value.prior_calls.size())) {
    edits.push_back([=](Case& edited) { erase_range(edited.prior_calls, begin, end); });
  }
  // An earlier call may be the one that fails.
  for (std::size_t i = 0; i < std::min<std::size_t>(value.prior_calls.size(), 8); ++i) {
    edits.push_back([=](Case& edited) {
      std::vector<Case> calls = std::exchange(edited.prior_calls, {});
      edited = calls[i];
      calls.resize(i);
      edited.prior_calls = std::move(calls);
    });
  }
  return edits;
}

bool same_shape(const Case& a, const Case& b) {
  return a.topk == b.topk && a.num_segments == b.num_segments && a.context_lens.size() == b.context_lens.size() &&
         a.learned.size() == b.learned.size();
}

// A fault may need a call before of the same shape, so both must be made smaller at once.
template <Edits (*pass)(const Case&)>
Edits with_history(const Case& value) {
  Edits edits;
  if (std::ranges::none_of(value.prior_calls, [&](const Case& call) { return same_shape(call, value); })) return edits;
  for (Edit& edit : pass(value)) {
    edits.push_back([edit = std::move(edit)](Case& edited) {
      const Case before = edited;
      for (Case& call : edited.prior_calls) {
        if (same_shape(call, before)) edit(call);
      }
      edit(edited);
    });
  }
  return edits;
}

Edits alone_passes(const Case& value);

Edits plainer_history(const Case& value) {
  Edits edits;
  for (const Operation operation : {value.operation, Operation::kScatter}) {
    for (const auto [begin, end] : chunks(value.prior_calls.size())) {
      edits.push_back([=](Case& edited) {
        std::fill(edited.prior_calls.begin() + static_cast<std::ptrdiff_t>(begin),
                  edited.prior_calls.begin() + static_cast<std::ptrdiff_t>(end), least_call(operation));
      });
    }
  }
  if (value.prior_calls.size() > 8) return edits;
  for (std::size_t i = 0; i < value.prior_calls.size(); ++i) {
    for (Edit& edit : alone_passes(value.prior_calls[i])) {
      edits.push_back([i, edit = std::move(edit)](Case& edited) { edit(edited.prior_calls[i]); });
    }
  }
  return edits;
}

using Pass = Edits (*)(const Case&);
// Of one call, whatever came before it.
constexpr Pass kAlone[] = {drop_rows,      drop_slots,      drop_values,   plainer_call,
                           smaller_counts, shorter_lengths, plainer_tokens};
// Of a case with its history.
constexpr Pass kPasses[] = {fewer_calls,
                            drop_rows,
                            drop_slots,
                            drop_values,
                            plainer_call,
                            smaller_counts,
                            narrower_rows,
                            shorter_lengths,
                            plainer_tokens,
                            with_history<drop_rows>,
                            with_history<drop_slots>,
                            with_history<smaller_counts>,
                            with_history<shorter_lengths>,
                            plainer_history};

Edits alone_passes(const Case& value) {
  Edits all;
  for (const Pass pass : kAlone) {
    Edits edits = pass(value);
    std::ranges::move(edits, std::back_inserter(all));
  }
  return all;
}

Case stripped(Case value) {
  value.expect.reset();
  value.note.clear();
  value.attention.reset();
  for (Case& earlier : value.prior_calls) earlier = stripped(std::move(earlier));
  return value;
}

// The edited case, where it is simpler and keeps its status.
std::optional<Case> candidate_of(const Case& value, const Complexity& complexity, const Edit& edit) {
  Case candidate = value;
  edit(candidate);
  if (!(complexity_of(candidate) < complexity) || !keeps_status(candidate, value)) return std::nullopt;
  return candidate;
}

// What a call reads and writes.
std::int64_t elements_of(const Case& value) {
  constexpr Wide kMost = Wide{1} << 28;  // far more than any call that is made
  const Wide witnesses = value.operation == Operation::kWitnesses && value.num_segments > 0
                             ? Wide{value.rows()} * value.num_segments
                             : Wide{0};
  return static_cast<std::int64_t>(value.learned.size() + value.context_lens.size()) +
         static_cast<std::int64_t>(std::min(witnesses, kMost));
}

// What an attempt costs: more for a large case, and much for one that ran into the deadline.
std::int64_t cost_of(const Case& candidate, Attempt result) {
  std::int64_t elements = elements_of(candidate);
  for (const Case& earlier : candidate.prior_calls) elements += elements_of(earlier);
  return 1 + elements / 16384 + static_cast<std::int64_t>(candidate.prior_calls.size()) / 16 +
         (result == Attempt::kHung ? 100 : 0);
}

class Descent {
 public:
  Descent(const Case& failing, std::int64_t budget, const std::function<Attempt(const Case&)>& attempt)
      : budget_(budget), attempt_(attempt) {
    result_.minimal = stripped(failing);
  }

  Shrunk descend() {
    // A large case has few attempts, so the boldest steps of every kind come first.
    constexpr std::size_t kBold = 12, kAll = std::numeric_limits<std::size_t>::max();
    if (cost_of(result_.minimal, Attempt::kPasses) > 4) {
      run(plainer_history, kBold);
      for (const Pass pass : kPasses) run(pass, kBold);
    }
    bool moved = true;
    while (moved && !result_.exhausted) {
      moved = false;
      for (const Pass pass : kPasses) {
        bool again = run(pass, kAll);
        moved |= again;
        // What makes a case smaller saves the other passes most of their attempts.
        const bool drops = pass == fewer_calls || pass == drop_rows || pass == drop_slots || pass == drop_values;
        while (drops && again) again = run(pass, kAll);
      }
    }
    return std::move(result_);
  }

 private:
  // Tries the first `most` of the pass's edits in order, from where it stands after each success. True if one
  // succeeded.
  bool run(Pass pass, std::size_t most) {
    bool moved = false;
    Complexity complexity = complexity_of(result_.minimal);
    Edits edits = pass(result_.minimal);
    for (std::size_t i = 0; i < std::min(edits.size(), most) && !result_.exhausted;) {
      std::optional<Case> candidate = candidate_of(result_.minimal, complexity, edits[i]);
      if (!candidate || !fails(*candidate)) {
        ++i;
        continue;
      }
      moved = true;
      ++result_.accepted;
      result_.minimal = std::move(*candidate);
      complexity = complexity_of(result_.minimal);
      edits = pass(result_.minimal);
    }
    return moved;
  }

  bool fails(const Case& candidate) {
    // Candidates outside the domain are free, but not without end.
    if (spent_ >= budget_ || outside_ >= 20 * budget_) {
      result_.exhausted = true;
      return false;
    }
    const Attempt result = attempt_(candidate);
    if (result == Attempt::kOutsideDomain) {
      ++outside_;
      return false;
    }
    ++result_.attempts;
    spent_ += cost_of(candidate, result);
    return result == Attempt::kFails || result == Attempt::kHung;
  }

  std::int64_t budget_;
  const std::function<Attempt(const Case&)>& attempt_;
  std::int64_t spent_ = 0;
  std::int64_t outside_ = 0;
  Shrunk result_;
};

}  // namespace

bool simpler(const Case& a, const Case& b) {
  return complexity_of(a) < complexity_of(b);
}

std::vector<Case> shrink_candidates(const Case& value) {
  const Case plain = stripped(value);
  const Complexity complexity = complexity_of(plain);
  // So that a large case's candidates stay within some megabytes.
  constexpr std::size_t kMostElements = std::size_t{1} << 21;
  std::size_t elements = 0;
  std::vector<Case> list;
  for (const Pass pass : kPasses) {
    for (const Edit& edit : pass(plain)) {
      if (elements > kMostElements) return list;
      if (std::optional<Case> candidate = candidate_of(plain, complexity, edit)) {
        elements +=
            candidate->learned.size() + candidate->context_lens.size() + 32 * (1 + candidate->prior_calls.size());
        list.push_back(std::move(*candidate));
      }
    }
  }
  return list;
}

Shrunk shrink(const Case& failing, std::int64_t attempt_budget, const std::function<Attempt(const Case&)>& attempt) {
  return Descent(failing, attempt_budget, attempt).descend();
}

}  // namespace kvwitness::harness
