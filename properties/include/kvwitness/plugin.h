/*
 * Plug-ins: anyone's implementation of the segment-witness operations, as a shared library that the harness judges:
 *
 *     kvwitness verify --plugin ./libmine.so
 *
 * Define some of the functions below with these signatures and C linkage, and export them. All pointers are host
 * pointers: a plug-in for a device moves the data there and back itself. A function that is not exported is an operation
 * that the plug-in does not provide: it is reported as such, never as passed.
 *
 * The harness loads the library into a process of its own and calls it there, from one thread, one call at a time. A
 * call that crashes, exits, throws, hangs, writes outside its output or reads past a buffer is a failed property with a
 * small counterexample, and the run goes on in a fresh process. Memory around the buffers is unreadable or checked;
 * inputs are read-only unless they are the output.
 *
 * What the operations compute. A row holds topk token offsets into a context of L tokens; negative entries are padding.
 * With S_eff = min(S, L):
 *
 * - Segment s starts at its edge e_s = ceil(s * L / S_eff).
 * - A token x >= 0 marks segment min(floor(x * S_eff / L), S - 1).
 * - The row's witnesses are the edges e_s of the segments s < S_eff that no token marks, in ascending order.
 *
 * A row with L <= 0 has no witness. All products are exact.
 *
 * C11 and C++; depends on nothing but <stdint.h>.
 */
#ifndef KVWITNESS_PLUGIN_H
#define KVWITNESS_PLUGIN_H

#include <stdint.h>

/* The version that kvw_plugin_abi_version returns. */
#define KVW_PLUGIN_ABI_VERSION 1

#if defined(_WIN32)
#define KVW_PLUGIN_EXPORT __declspec(dllexport)
#else
#define KVW_PLUGIN_EXPORT __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Required: KVW_PLUGIN_ABI_VERSION. */
KVW_PLUGIN_EXPORT int32_t kvw_plugin_abi_version(void);

/* Optional: the name in reports. Without it, the stem of the file's name. A name that occurs again gets #2. */
KVW_PLUGIN_EXPORT const char* kvw_plugin_name(void);

/*
 * Optional, 0 where absent: 1 promises that malformed calls are refused with the codes of kvw_status (kvwitness.h) and
 * write nothing. Without it the harness makes only legal calls, with non-null pointers even at zero size.
 */
KVW_PLUGIN_EXPORT int32_t kvw_plugin_checks_arguments(void);

/*
 * Optional: 0 for a shape outside the plug-in's domain, anything else for one inside. Such shapes are counted and
 * printed as unsupported, never as passed; a plug-in that supports nothing fails.
 *
 * @param operation          "witnesses", "apply" or "scatter"
 * @param rows               rows of the batch
 * @param topk               slots in a row
 * @param row_stride         elements from row to row; topk for packed rows
 * @param num_segments       S
 * @param base_offset_bytes  from a 64-byte boundary to the learned rows, and to the output
 */
KVW_PLUGIN_EXPORT int32_t kvw_plugin_supports(const char* operation, int64_t rows, int64_t topk, int64_t row_stride,
                                              int64_t num_segments, int64_t base_offset_bytes);

/* Operations in kvw_plugin_domain_info: a sum of these. */
#define KVW_PLUGIN_WITNESSES 1u
#define KVW_PLUGIN_APPLY 2u
#define KVW_PLUGIN_SCATTER 4u
/* Flags in kvw_plugin_domain_info. */
#define KVW_PLUGIN_CONTIGUOUS 1u /* only packed rows: row_stride is topk */
#define KVW_PLUGIN_IN_RANGE 2u   /* no token at or past its row's length; a row of length 0 or less holds padding */
/* The most entries of a list in kvw_plugin_domain_info. */
#define KVW_PLUGIN_MOST_LISTED 256

