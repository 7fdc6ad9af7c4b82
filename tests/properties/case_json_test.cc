#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <kvwitness/case.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "properties/case/status.h"

namespace kvwitness::harness {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kMax64 = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin64 = std::numeric_limits<std::int64_t>::min();
constexpr std::int32_t kMax32 = std::numeric_limits<std::int32_t>::max();
constexpr std::int32_t kMin32 = std::numeric_limits<std::int32_t>::min();

constexpr std::string_view kExample = R"({"kvwitness_case": 1, "operation": "apply", "topk": 4, "num_segments": 4,
 "learned_keep": 2, "max_replacements": 2,
 "context_lens": [16], "learned": [[0, 5, 9, -1]],
 "expect": {"rows": [[0, 5, 12, -1]]}, "note": "free text"}
)";

Case parse_one(std::string_view text) {
  auto cases = parse_cases(text, "test.jsonl");
  if (!cases) {
    ADD_FAILURE() << cases.error().message();
    return {};
  }
  EXPECT_EQ(cases->size(), 1U);
  return cases->front();
}

// The error of a text that must be refused.
CaseError error_of(std::string_view text) {
  const auto cases = parse_cases(text, "test.jsonl");
  if (cases) {
    ADD_FAILURE() << "accepted: " << text.substr(0, 300);
    return {};
  }
  return cases.error();
}

// A scatter case of one row with `tail` before its closing brace.
std::string scatter_with(std::string_view tail) {
  return R"({"kvwitness_case":1,"operation":"scatter","topk":2,"num_segments":2,"context_lens":[8],"learned":[[0,1]])" +
         std::string(tail) + "}";
}

// ---- What is read

TEST(CaseJsonTest, TheExampleOfTheFormatIsReadIntoItsFields) {
  const Case value = parse_one(kExample);
  EXPECT_EQ(value.operation, Operation::kApply);
  EXPECT_EQ(value.topk, 4);
  EXPECT_EQ(value.num_segments, 4);
  EXPECT_EQ(value.learned_keep, 2);
  EXPECT_EQ(value.max_replacements, 2);
  EXPECT_EQ(value.context_lens, (std::vector<std::int32_t>{16}));
  EXPECT_EQ(value.learned, (std::vector<std::int32_t>{0, 5, 9, -1}));
  EXPECT_EQ(value.form, Form::kNested);
  ASSERT_TRUE(value.expect.has_value());
  EXPECT_EQ(std::get<std::vector<std::int32_t>>(*value.expect), (std::vector<std::int32_t>{0, 5, 12, -1}));
  EXPECT_EQ(value.note, "free text");
  EXPECT_FALSE(value.row_stride.has_value());
  EXPECT_FALSE(value.in_place);
  EXPECT_EQ(value.base_offset, 0);
  EXPECT_FALSE(value.attention.has_value());
  EXPECT_TRUE(value.prior_calls.empty());
}

TEST(CaseJsonTest, TheMannerOfTheCallIsRead) {
  const Case value = parse_one(
      R"({"after":[{"kvwitness_case":1,"operation":"witnesses","topk":0,"num_segments":2,"context_lens":[3],"learned":[[]],
          "expect":{"rows":[[0,2]]},"note":"first"}],
          "base_offset":15,"in_place":true,"row_stride":-9223372036854775808,"attention":[[0.25,1,0]],
          "learned":[[0]],"context_lens":[3],"max_replacements":9223372036854775807,"learned_keep":0,"num_segments":64,"topk":1,
          "operation":"apply","kvwitness_case":1,"expect":{"refused":"negative count"}})");
  EXPECT_EQ(value.row_stride, kMin64);
  EXPECT_TRUE(value.in_place);
  EXPECT_EQ(value.base_offset, 15);
  EXPECT_EQ(value.max_replacements, kMax64);
  EXPECT_EQ(value.attention, (std::vector<std::vector<double>>{{0.25, 1, 0}}));
  EXPECT_EQ(std::get<std::int32_t>(*value.expect), status::kNegativeCount);
  ASSERT_EQ(value.prior_calls.size(), 1U);
  EXPECT_EQ(value.prior_calls[0].operation, Operation::kWitnesses);
  EXPECT_EQ(value.prior_calls[0].note, "first");
  EXPECT_EQ(std::get<std::vector<std::int32_t>>(*value.prior_calls[0].expect), (std::vector<std::int32_t>{0, 2}));
}

TEST(CaseJsonTest, ObjectsMayShareALineOrSpanMany) {
  const std::string one(kExample);
  for (const std::string& text : {one + one, one + scatter_with("") + scatter_with("") + "\r\n\t " + one,
                                  scatter_with("") + one + " \n\n", "\n\n \r\n" + one + one}) {
    const auto cases = parse_cases(text, "test");
    ASSERT_TRUE(cases.has_value()) << cases.error().message();
    EXPECT_GE(cases->size(), 2U);
  }
}

