#include <gtest/gtest.h>
#include <kvwitness/legality.h>
#include <kvwitness/oracle.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "properties/case/status.h"
#include "properties/implementations/registry.h"
#include "properties/sandbox/call_frame.h"
#include "properties/sandbox/host_implementation.h"
#include "tests/properties/sampled_cases.h"

namespace kvwitness::harness {
namespace {

// A host implementation whose call a test writes.
class HandMade final : public HostImplementation {
 public:
  explicit HandMade(std::function<std::int32_t(const Call&)> body, bool honours_stride = true)
      : body_(std::move(body)), honours_stride_(honours_stride) {}
  std::string name() const override { return "hand-made"; }
  bool honours_stride(Operation) const override { return honours_stride_; }
  Answer call(const Call& call) override { return {body_(call), ""}; }

 private:
  std::function<std::int32_t(const Call&)> body_;
  bool honours_stride_;
};

Case two_rows(Operation operation) {
  Case value;
  value.operation = operation;
  value.topk = 3;
  value.num_segments = 2;
  value.context_lens = {16, 20};
  value.learned = {1, 2, 3, 4, 5, 6};
  if (operation == Operation::kApply) {
    value.learned_keep = 2;
    value.max_replacements = 1;
  }
  return value;
}

std::vector<Case> shipped_cases(const std::string& folder) {
  std::vector<Case> all;
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(KVWITNESS_CORPUS_DIR "/" + folder)) {
    if (entry.path().extension() == ".jsonl" && entry.path().filename() != "nulls.jsonl") {
      files.push_back(entry.path());
    }
  }
  std::ranges::sort(files);
  for (const auto& file : files) {
    auto cases = read_cases(file.string());
    EXPECT_TRUE(cases.has_value()) << cases.error().message();
    std::ranges::move(*cases, std::back_inserter(all));
  }
  return all;
}

// Every implementation that can run here gives the expected answer of each case.
void expect_right_answers(const std::vector<Case>& cases) {
  for (const auto& implementation : all_implementations()) {
    if (!implementation->availability().can_run) {
      continue;
    }
    for (const Case& value : cases) {
      if (!implementation->supports(value)) {
        continue;
      }
      const Outcome outcome = implementation->run(value);
      ASSERT_EQ(outcome.ending, Ending::kReturned) << implementation->name() << " " << value;
      ASSERT_EQ(outcome.stray, "") << implementation->name() << " " << value;
      const std::int32_t wanted = expected_status(value, sees_stride(*implementation, value));
      ASSERT_EQ(outcome.status, wanted) << implementation->name() << " " << value << outcome.message;
      ASSERT_EQ(outcome.rows, wanted == status::kOk ? expected_rows(value) : outcome.before)
          << implementation->name() << " " << value;
    }
  }
}

TEST(Implementations, EachIsListedOnceAndFoundByItsName) {
  std::vector<std::string> names;
  for (const auto& implementation : all_implementations()) {
    names.push_back(implementation->name());
    const auto found = find_implementation(names.back());
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->name(), names.back());
    EXPECT_EQ(implementation->availability().can_run, implementation->availability().why_not.empty()) << names.back();
  }
  ASSERT_GE(names.size(), 3u);
  EXPECT_EQ(names[0], "oracle");
  EXPECT_EQ(names[1], "c-abi");
  EXPECT_NE(std::ranges::find(names, "scalar"), names.end());
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
  EXPECT_EQ(find_implementation("no-such-implementation"), nullptr);
}

TEST(Implementations, AllGiveTheUpstreamAnswersOnTheGoldenRows) {
  const std::vector<Case> cases = shipped_cases("golden");
  ASSERT_EQ(cases.size(), 600u);
  for (const Case& value : cases) {
    ASSERT_TRUE(value.expect.has_value());
    ASSERT_EQ(std::get<0>(*value.expect), expected_rows(value)) << value;
  }
  expect_right_answers(cases);
}

TEST(Implementations, AllGiveTheRulesAnswersOnTheRowsOfARealModel) {
  const std::vector<Case> cases = shipped_cases("real");
  ASSERT_GE(cases.size(), 100u);
  expect_right_answers(cases);
}

