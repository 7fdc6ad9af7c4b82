// The numbers of a case file's text, found by a scan of its own: what the reader made of each can be held against it.
#ifndef FUZZ_INPUTS_JSON_NUMBERS_H
#define FUZZ_INPUTS_JSON_NUMBERS_H

#include <cstddef>
#include <string_view>
#include <vector>

namespace kvwitness::fuzz {

struct JsonNumber {
  std::size_t
      case_index;        // of the objects that are cases, in the order in which they open: a prior call behind its case
  std::string_view key;  // of that object; "expect" for the rows that a case expects
  std::string_view text;  // as it is written, a part of the scanned text
};

struct JsonNumbers {
  std::vector<JsonNumber> numbers;  // in the order of the text
  bool has_escaped_key = false;     // a key is written with an escape, so that `key` may not be its name
};

// Total: of text that is no JSON, what looks like a number. Linear in the text.
JsonNumbers json_numbers(std::string_view text);

}  // namespace kvwitness::fuzz

#endif  // FUZZ_INPUTS_JSON_NUMBERS_H
