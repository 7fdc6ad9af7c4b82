// The fault catalogue: every way in which the plug-in `faulty` can be wrong. One line a fault: its group, its name, the
// property that must find it, and what it does. The faults of the rule itself come first, from tests/rule/faults.h; here
// are those of a call, of its buffers, of the process and of its history, of the refusals and of the domain.
#ifndef TESTS_FAULTS_FAULTS_H
#define TESTS_FAULTS_FAULTS_H

#include <cstdint>
#include <string_view>

#include "tests/rule/faults.h"

namespace kvwitness::faults {

enum class Group : std::uint8_t {
  kCalls,     // wrong on legal calls; malformed ones are not made of it
  kHistory,   // the same, and wrong only after certain other calls of the same process
  kLong,      // wrong, but a minimal counterexample takes long: hundreds of calls or many deadlines
  kRare,      // wrong on legal calls, so few that every property's cases are needed
  kDomain,    // wrong about the shapes that it serves
  kRefusals,  // promises the refusals, and gives some of them wrongly
  kChance,    // wrong by chance: found, but no case can hold what it depends on
  kCanary,    // right, but listed as wrong: the catalogue must say that it was not found
  kRight,     // right, with a narrow domain: must pass
};

// clang-format off
#define KVWITNESS_FAULTS(X) \
  /* Tokens past the context. */ \
  X(kCalls, past_end_refused, "out_of_range", "the whole call is refused") \
  /* Occupancy. */ \
  X(kCalls, neighbour_read, "oracle_equality", "a row's last vector reads on into what follows it, where something does") \
  X(kCalls, spare_read, "spare_poison", "a row's last vector reads on into the spare columns") \
  X(kCalls, row_rounded_down, "oracle_equality", "rows whose stride puts them off a 16-byte boundary are read from the boundary below") \
  X(kCalls, peeks_before, "spare_poison", "the element before the rows is read and not used") \
  X(kCalls, peeks_behind, "bounds", "the element after the rows is read and not used") \
  X(kCalls, peeks_behind_lengths, "bounds", "the length after the last one is read and not used") \
  X(kCalls, lengths_by_fours, "bounds", "the lengths are loaded four at a time, which their alignment does not allow") \
  X(kCalls, peeks_without_rows, "bounds", "the first length is read where there is no row") \
  /* The mask. */ \
  X(kCalls, mask_kept_by_empty_row, "row_independence", "a row's marks stay for the next one where an empty row lies between") \
  X(kCalls, mask_epoch_of_8_bits, "oracle_equality", "marks are stamped with the row's number modulo 256") \
  X(kCalls, mask_epoch_of_16_bits, "oracle_equality", "marks are stamped with the row's number modulo 65,536") \
  /* Rows. */ \
  X(kRare, rows_in_a_band, "oracle_equality", "a length of 4,096 to 8,191 is left out in batches of 17 rows and more") \
  X(kCalls, rows_of_one_length, "oracle_equality", "the last row is left out of 5 and more rows of equal lengths") \
  X(kCalls, rows_past_512_by_half, "oracle_equality", "of the rows from the 512th on only the first half of the slots is read") \
  X(kCalls, tokens_past_2_22, "oracle_equality", "rows that begin at 2^22 tokens and beyond are left out") \
  X(kCalls, sixteen_rows_of_512, "oracle_equality", "16 rows of topk 512 at S = 64: the last segment is never missing") \
  X(kCalls, topk_4096_with_64, "oracle_equality", "the last row is left out where topk is 4,096 and S is 64") \
  X(kCalls, large_batch_above_32, "oracle_equality", "S above 32 in 2,048 rows and more: the segments from 32 on are never missing") \
  X(kCalls, blocks_in_the_tail, "oracle_equality", "a row is left out where a third of its last S slots holds multiples of 128") \
  X(kCalls, last_strided_row, "oracle_equality", "the last row is left out where there are spare columns") \
  X(kCalls, length_by_difference, "row_independence", "lengths are kept as differences of 16 bits") \
  X(kCalls, length_of_row_0, "row_independence", "row 0's length serves all rows") \
  X(kCalls, length_of_next_row, "row_independence", "the next row's length") \
  /* The merge. */ \
  X(kCalls, keep_of_16_bits, "oracle_equality", "learned_keep wraps at 65,536") \
  X(kCalls, budget_of_32_bits, "oracle_equality", "the budget is kept in 32 bits") \
  X(kCalls, budget_overflows, "oracle_equality", "learned_keep + max_replacements wraps") \
  X(kCalls, keep_below_zero, "oracle_equality", "scatter with topk < S writes nothing") \
  X(kCalls, empty_row_unwritten, "empty_row", "apply does not copy an empty row") \
  X(kCalls, in_place_left, "oracle_equality", "apply in place changes nothing") \
  X(kCalls, in_place_read_late, "oracle_equality", "apply in place reads slot learned_keep after writing it") \
  X(kCalls, off_clears, "oracle_equality", "scatter with S = 0 pads the row's last slot") \
  X(kCalls, off_refused, "refusal", "scatter with S = 0 is refused") \
  X(kCalls, topk_refused, "refusal", "learned_keep = topk is refused") \
  X(kCalls, budget_of_the_batch, "row_independence", "all rows share one budget") \
  X(kCalls, covered_row_unwritten, "oracle_equality", "apply does not copy a row that has no witness") \
  X(kCalls, prefix_unwritten, "retention", "apply does not copy the slots below learned_keep") \
  X(kCalls, no_rows_refused, "oracle_equality", "a call without rows is refused") \
  X(kCalls, no_slots_refused, "oracle_equality", "a call without slots is refused") \
  X(kCalls, no_budget_refused, "oracle_equality", "a budget of 0 is refused") \
  X(kCalls, large_budget_refused, "oracle_equality", "a budget above topk is refused") \
  X(kCalls, status_counts, "oracle_equality", "the status is the number of rows") \
  /* Witness indices. */ \
  X(kCalls, indices_on_the_stack, "bounds", "8 bytes a segment are taken from the stack") \
  /* Placement. */ \
  X(kCalls, spare_written, "bounds", "padding after the row is cleared up to a multiple of 4 columns") \
  X(kCalls, stride_ignored, "stride_widening", "rows are taken as packed") \
  X(kCalls, stride_of_31_bits, "oracle_equality", "row * stride goes negative at 2^31") \
  X(kCalls, stride_of_32_bits, "oracle_equality", "row * stride wraps at 2^32") \
  X(kCalls, base_rounded_down, "oracle_equality", "a base off a 16-byte boundary is read from the boundary below") \
  X(kCalls, written_before, "bounds", "a witness goes to the element before the output") \
  X(kCalls, written_behind, "bounds", "the element after the output becomes -1") \
  X(kCalls, read_behind, "bounds", "the element after the last row is read") \
  X(kCalls, input_written, "bounds", "apply marks the learned row's padding") \
  X(kCalls, lengths_written, "bounds", "negative lengths become 0 in the input") \
  X(kCalls, input_restored, "bounds", "apply marks the learned row and restores it") \
  X(kCalls, behind_restored, "bounds", "the element after the output is written and restored") \
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
  X(kRare, previous_segments, "oracle_equality", "edges are cached by the length only") \
  X(kHistory, previous_lengths, "oracle_equality", "lengths are cached by their address and number") \
  X(kHistory, graph_replayed, "oracle_equality", "a call with the arguments of the one before repeats its result") \
  X(kHistory, after_refusable, "oracle_equality", "a row of no length makes the next call skip its first row") \
  X(kLong, every_997th_call, "oracle_equality", "every 997th call is wrong") \
  X(kLong, call_of_16_bits, "oracle_equality", "calls are numbered modulo 65,536: the 65,536th finds the mark of none") \
  X(kHistory, first_call_without_slots, "oracle_equality", "the last row is left out where the process's first call had no slots") \
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
  X(kRight, right, "", "the whole domain, but only legal calls") \
  X(kRight, right_checking, "", "the whole domain, refusals too") \
  X(kRight, right_of_model_widths, "", "only topk of 512, 1,024 and 2,048") \
  X(kRight, right_of_large_widths, "", "only topk of 1,024 and more") \
  X(kRight, right_of_16_bytes, "", "only 16-byte bases and strides") \
  X(kRight, right_of_64_bytes, "", "64-byte bases, packed, topk in multiples of 16") \
  X(kRight, right_packed, "", "only packed rows") \
  X(kRight, right_of_64_segments, "", "only S = 64") \
  X(kRight, right_of_8_rows, "", "only rows in multiples of 8") \
  X(kRight, right_serving, "", "only scatter, topk 2,048, S = 64, 16-byte bases") \
  X(kRight, right_slow, "", "a millisecond a call") \
  X(kRight, right_of_20_ms, "", "20 milliseconds a call") \
  X(kRight, right_of_powers_of_two, "", "only S that is a power of two") \
  X(kRight, right_of_one_shape, "", "only one row of 2,048 slots with S = 64 on a 64-byte base") \
  X(kRight, right_of_112_and_47, "", "only topk of 112 with S = 47") \
  X(kRight, right_of_few_rows, "", "8 rows at most") \
  X(kRight, right_of_batches_of_4, "", "only rows in multiples of 4") \
  X(kRight, right_of_one_row, "", "only one row") \
  X(kRight, right_of_scatter, "", "only scatter, the whole of it") \
  X(kRight, right_of_tiles, "", "only topk in multiples of 128") \
  X(kRight, right_of_2051, "", "only topk of 2,051") \
  X(kRight, right_of_512_and_64, "", "only topk of 512 with S = 64") \
  X(kRight, right_above_S, "", "only topk of S and more") \
  X(kRight, right_of_even_strides, "", "only row strides in multiples of 8, and bases on 32-byte boundaries") \
  X(kRight, right_checking_2048, "", "only topk of 2,048, refusals too") \
  X(kRight, right_of_large_batches, "", "only 32 rows and more") \
  X(kRight, right_with_threads, "", "two threads, each half of the rows") \
  X(kRight, right_stating_32_bits, "", "exact where token * S and L * S are below 2^32, which it states") \
  X(kRight, right_stating_shapes, "", "states scatter, topk 512, packed rows on 16-byte bases, 64 rows and less") \
  X(kRight, right_printing, "", "a line on standard output in every call") \
  X(kRight, right_slow_to_start, "", "a second to load") \
  X(kRight, right_closing, "", "closes every descriptor but the standard ones") \
  X(kRight, right_in_another_locale, "", "changes the locale, errno, the umask and the folder")

// clang-format on

enum class Fault : std::uint16_t {
  kNone,
#define KVWITNESS_ENUMERATOR(group, name, property, what) name,
  KVWITNESS_FAULTS(KVWITNESS_ENUMERATOR)
#undef KVWITNESS_ENUMERATOR
};

struct FaultEntry {
  Fault fault;             // kNone where it is one of the rule itself
  rule::Fault rule_fault;  // else kNone
  Group group;
  std::string_view name;      // the plug-in's file name selects the fault: NAME.so
  std::string_view property;  // must find it; "" for the right ones
  std::string_view what;
};

inline constexpr FaultEntry kFaults[] = {
#define KVWITNESS_ENTRY(group, name, property, what, ...) \
  FaultEntry{Fault::kNone, rule::Fault::name, Group::group, #name, property, what},
    KVWITNESS_RULE_FAULTS(KVWITNESS_ENTRY)
#undef KVWITNESS_ENTRY
#define KVWITNESS_ENTRY(group, name, property, what) \
  FaultEntry{Fault::name, rule::Fault::kNone, Group::group, #name, property, what},
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
