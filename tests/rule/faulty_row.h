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
    case Fault::rows_above_1024:
      return row.index >= 1024;
    case Fault::rows_above_1024_of_64:
      return row.index >= 1024 && row.num_segments > 32;
    case Fault::rows_above_65535:
      return row.index >= 65535;
    case Fault::rows_of_16_bits:
      return row.index >= 65536;
    case Fault::rows_above_131072:
      return row.index >= 131072;
    case Fault::rows_of_65536:
      return row.rows % 65536 == 0;
    case Fault::rows_above_256_without_slots:
      return row.index >= 256 && row.topk == 0;
    case Fault::wide_batch:
      return row.index >= 256 && row.topk >= 512;
    case Fault::odd_last_row:
      return is_last && row.rows > 1 && row.rows % 2 == 1;
    case Fault::rows_of_64:
      return is_last && row.rows % 64 == 0;
    case Fault::rows_41_to_200:
      return is_last && row.rows > 40 && row.rows <= 200;
    case Fault::rows_4_to_32_of_512:
      return is_last && row.rows >= 4 && row.rows <= 32 && row.topk >= 512;
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
      sums.push_back(sums.back() + static_cast<double>(len) / static_cast<double>(n));
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
  const auto low_32_bits = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  switch (fault) {
    case Fault::edge_rounded_down:
      return s * len / n;
    case Fault::edge_in_float:
      return static_cast<std::int64_t>(
          std::ceil(static_cast<float>(s) * static_cast<float>(len) / static_cast<float>(n)));
    case Fault::edge_in_32_bits:
      return ceiling(low_32_bits(s * len), n);
    case Fault::edge_in_31_bits:
      return (static_cast<std::int32_t>(low_32_bits(s * len)) + n - 1) / n;
    case Fault::edge_one_late:
      return exact + (s > 0);
    case Fault::edge_one_early:
      return exact - (s > 0);
    case Fault::edge_of_the_end:
      return ceiling((s + 1) * len, n) - 1;
    case Fault::edge_by_width:
      return s * ceiling(len, n);
    case Fault::edge_above_2_30:
      return ceiling(s * static_cast<std::int32_t>(low_32_bits(2 * len)), 2 * n);
    case Fault::edge_of_S:
      return ceiling(s * len, num_segments);
    case Fault::edge_in_64_bits_late:
      return ceiling((s * len) & ((std::int64_t{1} << 48) - 1), n);
    case Fault::edge_accumulated:
      return accumulated_edge(s, len, n);
    case Fault::edge_by_24_bit_multiply:
      return ceiling((s & 0xFFFFFF) * (len & 0xFFFFFF), n);
    case Fault::edge_19_of_37:
      return exact + (num_segments == 37 && s == 19);
    case Fault::edge_of_odd_multiple:
      return exact + (s > 0 && len % n == 0 && len / n % 2 == 1 && len > n);
    case Fault::edge_of_prime_length:
      return exact + (s > 0 && len > 1000 && is_odd_prime(len));
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
  auto quotient =
      static_cast<std::int64_t>(static_cast<float>(token) * static_cast<float>(n) / static_cast<float>(len));
  if (fault == Fault::segment_corrected_upwards) {
    while ((quotient + 1) * len <= product) ++quotient;
    return quotient;
  }
  const auto low = [](std::int64_t value) { return static_cast<std::uint32_t>(value); };
  if (low(quotient * len) > low(product)) --quotient;
  if (low((quotient + 1) * len) <= low(product)) ++quotient;
  return quotient;
}

inline std::int64_t by_shift(std::int64_t token, std::int64_t len, std::int64_t n) {
  if ((len & (len - 1)) != 0 || n > len) return token * n / len;
  std::int64_t shift = 0;
  while (n << shift < len) ++shift;
  return token >> shift;
}

