#include "properties/run/likely_cause.h"

#include <kvwitness/legality.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "properties/case/status.h"
#include "properties/rules/judged_rows.h"

namespace kvwitness::harness {
namespace {

constexpr std::int64_t kMostSlots = std::int64_t{1} << 17;
// The widest row of which every slot, and every number of slots, is tried.
constexpr std::int64_t kEveryWidth = 2048;

// One row of a call, as a misreading sees it.
struct Row {
  std::span<const std::int32_t> learned;
  std::span<const std::int32_t> previous;  // of the row that was read before it
  std::int64_t len, segments, effective;   // L, S, S_eff
  bool merges;
  std::int64_t keep, budget;
  std::int64_t first_negative, first_past_end;  // slots; topk where there is none
  std::int64_t topk() const { return std::ssize(learned); }
};

struct Witness {
  std::int64_t segment;
  std::int64_t token;
};
using Witnesses = std::vector<Witness>;
using Occupied = std::vector<char>;
using Tokens = std::vector<std::int32_t>;

std::int64_t ceiling(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}
std::int64_t wrapped(std::int64_t value) {
  return static_cast<std::int64_t>(static_cast<std::uint32_t>(value));
}
std::int64_t negative_wrapped(std::int64_t value) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(value));
}

std::int64_t edge_of(std::int64_t s, const Row& row) {
  return ceiling(s * row.len, row.effective);
}
std::int64_t segment_of(std::int64_t token, const Row& row) {
  return token * row.effective / row.len;
}
bool is_read(std::int64_t, const Row&) {
  return true;
}
// The segment that a token marks; -1: none.
std::int64_t clamped(std::int64_t segment, const Row& row) {
  return std::min(segment, row.segments - 1);
}
std::int64_t marked_by(std::int64_t token, const Row& row) {
  return token < 0 ? -1 : clamped(segment_of(token, row), row);
}
// The witnesses into the tail, the first ones where there is not room for all.
void overwrite(const Witnesses& witnesses, const Row& row, Tokens& result) {
  for (std::int64_t i = 0; i < std::min(std::ssize(witnesses), row.budget); ++i) {
    const std::int64_t slot = row.keep + i;
    if (slot >= 0 && slot < row.topk()) {
      result[static_cast<std::size_t>(slot)] = static_cast<std::int32_t>(witnesses[static_cast<std::size_t>(i)].token);
    }
  }
}

// Keeps the order of both parts.
template <typename T, typename Goes>
void move_to_end(std::vector<T>& values, Goes goes) {
  std::vector<T> moved;
  std::ranges::copy_if(values, std::back_inserter(moved), goes);
  std::erase_if(values, goes);
  values.insert(values.end(), moved.begin(), moved.end());
}

// The witnesses at their segments, where they are asked for by themselves.
void put_at_segments(const Witnesses& witnesses, const Row&, Tokens& result) {
  for (const auto& [s, token] : witnesses) {
    if (s < std::ssize(result)) result[static_cast<std::size_t>(s)] = static_cast<std::int32_t>(token);
  }
}

// The rule with something read in another way. What an entry does not name is the rule's own.
struct Misreading {
  std::string_view words;
  std::int64_t (*edge)(std::int64_t segment, const Row&) = edge_of;
  bool (*reads)(std::int64_t slot, const Row&) = is_read;
  std::int64_t (*marks)(std::int64_t token, const Row&) = marked_by;
  void (*adjust)(Row&) = nullptr;                      // length, counts
  void (*occupancy)(Occupied&, const Row&) = nullptr;  // after the row was read
  void (*merge)(const Witnesses&, const Row&, Tokens& result) = overwrite;
  void (*indices)(const Witnesses&, const Row&, Tokens& result) = put_at_segments;
};

void mark(Occupied& occupied, std::int64_t segment) {
  if (segment >= 0 && segment < std::ssize(occupied)) occupied[static_cast<std::size_t>(segment)] = 1;
}

Tokens answer(Row row, const Misreading& misreading) {
  Tokens result(row.learned.begin(), row.learned.end());
  if (!row.merges) result.assign(static_cast<std::size_t>(row.segments), -1);
  if (misreading.adjust != nullptr) {
    misreading.adjust(row);
    row.effective = std::min(row.segments, row.len);
  }
  const bool is_empty = row.len <= 0 || row.segments <= 0;
  Occupied occupied(static_cast<std::size_t>(is_empty ? 0 : row.effective), 0);
  for (std::int64_t slot = 0; !is_empty && slot < row.topk(); ++slot) {
    if (misreading.reads(slot, row)) mark(occupied, misreading.marks(row.learned[static_cast<std::size_t>(slot)], row));
  }
  if (misreading.occupancy != nullptr && !is_empty) misreading.occupancy(occupied, row);
  Witnesses witnesses;
  for (std::int64_t s = 0; s < std::ssize(occupied); ++s) {
    if (occupied[static_cast<std::size_t>(s)] == 0) witnesses.push_back({s, misreading.edge(s, row)});
  }
  (row.merges ? misreading.merge : misreading.indices)(witnesses, row, result);
  return result;
}