TEST(CaseJsonTest, AByteOrderMarkMayOpenTheFileAndNothingElse) {
  const std::string mark = "\xEF\xBB\xBF";
  EXPECT_EQ(parse_one(mark + std::string(kExample)), parse_one(kExample));
  const CaseError error = error_of(std::string(kExample) + mark + std::string(kExample));
  EXPECT_EQ(error.line, 5U);
  error_of(mark + mark + std::string(kExample));
  error_of(mark);
}

TEST(CaseJsonTest, CarriageReturnsBeforeNewlinesAreWhiteSpace) {
  std::string text;
  for (const char letter : kExample) {
    text += letter == '\n' ? std::string("\r\n") : std::string(1, letter);
  }
  EXPECT_EQ(parse_one(text), parse_one(kExample));
  text.replace(text.find("\"note\""), 6, "\"noet\"");
  EXPECT_EQ(error_of(text).line, 4U);
}

TEST(CaseJsonTest, NumbersReachBothEndsOfTheirRanges) {
  const Case value = parse_one(
      R"({"kvwitness_case":1,"operation":"apply","topk":9223372036854775807,"num_segments":-9223372036854775808,"learned_keep":-1,
          "max_replacements":9223372036854775807,"context_lens":[2147483647,-2147483648],"learned":[-2147483648,2147483647,-0]})");
  EXPECT_EQ(value.topk, kMax64);
  EXPECT_EQ(value.num_segments, kMin64);
  EXPECT_EQ(value.context_lens, (std::vector<std::int32_t>{kMax32, kMin32}));
  EXPECT_EQ(value.learned, (std::vector<std::int32_t>{kMin32, kMax32, 0}));
  EXPECT_EQ(value.form, Form::kFlat);
}

TEST(CaseJsonTest, EveryRefusalHasItsName) {
  for (std::int32_t number = 1; number < status::kCount; ++number) {
    const Case value = parse_one(scatter_with(R"(,"expect":{"refused":")" + std::string(status_name(number)) + "\"}"));
    EXPECT_EQ(std::get<std::int32_t>(*value.expect), number);
  }
}

// ---- What is refused, and where

struct BadText {
  std::string text;
  std::size_t line;
  std::string key;
  std::string what;
};

void expect_refused(const std::vector<BadText>& bad) {
  for (const BadText& example : bad) {
    const CaseError error = error_of(example.text);
    EXPECT_EQ(error.file, "test.jsonl");
    EXPECT_EQ(error.line, example.line) << example.text;
    EXPECT_EQ(error.key, example.key) << example.text;
    EXPECT_THAT(error.what, HasSubstr(example.what)) << example.text;
  }
}

TEST(CaseJsonTest, AnUnknownMissingOrRepeatedKeyIsNamedWithItsLine) {
  expect_refused({
      {scatter_with(",\n\"topK\":3"), 2, "\"topK\"", "unknown key"},
      {scatter_with(",\n\n\"\":3"), 3, "\"\"", "unknown key"},
      {scatter_with(",\n\"topk\"\n:\n2"), 2, "topk", "repeated key; it is first on line 1"},
      {scatter_with(R"(,"note":"a",)"
                    "\n\"note\":\"b\""),
       2, "note", "repeated key"},
      {"\n{\"kvwitness_case\":1,\n\"operation\":\"scatter\"}", 2, "topk", "missing key"},
      {"{}", 1, "kvwitness_case", "missing key"},
      {R"({"kvwitness_case":1,"operation":"apply","topk":1,"num_segments":1,"max_replacements":1,"context_lens":[],"learned":[]})",
       1, "learned_keep", "missing key"},
      {R"({"kvwitness_case":1,"operation":"apply","topk":1,"num_segments":1,"learned_keep":1,"context_lens":[],"learned":[]})",
       1, "max_replacements", "missing key"},
  });
}

TEST(CaseJsonTest, EachRequiredKeyIsMissedWhenItIsLeftOut) {
  const std::vector<std::string> fields = {R"("kvwitness_case":1)", R"("operation":"scatter")", R"("topk":2)",
                                           R"("num_segments":2)",   R"("context_lens":[8])",    R"("learned":[[0,1]])"};
  for (const std::string& left_out : fields) {
    std::string text = "{";
    for (const std::string& field : fields) {
      if (field != left_out) {
        text += (text.size() > 1 ? "," : "") + field;
      }
    }
    const CaseError error = error_of(text + "}");
    EXPECT_THAT(left_out, HasSubstr('"' + error.key + '"'));
    EXPECT_EQ(error.what, "missing key");
  }
}

TEST(CaseJsonTest, AKeyOfAnotherOperationIsNamedWithItsLineWhereverTheOperationStands) {
  expect_refused({
      {scatter_with(",\n\"learned_keep\":1"), 2, "learned_keep", "belongs only to apply, not to scatter"},
      {scatter_with(",\n\"max_replacements\":1\n"), 2, "max_replacements", "belongs only to apply"},
      {scatter_with(",\n\"in_place\":true"), 2, "in_place", "belongs only to apply"},
      {"{\"learned_keep\":0,\n\"kvwitness_case\":1,\"operation\":\"witnesses\",\"topk\":0,\"num_segments\":1,\"context_"
       "lens\":[],"
       "\"learned\":[]}",
       1, "learned_keep", "not to witnesses"},
  });
}

