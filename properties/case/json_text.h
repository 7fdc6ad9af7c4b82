// Text as JSON.
#ifndef PROPERTIES_CASE_JSON_TEXT_H
#define PROPERTIES_CASE_JSON_TEXT_H

#include <string>
#include <string_view>

namespace kvwitness::harness {

// `text` as a JSON string literal, quotes included: always valid JSON and valid UTF-8. Quotes, backslashes and control
// characters are escaped, UTF-8 stays as it is, and each byte that is part of no UTF-8 character becomes U+FFFD. Linear
// in the text.
std::string json_string(std::string_view text);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_CASE_JSON_TEXT_H
