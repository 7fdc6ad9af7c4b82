/* A plug-in with one fault: it rounds segment edges down, so a witness may lie one segment too low. Only scatter, packed or strided. */
#include <stdint.h>

int32_t kvw_plugin_abi_version(void) {
  return 1;
}

const char* kvw_plugin_name(void) {
  return "rounds-down";
}

/* The segment of a token, as min(floor(x * S_eff / L), S - 1). */
static int64_t segment_of(int64_t token, int64_t len, int64_t effective, int64_t segments) {
  const int64_t segment = token * effective / len;
  return segment < segments ? segment : segments - 1;
}

static void scatter_row(int32_t* row, int64_t topk, int64_t len, int64_t segments) {
  const int64_t effective = segments < len ? segments : len;
  uint64_t occupied = 0;
  int64_t slot = topk > segments ? topk - segments : 0;
  for (int64_t i = 0; i < topk; ++i) {
    if (row[i] >= 0) occupied |= UINT64_C(1) << segment_of(row[i], len, effective, segments);
  }
  for (int64_t s = 0; s < effective && slot < topk; ++s) {
    if (!(occupied >> s & 1)) row[slot++] = (int32_t)(s * len / effective);
  }
}

int32_t kvw_plugin_scatter(int32_t* rows, int64_t row_stride, int64_t topk, const int32_t* lens, int64_t count,
                           int64_t segments) {
  for (int64_t r = 0; r < count && segments > 0; ++r) {
    if (lens[r] > 0) scatter_row(rows + r * row_stride, topk, lens[r], segments);
  }
  return 0;
}