// The most particular first: where several explain as many failures, the first is named.
constexpr Misreading kMisreadings[] = {

    // Edges.
    {.words = "segment edges are rounded down, floor(s * L / S) instead of the ceiling",
     .edge = [](std::int64_t s, const Row& row) { return s * row.len / row.effective; }},
    {.words = "s * L wraps at 2^32 in the segment edge",
     .edge = [](std::int64_t s, const Row& row) { return ceiling(wrapped(s * row.len), row.effective); }},
    {.words = "s * L overflows a signed 32-bit integer in the segment edge",
     .edge = [](std::int64_t s, const Row& row) { return ceiling(negative_wrapped(s * row.len), row.effective); }},
    {.words = "the segment edge is computed in single precision",
     .edge =
         [](std::int64_t s, const Row& row) {
           return static_cast<std::int64_t>(
               std::ceil(static_cast<float>(s) * static_cast<float>(row.len) / static_cast<float>(row.effective)));
         }},
    {.words = "the witness is the last token of its segment, not the first",
     .edge = [](std::int64_t s, const Row& row) { return edge_of(s + 1, row) - 1; }},
    {.words = "every segment edge but the first is one token late",
     .edge = [](std::int64_t s, const Row& row) { return edge_of(s, row) + (s > 0 ? 1 : 0); }},
    {.words = "every segment edge but the first is one token early",
     .edge = [](std::int64_t s, const Row& row) { return edge_of(s, row) - (s > 0 ? 1 : 0); }},
    {.words = "the segment edge is s * ceil(L / S), as if all segments were equally wide",
     .edge = [](std::int64_t s, const Row& row) { return s * ceiling(row.len, row.effective); }},
    {.words = "the segment edge is s * floor(L / S), as if all segments were equally wide",
     .edge = [](std::int64_t s, const Row& row) { return s * (row.len / row.effective); }},
    {.words = "segment edges of a short row are computed with S where L < S",
     .edge = [](std::int64_t s, const Row& row) { return ceiling(s * row.len, row.segments); }},

    // Segments of tokens.
    {.words = "x * S wraps at 2^32 in the segment of a token",
     .marks = [](std::int64_t token,
                 const Row& row) { return token < 0 ? -1 : clamped(wrapped(token * row.effective) / row.len, row); }},
    {.words = "x * S overflows a signed 32-bit integer in the segment of a token",
     .marks =
         [](std::int64_t token, const Row& row) {
           return token < 0 ? -1 : clamped(negative_wrapped(token * row.effective) / row.len, row);
         }},
    {.words = "the segment of a token is computed in single precision",
     .marks =
         [](std::int64_t token, const Row& row) {
           return token < 0 ? -1
                            : clamped(static_cast<std::int64_t>(static_cast<float>(token) *
                                                                static_cast<float>(row.effective) /
                                                                static_cast<float>(row.len)),
                                      row);
         }},
    {.words = "the segment of a token is x / ceil(L / S), as if all segments were equally wide",
     .marks = [](std::int64_t token,
                 const Row& row) { return token < 0 ? -1 : clamped(token / ceiling(row.len, row.effective), row); }},
    {.words = "the segment of a token is x / floor(L / S), as if all segments were equally wide",
     .marks =
         [](std::int64_t token, const Row& row) {
           return token < 0 ? -1 : clamped(token / std::max<std::int64_t>(1, row.len / row.effective), row);
         }},
    {.words = "the segment of a token is rounded to the nearest, not down",
     .marks =
         [](std::int64_t token, const Row& row) {
           return token < 0 ? -1 : clamped((token * row.effective + row.len / 2) / row.len, row);
         }},
    {.words = "the segment of a token is computed with S in a short row, where S_eff = L",
     .marks = [](std::int64_t token,
                 const Row& row) { return token < 0 ? -1 : clamped(token * row.segments / row.len, row); }},
    {.words = "the upper bits of a token are dropped in a 24-bit multiply",
     .marks =
         [](std::int64_t token, const Row& row) {
           return token < 0 ? -1 : clamped((token & 0xFFFFFF) * row.effective / row.len, row);
         }},
    {.words = "tokens are kept in 16 bits",
     .marks = [](std::int64_t token,
                 const Row& row) { return token < 0 ? -1 : clamped((token & 0xFFFF) * row.effective / row.len, row); }},

    // The mask of occupied segments.
    {.words = "two tokens of one segment cancel: the mask is built by exclusive or, or by a sum",
     .occupancy =
         [](Occupied& occupied, const Row& row) {
           std::ranges::fill(occupied, 0);
           for (const std::int32_t token : row.learned) {
             const std::int64_t s = marked_by(token, row);
             if (s >= 0 && s < std::ssize(occupied)) occupied[static_cast<std::size_t>(s)] ^= 1;
           }
         }},
    {.words = "segments from 32 on mark the lower half: the mask is shifted as 32 bits",
     .marks =
         [](std::int64_t token, const Row& row) {
           const std::int64_t s = marked_by(token, row);
           return s < 0 ? -1 : s % 32;
         }},
    {.words = "segment 31 marks the upper half: a signed 32-bit mask is extended to 64 bits",
     .occupancy =
         [](Occupied& occupied, const Row&) {
           for (std::size_t s = 32; s < occupied.size() && occupied[31] != 0; ++s) occupied[s] = 1;
         }},
    {.words = "segment 63 is never marked (bit 63 of the mask)",
     .occupancy =
         [](Occupied& occupied, const Row&) {
           if (occupied.size() > 63) occupied[63] = 0;
         }},
    {.words = "a full mask is expected one segment too early: the last missing segment gets no witness",
     .occupancy =
         [](Occupied& occupied, const Row&) {
           if (std::ranges::count(occupied, 0) == 1) std::ranges::fill(occupied, 1);
         }},
    {.words = "the mask of occupied segments has 32 bits: segments from 32 on count as occupied",
     .occupancy =
         [](Occupied& occupied, const Row&) {
           for (std::size_t s = 32; s < occupied.size(); ++s) occupied[s] = 1;
         }},
    {.words = "the mask of occupied segments has 32 bits: segments from 32 on count as missing",
     .occupancy =
         [](Occupied& occupied, const Row&) {
           for (std::size_t s = 32; s < occupied.size(); ++s) occupied[s] = 0;
         }},
    {.words = "the mask of occupied segments has 32 bits: bit s is bit s modulo 32",
     .occupancy =
         [](Occupied& occupied, const Row&) {
           for (std::size_t s = 32; s < occupied.size(); ++s) occupied[s % 32] |= occupied[s];
           for (std::size_t s = 32; s < occupied.size(); ++s) occupied[s] = occupied[s % 32];
         }},
    {.words = "at most 63 witnesses are written",
     .adjust = [](Row& row) { row.budget = std::min<std::int64_t>(row.budget, 63); }},

    // Padding.
    {.words = "of negative entries only -1 is taken for padding; others are read as unsigned tokens",
     .marks = [](std::int64_t token,
                 const Row& row) { return token < -1 ? row.effective - 1 : marked_by(token, row); }},
    {.words = "of negative entries only -1 is taken for padding; others mark segment 0",
     .marks = [](std::int64_t token,
                 const Row& row) { return token == -1 ? -1 : std::max<std::int64_t>(0, marked_by(token, row)); }},
    {.words = "padding is read as an unsigned token, and marks the last segment",
     .marks = [](std::int64_t token, const Row& row) { return token < 0 ? row.effective - 1 : marked_by(token, row); }},
    {.words = "padding marks segment 0",
     .marks = [](std::int64_t token, const Row& row) { return token < 0 ? 0 : marked_by(token, row); }},
    {.words = "nothing behind the first padding entry is read",
     .reads = [](std::int64_t slot, const Row& row) { return slot < row.first_negative; }},
    {.words = "token 0 is taken for padding",
     .marks = [](std::int64_t token, const Row& row) { return token == 0 ? -1 : marked_by(token, row); }},

    // Tokens past the context's end.
    {.words = "the token x = L marks nothing, where it marks the last segment",
     .marks = [](std::int64_t token, const Row& row) { return token == row.len ? -1 : marked_by(token, row); }},
    {.words = "a token at or past the context's end marks nothing, where it marks the last segment",
     .marks = [](std::int64_t token, const Row& row) { return token >= row.len ? -1 : marked_by(token, row); }},
    {.words = "a token past the context's end marks segment S_eff - 1 of a short row, where it marks none",
     .marks = [](std::int64_t token, const Row& row) { return std::min(row.effective - 1, marked_by(token, row)); }},
    {.words = "the segment of a token past the context's end wraps in the mask",
     .marks = [](std::int64_t token, const Row& row) { return token < 0 ? -1 : segment_of(token, row) % 64; }},
    {.words = "the segment of a token past the context's end wraps in a mask of 32 bits",
     .marks = [](std::int64_t token, const Row& row) { return token < 0 ? -1 : segment_of(token, row) % 32; }},
    {.words = "a token past the context's end is taken modulo L",
     .marks = [](std::int64_t token, const Row& row) { return token < 0 ? -1 : segment_of(token % row.len, row); }},
    {.words = "nothing behind the first token past the context's end is read",
     .reads = [](std::int64_t slot, const Row& row) { return slot < row.first_past_end; }},
    {.words = "a token past the context's end is taken for padding or removed from the row",
     .marks = [](std::int64_t token, const Row& row) { return token >= row.len ? -1 : marked_by(token, row); },
     .merge =
         [](const Witnesses& witnesses, const Row& row, Tokens& result) {
           std::ranges::replace_if(result, [&](std::int64_t token) { return token >= row.len; }, -1);
           overwrite(witnesses, row, result);
         }},

    // Which slots are read.
    {.words = "tokens of the tail, from learned_keep on, are not read",
     .reads = [](std::int64_t slot, const Row& row) { return !row.merges || slot < row.keep; }},
    {.words = "tokens in the slots of the budget are not read",
     .reads = [](std::int64_t slot,
                 const Row& row) { return !row.merges || slot < row.keep || slot >= row.keep + row.budget; }},
    {.words = "tokens of the kept head, below learned_keep, are not read",
     .reads = [](std::int64_t slot, const Row& row) { return !row.merges || slot >= row.keep; }},

    // The merge.
    {.words = "the budget is one too small", .adjust = [](Row& row) { --row.budget; }},
    {.words = "the budget is one too large", .adjust = [](Row& row) { ++row.budget; }},
    {.words = "the budget is not kept: the whole tail may be overwritten",
     .adjust = [](Row& row) { row.budget = row.topk() - row.keep; }},
    {.words = "witnesses start one slot behind learned_keep", .adjust = [](Row& row) { ++row.keep; }},
    {.words = "witnesses start one slot before learned_keep", .adjust = [](Row& row) { --row.keep; }},
    {.words = "witnesses are written from slot 0 on: learned_keep is not honoured",
     .adjust = [](Row& row) { row.keep = 0; }},
    {.words = "witnesses stand in descending order",
     .merge =
         [](const Witnesses& witnesses, const Row& row, Tokens& result) {
           Witnesses shown(witnesses.begin(),
                           witnesses.begin() + std::min(std::ssize(witnesses), std::max<std::int64_t>(0, row.budget)));
           std::ranges::reverse(shown);
           overwrite(shown, row, result);
         }},
    {.words = "where the budget is short the first witnesses are dropped, not the last",
     .merge =
         [](const Witnesses& witnesses, const Row& row, Tokens& result) {
           const std::int64_t over = std::max<std::int64_t>(0, std::ssize(witnesses) - row.budget);
           overwrite({witnesses.begin() + std::min(over, std::ssize(witnesses)), witnesses.end()}, row, result);
         }},
    {.words = "where the budget is short no witness is written at all",
     .merge =
         [](const Witnesses& witnesses, const Row& row, Tokens& result) {
           if (std::ssize(witnesses) <= row.budget) overwrite(witnesses, row, result);
         }},
    {.words = "witnesses go only into slots that hold padding",
     .merge =
         [](const Witnesses& witnesses, const Row& row, Tokens& result) {
           auto next = witnesses.begin();
           for (std::int64_t slot = row.keep; slot < row.keep + row.budget && next != witnesses.end(); ++slot) {
             auto& token = result[static_cast<std::size_t>(slot)];
             if (token < 0) token = static_cast<std::int32_t>((next++)->token);
           }
         }},
    {.words = "the rest of the budget is filled with -1 behind the witnesses",
     .merge =
         [](const Witnesses& witnesses, const Row& row, Tokens& result) {
           std::fill_n(result.begin() + row.keep, row.budget, -1);
           overwrite(witnesses, row, result);
         }},
    {.words = "the last witness fills the rest of the budget",
     .merge =
         [](const Witnesses& witnesses, const Row& row, Tokens& result) {
           if (!witnesses.empty())
             std::fill_n(result.begin() + row.keep, row.budget, static_cast<std::int32_t>(witnesses.back().token));
           overwrite(witnesses, row, result);
         }},
    {.words = "witnesses stand at the row's end instead of from learned_keep on",
     .merge =
         [](const Witnesses& witnesses, const Row& row, Tokens& result) {
           Row moved = row;
           moved.keep = row.topk() - std::min(std::ssize(witnesses), row.budget);
           overwrite(witnesses, moved, result);
         }},
    {.words = "repeated tokens are removed from the row",
     .merge =
         [](const Witnesses& witnesses, const Row& row, Tokens& result) {
           std::set<std::int32_t> seen;
           for (std::int32_t& token : result) {
             if (token >= 0 && !seen.insert(token).second) token = -1;
           }
           overwrite(witnesses, row, result);
         }},
    {.words = "the witnesses of the segments from 32 on come first",
     .merge =
         [](const Witnesses& witnesses, const Row& row, Tokens& result) {
           Witnesses halves = witnesses;
           move_to_end(halves, [](const Witness& witness) { return witness.segment < 32; });
           overwrite(halves, row, result);
         }},
    {.words = "learned_keep = topk leaves the last slot to a witness",
     .adjust =
         [](Row& row) {
           if (row.keep != row.topk()) return;
           --row.keep;
           row.budget = 1;
         }},
    {.words = "learned_keep is rounded down to a multiple of 4", .adjust = [](Row& row) { row.keep -= row.keep % 4; }},
    {.words = "padding is moved to the row's end before the merge",
     .merge =
         [](const Witnesses& witnesses, const Row& row, Tokens& result) {
           move_to_end(result, [](std::int32_t token) { return token < 0; });
           overwrite(witnesses, row, result);
         }},
    {.words = "the row is sorted before the merge",
     .merge =
         [](const Witnesses& witnesses, const Row& row, Tokens& result) {
           std::ranges::sort(result);
           overwrite(witnesses, row, result);
         }},
    {.words = "the row is sorted after the merge",
     .merge =
         [](const Witnesses& witnesses, const Row& row, Tokens& result) {
           overwrite(witnesses, row, result);
           std::ranges::sort(result);
         }},

    // Witness indices.
    {.words = "entries without a witness are 0, not -1",
     .indices =
         [](const Witnesses& witnesses, const Row& row, Tokens& result) {
           std::ranges::fill(result, 0);
           put_at_segments(witnesses, row, result);
         }},
    {.words = "witnesses stand at the front instead of at their segments",
     .indices =
         [](const Witnesses& witnesses, const Row&, Tokens& result) {
           for (std::size_t i = 0; i < witnesses.size(); ++i) {
             result[i] = static_cast<std::int32_t>(witnesses[i].token);
           }
         }},
    {.words = "segments are marked modulo 64",
     .occupancy =
         [](Occupied& occupied, const Row&) {
           for (std::size_t s = 64; s < occupied.size(); ++s) occupied[s % 64] |= occupied[s];
           for (std::size_t s = 64; s < occupied.size(); ++s) occupied[s] = occupied[s % 64];
         }},
    {.words = "segments from 1024 on are no witnesses",
     .occupancy =
         [](Occupied& occupied, const Row&) {
           for (std::size_t s = 1024; s < occupied.size(); ++s) occupied[s] = 1;
         }},

    // Lengths.
    {.words = "a negative length is read as an unsigned number",
     .adjust = [](Row& row) { row.len = row.len < 0 ? wrapped(row.len) : row.len; }},
    {.words = "the length is kept in 16 bits, signed",
     .adjust = [](Row& row) { row.len = static_cast<std::int16_t>(static_cast<std::uint16_t>(row.len)); }},
    {.words = "the length is kept in 16 bits", .adjust = [](Row& row) { row.len &= 0xFFFF; }},
    {.words = "a length of 0 is read as 1", .adjust = [](Row& row) { row.len = row.len == 0 ? 1 : row.len; }},
    {.words = "a negative length is read as 1", .adjust = [](Row& row) { row.len = row.len < 0 ? 1 : row.len; }},
    {.words = "L - 1 is used where the length is L", .adjust = [](Row& row) { --row.len; }},
    {.words = "L + 1 is used where the length is L", .adjust = [](Row& row) { ++row.len; }},
    {.words = "a row shorter than S is left as it is",
     .adjust = [](Row& row) { row.len = row.len < row.segments ? 0 : row.len; }},

    // What was read before.
    {.words = "segments marked by the row before are still marked: the mask is not cleared",
     .occupancy =
         [](Occupied& occupied, const Row& row) {
           for (const std::int32_t token : row.previous) mark(occupied, marked_by(token, row));
         }},

    // What says least comes last.
    {.words = "the last segment never gets a witness (bit S - 1 of the mask)",
     .occupancy = [](Occupied& occupied, const Row&) { occupied.back() = 1; }},
    {.words = "no slot is read: every segment gets a witness", .reads = [](std::int64_t, const Row&) { return false; }},
    {.words = "no segment gets a witness",
     .occupancy = [](Occupied& occupied, const Row&) { std::ranges::fill(occupied, 1); }},
};

