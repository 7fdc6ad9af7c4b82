/* The segment-witness operations over device pointers: library kvwitness_cuda, which stands by itself. Of
 * the C ABI in kvwitness.h it uses the status codes, and links nothing.
 *
 * Witnesses, padding, short and empty rows, tokens past the context's end and what each operation computes
 * are as in kvwitness.h.
 *
 * - Every row buffer and every length lies in memory that the current device can access. The structs and
 *   these arguments lie on the host and may be reused when the call returns. Pointers need the alignment of
 *   int32_t; rows that start on 16 bytes read and copy fastest.
 * - A call is asynchronous: it launches at most one kernel into `stream` (a cudaStream_t; null is the
 *   default stream) of the current device, allocates nothing, never synchronises and reads no device memory
 *   on the host. It may be captured into a CUDA graph and replayed with new contents in the same buffers.
 * - Nothing is launched where nothing would be written: without rows, for apply in place and scatter where
 *   no slot can be overwritten, for apply at topk 0, and for scatter with num_segments 0.
 * - Calls may come from any thread.
 * - A length `..._len` is the number of elements that a pointer covers, and may exceed what the call needs.
 *   The span of rows is (rows - 1) * row_stride + topk elements; columns past topk are neither read nor
 *   written.
 *
 * The checks run in this order, before anything is launched. The first failure is returned, and nothing is
 * written:
 *
 * 1. kvw_cuda_scatter with num_segments 0 succeeds, whatever else is passed.
 * 2. KVW_NEGATIVE_COUNT: a count below its minimum, in argument order; those of *lengths in its place.
 * 3. KVW_ROWS_MISMATCH (learned, then lengths), then KVW_SEGMENTS_OUT_OF_RANGE, then
 *    KVW_LEARNED_KEEP_OUT_OF_RANGE.
 * 4. KVW_NULL_POINTER, in argument order.
 * 5. KVW_ROW_STRIDE, then KVW_BUFFER_OVERLAP, then KVW_BUFFER_TOO_SMALL.
 *
 * Then KVW_CUDA: the launch failed, and kvw_cuda_last_error names the CUDA call and its error. The CUDA
 * runtime may report through it what an earlier asynchronous operation did. The library never clears the
 * runtime's last error.
 */
#ifndef KVWITNESS_KVWITNESS_CUDA_H
#define KVWITNESS_KVWITNESS_CUDA_H

#include <kvwitness/kvwitness.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How row r gets its context length, which is exact and clamped to int32:
 *
 *     L = lens[q * stride] - starts[q * stride] - next_n + r % next_n + 1, with q = r / next_n
 *
 * L <= 0 is an empty row.
 *
 * - Decode: lens are the sequence lengths, starts is null, next_n is 1.
 * - Prefill: lens and starts are the window ends and starts, next_n is 1.
 * - Speculative decoding with n tokens a request: lens are the sequence lengths, starts is null, next_n is
 *   n.
 */
typedef struct kvw_cuda_lengths {
  const int32_t* lens;   /* on the device: lengths, or window ends */
  const int32_t* starts; /* on the device: null (read as 0), or window starts */
  int64_t count;         /* how many lens (and starts) there are: at least ceil(rows / next_n) */
  int64_t stride;        /* elements between two of them, at least 1 */
  int64_t next_n;        /* rows a request, at least 1 */
} kvw_cuda_lengths;

/* This thread's last refusal or CUDA error: names the argument and its value, or the CUDA call. "" before
 * the first one; a success leaves it as it is. The text lives until the thread's next refusal or its end.
 */
const char* kvw_cuda_last_error(void);

/* Witness indices: entry (r, s) of the result is the first token of segment s where the segment is
 * unoccupied by row r, else -1. At topk 0 each row gets every edge, and learned may be null.
 *
 * @param learned        [rows, topk] token offsets, rows row_stride elements apart
 * @param learned_len    elements that learned covers
 * @param row_stride     elements from row to row; at least topk where there are two rows or more
 * @param topk           slots of a row
 * @param lengths        how each row gets its context length
 * @param rows           how many rows
 * @param num_segments   1 or more; above 64 by a kernel of its own
 * @param witnesses      [rows, num_segments], packed; every entry is written; shares no byte with the
 *                       inputs
 * @param witnesses_len  elements that witnesses covers
 * @param stream         a cudaStream_t
 */
kvw_status kvw_cuda_witness_indices(const int32_t* learned, int64_t learned_len, int64_t row_stride, int64_t topk,
                                    const kvw_cuda_lengths* lengths, int64_t rows, int64_t num_segments,
                                    int32_t* witnesses, int64_t witnesses_len, void* stream);

/* Apply: a copy of the rows in which each row's witnesses overwrite the slots learned_keep,
 * learned_keep + 1, and so on: at most min(max_replacements, topk - learned_keep) of them.
 *
 * @param learned           [rows, topk] token offsets, rows row_stride elements apart
 * @param learned_len       elements that learned covers
 * @param row_stride        elements from row to row; at least topk where there are two rows or more
 * @param topk              slots of a row
 * @param lengths           how each row gets its context length
 * @param rows              how many rows
 * @param learned_keep      slots at the head of each row that stay bit-identical; at most topk
 * @param num_segments      1 to 64
 * @param max_replacements  0 or more
 * @param out               [rows, topk], rows out_row_stride elements apart; shares no byte with the
 *                          inputs, or is learned with the same stride, and then only overwritten slots are
 *                          written
 * @param out_len           elements that out covers
 * @param out_row_stride    elements from row to row of out; at least topk where there are two rows or more
 * @param stream            a cudaStream_t
 */
kvw_status kvw_cuda_apply(const int32_t* learned, int64_t learned_len, int64_t row_stride, int64_t topk,
                          const kvw_cuda_lengths* lengths, int64_t rows, int64_t learned_keep, int64_t num_segments,
                          int64_t max_replacements, int32_t* out, int64_t out_len, int64_t out_row_stride,
                          void* stream);

/* Scatter, in place: the serving entry point. It is apply with learned_keep = max(0, topk - num_segments)
 * and max_replacements = num_segments. Not idempotent.
 *
 * @param topk_indices      [rows, topk] token offsets, rows row_stride elements apart, read and written
 * @param topk_indices_len  elements that topk_indices covers
 * @param row_stride        elements from row to row; at least topk where there are two rows or more
 * @param topk              slots of a row
 * @param lengths           how each row gets its context length
 * @param rows              how many rows
 * @param num_segments      0 to 64; 0 is the off switch
 * @param stream            a cudaStream_t
 */
kvw_status kvw_cuda_scatter(int32_t* topk_indices, int64_t topk_indices_len, int64_t row_stride, int64_t topk,
                            const kvw_cuda_lengths* lengths, int64_t rows, int64_t num_segments, void* stream);

#ifdef __cplusplus
}
#endif

#endif /* KVWITNESS_KVWITNESS_CUDA_H */
