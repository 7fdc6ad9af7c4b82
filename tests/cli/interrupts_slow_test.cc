// What interrupts_test.cc says, at more moments.
#include <gtest/gtest.h>

#include "tests/cli/interrupts.h"

namespace kvwitness::harness {
namespace {

TEST(ManyInterrupts, LeaveNothingRunningAndLoseNoReport) {
  interrupt_often(200, 18);
}

}  // namespace
}  // namespace kvwitness::harness