Row row_of(const WrongRow& wrong) {
  const Case& value = wrong.row;
  Row row{.learned = value.learned,
          .previous = wrong.previous,
          .len = value.context_lens[0],
          .segments = value.num_segments,
          .effective = std::min<std::int64_t>(value.num_segments, value.context_lens[0]),
          .merges = value.operation != Operation::kWitnesses,
          .keep = 0,
          .budget = 0,
          .first_negative = 0,
          .first_past_end = 0};
  if (row.merges) {
    const Merge merge = merge_of(value);
    row.keep = merge.learned_keep;
    row.budget = merge.budget;
  }
  const auto first = [&](auto is_meant) {
    return std::ranges::find_if(value.learned, is_meant) - value.learned.begin();
  };
  row.first_negative = first([](std::int32_t token) { return token < 0; });
  row.first_past_end = first([&](std::int32_t token) { return token >= row.len; });
  return row;
}

// Rows that another row's mistake may have made: with the tokens or the length of the row that was read before.
Tokens answer_of_previous(const WrongRow& wrong, bool tokens, bool length) {
  Row row = row_of(wrong);
  if (tokens) row.learned = wrong.previous;
  if (length) row.len = *wrong.previous_len;
  row.effective = std::min(row.segments, row.len);
  return answer(row, {.words = {}});
}

