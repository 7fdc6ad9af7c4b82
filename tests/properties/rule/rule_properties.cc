// The rule's invariants and metamorphic relations as RapidCheck properties, one for each name of `kvwitness list`, on the
// implementation that the program's arguments name:
//
//     rule_properties --impl avx2 --gtest_filter=Rule.disjointness
//     RC_PARAMS="seed=7 max_success=1000" rule_properties --plugin ./mine.so
//
// The first five are the invariants of the policy, written down as the rule has them; each is also judged by the
// harness's own judge of that name. W(K) are the witnesses of a row, K its learned tokens, O(K) the segments that they
// occupy, sigma(x) the segment of a token.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "properties/generators/random_source.h"
#include "tests/properties/rule/under_test.h"

namespace kvwitness::harness::rule {
namespace {

const std::vector<Operation> kWitnessIndices = {Operation::kWitnesses};
const std::vector<Operation> kMerges = {Operation::kApply, Operation::kScatter};

// W(K) and K share no token.
RC_GTEST_PROP(Rule, disjointness, ()) {
  const Case call = legal_call("disjointness");
  for (const Row& row : rows_after(call)) {
    for (const std::int64_t witness : row.witnesses) RC_ASSERT(!std::ranges::count(row.K, witness));
  }
  judge("disjointness", call);
}

// Witnesses are pairwise distinct.
RC_GTEST_PROP(Rule, distinctness, ()) {
  const Case call = legal_call("distinctness");
  for (const Row& row : rows_after(call)) RC_ASSERT(set_of(row.witnesses).size() == row.witnesses.size());
  judge("distinctness", call);
}

// O(K united with W(K)) = {0 .. S_eff-1}, where the learned tokens all lie in [0, L).
RC_GTEST_PROP(Rule, coverage, ()) {
  const Case call = legal_call("coverage", kWitnessIndices);
  for (const Row& row : rows_after(call)) {
    if (!row.has_context() || !row.in_range()) continue;
    auto covered = row.occupied(row.K);
    covered.merge(row.occupied(row.witnesses));
    RC_ASSERT(covered == row.all_segments());
  }
  judge("coverage", call);
}

// At most B slots change, all in [learned_keep, learned_keep + B), as one run that starts at learned_keep.
RC_GTEST_PROP(Rule, budget, ()) {
  const Case call = legal_call("budget", kMerges);
  for (const Row& row : rows_after(call)) {
    const std::vector<std::int64_t> changed = row.changed_slots();
    RC_ASSERT(std::ssize(changed) <= row.budget);
    for (std::int64_t i = 0; i < std::ssize(changed); ++i) {
      RC_ASSERT(changed[static_cast<std::size_t>(i)] == row.keep + i);
    }
  }
  judge("budget", call);
}

// W is a set function of the row: permuting the learned row, or repeating a token in it, leaves W unchanged.
RC_GTEST_PROP(Rule, permutation, ()) {
  const Case call = legal_call("permutation", kWitnessIndices);
  RandomSource random(*rc::gen::noShrink(rc::gen::arbitrary<std::uint64_t>()));
  Case permuted = call;
  for (std::int64_t r = 0; call.topk > 0 && r < call.rows(); ++r) {
    auto row = std::span(permuted.learned)
                   .subspan(static_cast<std::size_t>(r * call.topk), static_cast<std::size_t>(call.topk));
    const std::int32_t token = row.front();
    if (row.back() < 0 && token >= 0) row.back() = token;  // repeated in the place of padding
    random.shuffle(row);
  }
  RC_ASSERT(result_of(permuted) == result_of(call));
  judge("permutation", call);
}

// The others, by their descriptors.
#define KVWITNESS_JUDGED_PROPERTY(name) \
  RC_GTEST_PROP(Rule, name, ()) {       \
    judge(#name);                       \
  }

KVWITNESS_JUDGED_PROPERTY(oracle_equality)
KVWITNESS_JUDGED_PROPERTY(round_trip)
KVWITNESS_JUDGED_PROPERTY(causality)
KVWITNESS_JUDGED_PROPERTY(gap_bound)
KVWITNESS_JUDGED_PROPERTY(retention)
KVWITNESS_JUDGED_PROPERTY(order)
KVWITNESS_JUDGED_PROPERTY(padding)
KVWITNESS_JUDGED_PROPERTY(empty_row)
KVWITNESS_JUDGED_PROPERTY(short_row)
KVWITNESS_JUDGED_PROPERTY(out_of_range)
KVWITNESS_JUDGED_PROPERTY(row_independence)
KVWITNESS_JUDGED_PROPERTY(determinism)
KVWITNESS_JUDGED_PROPERTY(refusal)
KVWITNESS_JUDGED_PROPERTY(refused_writes_nothing)
KVWITNESS_JUDGED_PROPERTY(bounds)
KVWITNESS_JUDGED_PROPERTY(row_permutation)
KVWITNESS_JUDGED_PROPERTY(repeated_token)
KVWITNESS_JUDGED_PROPERTY(batch_split)
KVWITNESS_JUDGED_PROPERTY(stride_widening)
KVWITNESS_JUDGED_PROPERTY(budget_growth)
KVWITNESS_JUDGED_PROPERTY(added_occupant)
KVWITNESS_JUDGED_PROPERTY(repeat_run)
KVWITNESS_JUDGED_PROPERTY(spare_poison)
KVWITNESS_JUDGED_PROPERTY(backend_equality)

}  // namespace
}  // namespace kvwitness::harness::rule
