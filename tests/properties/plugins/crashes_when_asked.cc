// Crashes over the question whether it supports a shape of more than two rows.
#include <cstdlib>

#include "rule.h"

RULE_VERSION
RULE_APPLY
extern "C" int32_t kvw_plugin_supports(const char*, int64_t rows, int64_t, int64_t, int64_t, int64_t) {
  if (rows > 2) {
    std::abort();
  }
  return 1;
}
