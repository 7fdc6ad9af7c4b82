// Somebody's scatter, and what they assert of it with the generators of kvwitness.
#include <gtest/gtest.h>
#include <kvwitness/oracle.h>
#include <kvwitness/rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace {

namespace gen = kvwitness::gen;
using kvwitness::harness::Case;
using kvwitness::harness::LengthClass;
using kvwitness::harness::Operation;
using kvwitness::harness::RowStructure;

std::int64_t edge(std::int64_t s, std::int64_t len, std::int64_t segments) {
#ifdef ROUND_DOWN
  return s * len / segments;
#else
  return (s * len + segments - 1) / segments;
#endif
}

void scatter_row(std::int32_t* row, std::int64_t topk, std::int64_t len, std::int64_t num_segments) {
  const std::int64_t segments = std::clamp<std::int64_t>(len, 0, num_segments);
  std::vector<bool> occupied(static_cast<std::size_t>(num_segments), false);
  for (std::int64_t slot = 0; slot < topk && segments > 0; ++slot) {
    if (row[slot] >= 0) {
      occupied[static_cast<std::size_t>(std::min(row[slot] * segments / len, num_segments - 1))] = true;
    }
  }
  std::int64_t slot = std::max<std::int64_t>(0, topk - num_segments);
  for (std::int64_t s = 0; s < segments && slot < topk; ++s) {
    if (!occupied[static_cast<std::size_t>(s)]) row[slot++] = static_cast<std::int32_t>(edge(s, len, segments));
  }
}

// Whole calls: every shape that the rule allows, against the rule itself.
RC_GTEST_PROP(Scatter, LeavesTheRowsOfTheRule, ()) {
  const Case call = *gen::legal_call(Operation::kScatter);
  std::vector<std::int32_t> rows = call.learned;
  for (std::int64_t r = 0; call.num_segments > 0 && r < call.rows(); ++r) {
    scatter_row(rows.data() + r * call.topk, call.topk, call.context_lens[static_cast<std::size_t>(r)],
                call.num_segments);
  }
  for (const auto& name : gen::coverage_classes(call)) RC_TAG(name);
  RC_ASSERT(rows == kvwitness::harness::expected_rows(call));
}

// Parts of a call, composed: rows that cover all segments but one, in long contexts.
RC_GTEST_PROP(Scatter, WritesTheOneWitnessThatIsMissing, ()) {
  const auto num_segments = *rc::gen::suchThat(gen::num_segments(Operation::kScatter), [](auto s) { return s > 1; });
  const std::int64_t topk = 2 * num_segments;
  const auto len = *gen::context_len(LengthClass::kMiddle, num_segments, topk);
  auto row = *gen::row(RowStructure::kOneMissing, {.topk = topk, .context_len = len, .num_segments = num_segments});
  const auto before = row;
  scatter_row(row.data(), topk, len, num_segments);
  std::int64_t changed = 0;
  for (std::size_t slot = 0; slot < row.size(); ++slot) changed += row[slot] != before[slot];
  RC_ASSERT(changed == 1);
  RC_ASSERT(row[static_cast<std::size_t>(topk - num_segments)] !=
            before[static_cast<std::size_t>(topk - num_segments)]);
}

// By type, for rc::check and rc::prop.
TEST(Arbitrary, GivesCalls) {
  EXPECT_TRUE(rc::check([](const Case& call) { RC_ASSERT(call.rows() >= 0); }));
}

}  // namespace
