// What the invariants share: when rows can be judged at all, and the row-wise arithmetic of the rule.
//
// The arithmetic is the formula of the rule in 64-bit integers: neither the library's nor the oracle's. Tokens and
// lengths are below 2^31 and S_eff <= L, so no product reaches 2^62.
#ifndef PROPERTIES_RULES_JUDGED_ROWS_H
#define PROPERTIES_RULES_JUDGED_ROWS_H

#include <kvwitness/assertions.h>
#include <kvwitness/case.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "properties/case/implementation.h"
#include "properties/case/outcome.h"
#include "properties/rules/property.h"

namespace kvwitness::harness {

Verdict broken(std::string what);
Verdict broken(std::string what, Difference difference);

// Whether the rule accepts the call as the implementation sees it.
bool legal_for(const Implementation& implementation, const Case& value);

// "the call did not return: killed by signal 11 (...)"; empty where it returned.
std::string why_not_returned(const Outcome& outcome);

// Nothing where `outcome` holds rows that the row-wise properties judge. Otherwise their verdict: silent for a shape
// outside the domain and for a call that must be refused; broken for a legal call that did not return, was refused, or
// left a result of the wrong size.
std::optional<Verdict> unjudgeable(const Case& value, const Outcome& outcome, const Implementation& implementation);

// Scatter's off switch, for which `learned` need not be rows at all.
bool is_off(const Case& value);

// The merge's slots. Witnesses may overwrite [learned_keep, learned_keep + budget).
struct Merge {
  std::int64_t learned_keep;
  std::int64_t budget;
};
Merge merge_of(const Case& value);

// sigma(token) for token >= 0 and context_len >= 1, not clamped.
inline std::int64_t segment_by_formula(std::int64_t token, std::int64_t context_len, std::int64_t effective_segments) {
  KVWITNESS_ASSERT(token >= 0 && context_len >= 1 && effective_segments >= 1, token, context_len, effective_segments);
  return token * effective_segments / context_len;
}

// One row of a legal call and what the call made of it.
struct JudgedRow {
  std::int64_t index;
  std::int64_t context_len;
  std::int64_t num_segments;
  std::int64_t effective_segments;  // 0 for an empty row
  std::span<const std::int32_t> learned;
  std::span<const std::int32_t> result;  // num_segments entries for the witnesses, else topk slots

  std::int64_t segment_of(std::int64_t token) const {
    return segment_by_formula(token, context_len, effective_segments);
  }
  bool in_context(std::int64_t token) const { return token >= 0 && token < context_len; }
  bool is_empty() const { return context_len <= 0; }
  // "row 3 (L = 16, S = 4)"
  std::string name() const;
};

// A witness that the result shows: an entry other than -1 at its segment or, in a merged row, a slot that changed. (A
// witness is no token of its row, so an overwritten slot always changes.)
struct Written {
  std::int64_t slot;
  std::int32_t token;
};

// Reads a legal call's rows one after another; the vectors are reused.
class JudgedRows {
 public:
  // `value` is legal and not switched off; `result` has the right size.
  JudgedRows(const Case& value, std::span<const std::int32_t> result);

  std::int64_t count() const { return value_.rows(); }
  JudgedRow operator[](std::int64_t row) const;
  bool merges() const { return value_.operation != Operation::kWitnesses; }
  const Merge& merge() const { return merge_; }

  // The witnesses that the result shows, by slot. Valid until the next call.
  std::span<const Written> written(const JudgedRow& row);
  // Which of the S_eff segments the learned row occupies: min(sigma(x), S-1) for every x >= 0. Valid until the next
  // call.
  std::span<const char> occupied(const JudgedRow& row);
  // S_eff less the number of occupied segments: how many witnesses the row has.
  std::int64_t witness_count(const JudgedRow& row);

 private:
  const Case& value_;
  std::span<const std::int32_t> result_;
  std::int64_t result_width_;
  Merge merge_;
  std::vector<Written> written_;
  std::vector<char> occupied_;
};

// Broken at the first differing slot; `width` slots a row, the first of which is row `first_row` of the case. Both have
// the same size.
Verdict compare_rows(std::span<const std::int32_t> expected, std::span<const std::int32_t> actual, std::int64_t width,
                     const std::string& what, std::int64_t first_row = 0);

// The same of two runs whose answers must agree, either of which may be the wrong one.
Verdict compare_runs(std::span<const std::int32_t> one, std::span<const std::int32_t> other, std::int64_t width,
                     const std::string& what, std::int64_t first_row = 0);

// The slots of a result row: num_segments for the witnesses, else topk.
std::int64_t result_width(const Case& value);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RULES_JUDGED_ROWS_H