TEST(Implementations, AllGiveTheRulesAnswersAndRefusalsOnSampledCases) {
  CaseSampler sampler(20240807);
  std::vector<Case> cases;
  for (int i = 0; i < 3000; ++i) {
    cases.push_back(sampler.next());
  }
  expect_right_answers(cases);
}

TEST(CallFrame, PassesRowsStridesAndOffsetsAsTheCaseSaysThem) {
  for (const Operation operation : {Operation::kWitnesses, Operation::kApply, Operation::kScatter}) {
    Case value = two_rows(operation);
    value.row_stride = 7;
    value.base_offset = 5;
    HandMade implementation([&](const Call& call) {
      EXPECT_EQ(call.learned_len, 6);
      EXPECT_EQ(call.row_stride, 7);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(call.learned) % 64, 20u);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(call.out) % 64, 20u);
      EXPECT_EQ(call.learned[0], 1);
      EXPECT_EQ(call.learned[7 + 2], 6);
      EXPECT_EQ(call.context_lens[1], 20);
      EXPECT_EQ(call.out == call.learned, operation == Operation::kScatter);
      return 0;
    });
    EXPECT_EQ(implementation.run(value).stray, "");
  }
}

TEST(CallFrame, PassesRowsPackedToAnImplementationWithoutStrides) {
  Case value = two_rows(Operation::kScatter);
  value.row_stride = 7;
  HandMade implementation(
      [&](const Call& call) {
        EXPECT_EQ(call.row_stride, 3);
        EXPECT_EQ(call.learned[5], 6);
        return 0;
      },
      false);
  EXPECT_EQ(implementation.run(value).rows, value.learned);
}

TEST(CallFrame, ShowsTheOutputAsItWasBeforeAndAfterTheCall) {
  Case value = two_rows(Operation::kApply);
  value.row_stride = 5;
  HandMade implementation([](const Call& call) {
    call.out[0] = 77;
    call.out[5 + 2] = 78;
    return 0;
  });
  const Outcome separate = implementation.run(value);
  const std::int32_t poison = separate.before[0];
  EXPECT_EQ(separate.before, std::vector<std::int32_t>(6, poison));
  EXPECT_EQ(separate.rows, (std::vector<std::int32_t>{77, poison, poison, poison, poison, 78}));
  value.in_place = true;
  const Outcome in_place = implementation.run(value);
  EXPECT_EQ(in_place.before, value.learned);
  EXPECT_EQ(in_place.rows, (std::vector<std::int32_t>{77, 2, 3, 4, 5, 78}));
}

TEST(CallFrame, PoisonIsNeitherATokenNorAnEdgeOfTheCase) {
  for (const auto fill : {MemoryContext::Fill::kTokens, MemoryContext::Fill::kPadding}) {
    Case value = two_rows(Operation::kApply);
    for (int again = 0; again < 4; ++again) {
      const std::int32_t poison = output_poison(value, fill);
      EXPECT_EQ(std::ranges::count(value.learned, poison), 0);
      EXPECT_NE(poison, -1);
      EXPECT_TRUE(poison < 0 || poison >= 20);
      value.learned[static_cast<std::size_t>(again)] = poison;
    }
    value.context_lens = {std::numeric_limits<std::int32_t>::max(), 1};
    value.learned.assign(6, std::numeric_limits<std::int32_t>::max());
    EXPECT_LT(output_poison(value, fill), -1) << "every value from the longest context on is a token";
  }
}

// Writes one element at an offset from a buffer and expects the frame to see it.
void expect_stray(const Case& value, const std::function<std::int32_t*(const Call&)>& target,
                  const std::string& words) {
  HandMade implementation([&](const Call& call) {
    *target(call) ^= 1;
    return 0;
  });
  const Outcome outcome = implementation.run(value);
  EXPECT_NE(outcome.stray.find(words), std::string::npos) << "'" << outcome.stray << "' instead of '" << words << "'";
}

