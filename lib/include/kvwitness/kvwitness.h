/* The C ABI of kvwitness: segment witnesses for learned sparse-attention top-k rows.
 *
 * A learned row holds topk token offsets into a context of L tokens, which is cut into S_eff = min(S, L)
 * segments:
 *
 *     e_s      = ceil(s * L / S_eff)     the edge of segment s: its first token
 *     sigma(x) = floor(x * S_eff / L)    the segment that token x lies in
 *
 * A token x >= 0 of the row occupies segment min(sigma(x), S - 1). The edge of each unoccupied segment is a
 * witness. Source of the rule: vllm-project/vllm#47942 and its Rust port, aether_core::kvwitness.
 *
 * Conventions:
 *
 * - Buffers are row-major. Sizes, counts, strides and capacities are int64_t, in elements. Tokens, lengths
 *   and offsets are int32_t, in tokens from the start of the row's own context. Pointers need the alignment
 *   of their element type and no more.
 * - Any negative token is padding: it occupies nothing and stays as it is unless a witness overwrites its
 *   slot. A token at or past the context's end is neither refused nor removed. A row with a context length
 *   of 0 or less has no witness and stays as it is.
 * - No function throws, aborts or starts a thread. The operations and the length helpers allocate nothing;
 *   nulls, masks and metrics may. Calls on disjoint outputs may run concurrently.
 * - An output may share no byte with an input or with another output. Whole spans count, the spare columns
 *   of a strided span too. The one exception is apply's output at the address of its learned rows, which
 *   works in place. A span is empty without rows or without topk, and an empty span overlaps nothing.
 * - Without rows every buffer of the operations and length helpers may be null. With rows, context_lens may
 *   not be null; with topk 0 the learned rows and apply's output may.
 * - A refused call writes nothing. The one exception is *count of the two nulls when the capacity is too
 *   small.
 *
 * The checks run in this order, and the first failure is returned:
 *
 * 1. kvw_scatter and kvw_scatter_strided with num_segments 0 succeed, whatever else is passed.
 * 2. KVW_UNKNOWN_BACKEND, of the four operations: KVWITNESS_BACKEND names no backend that can run here.
 * 3. KVW_NEGATIVE_COUNT: a count below its minimum, in argument order.
 * 4. KVW_ROWS_MISMATCH, then KVW_SEGMENTS_OUT_OF_RANGE, then KVW_LEARNED_KEEP_OUT_OF_RANGE.
 * 5. KVW_CONTEXT_LEN_OUT_OF_RANGE: a context length above INT32_MAX.
 * 6. KVW_NULL_POINTER, in argument order.
 * 7. KVW_ROW_STRIDE, then KVW_BUFFER_OVERLAP, then KVW_BUFFER_TOO_SMALL.
 * 8. KVW_OUT_OF_MEMORY, of nulls, masks and metrics.
 */
#ifndef KVWITNESS_KVWITNESS_H
#define KVWITNESS_KVWITNESS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a call returns. The numbers never change. kvw_status_name gives the words in brackets. In C++ the
 * underlying type is fixed, so that a number from elsewhere may be passed to kvw_status_name; in C it has
 * the same size.
 */
