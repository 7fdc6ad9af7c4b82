#include "fuzz/inputs/json_numbers.h"

#include <algorithm>

namespace kvwitness::fuzz {
namespace {

struct Open {
  bool is_object;
  std::size_t case_index;
  std::string_view key;
};

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

bool is_of_number(char c) {
  return (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
}

// Behind the string that begins at `at` with its quote.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size() && text[at] != '"'; ++at) {
    at += text[at] == '\\' ? 1 : 0;
  }
  return std::min(at + 1, text.size());
}

bool is_key(std::string_view text, std::size_t behind) {
  while (behind < text.size() && is_blank(text[behind])) {
    ++behind;
  }
  return behind < text.size() && text[behind] == ':';
}

}  // namespace

JsonNumbers json_numbers(std::string_view text) {
  JsonNumbers found;
  std::vector<Open> open;
  std::size_t cases = 0;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '"') {
      const std::size_t end = end_of_string(text, at);
      if (!open.empty() && open.back().is_object && is_key(text, end)) {
        const std::string_view name = text.substr(at + 1, std::max(end - at, std::size_t{2}) - 2);
        found.has_escaped_key = found.has_escaped_key || name.find('\\') != std::string_view::npos;
        // The rows of {"expect": {"rows": ...}} are the case's.
        open.back().key = open.back().key == "expect" && name == "rows" ? open.back().key : name;
      }
      at = end;
    } else if (c == '{' || c == '[') {
      const Open* const around = open.empty() ? nullptr : &open.back();
      const bool belongs_to_case = around != nullptr && (c == '[' || around->key == "expect");
      open.push_back(
          {c == '{', belongs_to_case ? around->case_index : cases, belongs_to_case ? around->key : std::string_view()});
      cases += c == '{' && !belongs_to_case ? 1 : 0;
      ++at;
    } else if (c == '}' || c == ']') {
      if (!open.empty()) {
        open.pop_back();
      }
      ++at;
    } else if (c == '-' || (c >= '0' && c <= '9')) {
      std::size_t end = at;
      while (end < text.size() && is_of_number(text[end])) {
        ++end;
      }
      const Open place = open.empty() ? Open{false, cases, {}} : open.back();
      found.numbers.push_back({place.case_index, place.key, text.substr(at, end - at)});
      at = end;
    } else {
      ++at;
    }
  }
  return found;
}

}  // namespace kvwitness::fuzz
