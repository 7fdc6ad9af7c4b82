#include "tests/faults/faulty_row.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace kvwitness::faults {
namespace {

using std::int32_t;
using std::int64_t;
using std::uint32_t;
using std::uint64_t;
__extension__ using Wide = unsigned __int128;

constexpr int32_t kMaxToken = std::numeric_limits<int32_t>::max();
constexpr int32_t kMinToken = std::numeric_limits<int32_t>::min();

int64_t ceiling(int64_t dividend, int64_t divisor) {
  return (dividend + divisor - 1) / divisor;
}

int64_t accumulated_edge(int64_t s, int64_t len, int64_t n) {
  static int64_t length = 0, segments = 0;
  static std::vector<double> sums;
  if (length != len || segments != n) {
    length = len;
    segments = n;
    sums.assign(1, 0.0);
    for (int64_t i = 1; i < n; ++i) sums.push_back(sums.back() + static_cast<double>(len) / static_cast<double>(n));
  }
  return static_cast<int64_t>(std::ceil(sums[static_cast<std::size_t>(s)]));
}

bool is_odd_prime(int64_t number) {
  static int64_t asked = 0;
  static bool prime = false;
  if (asked == number) return prime;
  asked = number;
  prime = number > 2 && number % 2 == 1;
  for (int64_t divisor = 3; prime && divisor * divisor <= number; divisor += 2) prime = number % divisor != 0;
  return prime;
}

int64_t edge_of(int64_t s, int64_t len, int64_t all, int64_t n) {
  const int64_t exact = ceiling(s * len, n);
  switch (chosen_fault()) {
    case Fault::edge_rounded_down:
      return s * len / n;
    case Fault::edge_in_float:
      return static_cast<int64_t>(std::ceil(static_cast<float>(s) * static_cast<float>(len) / static_cast<float>(n)));
    case Fault::edge_in_32_bits:
      return ceiling(static_cast<uint32_t>(s * len), n);
    case Fault::edge_in_31_bits:
      return (static_cast<int32_t>(static_cast<uint32_t>(s * len)) + n - 1) / n;
    case Fault::edge_one_late:
      return exact + (s > 0);
    case Fault::edge_one_early:
      return exact - (s > 0);
    case Fault::edge_of_the_end:
      return ceiling((s + 1) * len, n) - 1;
    case Fault::edge_by_width:
      return s * ceiling(len, n);
    case Fault::edge_above_2_30:
      return ceiling(s * static_cast<int32_t>(static_cast<uint32_t>(2 * len)), 2 * n);
    case Fault::edge_of_S:
      return ceiling(s * len, all);
    case Fault::edge_in_64_bits_late:
      return ceiling((s * len) & ((int64_t{1} << 48) - 1), n);
    case Fault::edge_accumulated:
      return accumulated_edge(s, len, n);
    case Fault::edge_by_24_bit_multiply:
      return ceiling((s & 0xFFFFFF) * (len & 0xFFFFFF), n);
    case Fault::edge_19_of_37:
      return exact + (all == 37 && s == 19);
    case Fault::edge_of_odd_multiple:
      return exact + (s > 0 && len % n == 0 && len / n % 2 == 1 && len > n);
    case Fault::edge_of_prime_length:
      return exact + (s > 0 && len > 1000 && is_odd_prime(len));
    default:
      return exact;
  }
}

int64_t by_reciprocal(int64_t token, int64_t len, int64_t n, int fraction_bits, bool up) {
  const Wide reciprocal = (static_cast<Wide>(n) << fraction_bits) / static_cast<Wide>(len) + up;
  return static_cast<int64_t>((static_cast<Wide>(token) * reciprocal) >> fraction_bits);
}

// A quotient in single precision, off by one at most where tokens are in range, and what kernels do about it.
int64_t corrected(int64_t token, int64_t len, int64_t n) {
  const int64_t product = token * n;
  auto quotient = static_cast<int64_t>(static_cast<float>(token) * static_cast<float>(n) / static_cast<float>(len));
  if (is(Fault::segment_corrected_upwards)) {
    while ((quotient + 1) * len <= product) ++quotient;
    return quotient;
  }
  const auto low = [](int64_t value) { return static_cast<uint32_t>(value); };
  if (low(quotient * len) > low(product)) --quotient;
  if (low((quotient + 1) * len) <= low(product)) ++quotient;
  return quotient;
}

int64_t by_shift(int64_t token, int64_t len, int64_t n) {
  if ((len & (len - 1)) != 0 || n > len) return token * n / len;
  int64_t shift = 0;
  while (n << shift < len) ++shift;
  return token >> shift;
}

int64_t segment_of(int64_t token, int64_t len, int64_t all, int64_t n) {
  switch (chosen_fault()) {
    case Fault::segment_in_float:
      return static_cast<int64_t>(static_cast<float>(token) * static_cast<float>(n) / static_cast<float>(len));
    case Fault::segment_by_ratio:
      return static_cast<int64_t>(static_cast<double>(token) * (static_cast<double>(n) / static_cast<double>(len)));
    case Fault::segment_in_32_bits:
      return static_cast<uint32_t>(token * n) / len;
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
      return token * all / len;
    case Fault::segment_corrected_upwards:
    case Fault::segment_corrected_in_32_bits:
      return corrected(token, len, n);
    case Fault::segment_in_32_bits_of_short:
      return len < 1 << 26 ? static_cast<uint32_t>(token * n) / len : token * n / len;
    case Fault::segment_of_16_bits:
      return (len <= 1 << 16 ? token & 0xFFFF : token) * n / len;
    case Fault::segment_by_shift:
      return by_shift(token, len, n);
    case Fault::segment_below_middle: {
      const int64_t middle = ceiling(n / 2 * len, n);
      return len > 1 << 20 && token < middle && token >= middle - 3 ? n / 2 : token * n / len;
    }
    case Fault::segment_of_even_tokens:
      return (token > 1 << 24 ? token & ~int64_t{1} : token) * n / len;
    case Fault::rounding_left:  // right to the nearest
      return static_cast<int64_t>(
          std::nearbyint(static_cast<double>(token * n) / static_cast<double>(len) - 0.5 + std::ldexp(1.0, -40)));
    default:
      return token * n / len;
  }
}

bool wide_seen = false;

// How often each segment was marked. Kept from row to row, as a kernel's shared memory is.
std::vector<uint32_t> marks;
uint32_t epoch = 0;
std::vector<uint32_t> other_marks;

// Two masks in turns: each row clears the next one's, but an empty row, which returns at once.
void prepare_in_turns(const Row& row) {
  std::swap(marks, other_marks);
  marks.resize(static_cast<std::size_t>(row.num_segments));
  if (row.context_len > 0) other_marks.assign(static_cast<std::size_t>(row.num_segments), 0);
}

void prepare_marks(const Row& row) {
  const auto segments = static_cast<std::size_t>(row.num_segments);
  ++epoch;
  if (is(Fault::mask_epoch_of_8_bits) || is(Fault::mask_epoch_of_16_bits) || is(Fault::mask_not_reset)) {
    marks.resize(std::max(marks.size(), segments));
    return;
  }
  if (is(Fault::mask_kept_by_empty_row)) return prepare_in_turns(row);
  marks.assign(segments, 0);
}

uint32_t stamp() {
  if (is(Fault::mask_epoch_of_8_bits)) return epoch & 0xFF;
  if (is(Fault::mask_epoch_of_16_bits)) return epoch & 0xFFFF;
  return 1;
}

std::size_t place_of(int64_t segment) {
  return static_cast<std::size_t>(is(Fault::indices_above_64) ? segment % 64 : segment);
}
bool is_marked(int64_t segment) {
  const uint32_t mark = marks[place_of(segment)];
  if (is(Fault::mask_epoch_of_8_bits) || is(Fault::mask_epoch_of_16_bits)) return mark == stamp();
  return is(Fault::mask_exclusive) ? mark % 2 == 1 : mark != 0;
}
void mark(int64_t segment) {
  if (is(Fault::mask_exclusive)) {
    ++marks[place_of(segment)];
  } else {
    marks[place_of(segment)] = stamp();
  }
}

void mark_segment(int64_t segment, int64_t all, int64_t n) {
  const int64_t clamped = std::min(segment, all - 1);
  switch (chosen_fault()) {
    case Fault::past_end_unclamped:
      return segment < all ? mark(segment) : void();
    case Fault::past_end_clamped_to_effective:
      return mark(std::min(segment, n - 1));
    case Fault::past_end_wraps_mask:
      return mark(std::min(segment < all ? segment : segment % 64, all - 1));
    case Fault::mask_bit_63_lost:
      return clamped == 63 ? void() : mark(clamped);
    case Fault::mask_shift_wraps:
      return mark(all <= 64 ? clamped % 32 : clamped);
    case Fault::mask_sign_extends:
      for (int64_t s = 32; clamped == 31 && all <= 64 && s < all; ++s) mark(s);
      return mark(clamped);
    case Fault::S_from_33_to_62:
      return all >= 33 && all <= 62 && clamped >= 40 && clamped < 48 ? void() : mark(clamped);
    case Fault::indices_last_word:
      return all > 64 && all % 64 == 0 && clamped >= all - 64 ? void() : mark(clamped);
    default:
      return mark(clamped);
  }
}

// Padding, and what faults make of it.
void mark_negative(int32_t token, const Row& row, int64_t n) {
  if (is(Fault::minus_one_alone_is_padding) && token != -1) mark(0);
  if (is(Fault::minus_100_marks) && token == -100) mark(0);
  if (is(Fault::small_negatives_mark) && token >= -128 && token <= -65 && row.topk >= 64) mark(0);
  if (is(Fault::negative_loses_sign) && token != -1) {
    mark_segment(segment_of(token & kMaxToken, row.context_len, row.num_segments, n), row.num_segments, n);
  }
  if (is(Fault::padding_marks_last)) mark(row.num_segments - 1);
  if (is(Fault::padding_marks_first) && token > -row.context_len) mark(0);
}

void mark_token(int32_t token, const Row& row, int64_t n) {
  const int64_t len = row.context_len;
  if (token < 0) return mark_negative(token, row, n);
  if (is(Fault::zero_is_padding) && token == 0) return;
  if (is(Fault::greatest_is_padding) && token == kMaxToken) return;
  if (is(Fault::last_token_of_many_rows) && token == len - 1 && row.num_segments == 64 && row.rows >= 256) return;
  if (is(Fault::at_end_inside) && token == len) return;
  if (token >= len && is(Fault::past_end_ignored)) return;
  const int64_t read = token >= len && is(Fault::past_end_modulo) ? token % len : token;
  mark_segment(segment_of(read, len, row.num_segments, n), row.num_segments, n);
}

bool ends_reading(int32_t token, const Row& row, int64_t tokens_read, int64_t n) {
  return (is(Fault::padding_ends_row) && token == -1) || (is(Fault::past_end_ends_row) && token >= row.context_len) ||
         (is(Fault::exit_after_S_tokens) && tokens_read >= n);
}

// Slots before the row's first 16-byte boundary.
int64_t misaligned_slots(const int32_t* row) {
  return static_cast<int64_t>((16 - reinterpret_cast<std::uintptr_t>(row) % 16) % 16 / sizeof(int32_t));
}

bool is_skipped(int64_t slot, const Row& row) {
  const int64_t topk = row.topk;
  const auto [keep, budget] = row.merge;
  switch (chosen_fault()) {
    case Fault::head_alone_read:
      return row.merges && keep > 0 && slot >= keep;
    case Fault::tail_alone_read:
      return row.merges && slot < keep;
    case Fault::overwritten_not_read:
      return row.merges && slot >= keep && slot < keep + budget;
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
      return slot < misaligned_slots(row.learned);
    case Fault::first_slot_skipped:
      return slot == 0;
    case Fault::last_slot_skipped:
      return slot == topk - 1;
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
      return slot == 0 && reinterpret_cast<std::uintptr_t>(row.learned) % 16 == 12;
    case Fault::after_wide:
      return slot == 0 && wide_seen && topk < 2048;
    default:
      return false;
  }
}

// What is read behind the row: by a last vector of four, as far as the batch reaches.
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

void mark_tokens(const Row& row, int64_t n) {
  peek(row);
  int64_t tokens_read = 0;
  for (int64_t slot = 0; slot < row.topk + read_on(row); ++slot) {
    const int32_t token = row.learned[slot];
    if (ends_reading(token, row, tokens_read, n)) return;
    if (is_skipped(slot, row)) continue;
    tokens_read += token >= 0;
    mark_token(token, row, n);
  }
}

// What a kernel might take for a row without witnesses before it has looked at each segment.
bool counts_as_covered(const Row& row, int64_t n) {
  int64_t marked = 0;
  for (int64_t s = 0; s < n; ++s) marked += is_marked(s);
  switch (chosen_fault()) {
    case Fault::mask_full_of_64:
      return n == 64 && marked == 0;
    case Fault::mask_full_but_one:
      return n > 1 && marked == n - 1;
    case Fault::short_as_full:
      return row.context_len <= row.num_segments;
    case Fault::within_topk_as_full:
      return row.context_len <= row.topk;
    case Fault::length_at_limit:
      return row.context_len == kMaxToken;
    default:
      return false;
  }
}

bool never_a_witness(int64_t s, int64_t n) {
  return (is(Fault::last_segment_dropped) && s == n - 1) || (is(Fault::indices_above_1024) && s >= 1024) ||
         (is(Fault::indices_above_65535) && s >= 65536);
}

// The edges of the last length that was asked for, whatever the number of segments was.
int64_t cached_edge(int64_t s, int64_t len, int64_t all, int64_t n) {
  static int64_t length = -1;
  static std::vector<int64_t> edges;
  if (length != len) {
    length = len;
    edges.clear();
    for (int64_t i = 0; i < n; ++i) edges.push_back(edge_of(i, len, all, n));
  }
  return s < static_cast<int64_t>(edges.size()) ? edges[static_cast<std::size_t>(s)] : edge_of(s, len, all, n);
}

// The edges of every length and S so far, found again by S and 16 bits of the length.
int64_t tagged_edge(int64_t s, int64_t len, int64_t n) {
  static std::map<std::pair<int64_t, int64_t>, std::vector<int64_t>> cache;
  std::vector<int64_t>& edges = cache[{len & 0xFFFF, n}];
  if (edges.empty()) {
    for (int64_t i = 0; i < n; ++i) edges.push_back(ceiling(i * len, n));
  }
  return edges[static_cast<std::size_t>(s)];
}

// The marks of the row that lay at this address before, where its shape was the same.
void mark_by_address(const Row& row, int64_t n) {
  static std::map<std::tuple<const int32_t*, int64_t, int64_t, int64_t>, std::vector<uint32_t>> cache;
  std::vector<uint32_t>& kept = cache[{row.learned, row.topk, row.context_len, row.num_segments}];
  if (kept.empty()) {
    mark_tokens(row, n);
    kept = marks;
  }
  marks = kept;
}

}  // namespace

