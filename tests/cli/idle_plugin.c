/* A plug-in that accepts every call, promises refusals and does nothing: what an emitted test must find wrong. */
#include <kvwitness/plugin.h>

int32_t kvw_plugin_abi_version(void) {
  return KVW_PLUGIN_ABI_VERSION;
}
int32_t kvw_plugin_checks_arguments(void) {
  return 1;
}
int32_t kvw_plugin_witness_indices(const int32_t* learned, int64_t learned_len, int64_t topk,
                                   const int32_t* context_lens, int64_t rows, int64_t num_segments,
                                   int32_t* witnesses) {
  (void)learned, (void)learned_len, (void)topk, (void)context_lens, (void)rows, (void)num_segments, (void)witnesses;
  return 0;
}
int32_t kvw_plugin_apply(const int32_t* learned, int64_t learned_len, int64_t topk, const int32_t* context_lens,
                         int64_t rows, int64_t learned_keep, int64_t num_segments, int64_t max_replacements,
                         int32_t* out) {
  (void)learned, (void)learned_len, (void)topk, (void)context_lens, (void)rows, (void)learned_keep;
  (void)num_segments, (void)max_replacements, (void)out;
  return 0;
}
int32_t kvw_plugin_scatter(int32_t* topk_indices, int64_t row_stride, int64_t topk, const int32_t* context_lens,
                           int64_t rows, int64_t num_segments) {
  (void)topk_indices, (void)row_stride, (void)topk, (void)context_lens, (void)rows, (void)num_segments;
  return 0;
}
