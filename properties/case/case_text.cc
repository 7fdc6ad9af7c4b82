// Case files: a text of cases one after another, and where it comes from.
#include <kvwitness/case.h>

#include <expected>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "properties/case/case_reader.h"

namespace kvwitness::harness {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

void skip_white_space(Cursor& cursor) {
  while (cursor.next != cursor.end && std::string_view(" \t\r\n").contains(*cursor.next)) {
    cursor.advance();
  }
}

std::expected<std::string, CaseError> read_text(const std::string& path) {
  std::string text;
  if (path == "-") {
    text.assign(std::istreambuf_iterator<char>(std::cin), {});
    return text;
  }
  std::ifstream stream(path, std::ios::binary);
  stream.peek();  // a folder opens and then cannot be read
  if (stream.is_open() && !stream.bad()) {
    stream.clear();
    text.assign(std::istreambuf_iterator<char>(stream), {});
    return text;
  }
  return std::unexpected(CaseError{.file = path, .line = 0, .key = "", .what = "cannot be read"});
}

}  // namespace

std::expected<std::vector<Case>, CaseError> parse_cases(std::string_view text, std::string_view file) {
  if (text.starts_with(kByteOrderMark)) {
    text.remove_prefix(kByteOrderMark.size());
  }
  Cursor cursor{.next = text.data(), .end = text.data() + text.size()};
  std::vector<Case> cases;
  for (skip_white_space(cursor); cursor.next != cursor.end; skip_white_space(cursor)) {
    auto value = read_case(cursor, file);
    if (!value) {
      return std::unexpected(std::move(value.error()));
    }
    cases.push_back(*std::move(value));
  }
  if (cases.empty()) {
    return std::unexpected(CaseError{.file = std::string(file), .line = 0, .key = "", .what = "holds no case"});
  }
  return cases;
}

std::expected<std::vector<Case>, CaseError> read_cases(const std::string& path) {
  auto text = read_text(path);
  if (!text) {
    return std::unexpected(std::move(text.error()));
  }
  return parse_cases(*text, path == "-" ? "standard input" : path);
}

}  // namespace kvwitness::harness
