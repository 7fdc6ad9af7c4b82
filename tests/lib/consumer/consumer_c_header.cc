#include <kvwitness/kvwitness.h>

int main() {
  int32_t row[4] = {0, 5, 9, -1};
  const int32_t context_len = 16;
  return kvw_scatter(row, 4, 4, &context_len, 1, 2) == KVW_OK && row[2] == 9 ? 0 : 1;
}
