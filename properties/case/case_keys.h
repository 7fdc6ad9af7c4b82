// The keys of a case file: one table for the reader and the writer.
#ifndef PROPERTIES_CASE_CASE_KEYS_H
#define PROPERTIES_CASE_CASE_KEYS_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace kvwitness::harness {

// In the order in which they are written.
enum class Key : std::uint8_t {
  kVersion,
  kOperation,
  kTopk,
  kNumSegments,
  kLearnedKeep,
  kMaxReplacements,
  kContextLens,
  kLearned,
  kExpect,
  kNote,
  kAttention,
  kRowStride,
  kInPlace,
  kBaseOffset,
  kAfter,
};

struct KeyRule {
  std::string_view name;
  bool required;
  bool only_apply;
  std::string_view wanted;  // what its value must be, for a person
};

inline constexpr std::string_view kCount64 = "an integer from -9223372036854775808 to 9223372036854775807";

inline constexpr std::array<KeyRule, 15> kKeyRules = {{
    {"kvwitness_case", true, false, "1, the one version of the format"},
    {"operation", true, false, "\"witnesses\", \"apply\" or \"scatter\""},
    {"topk", true, false, kCount64},
    {"num_segments", true, false, kCount64},
    {"learned_keep", true, true, kCount64},
    {"max_replacements", true, true, kCount64},
    {"context_lens", true, false, "a list of integers from -2147483648 to 2147483647"},
    {"learned", true, false, "a list of integers from -2147483648 to 2147483647, or one such list a row"},
    {"expect", false, false, "{\"rows\": ...} or {\"refused\": NAME}"},
    {"note", false, false, "a string"},
    {"attention", false, false, "one list of finite, non-negative numbers a row"},
    {"row_stride", false, false, kCount64},
    {"in_place", false, true, "true, the one value it may have"},
    {"base_offset", false, false, "an integer from 0 to 15"},
    {"after", false, false, "a list of cases"},
}};

inline constexpr std::size_t index_of(Key key) {
  return static_cast<std::size_t>(key);
}
constexpr std::string_view name_of_key(Key key) {
  return kKeyRules[index_of(key)].name;
}

}  // namespace kvwitness::harness

#endif  // PROPERTIES_CASE_CASE_KEYS_H
