// What tests of single implementations expect of a right one.
#ifndef TESTS_PROPERTIES_JUDGED_SAMPLES_H
#define TESTS_PROPERTIES_JUDGED_SAMPLES_H

#include <gtest/gtest.h>
#include <kvwitness/oracle.h>

#include <cstdint>

#include "properties/case/implementation.h"
#include "properties/rules/property.h"
#include "tests/properties/sampled_cases.h"

namespace kvwitness::harness {

// The implementation returns the oracle's rows and touches nothing else.
inline void expect_right(Implementation& implementation, const Case& value) {
  const Outcome outcome = implementation.run(value);
  EXPECT_EQ(outcome.ending, Ending::kReturned) << outcome.how;
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.rows, expected_rows(value));
  EXPECT_EQ(outcome.stray, "");
}

// The implementation breaks no property on those of the sampled cases that it supports, and more than `judgements`
// judgements are made of it.
inline void expect_no_property_broken(Implementation& implementation, std::uint64_t seed, int cases, int judgements) {
  CaseSampler sampler(seed);
  int judged = 0;
  for (int i = 0; i < cases; ++i) {
    const Case value = sampler.next();
    if (!implementation.supports(value)) {
      continue;
    }
    const Outcome outcome = implementation.run(value);
    for (const Property& property : all_properties()) {
      if (property.concerns(value.operation)) {
        const Verdict verdict = property.judge(value, outcome, implementation);
        ASSERT_NE(verdict.kind, Verdict::Kind::kBroken) << property.name << " " << value << " " << verdict.what;
        ++judged;
      }
    }
  }
  EXPECT_GT(judged, judgements);
}

}  // namespace kvwitness::harness

#endif  // TESTS_PROPERTIES_JUDGED_SAMPLES_H
