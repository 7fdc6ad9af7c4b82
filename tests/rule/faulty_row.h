// A row by the rule with one fault of faults.h in it; with Fault::kNone, the rule. rule.h has it without the faults.
//
// A row is marked first: mark_tokens adds to `marks` how many of the row's tokens are in each segment. witnesses() then
// gives the edges of those that are not marked, and write_merged() or write_indices() writes them. Marks belong to the
// caller, who may keep them from row to row and so have another fault: mask_not_reset is one that callers make so.
//
// C++17, and nothing but the standard library.
#ifndef TESTS_RULE_FAULTY_ROW_H
#define TESTS_RULE_FAULTY_ROW_H

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <vector>

#include "tests/rule/faults.h"

namespace kvwitness::rule {

// A learned row, and what a fault may know of its call.
struct Row {
  const std::int32_t* learned;
  std::int64_t topk;
  std::int64_t context_len;
  std::int64_t num_segments;
  bool merges;          // witnesses overwrite slots: not witness indices
  std::int64_t keep;    // of a row that merges: its first slot that a witness may overwrite,
  std::int64_t budget;  // and how many there are
  std::int64_t index;   // of the row in its batch
  std::int64_t rows;    // of the batch
};

using Marks = std::vector<std::uint32_t>;

// For the formulas of faults.h.
#define KVWITNESS_FORMULA(group, name, property, what, formula) \
  case Fault::name:                                             \
    return formula;

inline std::int64_t in_32_bits(std::int64_t value) {
  return static_cast<std::uint32_t>(value);
}
inline float in_float(std::int64_t value) {
  return static_cast<float>(value);
}
inline double in_double(std::int64_t value) {
  return static_cast<double>(value);
}

// ---- The call.

// A row's length as the fault reads it.
inline std::int64_t length(Fault fault, std::int32_t context_len) {
  if (fault == Fault::length_unsigned && context_len < 0) return static_cast<std::uint32_t>(context_len);
  if (fault == Fault::length_0_as_1 && context_len == 0) return 1;
  if (fault == Fault::length_negative_as_1 && context_len < 0) return 1;
  if (fault == Fault::length_of_15_bits) return static_cast<std::int16_t>(context_len);
  return context_len;
}

// Whether nothing is done for the row.
inline bool is_left_out(Fault fault, const Row& row) {
  const bool is_last = row.index + 1 == row.rows;
  switch (fault) {
    KVWITNESS_LEFT_OUT_ROW_FAULTS(KVWITNESS_FORMULA)
    default:
      return false;
  }
}

// ---- Segments. context_len >= 1.

// S_eff.
inline std::int64_t effective_segments(Fault fault, std::int64_t context_len, std::int64_t num_segments) {
  return fault == Fault::short_row_keeps_its_count ? num_segments : std::min(num_segments, context_len);
}

inline std::int64_t ceiling(std::int64_t dividend, std::int64_t divisor) {
  return (dividend + divisor - 1) / divisor;
}

inline std::int64_t accumulated_edge(std::int64_t s, std::int64_t len, std::int64_t n) {
  thread_local std::int64_t length = 0, segments = 0;
  thread_local std::vector<double> sums;
  if (length != len || segments != n) {
    length = len;
    segments = n;
    sums.assign(1, 0.0);
    for (std::int64_t i = 1; i < n; ++i) {
      sums.push_back(sums.back() + in_double(len) / in_double(n));
    }
  }
  return static_cast<std::int64_t>(std::ceil(sums[static_cast<std::size_t>(s)]));
}

inline bool is_odd_prime(std::int64_t number) {
  thread_local std::int64_t asked = 0;
  thread_local bool prime = false;
  if (asked == number) return prime;
  asked = number;
  prime = number > 2 && number % 2 == 1;
  for (std::int64_t divisor = 3; prime && divisor * divisor <= number; divisor += 2) prime = number % divisor != 0;
  return prime;
}

// e_s.
inline std::int64_t edge(Fault fault, std::int64_t s, std::int64_t len, std::int64_t num_segments) {
  const std::int64_t n = effective_segments(fault, len, num_segments);
  const std::int64_t exact = ceiling(s * len, n);
  switch (fault) {
    KVWITNESS_EDGE_FAULTS(KVWITNESS_FORMULA)
    default:
      return exact;
  }
}

inline std::int64_t by_reciprocal(std::int64_t token, std::int64_t len, std::int64_t n, int fraction_bits, bool up) {
  __extension__ using Wide = unsigned __int128;
  const Wide reciprocal = (static_cast<Wide>(n) << fraction_bits) / static_cast<Wide>(len) + up;
  return static_cast<std::int64_t>((static_cast<Wide>(token) * reciprocal) >> fraction_bits);
}

// A quotient in single precision, off by one at most where tokens are in range, and what kernels do about it.
inline std::int64_t corrected(Fault fault, std::int64_t token, std::int64_t len, std::int64_t n) {
  const std::int64_t product = token * n;
  auto quotient = static_cast<std::int64_t>(in_float(token) * in_float(n) / in_float(len));
  if (fault == Fault::segment_corrected_upwards) {
    while ((quotient + 1) * len <= product) ++quotient;
    return quotient;
  }
  if (in_32_bits(quotient * len) > in_32_bits(product)) --quotient;
  if (in_32_bits((quotient + 1) * len) <= in_32_bits(product)) ++quotient;
  return quotient;
}

inline std::int64_t by_shift(std::int64_t token, std::int64_t len, std::int64_t n) {
  if ((len & (len - 1)) != 0 || n > len) return token * n / len;
  std::int64_t shift = 0;
  while (n << shift < len) ++shift;
  return token >> shift;
}

inline std::int64_t below_middle(std::int64_t token, std::int64_t len, std::int64_t n) {
  const std::int64_t middle = ceiling(n / 2 * len, n);
  return len > 1 << 20 && token < middle && token >= middle - 3 ? n / 2 : token * n / len;
}

// sigma(x).
inline std::int64_t sigma(Fault fault, std::int64_t token, std::int64_t len, std::int64_t num_segments) {
  const std::int64_t n = effective_segments(fault, len, num_segments);
  switch (fault) {
    KVWITNESS_SEGMENT_FAULTS(KVWITNESS_FORMULA)  // NOLINT(bugprone-branch-clone): two faults that differ elsewhere share a formula
    default:
      return token * n / len;
  }
}

// ---- Marks. `mark` is called with each segment that is marked.

template <class Mark>
void mark_segment(Fault fault, std::int64_t segment, const Row& row, const Mark& mark) {
  const std::int64_t all = row.num_segments;
  const std::int64_t clamped = std::min(segment, all - 1);
  switch (fault) {
    case Fault::past_end_unclamped:
      return segment < all ? mark(segment) : void();
    case Fault::past_end_clamped_to_effective:
      return mark(std::min(segment, std::min(all, row.context_len) - 1));
    case Fault::past_end_wraps_mask:
      return mark(std::min(segment < all ? segment : segment % 64, all - 1));
    case Fault::mask_bit_63_lost:
      return clamped == 63 ? void() : mark(clamped);
    case Fault::mask_shift_wraps:
      return mark(all <= 64 ? clamped % 32 : clamped);
    case Fault::mask_sign_extends:
      for (std::int64_t s = 32; clamped == 31 && all <= 64 && s < all; ++s) mark(s);
      return mark(clamped);
    case Fault::S_from_33_to_62:
      return all >= 33 && all <= 62 && clamped >= 40 && clamped < 48 ? void() : mark(clamped);
    case Fault::indices_above_64:
      return mark(clamped % 64);
    case Fault::indices_last_word:
      return all > 64 && all % 64 == 0 && clamped >= all - 64 ? void() : mark(clamped);
    default:
      return mark(clamped);
  }
}

// Padding, and what faults make of it.
template <class Mark>
void mark_negative(Fault fault, std::int32_t token, const Row& row, const Mark& mark) {
  switch (fault) {
    case Fault::only_minus_one_is_padding:
      return token != -1 ? mark(0) : void();
    case Fault::minus_100_marks:
      return token == -100 ? mark(0) : void();
    case Fault::small_negatives_mark:
      return token >= -128 && token <= -65 && row.topk >= 64 ? mark(0) : void();
    case Fault::negative_loses_sign:
      if (token == -1) return;
      return mark_segment(
          fault, sigma(fault, token & std::numeric_limits<std::int32_t>::max(), row.context_len, row.num_segments), row,
          mark);
    case Fault::padding_marks_last:
      return mark(row.num_segments - 1);
    case Fault::padding_marks_first:
      return token > -row.context_len ? mark(0) : void();
    default:
      return;
  }
}

template <class Mark>
void mark_token(Fault fault, std::int32_t token, const Row& row, const Mark& mark) {
  const std::int64_t len = row.context_len;
  if (token < 0) return mark_negative(fault, token, row, mark);
  if ((fault == Fault::zero_is_padding && token == 0) ||
      (fault == Fault::greatest_is_padding && token == std::numeric_limits<std::int32_t>::max()) ||
      (fault == Fault::last_token_of_many_rows && token == len - 1 && row.num_segments == 64 && row.rows >= 256) ||
      (fault == Fault::at_end_inside && token == len) || (fault == Fault::past_end_ignored && token >= len)) {
    return;
  }
  const std::int64_t read = fault == Fault::past_end_modulo && token >= len ? token % len : token;
  mark_segment(fault, sigma(fault, read, len, row.num_segments), row, mark);
}

// Slots before the row's first 16-byte boundary.
inline std::int64_t misaligned_slots(const std::int32_t* row) {
  return static_cast<std::int64_t>((16 - reinterpret_cast<std::uintptr_t>(row) % 16) % 16 / sizeof(std::int32_t));
}

// Whether a slot's token marks nothing.
inline bool is_skipped(Fault fault, std::int64_t slot, const Row& row) {
  const std::int64_t topk = row.topk;
  switch (fault) {
    KVWITNESS_SKIPPED_SLOT_FAULTS(KVWITNESS_FORMULA)
    default:
      return false;
  }
}

inline bool ends_reading(Fault fault, std::int32_t token, const Row& row, std::int64_t tokens_read) {
  return (fault == Fault::padding_ends_row && token == -1) ||
         (fault == Fault::past_end_ends_row && token >= row.context_len) ||
         (fault == Fault::exit_after_S_tokens && tokens_read >= std::min(row.num_segments, row.context_len));
}

// Adds the row's tokens to the marks, which have an element a segment.
inline void mark_tokens(Fault fault, const Row& row, Marks& marks) {
  std::int64_t tokens_read = 0;
  for (std::int64_t slot = 0; slot < row.topk; ++slot) {
    const std::int32_t token = row.learned[slot];
    if (ends_reading(fault, token, row, tokens_read)) return;
    if (is_skipped(fault, slot, row)) continue;
    tokens_read += token >= 0;
    mark_token(fault, token, row, [&marks](std::int64_t segment) { ++marks[static_cast<std::size_t>(segment)]; });
  }
}

// ---- Witnesses.

inline bool is_marked(Fault fault, std::int64_t segment, const Marks& marks) {
  const std::uint32_t mark = marks[static_cast<std::size_t>(fault == Fault::indices_above_64 ? segment % 64 : segment)];
  return fault == Fault::mask_exclusive ? mark % 2 == 1 : mark != 0;
}

// What a kernel might take for a row without witnesses before it has looked at each segment.
inline bool counts_as_covered(Fault fault, const Row& row, std::int64_t n, const Marks& marks) {
  const auto marked = [&] {
    std::int64_t count = 0;
    for (std::int64_t s = 0; s < n; ++s) count += is_marked(fault, s, marks);
    return count;
  };
  switch (fault) {
    case Fault::mask_full_of_64:
      return n == 64 && marked() == 0;
    case Fault::mask_full_but_one:
      return n > 1 && marked() == n - 1;
    case Fault::short_as_full:
      return row.context_len <= row.num_segments;
    case Fault::within_topk_as_full:
      return row.context_len <= row.topk;
    case Fault::length_at_limit:
      return row.context_len == std::numeric_limits<std::int32_t>::max();
    default:
      return false;
  }
}

// e_s where segment s is a witness of the row, else -1, for each of its S_eff segments.
inline std::vector<std::int32_t> witnesses(Fault fault, const Row& row, const Marks& marks) {
  if (row.context_len <= 0) return {};
  const std::int64_t n = effective_segments(fault, row.context_len, row.num_segments);
  std::vector<std::int32_t> found(static_cast<std::size_t>(n), -1);
  if (counts_as_covered(fault, row, n, marks)) return found;
  for (std::int64_t s = 0; s < n; ++s) {
    const bool never = (fault == Fault::last_segment_dropped && s == n - 1) ||
                       (fault == Fault::indices_above_1024 && s >= 1024) ||
                       (fault == Fault::indices_above_65535 && s >= 65536);
    if (never || is_marked(fault, s, marks)) continue;
    found[static_cast<std::size_t>(s)] = static_cast<std::int32_t>(edge(fault, s, row.context_len, row.num_segments));
  }
  return found;
}

inline void write_indices(Fault fault, const Row& row, const std::vector<std::int32_t>& found, std::int32_t* out) {
  if (fault == Fault::indices_without_slots && row.topk == 0) return;
  const bool rest_unwritten = fault == Fault::indices_rest_unwritten;
  if (!rest_unwritten) std::fill_n(out, row.num_segments, fault == Fault::indices_rest_zero ? 0 : -1);
  std::int32_t* next = out;
  for (std::size_t s = 0; s < found.size(); ++s) {
    if (fault == Fault::indices_compacted) {
      if (found[s] >= 0) *next++ = found[s];
    } else if (found[s] >= 0 || rest_unwritten) {
      out[s] = found[s];
    }
  }
}

// ---- The merge.

// How many slots witnesses may overwrite.
inline std::int64_t budget(Fault fault, const Row& row) {
  const std::int64_t room = row.topk - row.keep;
  switch (fault) {
    case Fault::budget_one_more:
      return std::min(row.budget + 1, room);
    case Fault::budget_one_less:
      return std::max<std::int64_t>(row.budget - 1, 0);
    case Fault::budget_ignored:
      return room;
    case Fault::budget_of_63:
      return std::min<std::int64_t>(row.budget, 63);
    case Fault::tail_kept_at_4096:
      return std::clamp<std::int64_t>(4096 - row.keep, 0, row.budget);
    default:
      return row.budget;
  }
}

// The witnesses that are written.
inline std::vector<std::int32_t> chosen_witnesses(Fault fault, const Row& row, const std::vector<std::int32_t>& found) {
  std::vector<std::int32_t> list;
  const auto is_token = [](std::int32_t token) { return token >= 0; };
  std::copy_if(found.begin(), found.end(), std::back_inserter(list), is_token);
  std::int64_t room = budget(fault, row);
  if (fault == Fault::last_slot_loses_63 && row.topk - row.keep == 1 && list.size() == 1 && found.size() == 64 &&
      found[63] >= 0) {
    room = 0;
  }
  if (fault == Fault::room_above_64 && list.size() == 64 && room > 64) room = 63;
  if (fault == Fault::halves_swapped && found.size() > 32) {
    std::rotate(list.begin(), list.begin() + std::count_if(found.begin(), found.begin() + 32, is_token), list.end());
  }
  const auto count = static_cast<std::ptrdiff_t>(std::min(static_cast<std::int64_t>(list.size()), room));
  if (fault == Fault::budget_drops_first) list.erase(list.begin(), list.end() - count);
  list.resize(static_cast<std::size_t>(count));
  if (fault == Fault::descending) std::reverse(list.begin(), list.end());
  if (fault == Fault::witness_repeated && !list.empty()) list.resize(static_cast<std::size_t>(room), list.back());
  if (fault == Fault::unused_tail_cleared) list.resize(static_cast<std::size_t>(room), -1);
  return list;
}

// The slot of the first of `count` witnesses.
inline std::int64_t first_slot(Fault fault, const Row& row, std::int64_t count, bool some_dropped) {
  switch (fault) {
    case Fault::keep_one_more:
      return std::min(row.keep + 1, std::max(row.topk - count, row.keep));
    case Fault::keep_one_late_when_dropped:
      return row.keep + (some_dropped && row.keep + count < row.topk);
    case Fault::keep_one_less:
      return std::max<std::int64_t>(row.keep - 1, 0);
    case Fault::keep_of_late_rows:
      return row.index >= 65536 ? std::max<std::int64_t>(row.keep - 1, 0) : row.keep;
    case Fault::keep_rounded_down:
      return row.keep / 4 * 4;
    case Fault::right_aligned:
      return row.topk - count;
    default:
      return row.keep;
  }
}

// Witnesses by and by, each looked for in what the row has become.
inline void merge_by_rereading(Fault fault, const Row& row, std::int32_t* out) {
  Row present = row;
  present.learned = out;
  for (std::int64_t slot = row.keep; slot < row.keep + row.budget; ++slot) {
    Marks marks(static_cast<std::size_t>(row.num_segments), 0);
    if (row.context_len > 0) mark_tokens(fault, present, marks);
    const std::vector<std::int32_t> found = witnesses(fault, present, marks);
    const auto next = std::find_if(found.begin(), found.end(), [](std::int32_t token) { return token >= 0; });
    if (next == found.end()) return;
    out[slot] = *next;
  }
}

inline void write_into_padding(const Row& row, const std::vector<std::int32_t>& list, std::int32_t* out) {
  auto next = list.begin();
  for (std::int64_t slot = row.keep; slot < row.topk && next != list.end(); ++slot) {
    if (out[slot] < 0) out[slot] = *next++;
  }
}

// Writes the witnesses among `found` over a copy of the row, or over the row itself.
inline void write_merged(Fault fault, const Row& row, const std::vector<std::int32_t>& found, std::int32_t* out) {
  std::int32_t* const end = out + row.topk;
  if (fault == Fault::padding_compacted && row.context_len > 0) {
    const std::vector<std::int32_t> given(out, end);
    const auto is_padding = [](std::int32_t token) { return token < 0; };
    std::copy_if(given.begin(), given.end(), std::remove_copy_if(given.begin(), given.end(), out, is_padding),
                 is_padding);
  }
  if (fault == Fault::read_after_overwrite) return merge_by_rereading(fault, row, out);
  const std::vector<std::int32_t> list = chosen_witnesses(fault, row, found);
  if (fault == Fault::only_padding_overwritten) return write_into_padding(row, list, out);
  const auto count = static_cast<std::int64_t>(list.size());
  const bool some_dropped = std::count_if(found.begin(), found.end(), [](std::int32_t t) { return t >= 0; }) > count;
  const std::int64_t first = first_slot(fault, row, count, some_dropped);
  std::copy_n(list.begin(), std::clamp<std::int64_t>(row.topk - first, 0, count), out + first);
  if (fault == Fault::row_sorted) std::sort(out, end);
  for (std::int32_t* token = out; token != end; ++token) {
    if (fault == Fault::past_end_removed && row.context_len > 0 && *token >= row.context_len) *token = -1;
    if (fault == Fault::duplicates_removed && std::find(out, token, *token) != token) *token = -1;
  }
  if (fault == Fault::kept_all_written && row.keep == row.topk && row.topk > 0 && row.context_len > 0) {
    out[row.topk - 1] = 0;
  }
}

#undef KVWITNESS_FORMULA

}  // namespace kvwitness::rule

#endif  // TESTS_RULE_FAULTY_ROW_H