// What a row is if only some of its slots are read.
template <typename Reads>
Tokens answer_of_slots(const WrongRow& wrong, Reads reads) {
  Tokens unread = wrong.row.learned;
  for (std::size_t slot = 0; slot < unread.size(); ++slot) {
    if (!reads(static_cast<std::int64_t>(slot))) unread[slot] = -1;
  }
  Row row = row_of(wrong);
  const std::span<const std::int32_t> whole = row.learned;
  row.learned = unread;
  Tokens result = answer(row, {.words = {}});
  for (std::size_t slot = 0; row.merges && slot < result.size(); ++slot) {  // what was not read is still there
    if (result[slot] == unread[slot]) result[slot] = whole[slot];
  }
  return result;
}

template <typename Answer>
bool explains(std::span<const WrongRow> rows, Answer answer_of) {
  return std::ranges::all_of(rows, [&](const WrongRow& wrong) { return answer_of(wrong) == wrong.actual; });
}

// The numbers of slots worth trying as the number that is read, largest first: all, or of wide rows round ones.
std::vector<std::int64_t> widths_to_try(std::int64_t topk, bool is_wide) {
  std::vector<std::int64_t> list;
  for (std::int64_t width = topk - 1; width >= 0; --width) {
    const bool is_round = (width & (width - 1)) == 0 || width % 1024 == 0;
    if (!is_wide || is_round) list.push_back(width);
  }
  return list;
}

