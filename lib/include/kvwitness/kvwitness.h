/* The C ABI of kvwitness: segment witnesses for learned sparse-attention top-k rows.
 *
 * A learned row holds topk token offsets into a context of L tokens, which is cut into S_eff = min(S, L) segments.
 * Segment s starts at its edge e_s = ceil(s * L / S_eff); a token x lies in segment sigma(x) = floor(x * S_eff / L) and
 * occupies min(sigma(x), S - 1). The first token of each unoccupied segment is a witness. Source of the rule:
 * vllm-project/vllm#47942 and its Rust port, aether_core::kvwitness.
 *
 * Conventions
 * - Buffers are row-major. Sizes, counts, strides and capacities are int64_t in elements; tokens, lengths and offsets
 * are int32_t in tokens from the start of the row's own context. Pointers need the alignment of their element type and
 * no more.
 * - Any negative token is padding: it occupies nothing and stays as it is unless a witness overwrites its slot. A token
 * at or past the context's end is neither refused nor removed. A row with a context length of 0 or less has no witness
 * and stays as it is.
 * - No function throws, aborts or starts a thread. The operations and the length helpers allocate nothing; nulls, masks
 * and metrics may. Calls on disjoint outputs may run concurrently.
 * - A refused call writes nothing, but for *count of the two nulls when the capacity is too small. The checks run in
 * this order, the first failure is returned:
 *     1. kvw_scatter and kvw_scatter_strided with num_segments 0 succeed, whatever else is passed
 *     2. the four operations: an unusable KVWITNESS_BACKEND            KVW_UNKNOWN_BACKEND
 *     3. counts below their minimum, in argument order                KVW_NEGATIVE_COUNT
 *     4. KVW_ROWS_MISMATCH, KVW_SEGMENTS_OUT_OF_RANGE, KVW_LEARNED_KEEP_OUT_OF_RANGE
 *     5. a context length above INT32_MAX                             KVW_CONTEXT_LEN_OUT_OF_RANGE
 *     6. null pointers, in argument order                             KVW_NULL_POINTER
 *     7. KVW_ROW_STRIDE, KVW_BUFFER_OVERLAP, KVW_BUFFER_TOO_SMALL
 *   then, of nulls, masks and metrics, KVW_OUT_OF_MEMORY.
 * - Null pointers: without rows every buffer of the operations and length helpers may be null. With rows, context_lens
 * may not; topk 0 lets the learned rows and apply's output be null.
 * - Overlap: an output may share no byte with an input or with another output, whole spans counted (the spare columns
 * of a strided span too). The one exception is apply's output at the address of its learned rows, which works in place.
 * A span is empty without rows or without topk, and an empty span overlaps nothing.
 */
#ifndef KVWITNESS_KVWITNESS_H
#define KVWITNESS_KVWITNESS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a call returns. The numbers never change; kvw_status_name gives the words in brackets. In C++ the underlying
 * type is fixed, so that a number from elsewhere may be passed to kvw_status_name; in C it has the same size. */
