#include <kvwitness/kvwitness.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  /* The row [0, 5, 9, -1] over 16 tokens in 4 segments misses the last one, whose witness is 12. */
  const int32_t learned[4] = {0, 5, 9, -1};
  const int32_t context_lens[1] = {16};
  const int32_t expected[4] = {0, 5, 12, -1};
  int32_t merged[4];
  const kvw_status status = kvw_apply(learned, 4, 4, context_lens, 1, 2, 4, 2, merged);
  if (status != KVW_OK) {
    fprintf(stderr, "%s: %s\n", kvw_status_name(status), kvw_last_error());
    return 1;
  }
  if (kvw_apply(learned, 3, 4, context_lens, 1, 2, 4, 2, merged) != KVW_ROWS_MISMATCH) {
    return 2;
  }
  return memcmp(merged, expected, sizeof merged) == 0 && kvw_abi_version() == 1 ? 0 : 3;
}
