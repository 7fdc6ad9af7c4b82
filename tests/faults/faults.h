// The zoo's table: every way in which the plug-in `faulty` can be wrong. One line a fault: its group, its name, the
// property that must find it, and what it does. Each is a mistake that a kernel engineer makes, or one made up to slip
// past the generators.
#ifndef TESTS_FAULTS_FAULTS_H
#define TESTS_FAULTS_FAULTS_H

#include <cstdint>
#include <string_view>

namespace kvwitness::faults {

enum class Group : std::uint8_t {
  kCalls,     // wrong on legal calls; malformed ones are not made of it
  kHistory,   // the same, and wrong only after certain other calls of the same process
  kLong,      // wrong, but a minimal counterexample takes long: hundreds of calls or many deadlines
  kRare,      // wrong on legal calls, so few that every property's cases are needed
  kDomain,    // wrong about the shapes that it serves
  kRefusals,  // promises the refusals, and gives some of them wrongly
  kChance,    // wrong by chance: found, but no case can hold what it depends on
  kCanary,    // right, but listed as wrong: the zoo must say that it was not found
  kRight,     // right, with a narrow domain: must pass
};

// clang-format off
#define KVWITNESS_FAULTS(X) \
  /* Edges. */ \
  X(kCalls, edge_rounded_down, "round_trip", "floor(s * L / S) where the edge is the ceiling") \
  X(kCalls, edge_in_float, "round_trip", "the edge's quotient in single precision") \
  X(kCalls, edge_in_32_bits, "round_trip", "s * L wraps at 2^32") \
  X(kCalls, edge_in_31_bits, "oracle_equality", "s * L goes negative at 2^31") \
  X(kCalls, edge_one_late, "round_trip", "every edge but the first is one token late") \
  X(kCalls, edge_one_early, "round_trip", "every edge but the first is one token early") \
  X(kCalls, edge_of_the_end, "round_trip", "the last token of a segment instead of the first") \
  X(kCalls, edge_by_width, "round_trip", "s * ceil(L / S), as if segments were equally wide") \
  X(kCalls, edge_above_2_30, "round_trip", "2 * L in 32 bits, wrong above 2^30 alone") \
  X(kCalls, edge_of_S, "short_row", "edges by S where a short row has S_eff") \
  X(kCalls, edge_in_64_bits_late, "oracle_equality", "s * L wraps at 2^48: only with very many segments and long contexts") \
  X(kCalls, edge_accumulated, "round_trip", "L / S is added up in double precision, and the sum rounded up") \
  X(kCalls, edge_by_24_bit_multiply, "round_trip", "s * L by a multiply of 24-bit factors") \
  X(kRare, edge_19_of_37, "oracle_equality", "a wrong entry in a table: S = 37, segment 19") \
  X(kCalls, edge_of_odd_multiple, "round_trip", "one late where L is an odd multiple of S") \
  X(kRare, edge_of_prime_length, "round_trip", "one late where L is a prime above 1,000") \
  /* The segment of a token. */ \
  X(kCalls, segment_in_float, "oracle_equality", "the token's quotient in single precision") \
  X(kCalls, segment_by_ratio, "oracle_equality", "x * (S / L) in double precision: the ratio is rounded first") \
  X(kCalls, segment_in_32_bits, "oracle_equality", "x * S wraps at 2^32") \
  X(kCalls, segment_by_width, "oracle_equality", "x / ceil(L / S), as if segments were equally wide") \
  X(kCalls, segment_rounded, "oracle_equality", "the quotient is rounded to the nearest") \
  X(kCalls, segment_by_reciprocal_32, "oracle_equality", "a reciprocal of 32 fraction bits, rounded up") \
  X(kCalls, segment_by_reciprocal_52, "oracle_equality", "a reciprocal of 52 fraction bits, rounded up") \
  X(kCalls, segment_by_reciprocal_60, "oracle_equality", "a reciprocal of 60 fraction bits, rounded up: right for nearly all tokens") \
  X(kCalls, segment_by_reciprocal_low, "oracle_equality", "a reciprocal of 60 fraction bits, rounded down: exact multiples are lost") \
  X(kCalls, segment_in_24_bits, "oracle_equality", "a 24-bit multiply drops the token's upper bits") \
  X(kCalls, segment_of_S, "short_row", "sigma by S where a short row has S_eff") \
  X(kCalls, segment_corrected_upwards, "oracle_equality", "a quotient in single precision, corrected upwards alone") \
  X(kCalls, segment_corrected_in_32_bits, "oracle_equality", "a quotient in single precision, corrected by products that wrap at 2^32") \
  X(kCalls, segment_in_32_bits_of_short, "out_of_range", "x * S wraps at 2^32 where L is below 2^26: right for tokens in range") \
  X(kCalls, segment_of_16_bits, "out_of_range", "tokens are kept in 16 bits where L is at most 2^16: right for tokens in range") \
  X(kCalls, segment_by_shift, "oracle_equality", "a shift where L is a power of two, whatever S is") \
  X(kRare, segment_below_middle, "oracle_equality", "the three tokens below the middle edge belong behind it where L is above 2^20") \
  X(kCalls, segment_of_even_tokens, "oracle_equality", "tokens above 2^24 lose their lowest bit, as in single precision") \
  /* Tokens past the context. */ \
  X(kCalls, past_end_unclamped, "out_of_range", "sigma is not clamped to S - 1, so such a token marks nothing") \
  X(kCalls, past_end_clamped_to_effective, "out_of_range", "clamped to S_eff - 1: marks the last token of a short row") \
  X(kCalls, past_end_ignored, "out_of_range", "marks nothing") \
  X(kCalls, past_end_removed, "out_of_range", "becomes -1 in the result") \
  X(kCalls, past_end_refused, "out_of_range", "the whole call is refused") \
  X(kCalls, past_end_wraps_mask, "out_of_range", "marks bit sigma modulo 64") \
  X(kCalls, past_end_modulo, "out_of_range", "is taken modulo L") \
  X(kCalls, past_end_ends_row, "out_of_range", "nothing behind it is read") \
  X(kCalls, at_end_inside, "out_of_range", "x = L alone marks nothing") \
  X(kCalls, greatest_is_padding, "oracle_equality", "INT32_MAX counts as padding") \
  /* Padding. */ \
  X(kCalls, zero_is_padding, "disjointness", "token 0 counts as padding") \
  X(kCalls, minus_one_alone_is_padding, "padding", "other negative entries mark segment 0") \
  X(kCalls, negative_loses_sign, "padding", "a negative entry other than -1 loses its sign bit") \
  X(kCalls, padding_ends_row, "padding", "nothing behind the first -1 is read") \
  X(kCalls, padding_marks_last, "padding", "-1 as an unsigned token marks the last segment") \
  X(kCalls, padding_marks_first, "padding", "-1 / L is 0: marks segment 0") \
  X(kRare, minus_100_marks, "oracle_equality", "the token -100 marks segment 0") \
  X(kCalls, small_negatives_mark, "oracle_equality", "tokens from -128 to -65 mark segment 0 in rows of 64 slots and more") \
  X(kCalls, padding_compacted, "budget", "padding moves to the row's end before the merge") \
  X(kCalls, padding_alone_overwritten, "oracle_equality", "witnesses go into padding slots alone") \
  /* Occupancy. */ \
  X(kCalls, head_alone_read, "oracle_equality", "tokens from learned_keep on mark nothing") \
  X(kCalls, tail_alone_read, "oracle_equality", "tokens below learned_keep mark nothing") \
  X(kCalls, overwritten_not_read, "oracle_equality", "tokens in the slots of the budget mark nothing") \
  X(kCalls, read_after_overwrite, "oracle_equality", "a witness is written as soon as it is found, and a token it replaced no longer counts") \
  X(kCalls, first_1024_read, "oracle_equality", "slots from 1,024 on mark nothing") \
  X(kCalls, first_2048_read, "oracle_equality", "slots from 2,048 on mark nothing") \
  X(kCalls, first_4096_read, "oracle_equality", "slots from 4,096 on mark nothing") \
  X(kRare, slot_1024_skipped, "oracle_equality", "slot 1,024 alone marks nothing") \
  X(kCalls, remainder_of_4_skipped, "oracle_equality", "the last topk % 4 slots mark nothing") \
  X(kCalls, remainder_of_16_skipped, "oracle_equality", "the last topk % 16 slots of rows of 16 and more mark nothing") \
  X(kCalls, remainder_of_256_skipped, "oracle_equality", "the last topk % 256 slots of rows of 256 and more mark nothing") \
  X(kRare, middle_widths_truncated, "oracle_equality", "of rows of 129 to 191 slots the first 128 are read") \
  X(kCalls, misaligned_head_skipped, "oracle_equality", "the slots before the first 16-byte boundary mark nothing") \
  X(kCalls, first_slot_skipped, "oracle_equality", "slot 0 marks nothing") \
  X(kCalls, last_slot_skipped, "oracle_equality", "the last slot marks nothing") \
  X(kCalls, lane_17_skipped, "oracle_equality", "of 32 slots in a wide row one marks nothing") \
  X(kCalls, neighbour_read, "oracle_equality", "a row's last vector reads on into what follows it, where something does") \
  X(kCalls, spare_read, "spare_poison", "a row's last vector reads on into the spare columns") \
  X(kCalls, every_second_token, "oracle_equality", "slots of odd number mark nothing in rows of 1,024 and more") \
  X(kCalls, remainder_of_one_skipped, "oracle_equality", "the last slot marks nothing where topk % 32 is 1") \
  X(kRare, last_of_2051_skipped, "oracle_equality", "the last three slots mark nothing where topk is 2,051") \
  X(kRare, last_of_1023_skipped, "oracle_equality", "the last slot marks nothing where topk is 1,023") \
  X(kCalls, first_8192_of_several_rows, "oracle_equality", "slots from 8,192 on mark nothing in two rows and more") \
  X(kCalls, first_16384_read, "oracle_equality", "slots from 16,384 on mark nothing") \
  X(kCalls, slots_of_15_bits, "oracle_equality", "slots from 32,768 on mark nothing") \
  X(kRare, widths_1025_to_1535, "oracle_equality", "slots from 1,024 on mark nothing in these widths") \
  X(kRare, odd_tile_skipped, "oracle_equality", "the last 64 slots mark nothing where topk is an odd multiple of 64 above 64") \
  X(kCalls, base_at_12_skipped, "oracle_equality", "the first slot marks nothing where its address is 12 modulo 16") \
  X(kCalls, row_rounded_down, "oracle_equality", "rows whose stride puts them off a 16-byte boundary are read from the boundary below") \
  X(kCalls, peeks_before, "spare_poison", "the element before the rows is read and not used") \
  X(kCalls, peeks_behind, "bounds", "the element behind the rows is read and not used") \
  X(kCalls, peeks_behind_lengths, "bounds", "the length behind the last one is read and not used") \
  X(kCalls, lengths_by_fours, "bounds", "the lengths are loaded four at a time, which their alignment does not allow") \
  X(kCalls, peeks_without_rows, "bounds", "the first length is read where there is no row") \
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
  X(kCalls, mask_kept_by_empty_row, "row_independence", "a row's marks stay for the next one where an empty row lies between") \
  X(kCalls, mask_epoch_of_8_bits, "oracle_equality", "marks are stamped with the row's number modulo 256") \
  X(kCalls, mask_epoch_of_16_bits, "oracle_equality", "marks are stamped with the row's number modulo 65,536") \
  /* Rows. */ \
  X(kCalls, rows_above_1024, "oracle_equality", "rows from 1,024 on are left out") \
  X(kCalls, rows_above_1024_of_64, "oracle_equality", "rows from 1,024 on are left out where S is above 32") \
  X(kCalls, rows_above_65535, "oracle_equality", "rows from 65,535 on are left out") \
  X(kCalls, rows_of_65536, "oracle_equality", "nothing is done for a multiple of 65,536 rows") \
  X(kCalls, rows_above_131072, "oracle_equality", "rows from 131,072 on are left out") \
  X(kCalls, keep_of_late_rows, "oracle_equality", "rows from 65,536 on keep one slot less") \
  X(kCalls, rows_of_16_bits, "oracle_equality", "the row's number wraps at 65,536") \
  X(kCalls, odd_last_row, "oracle_equality", "the last row is left out where their number is odd and above one") \
  X(kCalls, wide_batch, "oracle_equality", "rows from 256 on are left out in rows of 512 slots and more") \
  X(kRare, rows_of_64, "oracle_equality", "the last row is left out where their number is a multiple of 64") \
  X(kRare, rows_41_to_200, "oracle_equality", "the last row is left out of batches of these sizes") \
  X(kRare, rows_above_256_without_slots, "oracle_equality", "rows from 256 on are left out where topk is 0") \
  X(kRare, last_token_of_many_rows, "oracle_equality", "token L - 1 marks nothing where S is 64, in 256 rows and more") \
  X(kRare, rows_4_to_32_of_512, "oracle_equality", "the last row is left out of such batches of wide rows") \
  X(kRare, rows_in_a_band, "oracle_equality", "a length of 4,096 to 8,191 is left out in batches of 17 rows and more") \
  X(kCalls, rows_of_one_length, "oracle_equality", "the last row is left out of 5 and more rows of equal lengths") \
  X(kCalls, last_strided_row, "oracle_equality", "the last row is left out where there are spare columns") \
  X(kCalls, length_by_difference, "row_independence", "lengths are kept as differences of 16 bits") \
  X(kCalls, length_of_row_0, "row_independence", "row 0's length serves all rows") \
  X(kCalls, length_of_next_row, "row_independence", "the next row's length") \
  X(kCalls, length_unsigned, "empty_row", "a negative length is a very large one") \
  X(kCalls, length_0_as_1, "empty_row", "a length of 0 is read as 1") \
  X(kCalls, length_of_15_bits, "oracle_equality", "the length is kept in 16 bits") \
  X(kCalls, short_as_full, "short_row", "a row with L <= S counts as covered") \
  X(kCalls, within_topk_as_full, "oracle_equality", "a row with L <= topk counts as covered") \
  X(kCalls, length_at_limit, "oracle_equality", "L = INT32_MAX counts as unknown: no witness") \
  /* The merge. */ \
  X(kCalls, keep_one_more, "oracle_equality", "the first witness goes to learned_keep + 1") \
  X(kCalls, keep_one_less, "retention", "the first witness goes to learned_keep - 1") \
  X(kCalls, keep_of_16_bits, "oracle_equality", "learned_keep wraps at 65,536") \
  X(kRare, last_slot_loses_63, "oracle_equality", "the only slot left does not take segment 63, alone missing") \
  X(kRare, room_above_64, "oracle_equality", "of 64 witnesses one is lost where the budget is above 64") \
  X(kCalls, budget_one_more, "budget", "one witness above the budget, where there is room") \
  X(kCalls, budget_one_less, "oracle_equality", "one witness below the budget") \
  X(kCalls, budget_ignored, "budget", "all witnesses are written, where there is room") \
  X(kCalls, budget_of_32_bits, "oracle_equality", "the budget is kept in 32 bits") \
  X(kCalls, budget_overflows, "oracle_equality", "learned_keep + max_replacements wraps") \
  X(kCalls, budget_drops_first, "order", "what the budget drops are the first witnesses") \
  X(kCalls, descending, "order", "witnesses descend") \
  X(kCalls, right_aligned, "budget", "witnesses stand at the row's end") \
  X(kCalls, unused_tail_cleared, "budget", "slots of the budget without a witness become -1") \
  X(kCalls, duplicates_removed, "retention", "a repeated token becomes -1") \
  X(kCalls, row_sorted, "retention", "the result is sorted") \
  X(kCalls, witness_repeated, "distinctness", "the last witness fills the rest of the budget") \
  X(kCalls, keep_below_zero, "oracle_equality", "scatter with topk < S writes nothing") \
  X(kCalls, kept_all_written, "retention", "learned_keep = topk still writes the last slot") \
  X(kCalls, empty_row_unwritten, "empty_row", "apply does not copy an empty row") \
  X(kCalls, in_place_left, "oracle_equality", "apply in place changes nothing") \
  X(kCalls, in_place_read_late, "oracle_equality", "apply in place reads slot learned_keep after writing it") \
  X(kCalls, off_clears, "oracle_equality", "scatter with S = 0 pads the row's last slot") \
  X(kCalls, off_refused, "refusal", "scatter with S = 0 is refused") \
  X(kCalls, topk_refused, "refusal", "learned_keep = topk is refused") \
  X(kCalls, halves_swapped, "order", "the witnesses of the segments from 32 on come first") \
  X(kCalls, keep_rounded_down, "retention", "learned_keep is rounded down to a multiple of 4") \
  X(kCalls, budget_of_the_batch, "row_independence", "all rows share one budget") \
  X(kCalls, budget_of_63, "oracle_equality", "at most 63 witnesses are written") \
  X(kCalls, covered_row_unwritten, "oracle_equality", "apply does not copy a row that has no witness") \
  X(kCalls, prefix_unwritten, "retention", "apply does not copy the slots below learned_keep") \
  X(kCalls, tail_kept_at_4096, "oracle_equality", "nothing is written from slot 4,096 on") \
  X(kCalls, no_rows_refused, "oracle_equality", "a call without rows is refused") \
  X(kCalls, no_slots_refused, "oracle_equality", "a call without slots is refused") \
  X(kCalls, no_budget_refused, "oracle_equality", "a budget of 0 is refused") \
  X(kCalls, large_budget_refused, "oracle_equality", "a budget above topk is refused") \
  X(kCalls, status_counts, "oracle_equality", "the status is the number of rows") \
  /* Witness indices. */ \
  X(kCalls, indices_above_64, "oracle_equality", "segments are marked modulo 64") \
  X(kCalls, indices_last_word, "oracle_equality", "the last word of marks is lost where S is a multiple of 64 above 64") \
  X(kCalls, indices_above_1024, "oracle_equality", "segments from 1,024 on are no witnesses") \
  X(kCalls, indices_on_the_stack, "bounds", "8 bytes a segment are taken from the stack") \
  X(kCalls, indices_above_65535, "oracle_equality", "segments from 65,536 on are no witnesses") \
  X(kCalls, indices_rest_unwritten, "oracle_equality", "entries from S_eff on are not written") \
  X(kCalls, indices_rest_zero, "oracle_equality", "entries without a witness are 0") \
  X(kCalls, indices_compacted, "oracle_equality", "witnesses stand at the front instead of at their segment") \
  X(kCalls, indices_without_slots, "oracle_equality", "topk = 0 returns before anything is written") \
  /* Placement. */ \
  X(kCalls, spare_written, "bounds", "padding behind the row is cleared up to a multiple of 4 columns") \
  X(kCalls, stride_ignored, "stride_widening", "rows are taken as packed") \
  X(kCalls, stride_of_31_bits, "oracle_equality", "row * stride goes negative at 2^31") \
  X(kCalls, stride_of_32_bits, "oracle_equality", "row * stride wraps at 2^32") \
  X(kCalls, base_rounded_down, "oracle_equality", "a base off a 16-byte boundary is read from the boundary below") \
  X(kCalls, written_before, "bounds", "a witness goes to the element before the output") \
  X(kCalls, written_behind, "bounds", "the element behind the output becomes -1") \
  X(kCalls, read_behind, "bounds", "the element behind the last row is read") \
  X(kCalls, input_written, "bounds", "apply marks the learned row's padding") \
  X(kCalls, lengths_written, "bounds", "negative lengths become 0 in the input") \
  X(kCalls, input_restored, "bounds", "apply marks the learned row and restores it") \
  X(kCalls, behind_restored, "bounds", "the element behind the output is written and restored") \
  X(kCalls, packed_too, "bounds", "strided rows are written packed as well") \
  /* Endings. */ \
  X(kCalls, crash_without_slots, "bounds", "topk = 0 divides by zero") \
  X(kCalls, crash_on_many_segments, "bounds", "marks on the stack: too many segments overrun it") \
  X(kLong, endless_on_short_row, "bounds", "a short row whose tokens are all missing never ends") \
  X(kCalls, exits_on_bad_token, "bounds", "INT32_MIN ends the process") \
  X(kCalls, throws_on_long_context, "bounds", "a length above 2^30 throws") \
  X(kCalls, throws_a_number, "bounds", "a token of INT32_MAX throws an integer") \
  X(kRare, batch_on_the_stack, "bounds", "the batch is copied to the stack, however large") \
  X(kLong, endless_at_2_20, "bounds", "a length of 2^20 never ends") \
  X(kLong, stops_itself, "bounds", "S = 1 stops the process") \
  X(kCalls, forks_and_returns, "bounds", "seven rows fork, and both processes return") \
  X(kCalls, kills_its_group, "bounds", "topk = 0 kills the process group") \
  X(kRare, unjoined_thread, "oracle_equality", "a thread that nobody waits for serves the last of nine rows and more") \
  /* History. */ \
  X(kHistory, first_call, "oracle_equality", "the first call of a process finds its tables empty") \
  X(kLong, every_97th_call, "oracle_equality", "every 97th call is wrong") \
  X(kLong, call_of_8_bits, "oracle_equality", "calls are numbered modulo 256: the 256th finds the mark of none") \
  X(kHistory, stale_after_larger, "oracle_equality", "a buffer is cleared as far as this call needs, and read further") \
  X(kRare, previous_segments, "oracle_equality", "edges are cached by the length alone") \
  X(kHistory, previous_lengths, "oracle_equality", "lengths are cached by their address and number") \
  X(kHistory, graph_replayed, "oracle_equality", "a call with the arguments of the one before repeats its result") \
  X(kHistory, after_refusable, "oracle_equality", "a row of no length makes the next call skip its first row") \
  X(kLong, every_997th_call, "oracle_equality", "every 997th call is wrong") \
  X(kHistory, tag_of_16_bits, "oracle_equality", "edges are cached by S and the lower half of the length") \
  X(kHistory, marks_by_address, "oracle_equality", "marks are cached by the row's address and its shape") \
  X(kHistory, after_wide, "oracle_equality", "after a topk of 2,048 and more the first slot of every row marks nothing") \
  X(kHistory, rounding_left, "oracle_equality", "a length above 2^30 leaves the rounding mode changed for the next call") \
  X(kHistory, lengths_one_call_late, "oracle_equality", "lengths of the call before, where it had as many rows") \
  X(kHistory, scratch_of_first_call, "oracle_equality", "rows beyond those of the first call are left out") \
  /* Chance. */ \
  X(kChance, random_miss, "oracle_equality", "one call in a hundred loses a witness, as a sequence of its own decides") \
  /* Refusals. */ \
  X(kRefusals, refusals_in_other_order, "refusal", "S is checked before the number of learned elements") \
  X(kRefusals, refusals_keep_first, "refusal", "learned_keep is checked before S") \
  X(kRefusals, refusals_stride_first, "refusal", "the stride is checked before S") \
  X(kRefusals, refusals_negative_last, "refusal", "negative counts are checked after everything else") \
  X(kRefusals, refusals_of_one_code, "refusal", "every refusal is a rows mismatch") \
  X(kRefusals, refused_after_writing, "refused_writes_nothing", "the output is cleared before the checks") \
  X(kRefusals, refused_by_row, "refused_writes_nothing", "learned_keep is checked when the first row is done") \
  X(kRefusals, keep_above_accepted, "refusal", "learned_keep = topk + 1 is accepted") \
  X(kRefusals, segments_65_accepted, "refusal", "S = 65 is accepted") \
  X(kRefusals, segments_0_accepted, "refusal", "S = 0 is accepted by apply as if it were off") \
  X(kRefusals, segments_of_32_bits, "refusal", "S is checked in 32 bits") \
  X(kRefusals, negative_budget_accepted, "refusal", "a negative budget is a budget of 0") \
  X(kRefusals, negative_stride_accepted, "refusal", "a negative stride of a single row is accepted") \
  X(kRefusals, product_wraps, "refusal", "rows * topk wraps at 2^64") \
  X(kRefusals, more_learned_accepted, "refusal", "more learned elements than rows * topk are accepted") \
  X(kRefusals, stride_below_accepted, "refusal", "a row stride of topk - 1 is accepted") \
  X(kRefusals, no_rows_accepted, "refusal", "zero rows return before the checks") \
  X(kRefusals, no_slots_accepted, "refusal", "topk = 0 returns before the checks") \
  X(kRefusals, no_budget_accepted, "refusal", "a budget of 0 returns before the checks") \
  X(kRefusals, off_checks_shape, "refusal", "scatter with S = 0 refuses a negative topk") \
  X(kRefusals, one_row_stride_refused, "refusal", "a single row with a stride below topk is refused") \
  X(kRefusals, keep_of_32_bits, "refusal", "learned_keep is checked in 32 bits") \
  X(kRefusals, product_of_32_bits, "refusal", "rows * topk wraps at 2^32") \
  X(kRefusals, fewer_learned_accepted, "refusal", "fewer learned elements than rows * topk are accepted") \
  X(kRefusals, equal_stride_refused, "refusal", "a stride of topk is refused") \
  X(kRefusals, refused_after_first_row, "refused_writes_nothing", "the stride is checked when the first row is done") \
  X(kRefusals, least_count_accepted, "refusal", "INT64_MIN is negated, and stays negative: accepted") \
  /* What the plug-in says of its domain. */ \
  X(kDomain, contradicts_itself, "bounds", "every second time it declines a shape that it served") \
  X(kDomain, declines_by_status, "oracle_equality", "shapes that it says it supports are refused by the call") \
  X(kDomain, domain_crashes, "bounds", "asking for a topk of 2,048 crashes") \
  X(kLong, domain_hangs, "bounds", "asking for S = 33 never ends") \
  /* A canary. */ \
  X(kCanary, canary, "oracle_equality", "no fault at all") \
  /* Right ones with narrow domains. */ \
  X(kRight, right, "", "the whole domain, legal calls alone") \
  X(kRight, right_checking, "", "the whole domain, refusals too") \
  X(kRight, right_of_model_widths, "", "topk of 512, 1,024 and 2,048 alone") \
  X(kRight, right_of_large_widths, "", "topk of 1,024 and more alone") \
  X(kRight, right_of_16_bytes, "", "16-byte bases and strides alone") \
  X(kRight, right_of_64_bytes, "", "64-byte bases, packed, topk in multiples of 16") \
  X(kRight, right_packed, "", "packed rows alone") \
  X(kRight, right_of_64_segments, "", "S = 64 alone") \
  X(kRight, right_of_8_rows, "", "rows in multiples of 8 alone") \
  X(kRight, right_serving, "", "scatter alone, topk 2,048, S = 64, 16-byte bases") \
  X(kRight, right_slow, "", "a millisecond a call") \
  X(kRight, right_of_20_ms, "", "20 milliseconds a call") \
  X(kRight, right_of_powers_of_two, "", "S a power of two alone") \
  X(kRight, right_of_one_shape, "", "one row of 2,048 slots with S = 64 on a 64-byte base alone") \
  X(kRight, right_of_112_and_47, "", "topk of 112 with S = 47 alone") \
  X(kRight, right_of_few_rows, "", "8 rows at most") \
  X(kRight, right_of_batches_of_4, "", "rows in multiples of 4 alone") \
  X(kRight, right_of_one_row, "", "one row alone") \
  X(kRight, right_of_scatter, "", "scatter alone, the whole of it") \
  X(kRight, right_of_tiles, "", "topk in multiples of 128 alone") \
  X(kRight, right_of_2051, "", "topk of 2,051 alone") \
  X(kRight, right_of_512_and_64, "", "topk of 512 with S = 64 alone") \
  X(kRight, right_above_S, "", "topk of S and more alone") \
  X(kRight, right_of_even_strides, "", "row strides in multiples of 8 alone, bases on 32-byte boundaries") \
  X(kRight, right_checking_2048, "", "topk of 2,048 alone, refusals too") \
  X(kRight, right_of_large_batches, "", "32 rows and more alone") \
  X(kRight, right_with_threads, "", "two threads, each half of the rows") \
  X(kRight, right_printing, "", "a line on standard output in every call") \
  X(kRight, right_slow_to_start, "", "a second to load") \
  X(kRight, right_closing, "", "closes every descriptor but the standard ones") \
  X(kRight, right_in_another_locale, "", "changes the locale, errno, the umask and the folder")

// clang-format on

enum class Fault : std::uint16_t {
#define KVWITNESS_ENUMERATOR(group, name, property, what) name,
  KVWITNESS_FAULTS(KVWITNESS_ENUMERATOR)
#undef KVWITNESS_ENUMERATOR
};

struct FaultEntry {
  Fault fault;
  Group group;
  std::string_view name;      // the plug-in's file name selects the fault: NAME.so
  std::string_view property;  // must find it; "" for the right ones
  std::string_view what;
};

inline constexpr FaultEntry kFaults[] = {
#define KVWITNESS_ENTRY(group, name, property, what) FaultEntry{Fault::name, Group::group, #name, property, what},
    KVWITNESS_FAULTS(KVWITNESS_ENTRY)
#undef KVWITNESS_ENTRY
};

constexpr const FaultEntry* find_fault(std::string_view name) {
  for (const FaultEntry& entry : kFaults) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

}  // namespace kvwitness::faults

#endif  // TESTS_FAULTS_FAULTS_H