TEST(CaseJsonTest, AValueThatIsNoIntegerInRangeIsNamedWithTheLineOfTheNumber) {
  const std::string count = "must be an integer from -9223372036854775808 to 9223372036854775807, not ";
  const auto with = [](std::string_view topk, std::string_view lens, std::string_view learned) {
    return "{\"kvwitness_case\":1,\"operation\":\"scatter\",\"num_segments\":1,\n\"topk\":" + std::string(topk) +
           "\n,\"context_lens\":" + std::string(lens) + "\n,\"learned\":" + std::string(learned) + "\n}";
  };
  expect_refused({
      {with("1.5", "[]", "[]"), 2, "topk", count + "1.5"},
      {with("1.0", "[]", "[]"), 2, "topk", count + "1.0"},
      {with("1e2", "[]", "[]"), 2, "topk", count + "1e2"},
      {with("9223372036854775808", "[]", "[]"), 2, "topk", count + "9223372036854775808"},
      {with("-9223372036854775809", "[]", "[]"), 2, "topk", count + "-9223372036854775809"},
      {with("18446744073709551616", "[]", "[]"), 2, "topk", count + "18446744073709551616"},
      {with("1e999", "[]", "[]"), 2, "topk", "number overflow"},
      {with("\"2\"", "[]", "[]"), 2, "topk", count + "\"2\""},
      {with("true", "[]", "[]"), 2, "topk", count + "true"},
      {with("null", "[]", "[]"), 2, "topk", count + "null"},
      {with("[1]", "[]", "[]"), 2, "topk", count + "a list"},
      {with("{}", "[]", "[]"), 2, "topk", count + "an object"},
      {with("1", "[\n2147483648\n]", "[]"), 4, "context_lens", "from -2147483648 to 2147483647, not 2147483648"},
      {with("1", "[1,\n\n-2147483649]", "[]"), 5, "context_lens", "not -2147483649"},
      {with("1", "[1.0]", "[]"), 3, "context_lens", "not 1.0"},
      {with("1", "[[1]]", "[]"), 3, "context_lens", "not a list"},
      {with("1", "7", "[]"), 3, "context_lens", "not 7"},
      {with("1", "[1]", "[[\n99999999999]]"), 5, "learned", "not 99999999999"},
      {with("1", "[1]", "[\"x\"]"), 4, "learned", "not \"x\""},
      {with("1", "[1]", "[null]"), 4, "learned", "not null"},
      {with("1", "[1]", "[[[1]]]"), 4, "learned", "not a list"},
      {with("1", "[1]", "[[1],\n1]"), 5, "learned", "mixes lists and integers"},
      {with("1", "[1]", "[1,\n[1]]"), 5, "learned", "not a list"},
      {with("1", "[1]", "{}"), 4, "learned", "not an object"},
      {scatter_with(",\n\"kvwitness_case\":2"), 2, "kvwitness_case", "repeated key"},
      {"{\"kvwitness_case\":2}", 1, "kvwitness_case", "must be 1, the one version of the format, not 2"},
      {"{\"kvwitness_case\":\"1\"}", 1, "kvwitness_case", "must be 1"},
      {"{\"kvwitness_case\":1.0}", 1, "kvwitness_case", "must be 1"},
      {"{\"operation\":\n\"Apply\"}", 2, "operation", "must be \"witnesses\", \"apply\" or \"scatter\", not \"Apply\""},
      {"{\"operation\":1}", 1, "operation", "not 1"},
      {scatter_with(",\"note\":\n3\n"), 2, "note", "must be a string, not 3"},
  });
}

TEST(CaseJsonTest, TheMannerOfTheCallHasItsLimits) {
  expect_refused({
      {scatter_with(",\"base_offset\":16"), 1, "base_offset", "must be an integer from 0 to 15, not 16"},
      {scatter_with(",\"base_offset\":-1"), 1, "base_offset", "not -1"},
      {scatter_with(",\"row_stride\":\n0.5"), 2, "row_stride", "not 0.5"},
      {scatter_with(",\"in_place\":false"), 1, "in_place", "must be true, the one value it may have, not false"},
      {scatter_with(",\"in_place\":1"), 1, "in_place", "not 1"},
      {scatter_with(",\"after\":{}"), 1, "after", "must be a list of cases, not an object"},
      {scatter_with(",\"after\":[1]"), 1, "after", "not 1"},
      {scatter_with(",\"after\":[[]]"), 1, "after", "not a list"},
      {scatter_with(",\"after\":[\n" + scatter_with(",\n\"after\":[]") + "]"), 3, "after[0].after",
       "no `after` of its own"},
      {scatter_with(",\"after\":[" + scatter_with("") + ",\n" + scatter_with(",\n\"x\":1") + "]"), 3, "after[1].\"x\"",
       "unknown key"},
      {scatter_with(",\"after\":[\n{\"kvwitness_case\":1}]"), 2, "after[0].operation", "missing key"},
  });
}