/* The calls that a plug-in serves. */
typedef struct kvw_plugin_domain_info {
  int64_t struct_size;         /* bytes of this struct as the harness knows it */
  uint32_t operations;         /* KVW_PLUGIN_WITNESSES, KVW_PLUGIN_APPLY, KVW_PLUGIN_SCATTER */
  uint32_t flags;              /* KVW_PLUGIN_CONTIGUOUS, KVW_PLUGIN_IN_RANGE */
  int64_t max_context;         /* the longest context, in tokens: 1 to 2^31 - 1 */
  int64_t max_rows;            /* of a batch, at least 1 */
  int64_t align_bytes;         /* 4, 8, 16, 32 or 64: every base, and every row stride but topk, is a multiple of it */
  const int64_t* topk;         /* [topk_count]: the widths of rows; null for any. Must outlive the call */
  int64_t topk_count;          /* 0 to KVW_PLUGIN_MOST_LISTED; 0 for any */
  const int64_t* num_segments; /* [num_segments_count]: the segment counts; null for any. Must outlive the call */
  int64_t num_segments_count;  /* 0 to KVW_PLUGIN_MOST_LISTED; 0 for any */
} kvw_plugin_domain_info;

/*
 * Optional: states the plug-in's domain, so that no call outside is made: neither a generated one, nor one that a
 * relation derives from it, nor a candidate of shrinking. Asked once, when the plug-in is loaded. A case file's calls
 * outside are counted as unsupported.
 *
 * The struct grows at its end in later versions. The harness fills in struct_size and, in every other field, the value
 * that admits everything, so a plug-in changes only what it narrows. One that is compiled against a later header than
 * the harness must leave fields beyond struct_size alone. With kvw_plugin_supports beside it, both must admit a call.
 *
 * Returns 0; anything else, and a value that is not as said above, is an error of the plug-in's author.
 */
KVW_PLUGIN_EXPORT int32_t kvw_plugin_domain(kvw_plugin_domain_info* domain);

/*
 * At least one of the three operations. Each returns 0, or a kvw_status number for a call that it refuses; sizes are in
 * elements.
 */

/*
 * Entry (r, s) of the result is e_s where that is a witness of row r, otherwise -1.
 *
 * @param learned       [rows, topk], packed
 * @param learned_len   rows * topk
 * @param topk          slots in a row
 * @param context_lens  [rows]; any value
 * @param rows          rows of the batch
 * @param num_segments  S, at least 1, also above 64
 * @param witnesses     [rows, num_segments]: the result
 */
KVW_PLUGIN_EXPORT int32_t kvw_plugin_witness_indices(const int32_t* learned, int64_t learned_len, int64_t topk,
                                                     const int32_t* context_lens, int64_t rows, int64_t num_segments,
                                                     int32_t* witnesses);

/*
 * The result is a copy of `learned` in which the first B witnesses of each row overwrite the slots from learned_keep on,
 * where B = min(max_replacements, topk - learned_keep).
 *
 * @param learned           [rows, topk], packed
 * @param learned_len       rows * topk
 * @param topk              slots in a row
 * @param context_lens      [rows]; any value
 * @param rows              rows of the batch
 * @param learned_keep      0 to topk
 * @param num_segments      S, 1 to 64
 * @param max_replacements  at least 0
 * @param out               [rows, topk], packed: the result; may be `learned` itself
 */
KVW_PLUGIN_EXPORT int32_t kvw_plugin_apply(const int32_t* learned, int64_t learned_len, int64_t topk,
                                           const int32_t* context_lens, int64_t rows, int64_t learned_keep,
                                           int64_t num_segments, int64_t max_replacements, int32_t* out);

/*
 * In place: apply with learned_keep = max(0, topk - num_segments) and max_replacements = num_segments.
 *
 * @param topk_indices  row r starts at topk_indices + r * row_stride; columns past topk are not touched
 * @param row_stride    elements from row to row
 * @param topk          slots in a row
 * @param context_lens  [rows]; any value
 * @param rows          rows of the batch
 * @param num_segments  S, 0 to 64; 0 does nothing
 */
KVW_PLUGIN_EXPORT int32_t kvw_plugin_scatter(int32_t* topk_indices, int64_t row_stride, int64_t topk,
                                             const int32_t* context_lens, int64_t rows, int64_t num_segments);

#ifdef __cplusplus
}
#endif

#endif /* KVWITNESS_PLUGIN_H */
