// The fault catalogue: what is planted in the code under test, to see whether campaigns find it.
//
// Programs of the kind planted_<target> judge planted_faults/under_test.cc in place of the project's own code: the same
// answers, but for the one fault that the environment variable KVWITNESS_PLANTED_FAULT names. Nothing of this is in the
// library. Which faults a target must find is said in its descriptor (fuzz/targets); null_without_end, which ends in no
// finding, is for the test of replays.
#ifndef FUZZ_PLANTED_FAULTS_CATALOGUE_H
#define FUZZ_PLANTED_FAULTS_CATALOGUE_H

#include "tests/rule/faults.h"

namespace kvwitness::fuzz {

// X(fault, what is wrong). A fault that tests/rule/faults.h has too, by the same name, is the one there.
#define KVWITNESS_PLANTED_FAULTS(X)                                                                    \
  X(edge_rounded_down, "the edge of a segment is s * L / S rounded down")                              \
  X(segment_in_32_bits, "token * S is taken in 32 bits")                                               \
  X(segment_in_float, "the segment is found in single precision")                                      \
  X(mask_shift_wraps, "segment 32 + s marks segment s")                                                \
  X(mask_exclusive, "a repeated token clears its segment's mark")                                      \
  X(odd_last_slot_skipped, "an odd row's last slot marks nothing")                                     \
  X(only_minus_one_is_padding, "-7 and INT32_MIN mark the first segment")                              \
  X(past_end_ignored, "a token past the context's end marks nothing")                                  \
  X(short_row_keeps_its_count, "a row shorter than S is cut into S")                                   \
  X(length_negative_as_1, "a row of length -1 is read as one token")                                   \
  X(budget_one_more, "the budget is one more than it should be")                                       \
  X(only_head_read, "occupancy is read from the kept slots only")                                      \
  X(neighbours_length, "the third row and those behind it use the second one's length")                \
  X(state_across_rows, "a row behind an empty row starts with the marks of the one before")            \
  X(writes_spare_column, "a strided scatter writes the column behind each row")                        \
  X(budget_of_the_last_call, "after a call with a budget of 1 the next one keeps that budget")         \
  X(many_segments_cut_off, "of more than 1,024 segments the rest is left unmarked")                    \
  X(no_barrier_after_clear, "marks are set while another thread clears them")                          \
  X(no_barrier_before_read, "witnesses are emitted while others still mark")                           \
  X(no_barrier_between_rows, "a block clears its marks while the last row's are read")                 \
  X(first_row_of_a_block_alone, "a block that should take several rows takes one")                     \
  X(rows_wrap_at_256, "the number of a row keeps 8 bits")                                              \
  X(rows_wrap_at_4096, "the number of a row keeps 12 bits")                                            \
  X(rows_wrap_at_32768, "the number of a row keeps 15 bits")                                           \
  X(rows_wrap_at_65536, "the number of a row keeps 16 bits")                                           \
  X(rows_end_at_65535, "rows behind the 65,535th are left out")                                        \
  X(refused_scatter_writes, "a refused scatter has changed its first slot")                            \
  X(keep_before_segments, "apply checks learned_keep before the segment count")                        \
  X(overlap_of_the_last_slots, "an overlap of 8 bytes or less is not seen")                            \
  X(overlap_of_1_in_front, "an input that reaches 1 byte into an output is not seen")                  \
  X(overlap_of_4_in_front, "an input that reaches up to 4 bytes into an output is not seen")           \
  X(overlap_of_7_in_front, "an input that reaches up to 7 bytes into an output is not seen")           \
  X(overlap_of_1_behind, "an output that reaches 1 byte into an input is not seen")                    \
  X(overlap_of_3_behind, "an output that reaches up to 3 bytes into an input is not seen")             \
  X(overlap_of_4_behind, "an output that reaches up to 4 bytes into an input is not seen")             \
  X(overlap_inside, "an output that lies inside an input, apart from its ends, is not seen")           \
  X(one_row_stride_unchecked, "a negative stride is accepted where there is one row")                  \
  X(off_switch_checks, "scatter with 0 segments refuses a negative topk")                              \
  X(null_lengths_at_topk_zero, "context_lens may be null at topk 0")                                   \
  X(count_forgotten, "a null whose buffer is too small does not say how many it needs")                \
  X(product_wraps, "rows * topk is taken modulo 2^64")                                                 \
  X(strided_span_unchecked, "a strided span may exceed PTRDIFF_MAX bytes")                             \
  X(message_names_nothing, "a refused max_replacements is not named")                                  \
  X(message_cut_at_32, "a message is cut at 32 bytes")                                                 \
  X(message_cut_at_64, "a message is cut at 64 bytes")                                                 \
  X(message_cut_at_96, "a message is cut at 96 bytes")                                                 \
  X(message_number_of_32_bits, "a message keeps 32 bits of a value")                                   \
  X(message_without_its_limit, "a message of a small buffer ends before the size that is needed")      \
  X(length_of_2_to_31, "a context length of 2^31 is accepted")                                         \
  X(mask_one_byte_short, "a mask buffer that lacks one byte is accepted")                              \
  X(gate_takes_a_blank, "the gate accepts a blank before its digits")                                  \
  X(lengths_count_rounded_down, "the CUDA checks ask for rows / next_n lengths, rounded down")         \
  X(null_row_unsorted, "a random null of three tokens or more is not ascending")                       \
  X(seed_of_63_bits, "the highest bit of a seed counts for nothing")                                   \
  X(budget_above_length, "a locality null whose budget exceeds the length starts at -1")               \
  X(coverage_counts_the_end, "a candidate at L counts for the coverage")                               \
  X(coverage_counts_twice, "neighbouring equal candidates count twice for the coverage")               \
  X(recall_in_float, "recall is rounded to single precision")                                          \
  X(recall_counts_twice, "neighbouring equal candidates count twice for the recall")                   \
  X(mask_row_of_zero, "the first row of a mask is empty")                                              \
  X(window_wraps, "the length of a window wraps instead of being clamped")                             \
  X(segment_of_wraps, "kvw_segment_of multiplies modulo 2^64")                                         \
  X(random_budget_of_32_bits, "the random null keeps 32 bits of its budget")                           \
  X(local_budget_of_32_bits, "the locality null keeps 32 bits of its budget")                          \
  X(capacity_of_32_bits, "a null keeps 32 bits of its capacity")                                       \
  X(count_of_32_bits, "a null writes 32 bits of its count")                                            \
  X(mask_budget_of_32_bits, "a random mask keeps 32 bits of its budget")                               \
  X(mask_window_of_32_bits, "a local mask keeps 32 bits of its window")                                \
  X(mask_len_of_32_bits, "a mask keeps 32 bits of its buffer's size")                                  \
  X(coverage_segments_of_32_bits, "the coverage keeps 32 bits of num_segments")                        \
  X(segment_of_32_bits, "kvw_segment_of keeps 32 bits of the token")                                   \
  X(next_n_of_32_bits, "the lengths from requests keep 32 bits of next_n")                             \
  X(cpp_mismatch_swapped, "RowsMismatch has topk and rows swapped")                                    \
  X(cpp_65_segments, "the C++ apply takes 65 segments for 64")                                         \
  X(cpp_keep_before_segments, "the C++ apply checks learned_keep before the segment count")            \
  X(cpp_needs_one_less, "BufferTooSmall needs one element less")                                       \
  X(cpp_small_buffer, "a span that lacks one element is accepted")                                     \
  X(cpp_overlap_of_4, "spans that share 4 bytes are accepted")                                         \
  X(cpp_in_place_refused, "the C++ apply refuses its own rows as its output")                          \
  X(cpp_spare_column, "the C++ scatter writes the column behind the first strided row")                \
  X(cpp_short_result, "the witnesses that are returned lack the last one")                             \
  X(cpp_off_switch_checks, "the C++ scatter with 0 segments refuses rows that do not fill their span") \
  X(cpp_whole_last_row, "strided rows must have the spare columns of the last one")                    \
  X(cpp_budget_of_zero, "apply on a backend takes no replacements for one")                            \
  X(cpp_output_stride, "the stride of the C++ apply's output is not checked")                          \
  X(null_without_end, "a random null with a budget of 7 waits for ever")                               \
  X(writer_drops_in_place, "in_place is not written")                                                  \
  X(writer_drops_an_offset, "a base_offset of 15 is not written")                                      \
  X(writer_drops_escapes, "backslashes are not written")                                               \
  X(reader_misses_the_least_token, "INT32_MIN is read as INT32_MIN + 1")                               \
  X(reader_wraps_a_token, "a token keeps 32 bits of its number")                                       \
  X(reader_wraps_an_expected_token, "an expected token keeps 32 bits of its number")                   \
  X(reader_wraps_a_length, "a context length keeps 32 bits of its number")                             \
  X(reader_wraps_topk, "topk keeps 32 bits of its number")                                             \
  X(reader_wraps_segments, "num_segments keeps 32 bits of its number")                                 \
  X(reader_wraps_keep, "learned_keep keeps 32 bits of its number")                                     \
  X(reader_wraps_replacements, "max_replacements keeps 32 bits of its number")                         \
  X(reader_wraps_a_stride, "row_stride keeps 32 bits of its number")                                   \
  X(reader_wraps_an_offset, "base_offset keeps 4 bits of its number")                                  \
  X(reader_wraps_the_version, "the format's version keeps 32 bits of its number")                      \
  X(reader_wraps_at_2_to_64, "a number past 64 bits keeps its lowest 64")                              \
  X(reader_clamps_a_token, "a token past INT32_MAX is read as INT32_MAX")                              \
  X(reader_drops_a_fraction, "a count with a fraction is read without it")                             \
  X(reader_attention_in_float, "attention is read in single precision")                                \
  X(stride_of_32_bits, "the byte form keeps 32 bits of a stride")                                      \
  X(last_call_before_dropped, "the byte form drops the last of several prior calls")                   \
  X(attention_in_float, "attention is written in single precision")                                    \
  X(refusal_not_written, "an expected refusal is not written")                                         \
  X(budgets_swapped, "the byte form swaps learned_keep and max_replacements above 255")                \
  X(two_lines, "a note with a tab is written in two lines")

enum class PlantedFault {
#define KVWITNESS_FAULT_NUMBER(fault, what) fault,
  KVWITNESS_PLANTED_FAULTS(KVWITNESS_FAULT_NUMBER)
#undef KVWITNESS_FAULT_NUMBER
};

// The one that KVWITNESS_PLANTED_FAULT names. Ends the process with exit status 2 and the list where it names none.
PlantedFault planted_fault();
// The same as a fault of the rule itself; kNone where it is none.
rule::Fault planted_rule_fault();

}  // namespace kvwitness::fuzz

#endif  // FUZZ_PLANTED_FAULTS_CATALOGUE_H