// sigma(x).
inline std::int64_t sigma(Fault fault, std::int64_t token, std::int64_t len, std::int64_t num_segments) {
  const std::int64_t n = effective_segments(fault, len, num_segments);
  switch (fault) {
    case Fault::segment_in_float:
      return static_cast<std::int64_t>(static_cast<float>(token) * static_cast<float>(n) / static_cast<float>(len));
    case Fault::segment_by_ratio:
      return static_cast<std::int64_t>(static_cast<double>(token) *
                                       (static_cast<double>(n) / static_cast<double>(len)));
    case Fault::segment_in_32_bits:
      return static_cast<std::uint32_t>(token * n) / len;
    case Fault::segment_by_width:
      return token / ceiling(len, n);
    case Fault::segment_rounded:
      return (token * n + len / 2) / len;
    case Fault::segment_by_reciprocal_32:
      return by_reciprocal(token, len, n, 32, true);
    case Fault::segment_by_reciprocal_52:
      return by_reciprocal(token, len, n, 52, true);
    case Fault::segment_by_reciprocal_60:
      return by_reciprocal(token, len, n, 60, true);
    case Fault::segment_by_reciprocal_low:
      return by_reciprocal(token, len, n, 60, false);
    case Fault::segment_in_24_bits:
      return (token & 0xFFFFFF) * n / len;
    case Fault::segment_of_S:
      return token * num_segments / len;
    case Fault::segment_corrected_upwards:
    case Fault::segment_corrected_in_32_bits:
      return corrected(fault, token, len, n);
    case Fault::segment_in_32_bits_of_short:
      return len < 1 << 26 ? static_cast<std::uint32_t>(token * n) / len : token * n / len;
    case Fault::segment_of_16_bits:
      return (len <= 1 << 16 ? token & 0xFFFF : token) * n / len;
    case Fault::segment_by_shift:
      return by_shift(token, len, n);
    case Fault::segment_below_middle: {
      const std::int64_t middle = ceiling(n / 2 * len, n);
      return len > 1 << 20 && token < middle && token >= middle - 3 ? n / 2 : token * n / len;
    }
    case Fault::segment_of_even_tokens:
      return (token > 1 << 24 ? token & ~std::int64_t{1} : token) * n / len;
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

// Whether a slot's token marks nothing.
inline bool is_skipped(Fault fault, std::int64_t slot, const Row& row) {
  const std::int64_t topk = row.topk;
  const auto address = [&row] { return reinterpret_cast<std::uintptr_t>(row.learned); };
  switch (fault) {
    case Fault::only_head_read:
      return row.merges && row.keep > 0 && slot >= row.keep;
    case Fault::only_tail_read:
      return row.merges && slot < row.keep;
    case Fault::overwritten_not_read:
      return row.merges && slot >= row.keep && slot < row.keep + row.budget;
    case Fault::first_1024_read:
      return slot >= 1024;
    case Fault::first_2048_read:
      return slot >= 2048;
    case Fault::first_4096_read:
      return slot >= 4096;
    case Fault::first_8192_of_several_rows:
      return slot >= 8192 && row.rows > 1;
    case Fault::first_16384_read:
      return slot >= 16384;
    case Fault::slots_of_15_bits:
      return slot >= 32768;
    case Fault::last_of_1023_skipped:
      return topk == 1023 && slot == topk - 1;
    case Fault::slot_1024_skipped:
      return slot == 1024;
    case Fault::remainder_of_4_skipped:
      return slot >= topk - topk % 4;
    case Fault::remainder_of_16_skipped:
      return topk >= 16 && slot >= topk - topk % 16;
    case Fault::remainder_of_256_skipped:
      return topk >= 256 && slot >= topk - topk % 256;
    case Fault::middle_widths_truncated:
      return topk > 128 && topk < 192 && slot >= 128;
    case Fault::misaligned_head_skipped:
      return slot < static_cast<std::int64_t>((16 - address() % 16) % 16 / sizeof(std::int32_t));
    case Fault::first_slot_skipped:
      return slot == 0;
    case Fault::last_slot_skipped:
      return slot == topk - 1;
    case Fault::odd_last_slot_skipped:
      return topk % 2 == 1 && slot == topk - 1;
    case Fault::lane_17_skipped:
      return topk >= 64 && slot % 32 == 17;
    case Fault::every_second_token:
      return topk >= 1024 && slot % 2 == 1;
    case Fault::remainder_of_one_skipped:
      return topk % 32 == 1 && slot == topk - 1;
    case Fault::last_of_2051_skipped:
      return topk == 2051 && slot >= 2048;
    case Fault::widths_1025_to_1535:
      return topk < 1536 && slot >= 1024;
    case Fault::odd_tile_skipped:
      return topk > 64 && topk % 128 == 64 && slot >= topk - 64;
    case Fault::base_at_12_skipped:
      return slot == 0 && address() % 16 == 12;
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

}  // namespace kvwitness::rule

#endif  // TESTS_RULE_FAULTY_ROW_H