TEST(CaseJsonTest, ARowThatIsNotTopkWideIsNamedWithItsOwnLine) {
  const auto with = [](std::string_view lens, std::string_view learned) {
    return "{\"kvwitness_case\":1,\"operation\":\"scatter\",\"learned\":" + std::string(learned) +
           ",\n\"topk\":2,\"num_segments\":1,\"context_lens\":" + std::string(lens) + "}";
  };
  expect_refused({
      {with("[8,8]", "[[1,2],\n[3,4],\n[\n5]]"), 3, "learned", "row 2 has 1 entries, not topk = 2"},
      {with("[8,8]", "[\n[1,2,3],\n[3,4]]"), 2, "learned", "row 0 has 3 entries, not topk = 2"},
      {with("[8,8]", "[[1,2],\n[3],\n[4,5,6]]"), 2, "learned", "row 1 has 1 entries, not topk = 2"},
      {with("[8,8]", "[[1,2],\n[]]"), 2, "learned", "row 1 has 0 entries, not topk = 2"},
      {with("[]", "[[]]"), 1, "learned", "row 0 has 0 entries, not topk = 2"},
      {R"({"kvwitness_case":1,"operation":"scatter","topk":-1,"num_segments":1,"context_lens":[1],"learned":[[]]})", 1,
       "learned", "not topk = -1"},
      {R"({"kvwitness_case":1,"operation":"scatter","topk":0,"num_segments":1,"context_lens":[1,1],"learned":[[]]})", 1,
       "learned", "with topk 0 it is [] or one [] a row, and has 1 for 2 context lengths"},
  });
}

TEST(CaseJsonTest, AnotherNumberOfRowsIsNoErrorButAMalformedCall) {
  const Case value = parse_one(
      R"({"kvwitness_case":1,"operation":"scatter","topk":2,"num_segments":1,"context_lens":[8],"learned":[[1,2],[3,4]]})");
  EXPECT_EQ(value.rows(), 1);
  EXPECT_EQ(value.learned.size(), 4U);
  EXPECT_EQ(value.form, Form::kNested);
}

TEST(CaseJsonTest, AnExpectationThatIsNeitherRowsNorARefusalIsRefused) {
  expect_refused({
      {scatter_with(",\"expect\":{}"), 1, "expect", "not empty"},
      {scatter_with(",\"expect\":\n3"), 2, "expect", "must be {\"rows\": ...} or {\"refused\": NAME}, not 3"},
      {scatter_with(",\"expect\":[]"), 1, "expect", "not a list"},
      {scatter_with(",\"expect\":{\n\"row\":[]}"), 2, "expect.\"row\"", "unknown key"},
      {scatter_with(",\"expect\":{\"rows\":[[0,4]],\n\"rows\":[[0,4]]}"), 2, "expect.rows", "repeated key"},
      {scatter_with(",\"expect\":{\"rows\":[[0,4]],\n\"refused\":\"rows mismatch\"}"), 2, "expect.refused", "not both"},
      {scatter_with(",\"expect\":{\"refused\":\n\"no such\"}"), 2, "expect.refused", "name of a refusal"},
      {scatter_with(",\"expect\":{\"refused\":\"ok\"}"), 1, "expect.refused", "not \"ok\""},
      {scatter_with(",\"expect\":{\"refused\":1}"), 1, "expect.refused", "not 1"},
      {scatter_with(",\"expect\":{\"rows\":\n3}"), 2, "expect.rows", "not 3"},
      {scatter_with(",\"expect\":{\"rows\":{}}"), 1, "expect.rows", "not an object"},
      {scatter_with(",\"expect\":{\"rows\":[[0,1.5]]}"), 1, "expect.rows", "not 1.5"},
  });
}

