// The faults of the rule itself: every way in which a row's result can be wrong that is neither a matter of the call's
// buffers, nor of its process, nor of what came before it. One table for all that plants faults: the plug-ins of
// tests/faults, the in-process implementation of tests/properties and the programs of fuzz. faulty_row.h has the code.
// Each is a mistake that a kernel engineer makes, or one made up to slip past the generators.
//
// C++17, and nothing but the standard library.
#ifndef TESTS_RULE_FAULTS_H
#define TESTS_RULE_FAULTS_H

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

namespace kvwitness::rule {

// X(group, fault, the property that must find it, what it does, its formula). kRare: so few calls show it that the cases
// of every property are needed. The formula takes the place of the rule's own in the function of faulty_row.h that each
// list is of, where its variables are explained; the faults of the last list have code of their own there.
// clang-format off

// edge(): e_s.
#define KVWITNESS_EDGE_FAULTS(X) \
  X(kCalls, edge_rounded_down, "round_trip", "floor(s * L / S) where the edge is the ceiling", s * len / n) \
  X(kCalls, edge_in_float, "round_trip", "the edge's quotient in single precision", \
    static_cast<std::int64_t>(std::ceil(in_float(s) * in_float(len) / in_float(n)))) \
  X(kCalls, edge_in_32_bits, "round_trip", "s * L wraps at 2^32", ceiling(in_32_bits(s * len), n)) \
  X(kCalls, edge_in_31_bits, "oracle_equality", "s * L goes negative at 2^31", (static_cast<std::int32_t>(in_32_bits(s * len)) + n - 1) / n) \
  X(kCalls, edge_one_late, "round_trip", "every edge but the first is one token late", exact + (s > 0)) \
  X(kCalls, edge_one_early, "round_trip", "every edge but the first is one token early", exact - (s > 0)) \
  X(kCalls, edge_of_the_end, "round_trip", "the last token of a segment instead of the first", ceiling((s + 1) * len, n) - 1) \
  X(kCalls, edge_by_width, "round_trip", "s * ceil(L / S), as if segments were equally wide", s * ceiling(len, n)) \
  X(kCalls, edge_above_2_30, "round_trip", "2 * L in 32 bits, wrong only above 2^30", ceiling(s * static_cast<std::int32_t>(in_32_bits(2 * len)), 2 * n)) \
  X(kCalls, edge_of_S, "short_row", "edges by S where a short row has S_eff", ceiling(s * len, num_segments)) \
  X(kCalls, edge_in_64_bits_late, "oracle_equality", "s * L wraps at 2^48: only with very many segments and long contexts", \
    ceiling((s * len) & ((std::int64_t{1} << 48) - 1), n)) \
  X(kCalls, edge_accumulated, "round_trip", "L / S is added up in double precision, and the sum rounded up", accumulated_edge(s, len, n)) \
  X(kCalls, edge_by_24_bit_multiply, "round_trip", "s * L by a multiply of 24-bit factors", ceiling((s & 0xFFFFFF) * (len & 0xFFFFFF), n)) \
  X(kRare, edge_19_of_37, "oracle_equality", "a wrong entry in a table: S = 37, segment 19", exact + (num_segments == 37 && s == 19)) \
  X(kCalls, edge_of_odd_multiple, "round_trip", "one late where L is an odd multiple of S", \
    exact + (s > 0 && len % n == 0 && len / n % 2 == 1 && len > n)) \
  X(kRare, edge_of_prime_length, "round_trip", "one late where L is a prime above 1,000", exact + (s > 0 && len > 1000 && is_odd_prime(len)))

// sigma(): the segment of a token.
#define KVWITNESS_SEGMENT_FAULTS(X) \
  X(kCalls, segment_in_float, "oracle_equality", "the token's quotient in single precision", \
    static_cast<std::int64_t>(in_float(token) * in_float(n) / in_float(len))) \
  X(kCalls, segment_by_ratio, "oracle_equality", "x * (S / L) in double precision: the ratio is rounded first", \
    static_cast<std::int64_t>(in_double(token) * (in_double(n) / in_double(len)))) \
  X(kCalls, segment_in_32_bits, "oracle_equality", "x * S wraps at 2^32", in_32_bits(token * n) / len) \
  X(kCalls, segment_by_width, "oracle_equality", "x / ceil(L / S), as if segments were equally wide", token / ceiling(len, n)) \
  X(kCalls, segment_rounded, "oracle_equality", "the quotient is rounded to the nearest", (token * n + len / 2) / len) \
  X(kCalls, segment_by_reciprocal_32, "oracle_equality", "a reciprocal of 32 fraction bits, rounded up", by_reciprocal(token, len, n, 32, true)) \
  X(kCalls, segment_by_reciprocal_52, "oracle_equality", "a reciprocal of 52 fraction bits, rounded up", by_reciprocal(token, len, n, 52, true)) \
  X(kCalls, segment_by_reciprocal_60, "oracle_equality", "a reciprocal of 60 fraction bits, rounded up: right for nearly all tokens", \
    by_reciprocal(token, len, n, 60, true)) \
  X(kCalls, segment_by_reciprocal_low, "oracle_equality", "a reciprocal of 60 fraction bits, rounded down: exact multiples are lost", \
    by_reciprocal(token, len, n, 60, false)) \
  X(kCalls, segment_in_24_bits, "oracle_equality", "a 24-bit multiply drops the token's upper bits", (token & 0xFFFFFF) * n / len) \
  X(kCalls, segment_of_S, "short_row", "sigma by S where a short row has S_eff", token * num_segments / len) \
  X(kCalls, segment_corrected_upwards, "oracle_equality", "a quotient in single precision, corrected only upwards", corrected(fault, token, len, n)) \
  X(kCalls, segment_corrected_in_32_bits, "oracle_equality", "a quotient in single precision, corrected by products that wrap at 2^32", \
    corrected(fault, token, len, n)) \
  X(kCalls, segment_in_32_bits_of_short, "out_of_range", "x * S wraps at 2^32 where L is below 2^26: right for tokens in range", \
    (len < 1 << 26 ? in_32_bits(token * n) : token * n) / len) \
  X(kCalls, segment_of_16_bits, "out_of_range", "tokens are kept in 16 bits where L is at most 2^16: right for tokens in range", \
    (len <= 1 << 16 ? token & 0xFFFF : token) * n / len) \
  X(kCalls, segment_by_shift, "oracle_equality", "a shift where L is a power of two, whatever S is", by_shift(token, len, n)) \
  X(kRare, segment_below_middle, "oracle_equality", "the three tokens below the middle edge count as above it where L is above 2^20", \
    below_middle(token, len, n)) \
  X(kCalls, segment_of_even_tokens, "oracle_equality", "tokens above 2^24 lose their lowest bit, as in single precision", \
    (token > 1 << 24 ? token & ~std::int64_t{1} : token) * n / len)

// is_skipped(): whether a slot's token marks nothing.
#define KVWITNESS_SKIPPED_SLOT_FAULTS(X) \
  X(kCalls, only_head_read, "oracle_equality", "tokens from learned_keep on mark nothing", row.merges && row.keep > 0 && slot >= row.keep) \
  X(kCalls, only_tail_read, "oracle_equality", "tokens below learned_keep mark nothing", row.merges && slot < row.keep) \
  X(kCalls, overwritten_not_read, "oracle_equality", "tokens in the slots of the budget mark nothing", \
    row.merges && slot >= row.keep && slot < row.keep + row.budget) \
  X(kCalls, first_1024_read, "oracle_equality", "slots from 1,024 on mark nothing", slot >= 1024) \
  X(kCalls, first_2048_read, "oracle_equality", "slots from 2,048 on mark nothing", slot >= 2048) \
  X(kCalls, first_4096_read, "oracle_equality", "slots from 4,096 on mark nothing", slot >= 4096) \
  X(kRare, slot_1024_skipped, "oracle_equality", "only slot 1,024 marks nothing", slot == 1024) \
  X(kCalls, remainder_of_4_skipped, "oracle_equality", "the last topk % 4 slots mark nothing", slot >= topk - topk % 4) \
  X(kCalls, remainder_of_16_skipped, "oracle_equality", "the last topk % 16 slots of rows of 16 and more mark nothing", \
    topk >= 16 && slot >= topk - topk % 16) \
  X(kCalls, remainder_of_256_skipped, "oracle_equality", "the last topk % 256 slots of rows of 256 and more mark nothing", \
    topk >= 256 && slot >= topk - topk % 256) \
  X(kRare, middle_widths_truncated, "oracle_equality", "of rows of 129 to 191 slots the first 128 are read", \
    topk > 128 && topk < 192 && slot >= 128) \
  X(kCalls, misaligned_head_skipped, "oracle_equality", "the slots before the first 16-byte boundary mark nothing", \
    slot < misaligned_slots(row.learned)) \
  X(kCalls, first_slot_skipped, "oracle_equality", "slot 0 marks nothing", slot == 0) \
  X(kCalls, last_slot_skipped, "oracle_equality", "the last slot marks nothing", slot == topk - 1) \
  X(kCalls, lane_17_skipped, "oracle_equality", "of 32 slots in a wide row one marks nothing", topk >= 64 && slot % 32 == 17) \
  X(kCalls, every_second_token, "oracle_equality", "slots of odd number mark nothing in rows of 1,024 and more", topk >= 1024 && slot % 2 == 1) \
  X(kCalls, remainder_of_one_skipped, "oracle_equality", "the last slot marks nothing where topk % 32 is 1", topk % 32 == 1 && slot == topk - 1) \
  X(kRare, last_of_2051_skipped, "oracle_equality", "the last three slots mark nothing where topk is 2,051", topk == 2051 && slot >= 2048) \
  X(kRare, last_of_1023_skipped, "oracle_equality", "the last slot marks nothing where topk is 1,023", topk == 1023 && slot == topk - 1) \
  X(kCalls, first_8192_of_several_rows, "oracle_equality", "slots from 8,192 on mark nothing in two rows and more", slot >= 8192 && row.rows > 1) \
  X(kCalls, first_16384_read, "oracle_equality", "slots from 16,384 on mark nothing", slot >= 16384) \
  X(kCalls, slots_of_15_bits, "oracle_equality", "slots from 32,768 on mark nothing", slot >= 32768) \
  X(kRare, widths_1025_to_1535, "oracle_equality", "slots from 1,024 on mark nothing in these widths", topk < 1536 && slot >= 1024) \
  X(kRare, odd_tile_skipped, "oracle_equality", "the last 64 slots mark nothing where topk is an odd multiple of 64 above 64", \
    topk > 64 && topk % 128 == 64 && slot >= topk - 64) \
  X(kCalls, base_at_12_skipped, "oracle_equality", "the first slot marks nothing where its address is 12 modulo 16", \
    slot == 0 && misaligned_slots(row.learned) == 1) \
  X(kCalls, odd_last_slot_skipped, "oracle_equality", "the last slot marks nothing where topk is odd", topk % 2 == 1 && slot == topk - 1)

// is_left_out(): whether nothing is done for a row.
#define KVWITNESS_LEFT_OUT_ROW_FAULTS(X) \
  X(kCalls, rows_above_1024, "oracle_equality", "rows from 1,024 on are left out", row.index >= 1024) \
  X(kCalls, rows_above_1024_of_64, "oracle_equality", "rows from 1,024 on are left out where S is above 32", \
    row.index >= 1024 && row.num_segments > 32) \
  X(kCalls, rows_above_65535, "oracle_equality", "rows from 65,535 on are left out", row.index >= 65535) \
  X(kCalls, rows_of_65536, "oracle_equality", "nothing is done for a multiple of 65,536 rows", row.rows % 65536 == 0) \
  X(kCalls, rows_above_131072, "oracle_equality", "rows from 131,072 on are left out", row.index >= 131072) \
  X(kCalls, rows_of_16_bits, "oracle_equality", "the row's number wraps at 65,536", row.index >= 65536) \
  X(kCalls, odd_last_row, "oracle_equality", "the last row is left out where their number is odd and above one", \
    is_last && row.rows > 1 && row.rows % 2 == 1) \
  X(kCalls, wide_batch, "oracle_equality", "rows from 256 on are left out in rows of 512 slots and more", row.index >= 256 && row.topk >= 512) \
  X(kRare, rows_of_64, "oracle_equality", "the last row is left out where their number is a multiple of 64", is_last && row.rows % 64 == 0) \
  X(kRare, rows_41_to_200, "oracle_equality", "the last row is left out of batches of these sizes", is_last && row.rows > 40 && row.rows <= 200) \
  X(kRare, rows_above_256_without_slots, "oracle_equality", "rows from 256 on are left out where topk is 0", row.index >= 256 && row.topk == 0) \
  X(kRare, rows_4_to_32_of_512, "oracle_equality", "the last row is left out of such batches of wide rows", \
    is_last && row.rows >= 4 && row.rows <= 32 && row.topk >= 512)

#define KVWITNESS_OTHER_RULE_FAULTS(X) \
  /* Tokens past the context. */ \
  X(kCalls, past_end_unclamped, "out_of_range", "sigma is not clamped to S - 1, so such a token marks nothing") \
  X(kCalls, past_end_clamped_to_effective, "out_of_range", "clamped to S_eff - 1: marks the last token of a short row") \
  X(kCalls, past_end_ignored, "out_of_range", "marks nothing") \
  X(kCalls, past_end_removed, "out_of_range", "becomes -1 in the result") \
  X(kCalls, past_end_wraps_mask, "out_of_range", "marks bit sigma modulo 64") \
  X(kCalls, past_end_modulo, "out_of_range", "is taken modulo L") \
  X(kCalls, past_end_ends_row, "out_of_range", "nothing after it is read") \
  X(kCalls, at_end_inside, "out_of_range", "x = L marks nothing") \
  X(kCalls, greatest_is_padding, "oracle_equality", "INT32_MAX counts as padding") \
  /* Padding. */ \
  X(kCalls, zero_is_padding, "disjointness", "token 0 counts as padding") \
  X(kCalls, only_minus_one_is_padding, "padding", "other negative entries mark segment 0") \
  X(kCalls, negative_loses_sign, "padding", "a negative entry other than -1 loses its sign bit") \
  X(kCalls, padding_ends_row, "padding", "nothing after the first -1 is read") \
  X(kCalls, padding_marks_last, "padding", "-1 as an unsigned token marks the last segment") \
  X(kCalls, padding_marks_first, "padding", "-1 / L is 0: marks segment 0") \
  X(kRare, minus_100_marks, "oracle_equality", "the token -100 marks segment 0") \
  X(kCalls, small_negatives_mark, "oracle_equality", "tokens from -128 to -65 mark segment 0 in rows of 64 slots and more") \
  X(kCalls, padding_compacted, "budget", "padding moves to the row's end before the merge") \
  X(kCalls, only_padding_overwritten, "oracle_equality", "witnesses go only into padding slots") \
  /* Occupancy. */ \
  X(kCalls, read_after_overwrite, "oracle_equality", "a witness is written as soon as it is found, and a token it replaced no longer counts") \
  X(kRare, last_token_of_many_rows, "oracle_equality", "token L - 1 marks nothing where S is 64, in 256 rows and more") \
  /* The mask. */ \
  X(kCalls, mask_exclusive, "oracle_equality", "exclusive or: two tokens of a segment cancel") \
  X(kCalls, mask_bit_63_lost, "oracle_equality", "segment 63 is never marked") \
  X(kCalls, mask_shift_wraps, "oracle_equality", "segments from 32 on mark the lower half") \
  X(kCalls, mask_sign_extends, "oracle_equality", "segment 31 marks the whole upper half") \
  X(kCalls, mask_full_of_64, "oracle_equality", "the full mask of 64 segments is 1 << 64: an empty mask counts as full") \
  X(kCalls, mask_full_but_one, "coverage", "the early exit fires when one segment is still missing") \
  X(kCalls, exit_after_S_tokens, "oracle_equality", "the early exit counts tokens, not segments") \
  X(kCalls, last_segment_dropped, "oracle_equality", "the last segment is never a witness") \
  X(kCalls, S_from_33_to_62, "oracle_equality", "the middle of the upper half is lost where S is 33 to 62") \
  X(kCalls, mask_not_reset, "row_independence", "a row's marks stay for the next row") \
  /* Rows. */ \
  X(kCalls, keep_of_late_rows, "oracle_equality", "rows from 65,536 on keep one slot less") \
  X(kCalls, length_unsigned, "empty_row", "a negative length is a very large one") \
  X(kCalls, length_0_as_1, "empty_row", "a length of 0 is read as 1") \
  X(kCalls, length_negative_as_1, "empty_row", "a negative length is read as 1") \
  X(kCalls, length_of_15_bits, "oracle_equality", "the length is kept in 16 bits") \
  X(kCalls, short_as_full, "short_row", "a row with L <= S counts as covered") \
  X(kCalls, short_row_keeps_its_count, "short_row", "a row with L < S is cut into S segments") \
  X(kCalls, within_topk_as_full, "oracle_equality", "a row with L <= topk counts as covered") \
  X(kCalls, length_at_limit, "oracle_equality", "L = INT32_MAX counts as unknown: no witness") \
  /* The merge. */ \
  X(kCalls, keep_one_more, "oracle_equality", "the first witness goes to learned_keep + 1") \
  X(kCalls, keep_one_less, "retention", "the first witness goes to learned_keep - 1") \
  X(kCalls, keep_one_late_when_dropped, "budget", "the first witness goes to learned_keep + 1 where the budget drops one") \
  X(kRare, last_slot_loses_63, "oracle_equality", "the last free slot does not take segment 63 where only that one is missing") \
  X(kRare, room_above_64, "oracle_equality", "of 64 witnesses one is lost where the budget is above 64") \
  X(kCalls, budget_one_more, "budget", "one witness above the budget, where there is room") \
  X(kCalls, budget_one_less, "oracle_equality", "one witness below the budget") \
  X(kCalls, budget_ignored, "budget", "all witnesses are written, where there is room") \
  X(kCalls, budget_drops_first, "order", "what the budget drops are the first witnesses") \
  X(kCalls, descending, "order", "witnesses descend") \
  X(kCalls, right_aligned, "budget", "witnesses stand at the row's end") \
  X(kCalls, unused_tail_cleared, "budget", "slots of the budget without a witness become -1") \
  X(kCalls, duplicates_removed, "retention", "a repeated token becomes -1") \
  X(kCalls, row_sorted, "retention", "the result is sorted") \
  X(kCalls, witness_repeated, "distinctness", "the last witness fills the rest of the budget") \
  X(kCalls, kept_all_written, "retention", "learned_keep = topk still writes the last slot") \
  X(kCalls, halves_swapped, "order", "the witnesses of the segments from 32 on come first") \
  X(kCalls, keep_rounded_down, "retention", "learned_keep is rounded down to a multiple of 4") \
  X(kCalls, budget_of_63, "oracle_equality", "at most 63 witnesses are written") \
  X(kCalls, tail_kept_at_4096, "oracle_equality", "nothing is written from slot 4,096 on") \
  /* Witness indices. */ \
  X(kCalls, indices_above_64, "oracle_equality", "segments are marked modulo 64") \
  X(kCalls, indices_last_word, "oracle_equality", "the last word of marks is lost where S is a multiple of 64 above 64") \
  X(kCalls, indices_above_1024, "oracle_equality", "segments from 1,024 on are no witnesses") \
  X(kCalls, indices_above_65535, "oracle_equality", "segments from 65,536 on are no witnesses") \
  X(kCalls, indices_rest_unwritten, "oracle_equality", "entries from S_eff on are not written") \
  X(kCalls, indices_rest_zero, "oracle_equality", "entries without a witness are 0") \
  X(kCalls, indices_compacted, "oracle_equality", "witnesses stand at the front instead of at their segment") \
  X(kCalls, indices_without_slots, "oracle_equality", "topk = 0 returns before anything is written")
// clang-format on

#define KVWITNESS_RULE_FAULTS(X)   \
  KVWITNESS_EDGE_FAULTS(X)         \
  KVWITNESS_SEGMENT_FAULTS(X)      \
  KVWITNESS_SKIPPED_SLOT_FAULTS(X) \
  KVWITNESS_LEFT_OUT_ROW_FAULTS(X) \
  KVWITNESS_OTHER_RULE_FAULTS(X)

enum class Fault : std::uint16_t {
  kNone,
#define KVWITNESS_ENUMERATOR(group, fault, property, what, ...) fault,
  KVWITNESS_RULE_FAULTS(KVWITNESS_ENUMERATOR)
#undef KVWITNESS_ENUMERATOR
};

inline constexpr std::string_view kFaultNames[] = {"none",
#define KVWITNESS_NAME(group, fault, property, what, ...) #fault,
                                                   KVWITNESS_RULE_FAULTS(KVWITNESS_NAME)
#undef KVWITNESS_NAME
};

constexpr std::string_view name_of(Fault fault) {
  return kFaultNames[static_cast<std::size_t>(fault)];
}

// kNone where no fault of the rule has that name.
constexpr Fault find_fault(std::string_view name) {
  for (std::size_t index = 1; index < std::size(kFaultNames); ++index) {
    if (kFaultNames[index] == name) return static_cast<Fault>(index);
  }
  return Fault::kNone;
}

}  // namespace kvwitness::rule

#endif  // TESTS_RULE_FAULTS_H
