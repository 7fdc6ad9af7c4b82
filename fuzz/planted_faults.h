// The faults that are planted to see whether campaigns find them: one list for all targets.
//
// Programs of the kind planted_<target> judge planted_under_test.cc in place of the project's own code: the same
// answers, but for the one fault that the environment variable KVWITNESS_PLANTED_FAULT names. Nothing of this is in the
// library.
#ifndef FUZZ_PLANTED_FAULTS_H
#define FUZZ_PLANTED_FAULTS_H

#include "tests/rule/faults.h"

namespace kvwitness::fuzz {

// X(fault, targets, what is wrong). A fault that tests/rule/faults.h has too, by the same name, is the one there. The
// targets are those that must find it, their names separated by a space.
#define KVWITNESS_PLANTED_FAULTS(X)                                                                                    \
  X(edge_rounded_down, "differential invariants cuda_differential", "the edge of a segment is s * L / S rounded down") \
  X(segment_in_32_bits, "differential invariants cuda_differential", "token * S is taken in 32 bits")                  \
  X(segment_in_float, "differential invariants cuda_differential", "the segment is found in single precision")         \
  X(mask_shift_wraps, "differential invariants cuda_differential", "segment 32 + s marks segment s")                   \
  X(mask_exclusive, "differential invariants cuda_differential", "a repeated token clears its segment's mark")         \
  X(odd_last_slot_skipped, "differential invariants cuda_differential", "an odd row's last slot marks nothing")        \
  X(only_minus_one_is_padding, "differential invariants cuda_differential", "-7 and INT32_MIN mark the first segment") \
  X(past_end_ignored, "differential cuda_differential", "a token past the context's end marks nothing")                \
  X(short_row_keeps_its_count, "differential invariants cuda_differential", "a row shorter than S is cut into S")      \
  X(length_negative_as_1, "differential invariants cuda_differential", "a row of length -1 is read as one token")      \
  X(budget_one_more, "differential invariants cuda_differential", "the budget is one more than it should be")          \
  X(only_head_read, "differential invariants cuda_differential", "occupancy is read only from the kept slots")         \
  X(neighbours_length, "differential invariants", "the third row and those behind it use the second one's length")     \
  X(state_across_rows, "differential invariants", "a row behind an empty row starts with the marks of the one before") \
  X(writes_spare_column, "differential invariants", "a strided scatter writes the column behind each row")             \
  X(budget_of_the_last_call, "differential", "after a call with a budget of 1 the next one keeps that budget")         \
  X(many_segments_cut_off, "differential", "of more than 1,024 segments the rest is left unmarked")                    \
  X(no_barrier_after_clear, "cuda_differential", "marks are set while another thread clears them")                     \
  X(no_barrier_before_read, "cuda_differential", "witnesses are emitted while others still mark")                      \
  X(no_barrier_between_rows, "cuda_differential", "a block clears its marks while the last row's are read")            \
  X(first_row_of_a_block_alone, "cuda_differential", "a block that should take several rows takes one")                \
  X(refused_scatter_writes, "refusals", "a refused scatter has changed its first slot")                                \
  X(keep_before_segments, "refusals", "apply checks learned_keep before the segment count")                            \
  X(overlap_of_the_last_slots, "refusals", "an overlap of 8 bytes or less is not seen")                                \
  X(one_row_stride_unchecked, "refusals", "a negative stride is accepted where there is one row")                      \
  X(off_switch_checks, "refusals", "scatter with 0 segments refuses a negative topk")                                  \
  X(null_lengths_at_topk_zero, "refusals", "context_lens may be null at topk 0")                                       \
  X(count_forgotten, "refusals", "a null whose buffer is too small does not say how many it needs")                    \
  X(product_wraps, "refusals", "rows * topk is taken modulo 2^64")                                                     \
  X(strided_span_unchecked, "refusals", "a strided span may exceed PTRDIFF_MAX bytes")                                 \
  X(message_names_nothing, "refusals", "a refused max_replacements is not named")                                      \
  X(length_of_2_to_31, "refusals", "a context length of 2^31 is accepted")                                             \
  X(mask_one_byte_short, "refusals", "a mask buffer that lacks one byte is accepted")                                  \
  X(gate_takes_a_blank, "refusals", "the gate accepts a blank before its digits")                                      \
  X(lengths_count_rounded_down, "refusals", "the CUDA checks ask for rows / next_n lengths, rounded down")             \
  X(null_row_unsorted, "metrics_nulls", "a random null of three tokens or more is not ascending")                      \
  X(seed_of_63_bits, "metrics_nulls", "the highest bit of a seed counts for nothing")                                  \
  X(budget_above_length, "metrics_nulls", "a locality null whose budget exceeds the length starts at -1")              \
  X(coverage_counts_the_end, "metrics_nulls", "a candidate at L counts for the coverage")                              \
  X(coverage_counts_twice, "metrics_nulls", "neighbouring equal candidates count twice for the coverage")              \
  X(recall_in_float, "metrics_nulls", "recall is rounded to single precision")                                         \
  X(recall_counts_twice, "metrics_nulls", "neighbouring equal candidates count twice for the recall")                  \
  X(mask_row_of_zero, "metrics_nulls", "the first row of a mask is empty")                                             \
  X(window_wraps, "metrics_nulls", "the length of a window wraps instead of being clamped")                            \
  X(segment_of_wraps, "metrics_nulls", "kvw_segment_of multiplies modulo 2^64")                                        \
  X(writer_drops_in_place, "case_file", "in_place is not written")                                                     \
  X(writer_drops_an_offset, "case_file", "a base_offset of 15 is not written")                                         \
  X(writer_drops_escapes, "case_file", "backslashes are not written")                                                  \
  X(reader_misses_the_least_token, "case_file", "INT32_MIN is read as INT32_MIN + 1")                                  \
  X(stride_of_32_bits, "case_file", "the byte form keeps 32 bits of a stride")                                         \
  X(last_call_before_dropped, "case_file", "the byte form drops the last of several calls before")                     \
  X(attention_in_float, "case_file", "attention is written in single precision")                                       \
  X(refusal_not_written, "case_file", "an expected refusal is not written")                                            \
  X(budgets_swapped, "case_file", "the byte form swaps learned_keep and max_replacements above 255")                   \
  X(two_lines, "case_file", "a note with a tab is written in two lines")

enum class Fault {
#define KVWITNESS_FAULT_NUMBER(fault, targets, what) fault,
  KVWITNESS_PLANTED_FAULTS(KVWITNESS_FAULT_NUMBER)
#undef KVWITNESS_FAULT_NUMBER
};

// The one that KVWITNESS_PLANTED_FAULT names. Ends the process with exit status 2 and the list where it names none.
Fault planted_fault();
// The same as a fault of the rule itself; kNone where it is none.
rule::Fault planted_rule_fault();

}  // namespace kvwitness::fuzz

#endif  // FUZZ_PLANTED_FAULTS_H
