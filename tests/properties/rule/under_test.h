// The implementation that the properties of the rule are checked on, calls for it, and what it makes of them.
#ifndef TESTS_PROPERTIES_RULE_UNDER_TEST_H
#define TESTS_PROPERTIES_RULE_UNDER_TEST_H

#include <kvwitness/case.h>
#include <kvwitness/rapidcheck.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "properties/case/implementation.h"
#include "properties/case/outcome.h"
#include "properties/generators/scenarios.h"

namespace kvwitness::harness::rule {

// The implementation under test, in a worker process where it may crash. Chosen by the program's arguments.
Implementation& implementation();
// Its name, the selector of the command line that chooses it, and the calls that lie in its domain.
struct UnderTest {
  std::string name;
  std::string selector;  // "--impl avx2"
  Domain domain;
};
const UnderTest& under_test();

// Draws a call of the implementation's domain; tags it with its scenario, counts its coverage classes, and logs its
// replay command. A call that the implementation does not support is discarded. Where a class never comes whose
// scenario's tag comes often, the property fails, as a fault of the generators.
Case draw_call(std::string_view property, const std::vector<Operation>& operations, bool legal_only,
               Focus focus = Focus::kEverything);

// A legal call of one of the operations, by default of all three.
Case legal_call(std::string_view property, const std::vector<Operation>& operations = whole_domain().operations);

// The rows that the implementation leaves of a legal call; it fails the property where the call does not succeed.
std::vector<std::int32_t> result_of(const Case& call);

// One row of a legal call, in the words of the rule.
struct Row {
  std::int64_t L;                       // context length
  std::int64_t S;                       // segment count
  std::int64_t S_eff;                   // min(S, L); 0 where L <= 0
  std::int64_t keep;                    // learned_keep; the merge's first slot
  std::int64_t budget;                  // B
  std::vector<std::int64_t> K;          // the learned row, slot by slot, padding included
  std::vector<std::int64_t> after;      // the same slots after the call; K itself for witness indices
  std::vector<std::int64_t> witnesses;  // that the result shows: entries other than -1, or slots that changed

  std::int64_t sigma(std::int64_t token) const { return token * S_eff / L; }
  bool has_context() const { return L > 0; }
  // Whether every learned token lies in [0, L): what coverage needs.
  bool in_range() const;
  // O(tokens): the segments that they occupy.
  std::set<std::int64_t> occupied(const std::vector<std::int64_t>& tokens) const;
  // {0 .. S_eff - 1}
  std::set<std::int64_t> all_segments() const;
  std::vector<std::int64_t> changed_slots() const;
};
// Runs the call.
std::vector<Row> rows_after(const Case& call);

// The values as a set.
inline std::set<std::int64_t> set_of(const std::vector<std::int64_t>& values) {
  return {values.begin(), values.end()};
}

// Judges a call of the stream of the property of that name as `kvwitness verify` does: by the property's descriptor.
void judge(std::string_view name);
// The same of a call that was drawn already.
void judge(std::string_view name, const Case& call);

}  // namespace kvwitness::harness::rule

#endif  // TESTS_PROPERTIES_RULE_UNDER_TEST_H