// Which slots may be those that are not read, in words. A width that a tile may have comes before the table of misreadings,
// everything else behind it.
struct UnreadSlots {
  std::vector<std::string> tiles, others;
};

UnreadSlots slots_behind(std::span<const WrongRow> rows) {
  UnreadSlots found;
  const auto narrowest = std::ranges::min(rows, {}, [](const WrongRow& wrong) { return wrong.row.topk; }).row.topk;
  const auto widest = std::ranges::max(rows, {}, [](const WrongRow& wrong) { return wrong.row.topk; }).row.topk;
  for (const std::int64_t width : widths_to_try(narrowest, widest > kEveryWidth)) {
    if (explains(rows, [&](const WrongRow& wrong) {
          return answer_of_slots(wrong, [&](std::int64_t slot) { return slot < width; });
        })) {
      const bool is_tile = width >= 32 && ((width & (width - 1)) == 0 || width % 128 == 0);
      (is_tile ? found.tiles : found.others).push_back("slots from " + std::to_string(width) + " on are not read");
    }
  }
  for (std::int64_t tile = 2; tile <= 1024; tile *= 2) {
    if (explains(rows, [&](const WrongRow& wrong) {
          const std::int64_t end = wrong.row.topk - wrong.row.topk % tile;
          return answer_of_slots(wrong, [&](std::int64_t slot) { return slot < end; });
        })) {
      found.others.insert(found.others.begin(), "the last topk % " + std::to_string(tile) + " slots are not read");
    }
  }
  if (explains(rows, [](const WrongRow& wrong) {
        return answer_of_slots(wrong, [&](std::int64_t slot) { return slot != wrong.row.topk - 1; });
      })) {
    found.others.insert(found.others.begin(), "the last slot is not read");
  }
  for (std::int64_t slot = 0; widest <= kEveryWidth && slot < narrowest; ++slot) {
    if (explains(rows, [&](const WrongRow& wrong) {
          return answer_of_slots(wrong, [&](std::int64_t read) { return read != slot; });
        })) {
      found.others.push_back("slot " + std::to_string(slot) + " is not read");
    }
  }
  return found;
}