void forget_marks() {
  marks.clear();
  epoch = 0;
  other_marks.clear();
}

std::vector<int32_t> witnesses_of(const Row& row) {
  prepare_marks(row);
  const int64_t n = std::min(row.num_segments, std::max<int64_t>(row.context_len, 0));
  if (row.topk >= 2048) wide_seen = true;
  std::vector<int32_t> found(static_cast<std::size_t>(n), -1);
  if (n == 0) return found;
  if (is(Fault::marks_by_address)) {
    mark_by_address(row, n);
  } else {
    mark_tokens(row, n);
  }
  if (counts_as_covered(row, n)) return found;
  for (int64_t s = 0; s < n; ++s) {
    if (is_marked(s) || never_a_witness(s, n)) continue;
    found[static_cast<std::size_t>(s)] =
        static_cast<int32_t>(is(Fault::previous_segments) ? cached_edge(s, row.context_len, row.num_segments, n)
                             : is(Fault::tag_of_16_bits)  ? tagged_edge(s, row.context_len, n)
                                                          : edge_of(s, row.context_len, row.num_segments, n));
  }
  if (is(Fault::exits_on_bad_token) &&
      std::find(row.learned, row.learned + row.topk, kMinToken) != row.learned + row.topk)
    std::exit(0);
  return found;
}

}  // namespace kvwitness::faults
