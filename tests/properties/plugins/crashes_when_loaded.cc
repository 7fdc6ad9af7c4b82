#include <cstdlib>

#include "rule.h"

RULE_VERSION
RULE_APPLY

namespace {
struct Crash {
  Crash() { std::abort(); }
};
const Crash crash;
}  // namespace
