// The properties of the rows that one call leaves. None needs the expected answer: each checks its own statement, by
// the formula of the rule.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "properties/rules/judged_rows.h"
#include "properties/rules/judges.h"

namespace kvwitness::harness::judges {
namespace {

std::string at(const JudgedRow& row, const Written& written) {
  return row.name() + ", slot " + std::to_string(written.slot) + ": " + std::to_string(written.token);
}

std::int64_t edge_by_formula(const JudgedRow& row, std::int64_t segment) {
  return (segment * row.context_len + row.effective_segments - 1) / row.effective_segments;
}

// What coverage and the gap bound are about: a row with a context whose learned tokens (padding aside) all lie in it.
bool within_context(const JudgedRow& row) {
  return !row.is_empty() &&
         std::ranges::all_of(row.learned, [&](std::int32_t token) { return token < row.context_len; });
}

// Whether the merged row must cover every segment: no witness dropped, and each segment with a token in an overwritten
// slot has one in a slot that was not.
bool must_cover(JudgedRows& rows, const JudgedRow& row) {
  const std::int64_t witnesses = rows.witness_count(row);
  const auto [keep, budget] = rows.merge();
  if (witnesses > budget) {
    return false;
  }
  std::vector<char> kept(static_cast<std::size_t>(row.effective_segments), 0);
  const auto overwritten = [&](std::size_t slot) {
    const auto position = static_cast<std::int64_t>(slot);
    return position >= keep && position < keep + witnesses;
  };
  for (std::size_t slot = 0; slot < row.learned.size(); ++slot) {
    if (row.learned[slot] >= 0 && !overwritten(slot)) {
      kept[static_cast<std::size_t>(row.segment_of(row.learned[slot]))] = 1;
    }
  }
  for (std::size_t slot = 0; slot < row.learned.size(); ++slot) {
    if (row.learned[slot] >= 0 && overwritten(slot) &&
        kept[static_cast<std::size_t>(row.segment_of(row.learned[slot]))] == 0) {
      return false;
    }
  }
  return true;
}

// "1 witness", "2 witnesses".
std::string counted(std::int64_t witnesses) {
  return std::to_string(witnesses) + (witnesses == 1 ? " witness" : " witnesses");
}

// How many witnesses the result must show, and shows.
std::optional<Verdict> wrong_count(JudgedRows& rows, const JudgedRow& row, const char* why) {
  const std::int64_t witnesses = rows.witness_count(row);
  const std::int64_t wanted = rows.merges() ? std::min(witnesses, rows.merge().budget) : witnesses;
  const std::int64_t shown = std::ssize(rows.written(row));
  if (shown == wanted) {
    return std::nullopt;
  }
  return broken(row.name() + ": " + counted(shown) + ", not " + std::to_string(wanted) + "; " + why);
}

// The first slot for which `meant` holds of the learned token and whose value was lost other than to a witness.
template <typename Meant>
std::optional<Verdict> lost(JudgedRows& rows, const JudgedRow& row, const char* name, Meant meant) {
  if (!rows.merges()) {
    return std::nullopt;
  }
  const auto [keep, budget] = rows.merge();
  for (const Written& written : rows.written(row)) {
    const std::int32_t learned = row.learned[static_cast<std::size_t>(written.slot)];
    const bool to_a_witness = written.slot >= keep && written.slot < keep + budget && row.in_context(written.token);
    if (meant(learned) && !to_a_witness) {
      return broken(at(row, written) + " replaced the " + name + " " + std::to_string(learned) + " and is no witness",
                    {row.index, written.slot, learned, written.token});
    }
  }
  return std::nullopt;
}

// Whether padding that was misread can be why a row has a wrong number of witnesses; if not, that belongs to other
// properties. Padding that marks takes witnesses away, at most one for each negative value. Padding that hides the tokens
// behind it adds the witnesses of their segments.
bool misread_padding_explains(JudgedRows& rows, const JudgedRow& row) {
  const auto segments = static_cast<std::size_t>(row.effective_segments);
  std::vector<char> shown(segments, 0), marked_before(segments, 0);
  for (const Written& written : rows.written(row)) {
    if (row.in_context(written.token)) {
      shown[static_cast<std::size_t>(row.segment_of(written.token))] = 1;
    }
  }
  std::vector<std::int32_t> negatives;
  for (const std::int32_t token : row.learned) {
    if (token < 0) {
      negatives.push_back(token);
    } else if (negatives.empty() && !row.is_empty()) {
      const std::int64_t segment = std::min(row.segment_of(token), row.num_segments - 1);
      if (segment < row.effective_segments) {
        marked_before[static_cast<std::size_t>(segment)] = 1;
      }
    }
  }
  std::ranges::sort(negatives);
  const auto values = std::ranges::distance(negatives.begin(), std::ranges::unique(negatives).begin());
  const std::span<const char> occupied = rows.occupied(row);
  std::int64_t taken_away = 0, added = 0;
  for (std::size_t s = 0; s < segments; ++s) {
    taken_away += occupied[s] == 0 && shown[s] == 0 ? 1 : 0;
    added += occupied[s] != 0 && shown[s] != 0 ? 1 : 0;
    if (occupied[s] != 0 && shown[s] != 0 && marked_before[s] != 0) {
      return false;  // a token that stands before all padding marks it
    }
  }
  const std::int64_t dropped =
      rows.merges() ? std::max<std::int64_t>(0, rows.witness_count(row) - rows.merge().budget) : 0;
  return added > 0 ? taken_away <= dropped + added : taken_away <= dropped + values;
}

}  // namespace

std::optional<Verdict> round_trip(JudgedRows& rows, const JudgedRow& row) {
  for (const Written& written : rows.written(row)) {
    if (!row.in_context(written.token)) {
      return broken(at(row, written) + " lies in no segment, so it is no edge");
    }
    const std::int64_t segment = row.segment_of(written.token);
    const std::int64_t wanted = rows.merges() ? segment : written.slot;
    if (segment != wanted) {
      const std::string where = " lies in segment " + std::to_string(segment) + ", not in " + std::to_string(wanted);
      return wanted < row.effective_segments
                 ? broken(at(row, written) + where,
                          {row.index, written.slot, edge_by_formula(row, wanted), written.token})
                 : broken(at(row, written) + where, {row.index, written.slot, -1, written.token});
    }
    if (written.token > 0 && row.segment_of(written.token - 1) == segment) {
      return broken(at(row, written) + " is not the first token of segment " + std::to_string(segment),
                    {row.index, written.slot, edge_by_formula(row, segment), written.token});
    }
  }
  return Verdict::holds();
}

std::optional<Verdict> disjointness(JudgedRows& rows, const JudgedRow& row) {
  std::vector<std::int32_t> tokens;
  for (const Written& written : rows.written(row)) {
    if (written.token >= 0) {
      tokens.push_back(written.token);
    }
  }
  std::ranges::sort(tokens);
  for (std::size_t slot = 0; !tokens.empty() && slot < row.learned.size(); ++slot) {
    const std::int32_t token = row.learned[slot];
    if (token >= tokens.front() && token <= tokens.back() && std::ranges::binary_search(tokens, token)) {
      return broken(row.name() + ": the witness " + std::to_string(token) + " is a learned token too, in slot " +
                    std::to_string(slot));
    }
  }
  return Verdict::holds();
}

std::optional<Verdict> distinctness(JudgedRows& rows, const JudgedRow& row) {
  std::vector<std::int32_t> tokens;
  for (const Written& written : rows.written(row)) {
    tokens.push_back(written.token);
  }
  std::ranges::sort(tokens);
  const auto twice = std::ranges::adjacent_find(tokens);
  return twice == tokens.end() ? Verdict::holds()
                               : broken(row.name() + ": the witness " + std::to_string(*twice) + " occurs twice");
}

std::optional<Verdict> causality(JudgedRows& rows, const JudgedRow& row) {
  for (const Written& written : rows.written(row)) {
    if (!row.in_context(written.token)) {
      return broken(at(row, written) + " is outside [0, " + std::to_string(std::max<std::int64_t>(0, row.context_len)) +
                    ")");
    }
  }
  return Verdict::holds();
}

std::optional<Verdict> coverage(JudgedRows& rows, const JudgedRow& row) {
  if (!within_context(row)) {
    return std::nullopt;
  }
  const bool wanted = !rows.merges() || must_cover(rows, row);
  std::vector<char> covered(static_cast<std::size_t>(row.effective_segments), 0);
  const auto cover = [&](std::span<const std::int32_t> tokens) {
    for (const std::int32_t token : tokens) {
      if (row.in_context(token)) {
        covered[static_cast<std::size_t>(row.segment_of(token))] = 1;
      }
    }
  };
  cover(row.result);
  if (!rows.merges()) {
    cover(row.learned);
  }
  const auto missed = std::ranges::find(covered, 0);
  if ((missed == covered.end()) == wanted) {
    return Verdict::holds();
  }
  return wanted ? broken(row.name() + ": no token of the result lies in segment " +
                         std::to_string(missed - covered.begin()) +
                         ", though nothing was dropped and nothing that covered it was overwritten")
                : broken(row.name() +
                         ": the result covers every segment, though a witness was dropped or a segment lost its tokens "
                         "to the merge");
}

std::optional<Verdict> gap_bound(JudgedRows& rows, const JudgedRow& row) {
  if (!within_context(row) || (rows.merges() && !must_cover(rows, row))) {
    return std::nullopt;
  }
  std::vector<std::int32_t> selected;
  const auto select = [&](std::span<const std::int32_t> tokens) {
    std::ranges::copy_if(tokens, std::back_inserter(selected),
                         [&](std::int32_t token) { return row.in_context(token); });
  };
  select(row.result);
  if (!rows.merges()) {
    select(row.learned);
  }
  std::ranges::sort(selected);
  const std::int64_t bound = 2 * ((row.context_len + row.effective_segments - 1) / row.effective_segments) - 2;
  std::int64_t previous = -1;
  const auto too_long = [&](std::int64_t token) {
    const std::int64_t gap = token - previous - 1;
    return gap <= bound
               ? std::optional<Verdict>{}
               : broken(row.name() + ": the " + std::to_string(gap) + " tokens behind " + std::to_string(previous) +
                        " are unselected, more than 2 * ceil(L / S_eff) - 2 = " + std::to_string(bound));
  };
  for (const std::int32_t token : selected) {
    if (auto verdict = too_long(token)) {
      return verdict;
    }
    previous = token;
  }
  const std::optional<Verdict> last = too_long(row.context_len);
  return last ? *last : Verdict::holds();
}

std::optional<Verdict> retention(JudgedRows& rows, const JudgedRow& row) {
  const auto keep = static_cast<std::size_t>(rows.merge().learned_keep);
  for (std::size_t slot = 0; slot < keep; ++slot) {
    if (row.result[slot] != row.learned[slot]) {
      return broken(row.name() + ": slot " + std::to_string(slot) + " lies in the kept prefix of " +
                        std::to_string(keep) + " and changed from " + std::to_string(row.learned[slot]) + " to " +
                        std::to_string(row.result[slot]),
                    {row.index, static_cast<std::int64_t>(slot), row.learned[slot], row.result[slot]});
    }
  }
  return Verdict::holds();
}

std::optional<Verdict> budget(JudgedRows& rows, const JudgedRow& row) {
  const auto [keep, budget] = rows.merge();
  std::int64_t next = keep;
  for (const Written& written : rows.written(row)) {
    const std::int32_t learned = row.learned[static_cast<std::size_t>(written.slot)];
    if (written.slot != next || written.slot >= keep + budget) {
      return broken(row.name() + ": slot " + std::to_string(written.slot) + " changed from " + std::to_string(learned) +
                        " to " + std::to_string(written.token) + "; the changed slots must be one run from " +
                        std::to_string(keep) + " on, at most " + std::to_string(budget) + " long",
                    {row.index, written.slot, learned, written.token});
    }
    ++next;
  }
  return Verdict::holds();
}

std::optional<Verdict> order(JudgedRows& rows, const JudgedRow& row) {
  const std::span<const Written> written = rows.written(row);
  const Written* previous = nullptr;
  for (const Written& next : written) {
    if (!row.in_context(next.token)) {
      continue;  // no witness: causality and the budget have their say
    }
    if (previous != nullptr && previous->token > next.token) {
      return broken(at(row, next) + " stands behind " + std::to_string(previous->token) + "; witnesses ascend");
    }
    previous = &next;
  }
  // The witnesses that found room are the first ones. Said only where some were dropped, and where those that are there
  // are witnesses of the row: what else is wrong belongs to other properties.
  if (!rows.merges() || rows.witness_count(row) <= rows.merge().budget || std::ssize(written) != rows.merge().budget ||
      written.empty()) {
    return Verdict::holds();
  }
  const std::span<const char> occupied = rows.occupied(row);
  const auto is_witness = [&](const Written& shown) {
    return row.in_context(shown.token) && occupied[static_cast<std::size_t>(row.segment_of(shown.token))] == 0;
  };
  if (!std::ranges::all_of(written, is_witness)) {
    return Verdict::holds();
  }
  const auto last = static_cast<std::size_t>(row.segment_of(written.back().token));
  const auto unoccupied = std::ranges::count(occupied.first(last + 1), 0);
  return unoccupied == std::ssize(written)
             ? Verdict::holds()
             : broken(row.name() + ": " + counted(std::ssize(written)) + " up to segment " + std::to_string(last) +
                      ", of which " + std::to_string(unoccupied) +
                      " are unoccupied; those that are dropped must be the last");
}

std::optional<Verdict> padding(JudgedRows& rows, const JudgedRow& row) {
  const auto is_padding = [](std::int32_t token) { return token < 0; };
  if (std::ranges::none_of(row.learned, is_padding)) {
    return std::nullopt;
  }
  if (auto verdict = lost(rows, row, "padding", is_padding)) {
    return verdict;
  }
  const std::optional<Verdict> count = wrong_count(rows, row, "a negative entry marks no segment");
  return count && misread_padding_explains(rows, row) ? *count : Verdict::holds();
}

std::optional<Verdict> empty_row(JudgedRows& rows, const JudgedRow& row) {
  if (!row.is_empty()) {
    return std::nullopt;
  }
  const std::span<const Written> written = rows.written(row);
  if (written.empty()) {
    return Verdict::holds();
  }
  const std::int32_t wanted = rows.merges() ? row.learned[static_cast<std::size_t>(written[0].slot)] : -1;
  return broken(at(row, written[0]) + ", but an empty row has no witness",
                {row.index, written[0].slot, wanted, written[0].token});
}

std::optional<Verdict> short_row(JudgedRows& rows, const JudgedRow& row) {
  if (row.is_empty() || row.context_len >= row.num_segments) {
    return std::nullopt;
  }
  // Each token is its own segment, so the witnesses are the tokens that the row lacks.
  std::vector<char> present(static_cast<std::size_t>(row.context_len), 0);
  for (const std::int32_t token : row.learned) {
    if (row.in_context(token)) {
      present[static_cast<std::size_t>(token)] = 1;
    }
  }
  std::vector<std::int32_t> wanted(row.learned.begin(), row.learned.end());
  if (!rows.merges()) {
    wanted.assign(row.result.size(), -1);
  }
  const auto [keep, budget] = rows.merge();
  std::int64_t merged = 0;
  for (std::int32_t token = 0; token < row.context_len; ++token) {
    if (present[static_cast<std::size_t>(token)] != 0) {
      continue;
    }
    if (!rows.merges()) {
      wanted[static_cast<std::size_t>(token)] = token;
    } else if (merged < budget) {
      wanted[static_cast<std::size_t>(keep + merged++)] = token;
    }
  }
  return compare_rows(wanted, row.result, std::ssize(wanted),
                      row.name() + ": in a row shorter than S the witnesses are the tokens that it lacks", row.index);
}

std::optional<Verdict> out_of_range(JudgedRows& rows, const JudgedRow& row) {
  const auto is_out_of_range = [&](std::int32_t token) { return token >= 0 && token >= row.context_len; };
  if (row.is_empty() || std::ranges::none_of(row.learned, is_out_of_range)) {
    return std::nullopt;
  }
  if (auto verdict = lost(rows, row, "token past the context's end", is_out_of_range)) {
    return verdict;
  }
  if (row.effective_segments == row.num_segments) {
    for (const Written& written : rows.written(row)) {
      if (row.in_context(written.token) && row.segment_of(written.token) == row.num_segments - 1) {
        return broken(at(row, written) +
                      " is a witness of the last segment, which a token past the context's end marks");
      }
    }
  }
  const std::optional<Verdict> count =
      wrong_count(rows, row, "a token past the context's end marks the last segment, or none where S_eff < S");
  return count ? *count : Verdict::holds();
}

}  // namespace kvwitness::harness::judges