// Where rows are left out as a whole: which.
std::string rows_left_out(std::span<const WrongRow> rows) {
  const auto is_left_out = [](const WrongRow& wrong) {
    return wrong.row.operation == Operation::kWitnesses
               ? std::ranges::all_of(wrong.actual, [](std::int32_t token) { return token == -1; })
               : wrong.actual == wrong.row.learned;
  };
  if (!std::ranges::all_of(rows, is_left_out)) return "";
  if (std::ranges::all_of(rows,
                          [](const WrongRow& wrong) { return wrong.rows > 1 && wrong.index == wrong.rows - 1; })) {
    return "the last row of the batch is left out";
  }
  const std::int64_t first = std::ranges::min(rows, {}, &WrongRow::index).index;
  return first < 2 ? "" : "rows from " + std::to_string(first) + " on are left out";
}

std::string neighbour_behind(std::span<const WrongRow> rows) {
  const auto has_previous = [](const WrongRow& wrong) {
    return wrong.previous_len && std::ssize(wrong.previous) == wrong.row.topk;
  };
  if (!std::ranges::all_of(rows, has_previous)) return "";
  if (explains(rows, [](const WrongRow& wrong) { return answer_of_previous(wrong, false, true); })) {
    return "the length of the row before is used";
  }
  if (rows[0].row.operation != Operation::kWitnesses) return "";
  if (explains(rows, [](const WrongRow& wrong) { return answer_of_previous(wrong, true, false); })) {
    return "the tokens of the row before are read";
  }
  if (explains(rows, [](const WrongRow& wrong) { return answer_of_previous(wrong, true, true); })) {
    return "the row has the answer of the row before";
  }
  return "";
}

