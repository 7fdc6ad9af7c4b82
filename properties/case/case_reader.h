// One case of a text.
#ifndef PROPERTIES_CASE_CASE_READER_H
#define PROPERTIES_CASE_CASE_READER_H

#include <kvwitness/case.h>

#include <cstddef>
#include <expected>
#include <string_view>

namespace kvwitness::harness {

// Where the JSON library's lexer is in the text. It reads one character past a number before it reports it, so the line
// that counts is that of the last character read, not of the next one: a newline that ends a number then lies on the
// number's own line.
struct Cursor {
  const char* next;
  const char* end;
  std::size_t line = 1;  // of the last character read
  bool after_newline = false;

  void advance() {
    if (after_newline) {
      ++line;
    }
    after_newline = *next == '\n';
    ++next;
  }
};

// Reads the object that `cursor` stands before, and leaves the cursor behind it. `file` names the source in errors.
std::expected<Case, CaseError> read_case(Cursor& cursor, std::string_view file);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_CASE_CASE_READER_H
