/* A plug-in whose answers are right and whose own table is read past its end where L is 9: only AddressSanitizer sees it. */
#include <kvwitness/plugin.h>

static volatile int32_t zeros[8];

int32_t kvw_plugin_abi_version(void) {
  return KVW_PLUGIN_ABI_VERSION;
}

int32_t kvw_plugin_witness_indices(const int32_t* learned, int64_t learned_len, int64_t topk,
                                   const int32_t* context_lens, int64_t rows, int64_t num_segments,
                                   int32_t* witnesses) {
  (void)learned_len;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t len = context_lens[row];
    const int64_t segments = len <= 0 ? 0 : len < num_segments ? len : num_segments;
    int32_t* const entries = witnesses + row * num_segments;
    for (int64_t s = 0; s < num_segments; ++s) {
      entries[s] = s < segments ? (int32_t)((s * len + segments - 1) / segments) : -1;
    }
    for (int64_t slot = 0; slot < topk && segments > 0; ++slot) {
      const int64_t token = learned[row * topk + slot];
      if (token >= 0 && token * segments / len < segments) entries[token * segments / len] = -1;
      if (token >= 0 && token * segments / len >= num_segments && segments == num_segments) entries[segments - 1] = -1;
    }
    if (segments > 0) entries[0] += 0 * zeros[len == 9 ? 9 : 0];
  }
  return 0;
}