bool plays_a_part(const Counterexample& found, bool is_there, std::string_view field) {
  return is_there && std::ranges::find(found.irrelevant_fields, field) == found.irrelevant_fields.end();
}

// How the call is made, where that plays a part.
std::string circumstances(const Counterexample& found) {
  const Case& minimal = found.minimal;
  const auto& wrong = found.wrong_row;
  if (plays_a_part(found, !minimal.prior_calls.empty(), "after")) {
    constexpr std::string_view kKept = "segments marked by the row before";
    const std::vector<std::string> causes =
        wrong ? misreadings_behind(std::span(&*wrong, 1)) : std::vector<std::string>{};
    const auto kept = std::ranges::find_if(causes, [&](const std::string& cause) { return cause.starts_with(kKept); });
    return kept != causes.end() ? *kept : "the call before plays a part: something is kept from call to call";
  }
  if (plays_a_part(found, minimal.row_stride.has_value(), "row_stride")) {
    return !wrong || wrong->index > 0 ? "the row stride is not honoured" : "the row stride plays a part";
  }
  if (plays_a_part(found, minimal.base_offset != 0, "base_offset")) return "the buffer's alignment plays a part";
  if (plays_a_part(found, minimal.in_place, "in_place")) return "that the output is the input plays a part";
  return "";
}

std::string wrong_status(const Counterexample& found) {
  const std::int32_t wanted = expected_status(found.minimal, true);
  const std::int32_t given = found.outcome.status;
  if (wanted == given) return "";
  if (wanted == status::kOk) return "a legal call is refused";
  if (given == status::kOk) return "a call that must be refused is accepted";
  return "a refusal has another status than the first that applies";
}

// What explains a failure other than by its rows; "" where they have to.
std::string cause_of_call(const Counterexample& found, std::string_view property) {
  const Outcome& outcome = found.outcome;
  const auto& wrong = found.wrong_row;
  std::string around = circumstances(found);
  if (outcome.ending != Ending::kReturned) return around;
  if (!wrong && !outcome.stray.empty()) return around.empty() ? "something outside the rows is touched" : around;
  if (std::string status = wrong_status(found); !wrong && !status.empty()) return status;
  if (found.reproduction == Reproduction::kNot || (property == "determinism" && around.empty())) {
    return "the same call has different answers: uninitialised memory or a race";
  }
  const bool has_output = found.minimal.operation == Operation::kWitnesses ||
                          (found.minimal.operation == Operation::kApply && !found.minimal.in_place);
  return around.empty() && has_output && wrong && wrong->is_unwritten ? "the row is not written" : around;
}

