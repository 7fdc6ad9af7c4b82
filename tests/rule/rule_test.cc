// The naive rule against the oracle, which owes nothing to it; and the row of the faults, with none of them, against the
// naive rule.
#include "tests/rule/rule.h"

#include <gtest/gtest.h>
#include <kvwitness/oracle.h>

#include <random>

#include "tests/rule/faulty_row.h"

namespace kvwitness {
namespace {

using harness::Case;
using harness::Operation;
using Tokens = std::vector<std::int32_t>;

constexpr std::int32_t kMaxToken = std::numeric_limits<std::int32_t>::max();

std::mt19937_64 random_bits{1};

std::int64_t between(std::int64_t least, std::int64_t most) {
  return least + static_cast<std::int64_t>(random_bits() % static_cast<std::uint64_t>(most - least + 1));
}

// One row: tokens in its context, past its end, negative, repeated.
Case any_case(Operation operation) {
  Case value;
  value.operation = operation;
  value.topk = between(0, 12);
  value.num_segments = between(1, operation == Operation::kWitnesses ? 100 : 64);
  const std::int64_t len = between(0, 1) == 0 ? between(-2, 80) : between(1, kMaxToken);
  value.context_lens = {static_cast<std::int32_t>(len)};
  for (std::int64_t slot = 0; slot < value.topk; ++slot) {
    const std::int64_t most = between(0, 3) == 0 ? kMaxToken : std::max<std::int64_t>(len, 1);
    value.learned.push_back(static_cast<std::int32_t>(between(0, 4) == 0 ? -between(1, kMaxToken) : between(0, most)));
  }
  if (operation != Operation::kApply) return value;
  value.learned_keep = between(0, value.topk);
  value.max_replacements = between(0, 16);
  return value;
}

Tokens by_rule(const Case& value) {
  const auto segments = static_cast<std::uint64_t>(value.num_segments);
  const std::int32_t len = value.context_lens[0];
  switch (value.operation) {
    case Operation::kWitnesses:
      return rule::witness_row(value.learned, len, segments);
    case Operation::kApply:
      return rule::applied_row(value.learned, len, static_cast<std::size_t>(value.learned_keep), segments,
                               static_cast<std::size_t>(value.max_replacements));
    case Operation::kScatter:
      return rule::scattered_row(value.learned, len, segments);
  }
  return {};
}

Tokens by_row_without_a_fault(const Case& value) {
  const bool merges = value.operation != Operation::kWitnesses;
  const bool applies = value.operation == Operation::kApply;
  const std::int64_t keep = applies ? value.learned_keep : std::max<std::int64_t>(value.topk - value.num_segments, 0);
  const std::int64_t budget = std::min(applies ? value.max_replacements : value.num_segments, value.topk - keep);
  constexpr auto kNone = rule::Fault::kNone;
  const rule::Row row{value.learned.data(),
                      value.topk,
                      rule::length(kNone, value.context_lens[0]),
                      value.num_segments,
                      merges,
                      keep,
                      budget,
                      0,
                      1};
  rule::Marks marks(static_cast<std::size_t>(value.num_segments), 0);
  if (row.context_len > 0) rule::mark_tokens(kNone, row, marks);
  const Tokens found = rule::witnesses(kNone, row, marks);
  Tokens out = merges ? value.learned : Tokens(static_cast<std::size_t>(value.num_segments), 0);
  merges ? rule::write_merged(kNone, row, found, out.data()) : rule::write_indices(kNone, row, found, out.data());
  return out;
}

TEST(Rule, IsWhatTheOracleSaysAndWhatARowWithoutAFaultGives) {
  for (const Operation operation : {Operation::kWitnesses, Operation::kApply, Operation::kScatter}) {
    for (int round = 0; round < 20'000; ++round) {
      const Case value = any_case(operation);
      const Tokens expected = by_rule(value);
      ASSERT_EQ(harness::expected_rows(value), expected) << value;
      ASSERT_EQ(by_row_without_a_fault(value), expected) << value;
    }
  }
}

TEST(Rule, FindsEachFaultByItsName) {
  for (std::size_t index = 1; index < std::size(rule::kFaultNames); ++index) {
    const auto fault = static_cast<rule::Fault>(index);
    EXPECT_EQ(rule::find_fault(rule::name_of(fault)), fault);
  }
  EXPECT_EQ(rule::find_fault("no_such_fault"), rule::Fault::kNone);
  EXPECT_EQ(rule::find_fault(rule::name_of(rule::Fault::edge_rounded_down)), rule::Fault::edge_rounded_down);
}

}  // namespace
}  // namespace kvwitness
