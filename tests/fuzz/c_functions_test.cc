// The table of C functions against the headers that declare them.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <string>
#include <vector>

#include "fuzz/c_functions/c_function.h"
#include "fuzz/c_functions/refusal_rule.h"
#include "properties/case/status.h"

namespace kvwitness::fuzz {
namespace {

struct Parameter {
  std::string type;  // without blanks
  std::string name;
};
using Declarations = std::map<std::string, std::vector<Parameter>>;

std::string text_of(const std::string& file) {
  std::ifstream stream(std::string(KVWITNESS_SOURCE_FOLDER "/") + file);
  return {std::istreambuf_iterator<char>(stream), {}};
}

// The functions of a header that return a status, without the stream of a CUDA function.
Declarations declared_in(const std::string& header) {
  static const std::regex kComment(R"(/\*[\s\S]*?\*/)");
  static const std::regex kFunction(R"(kvw_status\s+(kvw_\w+)\(([^)]*)\);)");
  static const std::regex kParameter(R"(([\w\s]+?[\s*])\s*(\w+)\s*(?:,|$))");
  const std::string text = std::regex_replace(text_of(header), kComment, "");
  Declarations found;
  for (std::sregex_iterator function(text.begin(), text.end(), kFunction), end; function != end; ++function) {
    const std::string list = (*function)[2];
    std::vector<Parameter>& parameters = found[(*function)[1]];
    for (std::sregex_iterator each(list.begin(), list.end(), kParameter); each != end; ++each) {
      if ((*each)[2] != "stream") {
        parameters.push_back({std::regex_replace((*each)[1].str(), std::regex(R"(\s)"), ""), (*each)[2]});
      }
    }
  }
  return found;
}

// Whether an argument of this kind is passed as a parameter of this type.
bool fits(const std::string& type, const Argument& argument) {
  switch (argument.kind) {
    case ArgumentKind::kCount:
    case ArgumentKind::kStride:
    case ArgumentKind::kCapacity:
      return type == "int64_t";
    case ArgumentKind::kSeed:
      return type == "uint64_t";
    case ArgumentKind::kText:
      return type == "constchar*";
    case ArgumentKind::kLengths:
      return type == "constkvw_cuda_lengths*";
    default:
      break;
  }
  const std::string element = argument.element_bytes == 1   ? "uint8_t"
                              : argument.element_bytes == 4 ? "int32_t"
                                                            : "(int64_t|double)";
  const std::string qualifier = argument.kind == ArgumentKind::kInput ? "const" : "";
  return std::regex_match(type, std::regex(qualifier + element + R"(\*)"));
}

TEST(CFunctionsTest, TheTableHasEveryFunctionThatReturnsAStatusWithItsParameters) {
  Declarations declared = declared_in("lib/include/kvwitness/kvwitness.h");
  declared.merge(declared_in("kernels/include/kvwitness/kvwitness_cuda.h"));
  ASSERT_GT(declared.size(), 10U);
  for (const CFunction& function : c_functions()) {
    const auto found = declared.find(std::string(function.name));
    ASSERT_NE(found, declared.end()) << function.name << " is declared nowhere";
    const std::vector<Parameter>& parameters = found->second;
    ASSERT_EQ(function.arguments.size(), parameters.size()) << function.name;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      EXPECT_EQ(function.arguments[i].name, parameters[i].name) << function.name << ", parameter " << i;
      EXPECT_TRUE(fits(parameters[i].type, function.arguments[i]))
          << function.name << ": " << parameters[i].name << " is a " << parameters[i].type;
    }
    declared.erase(found);
  }
  for (const auto& [name, parameters] : declared) {
    ADD_FAILURE() << name << " is missing in fuzz/c_functions/c_functions.cc";
  }
}

TEST(CFunctionsTest, EveryOutputHasSeedsThatShareAFewBytesAtBothEnds) {
  const std::vector<std::string_view> backends = {"scalar"};
  std::map<std::string_view, int> refused;
  for (const Seed& seed : kRawCallForm.seeds_of({})) {
    if (!seed.name.starts_with("overlap-")) continue;
    const RawCall call = decode_raw_call(seed.bytes);
    EXPECT_EQ(ruling_of(call, backends).status, harness::status::kBufferOverlap) << seed.name;
    ++refused[function_of(call).name];
  }
  for (const CFunction& function : c_functions()) {
    const auto is_output = [](const Argument& argument) { return argument.kind == ArgumentKind::kOutput; };
    const bool has_other = function.pointers().size() > 1 && std::ranges::any_of(function.arguments, is_output);
    EXPECT_GE(refused[function.name], has_other ? 16 : 0) << function.name << ": 8 distances at each end";
  }
}

TEST(CFunctionsTest, ThePlainCallOfEachIsLegalAndReachesItsBuffers) {
  const std::vector<std::string_view> backends = {"scalar"};
  const std::vector<Seed> seeds = kRawCallForm.seeds_of({});
  ASSERT_GE(seeds.size(), c_functions().size());
  for (std::size_t number = 0; number < c_functions().size(); ++number) {
    const RawCall call = decode_raw_call(seeds[number].bytes);
    const CFunction& function = function_of(call);
    EXPECT_EQ(&function, &c_functions()[number]);
    EXPECT_EQ(function_number(function.name), number);
    const Ruling ruling = ruling_of(call, backends);
    EXPECT_EQ(ruling.status, harness::status::kOk) << function.name << ": " << ruling.argument;
    EXPECT_EQ(ruling.launches, function.is_cuda()) << function.name;
    for (const std::vector<Reach>& reached : {ruling.reads, ruling.writes}) {
      for (const Reach& reach : reached) {
        EXPECT_GT(reach.bytes, 0U) << function.name;
        EXPECT_LE(static_cast<std::size_t>(reach.pointer) + static_cast<std::size_t>(reach.bytes), kArenaBytes);
      }
    }
  }
}

}  // namespace
}  // namespace kvwitness::fuzz