TEST(CallFrame, SeesEveryWriteOutsideTheRows) {
  Case value = two_rows(Operation::kApply);
  value.row_stride = 5;
  value.base_offset = 4;  // leaves room for canaries before and behind
  expect_stray(value, [](const Call& call) { return call.out - 1; }, "element 1 before the output rows");
  expect_stray(value, [](const Call& call) { return call.out - 4; }, "element 4 before the output rows");
  expect_stray(value, [](const Call& call) { return call.out + 8; }, "element 0 past the end of the output rows");
  expect_stray(value, [](const Call& call) { return call.out + 3; }, "spare column 3 of row 0 of the output rows");
  expect_stray(value, [](const Call& call) { return call.out + 4; }, "spare column 4 of row 0 of the output rows");
  const auto learned = [](const Call& call, std::ptrdiff_t at) { return const_cast<std::int32_t*>(call.learned) + at; };
  expect_stray(value, [&](const Call& call) { return learned(call, -1); }, "element 1 before the learned rows");
  expect_stray(
      value, [&](const Call& call) { return learned(call, 4); }, "spare column 4 of row 0 of the learned rows");
  expect_stray(
      value, [&](const Call& call) { return learned(call, 6); },
      "the input learned rows: element 4 changed from 5 to 4");
  const auto lengths = [](const Call& call, std::ptrdiff_t at) {
    return const_cast<std::int32_t*>(call.context_lens) + at;
  };
  expect_stray(
      value, [&](const Call& call) { return lengths(call, 1); },
      "the input context lengths: element 1 changed from 20 to 21");
  // Behind the lengths stands the guard page.
  expect_stray(value, [&](const Call& call) { return lengths(call, -1); }, "element 1 before the context lengths");
  value.operation = Operation::kWitnesses;
  expect_stray(value, [](const Call& call) { return call.out + 4; }, "element 0 past the end of the witnesses");
  value.operation = Operation::kScatter;
  expect_stray(value, [](const Call& call) { return call.out + 8; }, "element 0 past the end of the in-place rows");
}

// What of a buffer's page is none of its elements, and an element of an input, must keep every bit.
class BytesOfAPage : public testing::TestWithParam<Region> {};
INSTANTIATE_TEST_SUITE_P(CallFrame, BytesOfAPage, testing::Values(Region::kTokens, Region::kLengths, Region::kOutput));

TEST_P(BytesOfAPage, AreSeenToChangeOneByOne) {
  constexpr std::uintptr_t kPage = 4096;
  Case value = two_rows(Operation::kApply);
  value.base_offset = 4;
  std::uintptr_t at = 0;
  bool is_result = false;
  HandMade scribbles([&](const Call& call) {
    const std::int32_t* const first = GetParam() == Region::kTokens    ? call.learned
                                      : GetParam() == Region::kLengths ? call.context_lens
                                                                       : call.out;
    const auto base = reinterpret_cast<std::uintptr_t>(first);
    const auto result_bytes = static_cast<std::uintptr_t>(call.rows * call.topk) * sizeof(std::int32_t);
    is_result = GetParam() == Region::kOutput && base % kPage <= at && at < base % kPage + result_bytes;
    auto* const byte = reinterpret_cast<unsigned char*>(base / kPage * kPage + at);
    *byte = static_cast<unsigned char>(*byte ^ (1U << at % 8));
    return 0;
  });
  for (const bool guard_in_front : {false, true}) {
    for (const auto fill : {MemoryContext::Fill::kTokens, MemoryContext::Fill::kPadding}) {
      std::uintptr_t result_bytes = 0;
      for (at = 0; at < kPage; ++at) {
        const Outcome outcome = scribbles.run_in(value, {fill, guard_in_front});
        ASSERT_EQ(outcome.stray.empty(), is_result) << "byte " << at << ", guard in front: " << guard_in_front;
        result_bytes += is_result ? 1 : 0;
      }
      EXPECT_EQ(result_bytes, GetParam() == Region::kOutput ? 24U : 0U);
    }
  }
}

TEST(CallFrame, WritesInsideTheRowsAreNoStrayOnes) {
  for (const Operation operation : {Operation::kWitnesses, Operation::kApply, Operation::kScatter}) {
    Case value = two_rows(operation);
    value.row_stride = 4;
    HandMade implementation([&](const Call& call) {
      const std::int64_t stride = operation == Operation::kWitnesses ? call.num_segments : call.row_stride;
      for (std::int64_t slot = 0; slot < (operation == Operation::kWitnesses ? call.num_segments : call.topk); ++slot) {
        call.out[slot] = call.out[stride + slot] = 9;
      }
      return 0;
    });
    const Outcome outcome = implementation.run(value);
    EXPECT_EQ(outcome.stray, "");
    EXPECT_EQ(std::ranges::count(outcome.rows, 9), std::ssize(outcome.rows));
  }
}

