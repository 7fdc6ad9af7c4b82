// Simpler cases near a given one, for minimising what a target found.
#ifndef FUZZ_CASE_SIMPLIFIER_H
#define FUZZ_CASE_SIMPLIFIER_H

#include <kvwitness/case.h>

#include <vector>

namespace kvwitness::fuzz {

// Each smaller or plainer than `value` in one way, the largest steps first: without the calls before it, with fewer
// rows or slots, without stride, offset or in-place form, with smaller counts, lengths and tokens. Following any of
// them again and again comes to an end.
std::vector<harness::Case> simpler(const harness::Case& value);

}  // namespace kvwitness::fuzz

#endif  // FUZZ_CASE_SIMPLIFIER_H
