// The time of an implementation: which calls are worth a part of it, told by what calls took before.
#include "properties/run/ration.h"

#include <gtest/gtest.h>

namespace kvwitness::harness {
namespace {

using Seconds = Ration::Seconds;

Case call(std::int64_t topk, std::int64_t num_segments = 4, std::int64_t rows = 1) {
  Case value;
  value.operation = Operation::kScatter;
  value.topk = topk;
  value.num_segments = num_segments;
  value.context_lens.assign(static_cast<std::size_t>(rows), 100);
  value.learned.assign(static_cast<std::size_t>(rows * topk), 1);
  return value;
}

TEST(Ration, AffordsEverythingWhereThereIsNoLimit) {
  Ration ration;
  for (int i = 0; i < 100; ++i) ration.note(call(100 + i), Seconds(1000));
  EXPECT_TRUE(ration.affords(call(1 << 20)));
  EXPECT_FALSE(ration.is_over());
  EXPECT_FALSE(ration.left().has_value());
}

TEST(Ration, AffordsEverythingOfAnImplementationThatIsQuick) {
  Ration ration(Seconds(120));
  for (std::int64_t topk = 1; topk < 5000; ++topk) ration.note(call(topk), Seconds(2e-5));
  EXPECT_TRUE(ration.affords(call(1 << 24)));
  EXPECT_FALSE(ration.has_costly_shapes());
}

TEST(Ration, DoesNotAffordLargeCallsThatTookLongAndGoesOnWithSmallOnes) {
  Ration ration(Seconds(120));
  for (int i = 0; i < 20; ++i) ration.note(call(16), Seconds(1e-5));
  EXPECT_TRUE(ration.affords(call(1 << 16))) << "nothing is known of large calls";
  ration.note(call(1 << 16), Seconds(0.01));  // the first call of its shape
  ration.note(call(1 << 16), Seconds(8));
  EXPECT_FALSE(ration.affords(call(1 << 16)));
  EXPECT_FALSE(ration.affords(call(1 << 18))) << "a larger one takes longer still";
  EXPECT_TRUE(ration.affords(call(16)));
  EXPECT_TRUE(ration.affords(call(2048)));
}

TEST(Ration, LongCallsHaveAPartOfTheTimeTogether) {
  Ration ration(Seconds(120));
  ration.note(call(16), Seconds(1e-5));
  ration.note(call(1 << 16), Seconds(1e-3));
  int calls = 0;
  for (; calls < 1000 && ration.affords(call(1 << 16)); ++calls) ration.note(call(1 << 16), Seconds(2));
  EXPECT_GE(calls, 10);
  EXPECT_LE(calls, 60);
  EXPECT_TRUE(ration.affords(call(16)));
}

// Slow by itself, and not on large calls only: there is nothing better to do with its time.
TEST(Ration, GoesOnWithAnImplementationThatIsSlowOnEveryCall) {
  Ration ration(Seconds(120));
  for (int i = 0; i < 300; ++i) {
    ASSERT_TRUE(ration.affords(call(16 + i % 8))) << i;
    ration.note(call(16 + i % 8), Seconds(0.2));
  }
  EXPECT_FALSE(ration.has_costly_shapes());
}

TEST(Ration, AsksForABoundedNumberOfShapesThatCostMuch) {
  Ration ration(Seconds(120));
  std::int64_t shapes = 0;
  for (; shapes < 1000 && ration.affords(call(16 + shapes)); ++shapes) {
    ration.note(call(16 + shapes), Seconds(1.5));
    ration.note(call(16 + shapes), Seconds(1e-4));
  }
  EXPECT_GE(shapes, 10);
  EXPECT_LE(shapes, 40);
  EXPECT_TRUE(ration.has_costly_shapes());
  EXPECT_TRUE(ration.affords(call(16))) << "a shape that was called before costs nothing more";
  EXPECT_FALSE(ration.affords(call(5000)));
}

TEST(Ration, CountsWhatIsLeftOut) {
  Ration ration(Seconds(1));
  ration.leave_out();
  ration.leave_out(5);
  ration.leave_out(-3);
  EXPECT_EQ(ration.left_out(), 6);
}

TEST(Ration, HasAClockThatRunsBetweenEnterAndLeave) {
  Ration ration(Seconds(0));
  EXPECT_TRUE(ration.is_over());
  EXPECT_EQ(ration.spent(), Seconds(0));
  ration.enter();
  ration.leave();
  const Seconds spent = ration.spent();
  EXPECT_GE(spent, Seconds(0));
  EXPECT_EQ(ration.spent(), spent) << "it stands still outside";
  EXPECT_EQ(*ration.left(), Seconds(0));
}

}  // namespace
}  // namespace kvwitness::harness
