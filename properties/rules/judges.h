// The judges that the table of properties.cc names, by the file that defines them.
#ifndef PROPERTIES_RULES_JUDGES_H
#define PROPERTIES_RULES_JUDGES_H

#include <cstdint>
#include <optional>

#include "properties/rules/judged_rows.h"
#include "properties/rules/property.h"

namespace kvwitness::harness::judges {

// The judge of one row, for a property of rows; nothing where the statement says nothing of the row.
using RowJudge = std::optional<Verdict>(JudgedRows& rows, const JudgedRow& row);

// Judges every row of a call that is not switched off by `judge_row`. Silent where that says something of no row.
template <RowJudge judge_row>
Verdict each_row(const Case& value, const Outcome& outcome, Implementation&) {
  JudgedRows rows(value, outcome.rows);
  bool said_something = false;
  for (std::int64_t index = 0; index < rows.count(); ++index) {
    std::optional<Verdict> verdict = judge_row(rows, rows[index]);
    if (verdict && verdict->kind == Verdict::Kind::kBroken) {
      return *std::move(verdict);
    }
    said_something |= verdict.has_value();
  }
  return said_something ? Verdict::holds() : Verdict::silent();
}

// The same for a property of merged rows. A scatter that is switched off must change nothing.
template <RowJudge judge_row>
Verdict each_merged_row(const Case& value, const Outcome& outcome, Implementation& implementation) {
  return is_off(value)
             ? compare_rows(value.learned, outcome.rows, value.topk, "scatter with num_segments 0 does nothing")
             : each_row<judge_row>(value, outcome, implementation);
}

// row_invariants.cc
RowJudge round_trip;
RowJudge disjointness;
RowJudge distinctness;
RowJudge causality;
RowJudge coverage;
RowJudge gap_bound;
RowJudge retention;
RowJudge budget;
RowJudge order;
RowJudge padding;
RowJudge empty_row;
RowJudge short_row;
RowJudge out_of_range;

// call_invariants.cc
Judge oracle_equality;
Judge refusal;
Judge refused_writes_nothing;
Judge bounds;

// row_relations.cc
Judge permutation;
Judge repeated_token;
Judge budget_growth;
Judge added_occupant;

// batch_relations.cc
Judge row_independence;
Judge row_permutation;
Judge batch_split;

// call_relations.cc
Judge determinism;
Judge stride_widening;
Judge repeat_run;
Judge spare_poison;
Judge backend_equality;

}  // namespace kvwitness::harness::judges

#endif  // PROPERTIES_RULES_JUDGES_H
