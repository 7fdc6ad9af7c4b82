/*
 * A plug-in in C: the three operations, written plainly. Build it and have it judged:
 *
 *     cc -std=c11 -O2 -shared -fPIC -I properties/include tests/examples/plugin.c -o plugin.so
 *     kvwitness verify --plugin ./plugin.so
 *
 * Replace the bodies by calls of your kernel: copy the rows to your device, launch, copy the result back.
 */
#include <kvwitness/plugin.h>
#include <string.h>

int32_t kvw_plugin_abi_version(void) {
  return KVW_PLUGIN_ABI_VERSION;
}
const char* kvw_plugin_name(void) {
  return "plain-c";
}

static int64_t least(int64_t a, int64_t b) {
  return a < b ? a : b;
}

/* Writes the row's witnesses to `entries`: e_s where segment s < S_eff has no token, else -1. Returns S_eff. */
static int64_t row_witnesses(const int32_t* row, int64_t topk, int64_t context_len, int64_t num_segments,
                             int32_t* entries) {
  const int64_t segments = context_len > 0 ? least(num_segments, context_len) : 0;
  for (int64_t s = 0; s < segments; ++s) {
    entries[s] = (int32_t)((s * context_len + segments - 1) / segments);
  }
  for (int64_t slot = 0; slot < topk && segments > 0; ++slot) {
    if (row[slot] < 0) continue; /* padding */
    const int64_t segment = least((int64_t)row[slot] * segments / context_len, num_segments - 1);
    if (segment < segments) entries[segment] = -1;
  }
  return segments;
}

/* Overwrites at most `budget` slots from `keep` on. Occupancy is read from the whole row first. */
static void merge_row(int32_t* row, int64_t topk, int64_t context_len, int64_t keep, int64_t num_segments,
                      int64_t budget) {
  int32_t entries[64];
  const int64_t segments = row_witnesses(row, topk, context_len, num_segments, entries);
  int64_t slot = keep;
  for (int64_t s = 0; s < segments && slot - keep < budget; ++s) {
    if (entries[s] >= 0) row[slot++] = entries[s];
  }
}

int32_t kvw_plugin_witness_indices(const int32_t* learned, int64_t learned_len, int64_t topk,
                                   const int32_t* context_lens, int64_t rows, int64_t num_segments,
                                   int32_t* witnesses) {
  (void)learned_len;
  for (int64_t row = 0; row < rows; ++row) {
    int32_t* const entries = witnesses + row * num_segments;
    const int64_t segments = row_witnesses(learned + row * topk, topk, context_lens[row], num_segments, entries);
    for (int64_t s = segments; s < num_segments; ++s) entries[s] = -1;
  }
  return 0;
}

int32_t kvw_plugin_apply(const int32_t* learned, int64_t learned_len, int64_t topk, const int32_t* context_lens,
                         int64_t rows, int64_t learned_keep, int64_t num_segments, int64_t max_replacements,
                         int32_t* out) {
  if (out != learned) memcpy(out, learned, (size_t)learned_len * sizeof *out);
  const int64_t budget = least(max_replacements, topk - learned_keep);
  for (int64_t row = 0; row < rows; ++row) {
    merge_row(out + row * topk, topk, context_lens[row], learned_keep, num_segments, budget);
  }
  return 0;
}

int32_t kvw_plugin_scatter(int32_t* topk_indices, int64_t row_stride, int64_t topk, const int32_t* context_lens,
                           int64_t rows, int64_t num_segments) {
  if (num_segments == 0) return 0;
  const int64_t keep = topk > num_segments ? topk - num_segments : 0;
  for (int64_t row = 0; row < rows; ++row) {
    merge_row(topk_indices + row * row_stride, topk, context_lens[row], keep, num_segments, topk - keep);
  }
  return 0;
}
