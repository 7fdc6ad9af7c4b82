// Entries of a report, read by a program as a person would read them.
#ifndef TESTS_PROPERTIES_REPORT_ENTRIES_H
#define TESTS_PROPERTIES_REPORT_ENTRIES_H

#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "properties/report/failure_groups.h"

namespace kvwitness::harness {

// What is wrong with an entry of a report, by its text alone; "" for nothing.
inline std::string contradiction(const std::vector<Field>& fields) {
  std::string rule_gives, it_gave, first_difference;
  for (const Field& field : fields) {
    if (field.content.find(" 1 witnesses") != std::string::npos) return "1 witnesses";
    if (field.label == "the rule gives") rule_gives = field.content;
    if (field.label == "it gave") it_gave = field.content;
    if (field.label == "first difference") first_difference = field.content;
  }
  if (rule_gives.empty()) return "";
  if (rule_gives == it_gave) return "both sides read " + rule_gives;
  // The first entry in which the two sides differ is the difference that the line above names.
  const auto values = [](const std::string& text, const char* word) {
    return std::atoll(text.c_str() + text.find(word) + std::string_view(word).size());
  };
  const long long expected = values(first_difference, "expected "), got = values(first_difference, "got ");
  const auto has = [](const std::string& row, long long value) {
    const std::string entry = std::to_string(value);
    for (std::size_t at = row.find(entry); at != std::string::npos; at = row.find(entry, at + 1)) {
      const char before = row[at - 1], after = row[at + entry.size()];
      if ((before == ' ' || before == '[') && (after == ',' || after == ']' || after == ' ')) return true;
    }
    return false;
  };
  if (expected == got) return "expected and got are one: " + first_difference;
  if (!has(rule_gives, expected)) return rule_gives + " lacks what was expected: " + first_difference;
  if (!has(it_gave, got)) return it_gave + " lacks what it gave: " + first_difference;
  return "";
}

// The first contradiction in the entries of an implementation's failures.
inline std::string contradiction(const ImplementationResult& result) {
  for (const FailureGroup& group : failure_groups(result)) {
    if (std::string wrong = contradiction(failure_fields(result, group, {})); !wrong.empty()) return wrong;
  }
  return "";
}

}  // namespace kvwitness::harness

#endif  // TESTS_PROPERTIES_REPORT_ENTRIES_H