TEST(CallFrame, MemoryIsReusedSoThatStaleAddressesShow) {
  const std::int32_t* first = nullptr;
  HandMade implementation([&](const Call& call) {
    if (first == nullptr) {
      first = call.learned;
    }
    EXPECT_EQ(call.learned, first);
    return 0;
  });
  implementation.run(two_rows(Operation::kApply));
  implementation.run(two_rows(Operation::kApply));
}

TEST(CallFrame, PriorCallsRunFirstAndInOrder) {
  Case value = two_rows(Operation::kScatter);
  value.prior_calls = {two_rows(Operation::kApply), two_rows(Operation::kWitnesses)};
  std::vector<Operation> seen;
  HandMade implementation([&](const Call& call) {
    seen.push_back(call.operation);
    return static_cast<std::int32_t>(seen.size());
  });
  const Outcome outcome = implementation.run(value);
  EXPECT_EQ(seen, (std::vector{Operation::kApply, Operation::kWitnesses, Operation::kScatter}));
  EXPECT_EQ(outcome.status, 3);
  ASSERT_EQ(outcome.prior_calls.size(), 2u);
  EXPECT_EQ(outcome.prior_calls[1].status, 2);
}

TEST(CallFrame, RowsBillionsOfElementsApartTakeOnlyTheirOwnPages) {
  for (const Operation operation : {Operation::kWitnesses, Operation::kApply, Operation::kScatter}) {
    Case value = two_rows(operation);
    value.context_lens.resize(3, 30);
    value.learned.resize(9, 8);
    value.row_stride = (std::int64_t{1} << 30) + 3;
    const auto oracle = make_oracle();
    const auto scalar = find_implementation("scalar");
    const Outcome outcome = scalar->run(value);
    EXPECT_EQ(outcome.rows, oracle->run(value).rows);
    EXPECT_EQ(outcome.stray, "");
    expect_stray(
        value, [](const Call& call) { return const_cast<std::int32_t*>(call.learned) + call.row_stride - 1; },
        "of row 0 of the");
  }
}

TEST(CallFrame, ACaseBeyondTheLimitsIsNotRun) {
  Case value = two_rows(Operation::kScatter);
  value.row_stride = std::int64_t{1} << 40;
  HandMade implementation([](const Call&) -> std::int32_t {
    ADD_FAILURE();
    return 0;
  });
  const Outcome outcome = implementation.run(value);
  EXPECT_EQ(outcome.ending, Ending::kUnsupported);
  EXPECT_NE(outcome.how.find("2^36"), std::string::npos);
}

TEST(CallFrameDeathTest, AReadJustPastABufferMeetsItsGuardPage) {
  Case value = two_rows(Operation::kApply);
  value.base_offset = 10;  // 10 + 6 elements fill a line of 64 bytes, so the end touches the guard page
  std::int64_t sum = 0;
  HandMade behind([&](const Call& call) {
    sum += *const_cast<const volatile std::int32_t*>(call.learned + 6);
    return 0;
  });
  EXPECT_DEATH(behind.run(value), "");
  HandMade before([&](const Call& call) {
    sum += *const_cast<const volatile std::int32_t*>(call.learned - 11);
    return 0;
  });
  EXPECT_DEATH(before.run_in(value, {.fill = MemoryContext::Fill::kTokens, .guard_in_front = true}), "");
  before.run(value);
}

TEST(CallFrameDeathTest, AReadJustPastALargeBufferMeetsItsGuardPage) {
  Case value = two_rows(Operation::kScatter);
  value.row_stride = 100003;
  value.base_offset = 10;  // 100,006 + 10 elements fill lines of 64 bytes
  HandMade behind([&](const Call& call) { return *const_cast<const volatile std::int32_t*>(call.learned + 100006); });
  EXPECT_DEATH(behind.run(value), "");
  HandMade before([&](const Call& call) { return *const_cast<const volatile std::int32_t*>(call.learned - 11); });
  EXPECT_DEATH(before.run_in(value, {.fill = MemoryContext::Fill::kTokens, .guard_in_front = true}), "");
  before.run(value);
}

}  // namespace
}  // namespace kvwitness::harness