TEST(CaseJsonTest, ExpectedRowsHaveTheFormOfTheResult) {
  const std::string flat =
      R"({"kvwitness_case":1,"operation":"scatter","topk":2,"num_segments":2,"context_lens":[8],"learned":[0,1],"expect":{"rows":)";
  const std::string witnesses =
      R"({"kvwitness_case":1,"operation":"witnesses","topk":1,"num_segments":3,"context_lens":[8,8],"learned":[[0],[1]],"expect":{"rows":)";
  expect_refused({
      {scatter_with(",\n\"expect\":{\"rows\":[0,4]}"), 2, "expect.rows", "same form"},
      {scatter_with(",\n\"expect\":{\"rows\":[[0,4],[0,4]]}"), 2, "expect.rows", "same form and number"},
      {scatter_with(",\"expect\":{\"rows\":\n[\n[0]]}"), 3, "expect.rows", "row 0 has 1 entries, not topk = 2"},
      {flat + "[[0,4]]}}", 1, "expect.rows", "same form"},
      {flat + "[0]}}", 1, "expect.rows", "has 1 entries, and learned 2"},
      {witnesses + "[[0,3,6]]}}", 1, "expect.rows", "for each of the 2 rows"},
      {witnesses + "[0,3,6,0,3,6]}}", 1, "expect.rows", "one list of num_segments entries"},
      {witnesses + "[[0,3,6],\n[0,3]]}}", 2, "expect.rows", "row 1 has 2 entries, not num_segments = 3"},
  });
  const std::string no_slots =
      R"({"kvwitness_case":1,"operation":"scatter","topk":0,"num_segments":2,"context_lens":[8,8],"learned":[[],[]],"expect":{"rows":)";
  expect_refused(
      {{no_slots + "[[]]}}", 1, "expect.rows", "same form"}, {no_slots + "[]}}", 1, "expect.rows", "same form"}});
  EXPECT_TRUE(std::get<0>(*parse_one(no_slots + "[[],[]]}}").expect).empty());
  EXPECT_EQ(std::get<0>(*parse_one(flat + "[0,4]}}").expect), (std::vector<std::int32_t>{0, 4}));
  EXPECT_EQ(std::get<0>(*parse_one(witnesses + "[[-1,3,6],[-1,3,6]]}}").expect).size(), 6U);
}

TEST(CaseJsonTest, AttentionIsOneListOfTheContextsLengthARow) {
  const auto with = [](std::string_view attention) {
    return "{\"kvwitness_case\":1,\"operation\":\"scatter\",\"topk\":1,\"num_segments\":1,\"context_lens\":[2,-3],"
           "\"learned\":[[0],[0]],"
           "\n\"attention\":" +
           std::string(attention) + "}";
  };
  expect_refused({
      {with("[[0.5,0.5]]"), 2, "attention", "has 1 lists for 2 context lengths"},
      {with("[[0.5,0.5],\n[1]]"), 3, "attention", "row 1 has 1 values for a context of 0"},
      {with("[\n[0.5],[]]"), 3, "attention", "row 0 has 1 values for a context of 2"},
      {with("[[0.5,\n-0.5],[]]"), 3, "attention", "finite, non-negative numbers a row, not -0.5"},
      {with("[[0.5,-1],[]]"), 2, "attention", "not -1"},
      {with("[[0.5,1e400],[]]"), 2, "attention", "number overflow"},
      {with("[[0.5,NaN],[]]"), 2, "attention", "not JSON"},
      {with("[[0.5,null],[]]"), 2, "attention", "not null"},
      {with("[0.5,0.5]"), 2, "attention", "not 0.5"},
      {with("[[[0.5]],[]]"), 2, "attention", "not a list"},
      {with("3"), 2, "attention", "not 3"},
  });
  EXPECT_EQ(parse_one(with("[[0,18446744073709551616],[]]")).attention->front(), (std::vector<double>{0, 0x1p64}));
}

TEST(CaseJsonTest, ATextThatIsNoJsonIsRefusedWithItsLine) {
  const std::string one = scatter_with("");
  expect_refused({
      {"", 0, "", "holds no case"},
      {" \n\n ", 0, "", "holds no case"},
      {"x", 1, "", "a case is a JSON object"},
      {"[]", 1, "", "a case is a JSON object"},
      {"\n3", 2, "", "a case is a JSON object"},
      {one + "\n,\n" + one, 2, "", "a case is a JSON object"},
      {one + "\n\n}", 3, "", "a case is a JSON object"},
      {one + std::string("\n\0", 2), 2, "", "a case is a JSON object"},
      {one + "\n// comment", 2, "", "a case is a JSON object"},
      {scatter_with(",\n"), 2, "learned", "not JSON"},
      {scatter_with(",\n'note':1"), 2, "learned", "not JSON"},
      {scatter_with(",\n/* */\"note\":\"\""), 2, "learned", "not JSON"},
      {scatter_with(",\"note\":\n\"\xFF\""), 2, "note", "not JSON"},
      {scatter_with(",\"note\":\n\"\xED\xA0\x80\""), 2, "note", "not JSON"},
      {scatter_with(",\"note\":\"\\ud800\""), 1, "note", "not JSON"},
      {scatter_with(",\"note\":\"a\nb\""), 1, "note", "not JSON"},
      {scatter_with(std::string(",\"note\":\"a\0b\"", 13)), 1, "note", "not JSON"},
      {scatter_with(",\"base_offset\":01"), 1, "base_offset", "not JSON"},
      {scatter_with(",\"base_offset\":+1"), 1, "base_offset", "not JSON"},
      {"{\"topk\":1,\n ", 2, "topk", "not JSON"},
      {"{\"context_lens\":[1,\n2", 2, "context_lens", "not JSON"},
  });
}

TEST(CaseJsonTest, DeepNestingIsAnErrorAndNoOverflow) {
  const std::string deep(1'000'000, '[');
  EXPECT_EQ(error_of("{\"learned\":" + deep).key, "learned");
  EXPECT_EQ(error_of("{\"x\":" + deep).key, "\"x\"");
  EXPECT_EQ(error_of(deep).line, 1U);
  std::string objects = "{";
  for (int i = 0; i < 100'000; ++i) {
    objects += "\"after\":[{";
  }
  EXPECT_EQ(error_of(objects).key, "after[0].after");
}