#ifdef __cplusplus
typedef enum kvw_status : int32_t {
#else
typedef enum kvw_status {
#endif
  KVW_OK = 0,            /* [ok] */
  KVW_ROWS_MISMATCH = 1, /* [rows mismatch] learned_len != rows * topk, or a contiguous span above PTRDIFF_MAX bytes */
  KVW_SEGMENTS_OUT_OF_RANGE =
      2, /* [segments out of range] 0 or above 64, or a witness buffer above PTRDIFF_MAX bytes */
  KVW_LEARNED_KEEP_OUT_OF_RANGE = 3, /* [learned keep out of range] learned_keep > topk */
  KVW_NEGATIVE_COUNT = 4, /* [negative count] a size, count, budget or stride below its minimum (0 unless said) */
  KVW_NULL_POINTER = 5,   /* [null pointer] */
  KVW_ROW_STRIDE = 6,     /* [row stride] with two or more rows: row_stride < topk, or a span above PTRDIFF_MAX bytes */
  KVW_BUFFER_OVERLAP = 7, /* [buffer overlap] an output shares a byte with an input or another output */
  KVW_BUFFER_TOO_SMALL = 8,         /* [buffer too small] */
  KVW_CONTEXT_LEN_OUT_OF_RANGE = 9, /* [context length out of range] nulls, masks, metrics: above INT32_MAX */
  KVW_UNKNOWN_BACKEND = 10,         /* [unknown backend] no such backend, or one that cannot run here */
  KVW_ENVIRONMENT = 11,             /* [environment] VLLM_SPARSE_MLA_TOPOLOGY_SEGMENTS is not an integer in [0, 64] */
  KVW_CUDA = 12,                    /* [cuda] a CUDA call failed; only the CUDA library returns it */
  KVW_OUT_OF_MEMORY = 13            /* [out of memory] */
} kvw_status;

/* The version of this interface: 1. It grows by functions and codes alone. */
int32_t kvw_abi_version(void);

/* The version of the library, "0.1.0". Lives as long as the process. */
const char* kvw_version(void);

/* The words of a status, or "unknown status" for any other number. Lives as long as the process. */
const char* kvw_status_name(kvw_status status);

/* The last refusal of the calling thread, naming the argument, its value and the limit; "" before the first one. A
 * success leaves it as it is. The text lives until the thread's next refusal or its end. Allocates nothing. */
const char* kvw_last_error(void);

/* Witness indices [rows, num_segments]: entry (r, s) is e_s where s < S_eff(r), L_r > 0 and segment s is unoccupied by
 * row r, and -1 elsewhere. learned       [rows, topk] token offsets learned_len   elements of learned; must be rows *
 * topk context_lens  [rows] context lengths in tokens num_segments  any from 1; above 64 too witnesses     [rows,
 * num_segments], every entry is written; at topk 0 each row gets every edge Refuses num_segments 0 and rows *
 * num_segments elements of more than PTRDIFF_MAX bytes as KVW_SEGMENTS_OUT_OF_RANGE. O(rows * (topk + num_segments)),
 * no scratch memory. Example: [0, 5, 9, -1] at L = 16, S = 4 gives [-1, -1, -1, 12]. */
kvw_status kvw_witness_indices(const int32_t* learned, int64_t learned_len, int64_t topk, const int32_t* context_lens,
                               int64_t rows, int64_t num_segments, int32_t* witnesses);

/* Apply [rows, topk]: a copy of the rows in which each row's witnesses, in ascending segment order, overwrite the slots
 * learned_keep, learned_keep + 1, ...: at most B = min(max_replacements, topk - learned_keep) of them; the rest are
 * dropped. learned, learned_len, topk, context_lens, rows  as kvw_witness_indices learned_keep      slots at the head
 * of each row that stay bit-identical; at most topk num_segments      1 to 64 max_replacements  any from 0 out [rows,
 * topk]; may be learned itself, and then only overwritten slots are written The segment count and learned_keep are
 * refused even where the budget is 0 or there are no rows. O(rows * topk). Example: [0, 5, 9, -1] at L = 16, S = 4 with
 * learned_keep 2 and max_replacements 2 gives [0, 5, 12, -1]. */
kvw_status kvw_apply(const int32_t* learned, int64_t learned_len, int64_t topk, const int32_t* context_lens,
                     int64_t rows, int64_t learned_keep, int64_t num_segments, int64_t max_replacements, int32_t* out);

/* Scatter, in place: the serving entry point. Apply with learned_keep = max(0, topk - num_segments) and
 * max_replacements = num_segments. topk_indices      [rows, topk] token offsets, read and written topk_indices_len
 * elements of topk_indices; must be rows * topk context_lens      [rows] context lengths in tokens num_segments      0
 * to 64; 0 is the off switch Not idempotent: a second pass sees the first one's witnesses as learned tokens. O(rows *
 * topk). */
kvw_status kvw_scatter(int32_t* topk_indices, int64_t topk_indices_len, int64_t topk, const int32_t* context_lens,
                       int64_t rows, int64_t num_segments);

/* The same over rows that start row_stride elements apart; columns past topk are neither read nor written. The span
 * reaches from the first row's start to the last row's last slot: (rows - 1) * row_stride + topk elements. With one row
 * the stride counts for nothing (but may not be negative), and a row of more than PTRDIFF_MAX bytes is
 * KVW_ROWS_MISMATCH. */
kvw_status kvw_scatter_strided(int32_t* topk_indices, int64_t row_stride, int64_t topk, const int32_t* context_lens,
                               int64_t rows, int64_t num_segments);

/* sigma(token) = floor(token * S_eff / L), exact for every input and not clamped to S - 1: a token at or past the
 * context's end gets S_eff or more. A context_len of 0 is read as 1. 0 when num_segments is 0. O(1). */
uint64_t kvw_segment_of(uint64_t token, uint64_t context_len, uint64_t num_segments);

/* Context lengths of prefill rows: context_lens[r] = window_ends[r] - window_starts[r], exact, clamped to int32.
 * O(rows). window_starts, window_ends, context_lens  [rows] */
kvw_status kvw_context_lens_from_windows(const int32_t* window_starts, const int32_t* window_ends, int64_t rows,
                                         int32_t* context_lens);

/* Context lengths of decode rows with next_n tokens a request: context_lens[r] = seq_lens[r / next_n] - next_n + r %
 * next_n + 1, exact, clamped to int32. 0 or less (a padded request) is an empty row. O(requests * next_n). seq_lens
 * [requests] next_n        at least 1; below is KVW_NEGATIVE_COUNT context_lens  [requests * next_n]; more rows than
 * PTRDIFF_MAX bytes hold are KVW_ROWS_MISMATCH */
kvw_status kvw_context_lens_from_requests(const int32_t* seq_lens, int64_t requests, int64_t next_n,
                                          int32_t* context_lens);

/* The gate: the segment count in VLLM_SPARSE_MLA_TOPOLOGY_SEGMENTS; unset is 0, and 0 is off. One or more decimal
 * digits of value 0 to 64 are accepted; all else, an empty value, signs and blanks included, is KVW_ENVIRONMENT. Reads
 * the environment at every call, which must not be changed at the same time. */
kvw_status kvw_segments_from_environment(int64_t* num_segments);

/* The random null model: min(budget, L) distinct offsets drawn from [0, L), ascending; row L - 1 of the selector
 * Random{budget, seed} (splitmix64 and a Fisher-Yates shuffle). O(min(budget, L)) time and memory, whatever L is.
 *   offsets   room for `capacity` offsets; only the first *count are written
 *   count     receives min(budget, L), also when the capacity is too small (KVW_BUFFER_TOO_SMALL)
 * offsets may be null where capacity or *count is 0. A context_len above INT32_MAX is refused. */
kvw_status kvw_random_null(int64_t context_len, int64_t budget, uint64_t seed, int32_t* offsets, int64_t capacity,
                           int64_t* count);

/* The locality null model: the last min(budget, L) offsets, [L - min(budget, L), L). Otherwise as kvw_random_null;
 * allocates nothing. */
kvw_status kvw_locality_null(int64_t context_len, int64_t budget, int32_t* offsets, int64_t capacity, int64_t* count);

/* The causal mask [seq, seq] of a selector, 1 where row i selects column j, else 0. Row i of Random{budget, seed} holds
 * min(budget, i + 1) distinct columns of [0, i]; row i of Local{window} the last max(window, 1) of them. mask      seq
 * * seq bytes; may be null at seq 0 mask_len  bytes of mask; at least seq * seq, and what lies beyond stays untouched
 * O(seq^2) time; the random mask O(min(budget, seq)) memory, the local one none. A seq above INT32_MAX is refused. */
kvw_status kvw_select_mask_random(int64_t seq, int64_t budget, uint64_t seed, uint8_t* mask, int64_t mask_len);
kvw_status kvw_select_mask_local(int64_t seq, int64_t window, uint8_t* mask, int64_t mask_len);

/* *coverage = |{ sigma(x) : x in candidates, 0 <= x < L }| / S_eff; 1 when context_len or num_segments is 0. Duplicates
 * and offsets outside [0, L) count for nothing. O(candidates_len + S_eff) time, one bit a segment of memory. */
kvw_status kvw_segment_coverage(const int32_t* candidates, int64_t candidates_len, int64_t context_len,
                                int64_t num_segments, double* coverage);

/* *recall = sum of attention[x] over the distinct x in candidates with 0 <= x < L, over the sum of attention; within
 * 1e-12 (relative) of the exact ratio for non-negative attention. NaN where the total is 0 or a value is NaN. attention
 * [context_len] O(candidates_len + L) time, one bit a token of memory. */
kvw_status kvw_attention_mass_recall(const int32_t* candidates, int64_t candidates_len, const double* attention,
                                     int64_t context_len, double* recall);

/* The backend in use: "scalar", "avx2", ...; the best one here while KVWITNESS_BACKEND is unusable. Lives as long as
 * the process. */
const char* kvw_backend(void);

/* Makes a backend the one in use, in all threads, in place of whatever KVWITNESS_BACKEND holds; null or "" for the best
 * one here. A name that is unknown, not part of this build or unable to run here is KVW_UNKNOWN_BACKEND and changes
 * nothing. KVWITNESS_BACKEND itself is read once, at the first call that needs a backend; empty is unset. */
kvw_status kvw_set_backend(const char* name);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* KVWITNESS_KVWITNESS_H */
