#include "fuzz/mutators/case_mutator.h"

#include <gtest/gtest.h>
#include <kvwitness/case.h>
#include <kvwitness/legality.h>
#include <kvwitness/oracle.h>

#include <set>
#include <string>
#include <vector>

#include "fuzz/c_functions/c_function.h"
#include "fuzz/inputs/scheduled_case.h"
#include "fuzz/mutators/raw_call_mutator.h"

namespace kvwitness::fuzz {
namespace {

using harness::Case;
using harness::Operation;

constexpr std::size_t kRoomBytes = 4096;

Case two_rows() {
  Case value;
  value.operation = Operation::kScatter;
  value.topk = 8;
  value.num_segments = 4;
  value.context_lens = {16, 40};
  value.learned = {0, 1, 2, 3, 12, -1, -1, -1, 39, 5, 7, 20, 21, 22, -1, -7};
  return value;
}

// What so many mutations of one case, each of the last one's result, come to.
std::vector<Case> walk(int steps, unsigned first_seed) {
  std::vector<Case> cases;
  std::vector<std::uint8_t> bytes = encode(two_rows());
  for (int step = 0; step < steps; ++step) {
    const auto mutated = mutate_input(kCaseMutator, bytes, kRoomBytes, first_seed + static_cast<unsigned>(step));
    if (!mutated.empty()) {
      bytes = step % 16 == 15 ? encode(two_rows()) : mutated;
      cases.push_back(harness::decode(mutated));
    }
  }
  return cases;
}

TEST(CaseMutatorTest, TheSameSeedGivesTheSameInput) {
  const auto bytes = encode(two_rows());
  EXPECT_EQ(mutate_input(kCaseMutator, bytes, kRoomBytes, 7), mutate_input(kCaseMutator, bytes, kRoomBytes, 7));
  EXPECT_EQ(cross_inputs(kCaseMutator, bytes, bytes, kRoomBytes, 7),
            cross_inputs(kCaseMutator, bytes, bytes, kRoomBytes, 7));
}

TEST(CaseMutatorTest, MostMutatedCasesAreLegalAndSomeMustBeRefused) {
  int legal = 0;
  int refused = 0;
  for (const Case& value : walk(2000, 1)) {
    (harness::is_legal(value) ? legal : refused) += 1;
  }
  EXPECT_GT(legal, 1000);
  EXPECT_GT(refused, 100);
}

TEST(CaseMutatorTest, MutationReachesEveryOperationAndEveryPartOfACall) {
  std::set<std::string> reached;
  for (const Case& value : walk(3000, 5)) {
    reached.insert(std::string(name_of(value.operation)));
    const std::pair<const char*, bool> parts[] = {
        {"strided", value.row_stride.has_value()},
        {"in place", value.in_place},
        {"offset", value.base_offset != 0},
        {"prior calls", !value.prior_calls.empty()},
        {"many segments", value.num_segments > 64},
        {"one row", value.rows() == 1},
        {"three rows", value.rows() >= 3},
        {"wide", value.topk > 64},
        {"narrow", value.topk == 1},
        {"empty row", value.rows() > 0 && value.context_lens[0] <= 0},
        {"long row", value.rows() > 0 && value.context_lens[0] > (1 << 30)},
    };
    for (const auto& [name, holds] : parts) {
      if (holds) {
        reached.insert(name);
      }
    }
  }
  EXPECT_EQ(reached.size(), 14U);
}

TEST(CaseMutatorTest, TokensLandOnEdgesOfTheirRowsPartition) {
  int on_edge = 0;
  for (const Case& value : walk(2000, 9)) {
    if (!harness::is_legal(value) || value.rows() == 0 || value.topk <= 0 || value.num_segments <= 0 ||
        value.context_lens[0] <= 0) {
      continue;
    }
    const std::int32_t token = value.learned[0];
    if (token > 0 && token < value.context_lens[0]) {
      const std::int64_t segment = harness::oracle_segment(token, value.context_lens[0], value.num_segments);
      on_edge += harness::oracle_edge(segment, value.context_lens[0], value.num_segments) == token ? 1 : 0;
    }
  }
  EXPECT_GT(on_edge, 100);
}

TEST(CaseMutatorTest, AResultThatDoesNotFitIsNone) {
  const auto bytes = encode(two_rows());
  EXPECT_TRUE(mutate_input(kCaseMutator, bytes, 8, 1).empty());
  EXPECT_TRUE(cross_inputs(kCaseMutator, bytes, bytes, 8, 1).empty());
}

TEST(CaseMutatorTest, AChildHasAPartOfEachParent) {
  Case one = two_rows();
  Case other = two_rows();
  other.context_lens = {1000, 2000};
  other.learned.assign(other.learned.size(), 999);
  bool mixed = false;
  for (unsigned seed = 0; seed < 50; ++seed) {
    Random random(seed);
    const Case child = cross(one, other, random);
    const bool from_one = child.context_lens[0] == 16 || child.context_lens[1] == 40;
    const bool from_other = child.context_lens[0] >= 1000 || child.context_lens[1] >= 1000;
    mixed = mixed || (from_one && from_other);
  }
  EXPECT_TRUE(mixed);
}

TEST(CaseMutatorTest, MutationOfAScheduledCaseChangesItsSchedule) {
  ScheduledCase scheduled{{kernels::Variant::kBlock, 1, 1}, 0, two_rows()};
  const auto bytes = encode_scheduled(scheduled);
  std::set<std::uint64_t> schedules;
  std::set<kernels::Variant> variants;
  for (unsigned seed = 0; seed < 100; ++seed) {
    const ScheduledCase mutated = decode_scheduled(mutate_input(kScheduledCaseMutator, bytes, kRoomBytes, seed));
    schedules.insert(mutated.run.schedule);
    variants.insert(mutated.run.variant);
  }
  EXPECT_GT(schedules.size(), 20U);
  EXPECT_EQ(variants.size(), 2U);
}

// Calls from which one more change leads past what a case may touch or span.
std::vector<Case> near_the_limits() {
  Case many_witnesses;
  many_witnesses.operation = Operation::kWitnesses;
  many_witnesses.topk = 1;
  many_witnesses.num_segments = 4096;
  many_witnesses.context_lens = {9};
  many_witnesses.learned = {3};
  Case far_rows = two_rows();
  far_rows.row_stride = harness::kMaxSpannedElements - far_rows.topk;
  return {two_rows(), many_witnesses, far_rows};
}

TEST(CaseMutatorTest, EveryMutatedAndCrossedCaseComesBackFromItsBytes) {
  const std::vector<Case> starts = near_the_limits();
  for (unsigned seed = 0; seed < 3000; ++seed) {
    Random random(seed);
    Case mutated = starts[seed % starts.size()];
    for (int step = 0; step < 4; ++step) {
      mutate(mutated, random);
      ASSERT_TRUE(is_within_limits(mutated)) << mutated;
      ASSERT_EQ(harness::decode(encode(mutated)), mutated);
      const Case child = cross(mutated, starts[(seed + 1) % starts.size()], random);
      ASSERT_TRUE(is_within_limits(child)) << child;
      ASSERT_EQ(harness::decode(encode(child)), child);
    }
  }
}

TEST(RawCallMutatorTest, EveryMutatedCallComesBackFromItsBytes) {
  for (unsigned seed = 0; seed < 500; ++seed) {
    Random random(seed);
    RawCall call;
    call.counts = {4, 2, 8, 4, 2, 4, 4, 4, 8, 2, 1, 1};
    if (seed % 2 == 1) {
      call.counts.fill(seed % 4 == 1 ? INT64_MAX : INT64_MIN);
    }
    for (int step = 0; step < 20; ++step) {
      mutate(call, random);
      ASSERT_EQ(decode_raw_call(encode_raw_call(call)), call);
    }
  }
}

TEST(RawCallMutatorTest, MostChangesAreOfWhatTheFunctionReads) {
  RawCall start;
  start.function = function_number("kvw_locality_null");
  int of_its_own = 0;
  int of_others = 0;
  for (unsigned seed = 0; seed < 2000; ++seed) {
    Random random(seed);
    RawCall call = start;
    mutate(call, random);
    if (call.function == start.function) {
      of_its_own +=
          call.pointers[kLearned] != start.pointers[kLearned] || call.pointers[kLens] != start.pointers[kLens];
      of_others += call.pointers[kStarts] != start.pointers[kStarts] || call.pointers[kOut] != start.pointers[kOut];
    }
  }
  EXPECT_GT(of_its_own, 5 * of_others);
  EXPECT_GT(of_others, 0);
}

TEST(CaseMutatorTest, AnyBytesCanBeMutated) {
  std::vector<std::uint8_t> bytes;
  for (unsigned seed = 0; seed < 300; ++seed) {
    bytes.push_back(static_cast<std::uint8_t>(seed * 37 + 11));
    mutate_input(kCaseMutator, bytes, kRoomBytes, seed);
    mutate_input(kScheduledCaseMutator, bytes, kRoomBytes, seed);
    cross_inputs(kCaseMutator, bytes, bytes, kRoomBytes, seed);
  }
  SUCCEED();
}

}  // namespace
}  // namespace kvwitness::fuzz