#ifdef __cplusplus
typedef enum kvw_status : int32_t {
#else
typedef enum kvw_status {
#endif
  /* [ok] */
  KVW_OK = 0,
  /* [rows mismatch] learned_len != rows * topk, or a contiguous span of more than PTRDIFF_MAX bytes */
  KVW_ROWS_MISMATCH = 1,
  /* [segments out of range] 0, above 64, or a witness buffer of more than PTRDIFF_MAX bytes */
  KVW_SEGMENTS_OUT_OF_RANGE = 2,
  /* [learned keep out of range] learned_keep > topk */
  KVW_LEARNED_KEEP_OUT_OF_RANGE = 3,
  /* [negative count] a size, count, budget or stride below its minimum, which is 0 unless said */
  KVW_NEGATIVE_COUNT = 4,
  /* [null pointer] a null pointer to what the call would read or write */
  KVW_NULL_POINTER = 5,
  /* [row stride] with two or more rows: row_stride < topk, or a span of more than PTRDIFF_MAX bytes */
  KVW_ROW_STRIDE = 6,
  /* [buffer overlap] an output shares a byte with an input or with another output */
  KVW_BUFFER_OVERLAP = 7,
  /* [buffer too small] an output has fewer elements than the result */
  KVW_BUFFER_TOO_SMALL = 8,
  /* [context length out of range] nulls, masks and metrics: above INT32_MAX */
  KVW_CONTEXT_LEN_OUT_OF_RANGE = 9,
  /* [unknown backend] there is no such backend, or it cannot run here */
  KVW_UNKNOWN_BACKEND = 10,
  /* [environment] VLLM_SPARSE_MLA_TOPOLOGY_SEGMENTS is not an integer in [0, 64] */
  KVW_ENVIRONMENT = 11,
  /* [cuda] a CUDA call failed; only the CUDA library returns it */
  KVW_CUDA = 12,
  /* [out of memory] */
  KVW_OUT_OF_MEMORY = 13
} kvw_status;

/* The version of this interface, which is 1. It grows only by functions and codes. */
int32_t kvw_abi_version(void);

/* The version of the library, "0.1.0". The text lives as long as the process. */
const char* kvw_version(void);

/* The words of a status, and "unknown status" for any other number. The text lives as long as the process. */
const char* kvw_status_name(kvw_status status);

/* The last refusal of the calling thread. It names the argument, its value and the limit. "" before the
 * first refusal; a success leaves it as it is. The text lives until the thread's next refusal or its end.
 * Allocates nothing.
 */
const char* kvw_last_error(void);

/* Witness indices: entry (r, s) of the result is e_s where s < S_eff(r), L_r > 0 and segment s is
 * unoccupied by row r. Every other entry is -1. At topk 0 each row gets every edge.
 *
 * @param learned       [rows, topk] token offsets
 * @param learned_len   elements of learned; must be rows * topk
 * @param topk          slots of a row
 * @param context_lens  [rows] context lengths in tokens
 * @param rows          how many rows
 * @param num_segments  1 or more; above 64 too
 * @param witnesses     [rows, num_segments]; every entry is written
 *
 * Refuses num_segments 0, and rows * num_segments elements of more than PTRDIFF_MAX bytes, as
 * KVW_SEGMENTS_OUT_OF_RANGE. O(rows * (topk + num_segments)), no scratch memory. Example: [0, 5, 9, -1] at
 * L = 16, S = 4 gives [-1, -1, -1, 12].
 */
kvw_status kvw_witness_indices(const int32_t* learned, int64_t learned_len, int64_t topk, const int32_t* context_lens,
                               int64_t rows, int64_t num_segments, int32_t* witnesses);

/* Apply: a copy of the rows in which each row's witnesses, in ascending segment order, overwrite the slots
 * learned_keep, learned_keep + 1, and so on: at most B = min(max_replacements, topk - learned_keep) of
 * them. The rest are dropped.
 *
 * @param learned           [rows, topk] token offsets
 * @param learned_len       elements of learned; must be rows * topk
 * @param topk              slots of a row
 * @param context_lens      [rows] context lengths in tokens
 * @param rows              how many rows
 * @param learned_keep      slots at the head of each row that stay bit-identical; at most topk
 * @param num_segments      1 to 64
 * @param max_replacements  0 or more
 * @param out               [rows, topk]; may be learned itself, and then only overwritten slots are written
 *
 * The segment count and learned_keep are refused even where the budget is 0 or there are no rows.
 * O(rows * topk). Example: [0, 5, 9, -1] at L = 16, S = 4 with learned_keep 2 and max_replacements 2 gives
 * [0, 5, 12, -1].
 */
kvw_status kvw_apply(const int32_t* learned, int64_t learned_len, int64_t topk, const int32_t* context_lens,
                     int64_t rows, int64_t learned_keep, int64_t num_segments, int64_t max_replacements, int32_t* out);

/* Scatter, in place: the serving entry point. It is apply with
 *
 *     learned_keep = max(0, topk - num_segments) and max_replacements = num_segments.
 *
 * @param topk_indices      [rows, topk] token offsets, read and written
 * @param topk_indices_len  elements of topk_indices; must be rows * topk
 * @param topk              slots of a row
 * @param context_lens      [rows] context lengths in tokens
 * @param rows              how many rows
 * @param num_segments      0 to 64; 0 is the off switch: the call does nothing and succeeds
 *
 * Not idempotent: a second pass sees the first one's witnesses as learned tokens. O(rows * topk).
 */
kvw_status kvw_scatter(int32_t* topk_indices, int64_t topk_indices_len, int64_t topk, const int32_t* context_lens,
                       int64_t rows, int64_t num_segments);

/* Scatter over rows that start row_stride elements apart. Columns past topk are neither read nor written.
 *
 * @param topk_indices  the first row; (rows - 1) * row_stride + topk elements from there, read and written
 * @param row_stride    elements from row to row; at least topk where there are two rows or more
 * @param topk          slots of a row
 * @param context_lens  [rows] context lengths in tokens
 * @param rows          how many rows
 * @param num_segments  0 to 64; 0 is the off switch
 *
 * With one row the stride counts for nothing, but may not be negative. A single row of more than
 * PTRDIFF_MAX bytes is KVW_ROWS_MISMATCH. O(rows * topk).
 */
kvw_status kvw_scatter_strided(int32_t* topk_indices, int64_t row_stride, int64_t topk, const int32_t* context_lens,
                               int64_t rows, int64_t num_segments);

/* sigma(token) = floor(token * S_eff / L), exact for every input and not clamped to S - 1: a token at or
 * past the context's end gets S_eff or more. A context_len of 0 is read as 1. 0 where num_segments is 0.
 * O(1).
 *
 * @param token         offset in tokens
 * @param context_len   L in tokens
 * @param num_segments  S
 */
uint64_t kvw_segment_of(uint64_t token, uint64_t context_len, uint64_t num_segments);

/* The context lengths of prefill rows:
 *
 *     context_lens[r] = window_ends[r] - window_starts[r], exact, clamped to int32.
 *
 * @param window_starts  [rows] the first key of each row's window
 * @param window_ends    [rows] the key behind the last one
 * @param rows           how many rows
 * @param context_lens   [rows], written
 *
 * O(rows).
 */
kvw_status kvw_context_lens_from_windows(const int32_t* window_starts, const int32_t* window_ends, int64_t rows,
                                         int32_t* context_lens);

/* The context lengths of decode rows with next_n tokens a request:
 *
 *     context_lens[r] = seq_lens[r / next_n] - next_n + r % next_n + 1, exact, clamped to int32.
 *
 * A length of 0 or less, as padded requests have, is an empty row.
 *
 * @param seq_lens      [requests] tokens of each sequence, those of this step included
 * @param requests      how many requests
 * @param next_n        tokens a request, at least 1; below that is KVW_NEGATIVE_COUNT
 * @param context_lens  [requests * next_n], written; more than PTRDIFF_MAX bytes are KVW_ROWS_MISMATCH
 *
 * O(requests * next_n).
 */
kvw_status kvw_context_lens_from_requests(const int32_t* seq_lens, int64_t requests, int64_t next_n,
                                          int32_t* context_lens);

/* The gate: the segment count in VLLM_SPARSE_MLA_TOPOLOGY_SEGMENTS. Unset is 0, and 0 is off. One or more
 * decimal digits of value 0 to 64 are accepted; all else, an empty value, signs and blanks included, is
 * KVW_ENVIRONMENT.
 *
 * @param num_segments  receives the count
 *
 * Reads the environment at every call; no other thread may change it meanwhile.
 */
kvw_status kvw_segments_from_environment(int64_t* num_segments);

/* The random null model: min(budget, L) distinct offsets drawn from [0, L), ascending. They are row L - 1
 * of the selector Random{budget, seed}: splitmix64 and a Fisher-Yates shuffle.
 *
 * @param context_len  L in tokens, 0 to INT32_MAX
 * @param budget       0 or more
 * @param seed         any number; the same seed gives the same offsets everywhere
 * @param offsets      room for `capacity` offsets, of which the first *count are written; null where none
 *                     is
 * @param capacity     elements of offsets
 * @param count        receives min(budget, L), also when the capacity is too small (KVW_BUFFER_TOO_SMALL)
 *
 * O(min(budget, L)) time and memory, whatever L is.
 */
kvw_status kvw_random_null(int64_t context_len, int64_t budget, uint64_t seed, int32_t* offsets, int64_t capacity,
                           int64_t* count);

/* The locality null model: the last min(budget, L) offsets, [L - min(budget, L), L).
 *
 * @param context_len  L in tokens, 0 to INT32_MAX
 * @param budget       0 or more
 * @param offsets      room for `capacity` offsets, of which the first *count are written; null where none
 *                     is
 * @param capacity     elements of offsets
 * @param count        receives min(budget, L), also when the capacity is too small (KVW_BUFFER_TOO_SMALL)
 *
 * O(min(budget, L)) time. Allocates nothing.
 */
kvw_status kvw_locality_null(int64_t context_len, int64_t budget, int32_t* offsets, int64_t capacity, int64_t* count);

/* The causal mask [seq, seq] of the selector Random{budget, seed}: 1 where row i selects column j, else 0.
 * Row i selects min(budget, i + 1) distinct columns of [0, i].
 *
 * @param seq       rows and columns, 0 to INT32_MAX
 * @param budget    0 or more
 * @param seed      any number
 * @param mask      the mask in its first seq * seq bytes; what lies beyond stays untouched; null at seq 0
 * @param mask_len  bytes of mask; at least seq * seq
 *
 * O(seq^2) time and O(min(budget, seq)) memory beside the mask.
 */
kvw_status kvw_select_mask_random(int64_t seq, int64_t budget, uint64_t seed, uint8_t* mask, int64_t mask_len);

/* The causal mask [seq, seq] of the selector Local{window}: 1 where row i selects column j, else 0. Row i
 * selects the last max(window, 1) columns of [0, i].
 *
 * @param seq       rows and columns, 0 to INT32_MAX
 * @param window    columns, 0 or more
 * @param mask      the mask in its first seq * seq bytes; what lies beyond stays untouched; null at seq 0
 * @param mask_len  bytes of mask; at least seq * seq
 *
 * O(seq^2) time. Allocates nothing.
 */
kvw_status kvw_select_mask_local(int64_t seq, int64_t window, uint8_t* mask, int64_t mask_len);

/* The share of the segments that hold a candidate:
 *
 *     *coverage = |{ sigma(x) : x in candidates, 0 <= x < L }| / S_eff; 1 where L or S is 0.
 *
 * Duplicates and offsets outside [0, L) count for nothing.
 *
 * @param candidates      [candidates_len] offsets in tokens, in any order
 * @param candidates_len  elements of candidates
 * @param context_len     L in tokens, 0 to INT32_MAX
 * @param num_segments    S, 0 or more
 * @param coverage        receives the share, in [0, 1]
 *
 * O(candidates_len + S_eff) time and one bit a segment of memory.
 */
kvw_status kvw_segment_coverage(const int32_t* candidates, int64_t candidates_len, int64_t context_len,
                                int64_t num_segments, double* coverage);

/* The share of a dense attention row that the candidates hold:
 *
 *     *recall = sum of attention[x] over the distinct x in candidates with 0 <= x < L / sum of attention.
 *
 * Within 1e-12 (relative) of the exact ratio for non-negative attention, also where the sums exceed the
 * largest double. NaN where the total is 0 or a value is NaN or infinite.
 *
 * @param candidates      [candidates_len] offsets in tokens, in any order
 * @param candidates_len  elements of candidates
 * @param attention       [context_len] weights
 * @param context_len     L in tokens, 0 to INT32_MAX
 * @param recall          receives the share
 *
 * O(candidates_len + L) time and one bit a token of memory.
 */
kvw_status kvw_attention_mass_recall(const int32_t* candidates, int64_t candidates_len, const double* attention,
                                     int64_t context_len, double* recall);

/* The name of the backend in use: "scalar", "avx2" and so on. While KVWITNESS_BACKEND is unusable, that of
 * the best backend here. The text lives as long as the process.
 */
const char* kvw_backend(void);

/* Makes a backend the one in use, in all threads, in place of whatever KVWITNESS_BACKEND holds.
 *
 * @param name  a backend's name; null or "" for the best one here
 *
 * A name that is unknown, not part of this build or unable to run here is KVW_UNKNOWN_BACKEND and changes
 * nothing. KVWITNESS_BACKEND itself is read once, at the first call that needs a backend; empty is unset.
 */
kvw_status kvw_set_backend(const char* name);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* KVWITNESS_KVWITNESS_H */