TEST(CaseJsonTest, AMessageNamesFileLineAndKeyAndStaysShort) {
  EXPECT_EQ(error_of(scatter_with(",\n\"x\":1")).message(), "test.jsonl:2: \"x\": unknown key");
  EXPECT_EQ(error_of("").message(), "test.jsonl: holds no case");
  const std::string long_text(100'000, 'y');
  EXPECT_LT(error_of(scatter_with(",\"" + long_text + "\":1")).message().size(), 400U);
  EXPECT_LT(error_of(scatter_with(",\"expect\":\"" + long_text + "\"")).message().size(), 400U);
  EXPECT_LT(error_of(scatter_with(",\"note\":\"" + long_text)).message().size(), 400U);
}

TEST(CaseJsonTest, ALegalCallBeyondTheLimitsIsAnErrorAndARefusedOneIsNot) {
  const auto text = [](std::string_view operation, std::string_view segments, std::string_view stride,
                       std::string_view lens) {
    return "{\"kvwitness_case\":1,\"operation\":\"" + std::string(operation) +
           "\",\"topk\":0,\n\"num_segments\":" + std::string(segments) + ",\n\"row_stride\":" + std::string(stride) +
           ",\"context_lens\":" + std::string(lens) + ",\"learned\":[]}";
  };
  expect_refused({
      {text("witnesses", "268435457", "0", "[1]"), 2, "num_segments",
       "would touch 268435457 elements of a buffer; at most 268435456"},
      {text("witnesses", "134217729", "0", "[1,1]"), 2, "num_segments", "would touch 268435458"},
      // Refused for its stride alone, so it is legal where an implementation has none.
      {text("witnesses", "268435457", "-1", "[1]"), 2, "num_segments", "would touch"},
      {R"({"kvwitness_case":1,"operation":"scatter","topk":1,"num_segments":1,"context_lens":[1,1],"learned":[[0],[0]],)"
       "\n\"row_stride\":68719476736}",
       2, "row_stride", "would span 68719476737 elements; at most 68719476736"},
  });
  for (
      const std::string& accepted : {
          text("witnesses", "268435456", "0", "[1]"),
          text("witnesses", "2305843009213693952", "0", "[1]"),
          text("witnesses", "-1", "0", "[1]"),
          text("witnesses", "268435457", "0", "[]"),
          text("scatter", "0", "99999999999999", "[1,1]"),
          std::string(
              R"({"kvwitness_case":1,"operation":"scatter","topk":4611686018427387904,"num_segments":1,"context_lens":[1],)"
              R"("learned":[0]})"),
          std::string(
              R"({"kvwitness_case":1,"operation":"scatter","topk":1,"num_segments":1,"context_lens":[1,1],"learned":[[0],[0]],)"
              R"("row_stride":68719476735})"),
          std::string(
              R"({"kvwitness_case":1,"operation":"scatter","topk":1,"num_segments":1,"context_lens":[1,1],"learned":[[0],[0]],)"
              R"("row_stride":2305843009213693952})"),
          std::string(
              R"({"kvwitness_case":1,"operation":"scatter","topk":1,"num_segments":65,"context_lens":[1,1],"learned":[[0],[0]],)"
              R"("row_stride":68719476737})"),
          std::string(
              R"({"kvwitness_case":1,"operation":"scatter","topk":1,"num_segments":1,"context_lens":[1],"learned":[[0]],)"
              R"("row_stride":9223372036854775807})"),
      }) {
    EXPECT_TRUE(parse_cases(accepted, "test").has_value()) << accepted;
  }
}

TEST(CaseJsonTest, PriorCallsThatTogetherTouchTooMuchAreAnErrorThatNamesTheFirstTooMuch) {
  const auto call = [](std::string_view segments, std::string_view more) {
    return "{\"kvwitness_case\":1,\"operation\":\"witnesses\",\"topk\":1,\"context_lens\":[1],\"learned\":[[0]],\n"
           "\"num_segments\":" +
           std::string(segments) + std::string(more) + "}";
  };
  const auto after = [&](std::string_view a, std::string_view b, std::string_view c) {
    return call("1", ",\"after\":[" + call(a, "") + "," + call(b, "") + "," + call(c, "") + "]");
  };
  expect_refused({
      {after("100000000", "1", "1"), 3, "after[0].num_segments",
       "the prior calls would touch 99999999 elements of buffers beyond the tokens that they list; together at most "
       "67108864"},
      {after("33554433", "1", "33554434"), 5, "after[2].num_segments", "would touch 67108865"},
  });
  // As many as may be, and calls that are refused and touch nothing.
  EXPECT_TRUE(parse_cases(after("33554433", "1", "33554433"), "test").has_value());
  EXPECT_TRUE(parse_cases(after("0", "-1", "2305843009213693952"), "test").has_value());
}

TEST(CaseJsonTest, AFileIsReadAndOneThatCannotBeReadIsSaid) {
  const auto folder = std::filesystem::path(testing::TempDir());
  const std::string path = (folder / "kvwitness_case_json_test.jsonl").string();
  std::ofstream(path) << kExample;
  const auto cases = read_cases(path);
  ASSERT_TRUE(cases.has_value()) << cases.error().message();
  EXPECT_EQ(cases->front(), parse_one(kExample));
  std::ofstream(path) << "{";
  EXPECT_EQ(read_cases(path).error().file, path);
  std::filesystem::remove(path);
  for (const std::string& unreadable : {path, folder.string()}) {
    const auto nothing = read_cases(unreadable);
    ASSERT_FALSE(nothing.has_value());
    EXPECT_EQ(nothing.error().message(), unreadable + ": cannot be read");
  }
}

// ---- Writing, and reading back

void expect_round_trip(const Case& value) {
  const std::string text = to_json(value);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const auto again = parse_cases(text, "again");
  ASSERT_TRUE(again.has_value()) << again.error().message() << "\n" << text;
  ASSERT_EQ(again->size(), 1U);
  EXPECT_EQ(again->front(), value) << text;
  EXPECT_EQ(to_json(again->front()), text);
}

TEST(CaseJsonTest, ACaseIsWrittenOnOneLineInTheOrderOfTheFormat) {
  EXPECT_EQ(
      to_json(parse_one(kExample)),
      R"({"kvwitness_case":1,"operation":"apply","topk":4,"num_segments":4,"learned_keep":2,"max_replacements":2,)"
      R"("context_lens":[16],"learned":[[0,5,9,-1]],"expect":{"rows":[[0,5,12,-1]]},"note":"free text"})");
  Case value = parse_one(scatter_with(""));
  value.row_stride = 7;
  value.base_offset = 3;
  value.attention = {{0, 0.5, 1, 1e-300, 2, 3, 4, 5}};
  value.prior_calls = {value};
  value.expect = Expectation(status::kRowsMismatch);
  const std::string head =
      R"({"kvwitness_case":1,"operation":"scatter","topk":2,"num_segments":2,"context_lens":[8],"learned":[[0,1]])";
  const std::string manner = R"("attention":[[0,0.5,1,1e-300,2,3,4,5]],"row_stride":7,"base_offset":3)";
  EXPECT_EQ(to_json(value), head + R"(,"expect":{"refused":"rows mismatch"},)" + manner + R"(,"after":[)" + head + "," +
                                manner + "}]}");
  std::ostringstream stream;
  stream << value;
  EXPECT_EQ(stream.str(), to_json(value));
}

TEST(CaseJsonTest, TheFormsOfLearnedRoundTrip) {
  Case value = parse_one(scatter_with(""));
  expect_round_trip(value);
  value.form = Form::kFlat;
  EXPECT_THAT(to_json(value), HasSubstr("\"learned\":[0,1]"));
  expect_round_trip(value);
  value.expect = Expectation(std::vector<std::int32_t>{0, 4});
  expect_round_trip(value);
  value.form = Form::kNested;
  expect_round_trip(value);
  value.expect.reset();

  value.learned = {0, 1, 2};  // cannot be nested
  EXPECT_THAT(to_json(value), HasSubstr("\"learned\":[0,1,2]"));
  expect_round_trip(value);
  value.learned = {0, 1, 2, 3};  // a row too many
  EXPECT_THAT(to_json(value), HasSubstr("\"learned\":[[0,1],[2,3]]"));
  expect_round_trip(value);
  value.topk = -2;
  expect_round_trip(value);
}

TEST(CaseJsonTest, ZeroRowsAndZeroTopkRoundTripInBothForms) {
  for (const Operation operation : {Operation::kWitnesses, Operation::kApply, Operation::kScatter}) {
    for (const Form form : {Form::kNested, Form::kFlat}) {
      for (const std::int64_t topk : {0, 3, -1}) {
        for (const std::size_t rows : {0U, 1U, 3U}) {
          Case value;
          value.operation = operation;
          value.form = form;
          value.topk = topk;
          value.num_segments = 1;
          value.context_lens.assign(rows, 4);
          expect_round_trip(value);
          if (topk == 0 || rows == 0) {
            value.expect = Expectation(std::vector<std::int32_t>(operation == Operation::kWitnesses ? rows : 0, 0));
            expect_round_trip(value);
          }
        }
      }
    }
  }
  Case two_rows;
  two_rows.context_lens = {1, 1};
  EXPECT_THAT(to_json(two_rows), HasSubstr("\"learned\":[[],[]]"));
  two_rows.form = Form::kFlat;
  EXPECT_THAT(to_json(two_rows), HasSubstr("\"learned\":[]"));
}

TEST(CaseJsonTest, FormsThatAreWrittenAlikeAreEqualAndOthersAreNot) {
  Case nested;
  nested.topk = 0;
  nested.context_lens = {1};
  Case flat = nested;
  flat.form = Form::kFlat;
  EXPECT_NE(nested, flat);
  nested.topk = flat.topk = 2;
  EXPECT_EQ(nested, flat);
  nested.learned = flat.learned = {1, 2};
  EXPECT_NE(nested, flat);
  nested.learned = flat.learned = {1};
  EXPECT_EQ(nested, flat);
}

TEST(CaseJsonTest, EveryFieldOfACaseCountsInItsEquality) {
  const Case value = parse_one(kExample);
  const std::vector<void (*)(Case&)> changes = {
      [](Case& c) { c.operation = Operation::kScatter; },
      [](Case& c) { ++c.topk; },
      [](Case& c) { ++c.num_segments; },
      [](Case& c) { ++c.learned_keep; },
      [](Case& c) { ++c.max_replacements; },
      [](Case& c) { ++c.context_lens[0]; },
      [](Case& c) { ++c.learned[3]; },
      [](Case& c) { c.form = Form::kFlat; },
      [](Case& c) { c.row_stride = 4; },
      [](Case& c) { c.in_place = true; },
      [](Case& c) { c.base_offset = 1; },
      [](Case& c) { c.prior_calls.emplace_back(); },
      [](Case& c) { c.expect = Expectation(1); },
      [](Case& c) { c.expect.reset(); },
      [](Case& c) { c.note += "!"; },
      [](Case& c) { c.attention.emplace(); },
  };
  for (const auto& change : changes) {
    Case other = value;
    change(other);
    EXPECT_NE(other, value) << to_json(other);
  }
}

TEST(CaseJsonTest, AttentionRoundTripsToTheBit) {
  Case value = parse_one(scatter_with(""));
  value.context_lens = {12};
  value.attention = {{0.1, 1.0 / 3, 5e-324, std::numeric_limits<double>::max(), std::numeric_limits<double>::min(),
                      1e22, 9007199254740993.0, 18446744073709551615.0, 123456789012345680000.0,
                      std::nextafter(1.0, 2.0), 0, 2}};
  expect_round_trip(value);
}

TEST(CaseJsonTest, AnyNoteIsWrittenAsValidJson) {
  Case value = parse_one(scatter_with(""));
  value.note = "quote \" backslash \\ newline \n bell \a \u00E9 \U0001F600";
  expect_round_trip(value);
  value.note = "broken \xFF byte";
  const Case again = parse_one(to_json(value));
  EXPECT_EQ(again.note, "broken \uFFFD byte");
}

// ---- Damaged texts: an error or cases, never a crash

std::vector<std::string> texts_to_damage() {
  Case first =
      parse_one(scatter_with(R"(,"expect":{"rows":[[0,4]]},"note":"caf\u00e9","row_stride":4,"base_offset":2)"));
  first.attention = {{0.5, 1, 2e-3, 0, 0, 0, 0, 1}};
  first.prior_calls = {parse_one(
      R"({"kvwitness_case":1,"operation":"witnesses","topk":1,"num_segments":2,"context_lens":[3],"learned":[-7],"expect":{"rows":[[0,2]]}})")};
  return {std::string(kExample), to_json(first),
          "\xEF\xBB\xBF" + scatter_with(",\r\n\"expect\":{\"refused\":\"row stride\"}") + "\r\n{}"};
}

// Whatever the text, the reader answers; what it accepts it writes and reads again.
void expect_an_answer(const std::string& text, int& accepted) {
  const auto cases = parse_cases(text, "damaged");
  if (!cases) {
    ASSERT_FALSE(cases.error().what.empty());
    return;
  }
  ++accepted;
  for (const Case& value : *cases) {
    const auto again = parse_cases(to_json(value), "again");
    ASSERT_TRUE(again.has_value()) << again.error().message() << "\n" << text;
    ASSERT_EQ(again->front(), value) << text;
  }
}

TEST(CaseJsonTest, ATextCutAtAnyByteIsRefusedUntilItsCaseIsWhole) {
  for (const std::string& text : texts_to_damage()) {
    const std::size_t end = text.rfind('}');
    int accepted = 0;
    for (std::size_t size = 0; size <= end; ++size) {
      expect_an_answer(text.substr(0, size), accepted);
    }
    EXPECT_LE(accepted, 4) << text;  // the third text has a first case that is whole, and white space after it
  }
}

TEST(CaseJsonTest, ATextDamagedAtAnyByteGivesCasesOrAnError) {
  for (const std::string& text : texts_to_damage()) {
    int accepted = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
      for (const char letter : std::string("\0\x01\"{}[]:,.-+019eE \n\r\\u\x7F\x80\xC3\xFF", 26)) {
        std::string damaged = text;
        damaged[at] = letter;
        expect_an_answer(damaged, accepted);
        damaged.insert(at, 1, text[at]);
        expect_an_answer(damaged, accepted);
      }
      std::string shorter = text;
      expect_an_answer(shorter.erase(at, 1), accepted);
    }
    EXPECT_FALSE(HasFatalFailure());
  }
}

}  // namespace
}  // namespace kvwitness::harness