// What a wrong row of no known shape has in common with many: "" for nothing.
std::string resemblance(const WrongRow& wrong) {
  const Row row = row_of(wrong);
  if (row.effective <= 0) return "";
  const std::int64_t expected = wrong.expected_value(), actual = wrong.actual_value();
  const auto is_edge = [&](std::int64_t token) { return edge_of(segment_of(token, row), row) == token; };
  const auto in_context = [&](std::int64_t token) { return token >= 0 && token < row.len; };
  if (in_context(actual) && !is_edge(actual)) {
    return in_context(expected) && std::abs(actual - expected) == 1
               ? "a segment edge is one token off: a matter of rounding or precision"
               : "a witness is no edge of a segment: a matter of overflow or precision";
  }
  const auto beside_an_edge = [&](std::int32_t token) {
    return in_context(token) && row.effective < row.len &&
           (is_edge(token) || (token + 1 < row.len && is_edge(token + 1)));
  };
  std::vector<std::int32_t> tokens;
  std::ranges::copy_if(row.learned, std::back_inserter(tokens), in_context);
  return !tokens.empty() && std::ranges::all_of(tokens, beside_an_edge)
             ? "a token beside a segment's edge is counted to the wrong segment: a matter of rounding or precision"
             : "";
}

std::vector<WrongRow> evidence_of(const Counterexample& found) {
  std::vector<WrongRow> rows;
  if (found.wrong_row) rows.push_back(*found.wrong_row);
  if (found.wrong_row && found.original_row) rows.push_back(*found.original_row);
  return rows;
}

}  // namespace

std::vector<std::string> misreadings_behind(std::span<const WrongRow> rows) {
  const auto is_small = [](const WrongRow& wrong) {
    return wrong.row.topk <= kMostSlots && wrong.row.num_segments <= kMostSlots;
  };
  if (rows.empty() || !std::ranges::all_of(rows, is_small)) return {};
  UnreadSlots slots = slots_behind(rows);
  std::vector<std::string> list = std::move(slots.tiles);
  const auto add = [&](std::string words) {
    if (!words.empty()) list.push_back(std::move(words));
  };
  add(rows_left_out(rows));
  for (const Misreading& misreading : kMisreadings) {
    if (explains(rows, [&](const WrongRow& wrong) { return answer(row_of(wrong), misreading); })) {
      list.emplace_back(misreading.words);
    }
  }
  add(neighbour_behind(rows));
  std::ranges::move(slots.others, std::back_inserter(list));
  return list;
}

std::vector<std::string_view> known_misreadings() {
  std::vector<std::string_view> list;
  for (const Misreading& misreading : kMisreadings) list.push_back(misreading.words);
  return list;
}

void name_likely_causes(ImplementationResult& result) {
  struct Candidates {
    Counterexample* found;
    std::vector<std::string> causes;
  };
  std::vector<Candidates> failures;
  std::map<std::string, int> explained;
  for (PropertyResult& property : result.properties) {
    if (!property.counterexample) continue;
    Counterexample& found = *property.counterexample;
    std::string of_call = cause_of_call(found, property.property);
    Candidates candidates{.found = &found, .causes = {}};
    if (of_call.empty()) {
      candidates.causes = misreadings_behind(evidence_of(found));
      std::string resembles = found.wrong_row ? resemblance(*found.wrong_row) : "";
      // A fault of rare tokens or lengths need not make all of the row that was found as wrong as its reading would.
      if (candidates.causes.empty() && resembles.empty() && found.wrong_row) {
        candidates.causes = misreadings_behind(std::span(&*found.wrong_row, 1));
      }
      if (!resembles.empty()) candidates.causes.push_back(std::move(resembles));
    } else {
      candidates.causes.push_back(std::move(of_call));
    }
    for (const std::string& cause : candidates.causes) ++explained[cause];
    failures.push_back(std::move(candidates));
  }
  for (const auto& [found, causes] : failures) {
    const auto best = std::ranges::max_element(causes, {}, [&](const std::string& cause) { return explained[cause]; });
    found->likely_cause = best == causes.end() ? "" : *best;
  }
}

}  // namespace kvwitness::harness
