#include "properties/cli/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

namespace kvwitness::harness::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint64_t kMax = std::numeric_limits<std::uint64_t>::max();

// The message of the UsageError that `call` throws.
template <typename Call>
std::string refusal(Call call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

Environment environment_of(std::vector<const char*> variables) {
  variables.push_back(nullptr);
  return read_environment(variables.data());
}

TEST(Counts, AreDecimalDigitsWithinTheirLimits) {
  EXPECT_EQ(parse_count("--seed", "0", 0, kMax), 0U);
  EXPECT_EQ(parse_count("--seed", "18446744073709551615", 0, kMax), kMax);
  EXPECT_EQ(parse_count("--align", "64", 4, 64), 64U);
  for (const char* const text : {"", "-1", "+1", " 1", "1 ", "0x10", "1e3", "1.0", "18446744073709551616", "seven"}) {
    EXPECT_THAT(refusal([&] { parse_count("--seed", text, 0, kMax); }),
                AllOf(HasSubstr("--seed is '" + std::string(text) + "'"), HasSubstr("0 to 18446744073709551615")))
        << text;
  }
  EXPECT_THAT(refusal([] { parse_count("--align", "65", 4, 64); }), HasSubstr("from 4 to 64"));
  EXPECT_THAT(refusal([] { parse_count("--align", "3", 4, 64); }), HasSubstr("from 4 to 64"));
}

TEST(Seconds, AreNotNegative) {
  EXPECT_EQ(parse_seconds("--time", "0"), 0);
  EXPECT_EQ(parse_seconds("--time", "30"), 30);
  EXPECT_EQ(parse_seconds("--time", "0.5"), 0.5);
  for (const char* const text : {"", "-1", "inf", "nan", "1s", "1e9", " 1"}) {
    EXPECT_THAT(refusal([&] { parse_seconds("--time", text); }), HasSubstr("--time is '" + std::string(text) + "'"))
        << text;
  }
}

TEST(Lists, AreSeparatedByCommas) {
  EXPECT_THAT(parse_counts("--topk", "512,1024,2048", 0, 4096), ElementsAre(512, 1024, 2048));
  EXPECT_THAT(parse_counts("--topk", "0", 0, 4096), ElementsAre(0));
  for (const char* const text : {"", "1,", ",1", "1,,2", "1;2", "1, 2", "1,4097", "-1"}) {
    EXPECT_THAT(refusal([&] { parse_counts("--topk", text, 0, 4096); }),
                HasSubstr("--topk is '" + std::string(text) + "'"))
        << text;
  }
}

TEST(Variables, AreReadAndAnEmptyOneIsUnset) {
  const Environment environment = environment_of(
      {"HOME=/", "KVWITNESS_SEED=7", "KVWITNESS_CASES=0", "KVWITNESS_BACKEND=scalar", "KVWITNES_SEED=1"});
  EXPECT_EQ(environment.seed, 7U);
  EXPECT_EQ(environment.cases, 0);
  EXPECT_EQ(environment.backend, "scalar");
  const Environment empty = environment_of({"KVWITNESS_BACKEND=", "KVWITNESS_SEED=", "KVWITNESS_CASES="});
  EXPECT_FALSE(empty.backend || empty.seed || empty.cases);
  EXPECT_FALSE(environment_of({}).seed);
}

TEST(Variables, AMisspeltNameIsRefusedAndTheRightOnesAreListed) {
  for (const char* const entry : {"KVWITNESS_SEDE=7", "KVWITNESS_=1", "KVWITNESS_CASE=", "KVWITNESS_seed=1"}) {
    EXPECT_THAT(refusal([&] { environment_of({entry}); }),
                AllOf(HasSubstr("KVWITNESS_BACKEND"), HasSubstr("KVWITNESS_SEED"), HasSubstr("KVWITNESS_CASES")))
        << entry;
  }
}

TEST(Variables, AMalformedValueIsRefused) {
  for (const char* const entry : {"KVWITNESS_SEED= ", "KVWITNESS_SEED=-1", "KVWITNESS_CASES=many",
                                  "KVWITNESS_CASES=1000000001", "KVWITNESS_BACKEND=avx3"}) {
    const std::string text = entry;
    const std::string name = text.substr(0, text.find('='));
    EXPECT_THAT(refusal([&] { environment_of({entry}); }), HasSubstr(name)) << entry;
  }
  EXPECT_THAT(refusal([] { environment_of({"KVWITNESS_BACKEND=avx3"}); }),
              AllOf(HasSubstr("did you mean 'avx2'?"), HasSubstr("scalar, ssse3")));
}

TEST(Suggestions, NameTheNearestAndNothingThatIsFar) {
  const std::vector<std::string> names = {"scalar", "avx2", "cuda-block"};
  EXPECT_EQ(suggestion("scaler", names), "; did you mean 'scalar'?");
  EXPECT_EQ(suggestion("cuda_blok", names), "; did you mean 'cuda-block'?");
  EXPECT_EQ(suggestion("numpy", names), "");
}

TEST(Listings, ReadAsASentence) {
  EXPECT_EQ(listing(std::vector<std::string>{"a"}), "a");
  EXPECT_EQ(listing(std::vector<std::string>{"a", "b", "c"}), "a, b and c");
}

}  // namespace
}  // namespace kvwitness::harness::cli
