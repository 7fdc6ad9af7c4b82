// A case as it is read, and the checks that need the whole of it.
#ifndef PROPERTIES_CASE_CASE_DRAFT_H
#define PROPERTIES_CASE_CASE_DRAFT_H

#include <kvwitness/case.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "properties/case/case_keys.h"

namespace kvwitness::harness {

// A list of tokens as a file has it: flat, or one list a row. The first row and the first row of another width are
// enough to find the first row that is not `width` wide, once that is known.
struct TokenLists {
  std::vector<std::int32_t> values;
  bool flat = false;  // a number was seen
  std::size_t row_count = 0;
  std::size_t row_begin = 0;  // of the open row, in values
  std::size_t row_line = 0;
  struct Row {
    std::size_t index = 0;
    std::size_t width = 0;
    std::size_t line = 0;
  };
  Row first;
  std::optional<Row> odd;

  void open_row(std::size_t line) {
    row_begin = values.size();
    row_line = line;
  }
  void close_row() {
    const Row row{row_count, values.size() - row_begin, row_line};
    if (row_count == 0) {
      first = row;
    } else if (!odd && row.width != first.width) {
      odd = row;
    }
    ++row_count;
  }
  std::optional<Row> first_not_of_width(std::int64_t width) const {
    if (row_count > 0 && static_cast<std::int64_t>(first.width) != width) {
      return first;
    }
    return odd;
  }
};

struct CaseDraft {
  Case value;
  std::size_t line = 0;                                   // of its opening brace
  std::array<std::size_t, kKeyRules.size()> key_lines{};  // 0 where the key is absent
  TokenLists learned;
  std::string expect_key;  // "rows" or "refused" once read
  std::size_t expect_key_line = 0;
  TokenLists expected;
  std::vector<std::size_t> attention_lines;  // of each row's list

  bool has(Key wanted) const { return key_lines[index_of(wanted)] != 0; }
  std::size_t line_of(Key wanted) const { return key_lines[index_of(wanted)]; }
};

// What is wrong with a draft, and where.
struct DraftError {
  std::size_t line;
  std::string key;
  std::string what;
};

// Makes `draft.value` the whole case; nothing where it is right. To be called once, when all keys are read.
std::optional<DraftError> complete(CaseDraft& draft);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_CASE_CASE_DRAFT_H
