#include "properties/case/json_text.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kvwitness::harness {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

std::uint8_t byte_at(std::string_view text, std::size_t i) {
  return static_cast<std::uint8_t>(text[i]);
}

// The length of the UTF-8 character that begins `text`, or 0 where none does. The second byte's range is what rules out
// overlong forms, surrogates and code points above U+10FFFF (The Unicode Standard, table 3-7).
std::size_t utf8_length(std::string_view text) {
  const std::uint8_t lead = byte_at(text, 0);
  if (lead < 0x80) {
    return 1;
  }
  const std::size_t length = lead >= 0xC2 && lead <= 0xDF   ? 2
                             : lead >= 0xE0 && lead <= 0xEF ? 3
                             : lead >= 0xF0 && lead <= 0xF4 ? 4
                                                            : 0;
  if (length == 0 || text.size() < length) {
    return 0;
  }
  const std::uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const std::uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  if (byte_at(text, 1) < low || byte_at(text, 1) > high) {
    return 0;
  }
  for (std::size_t i = 2; i < length; ++i) {
    if ((byte_at(text, i) & 0xC0) != 0x80) {
      return 0;
    }
  }
  return length;
}

void append_ascii(std::string& out, char letter) {
  constexpr std::string_view kHex = "0123456789abcdef";
  if (letter == '"' || letter == '\\') {
    out += '\\';
    out += letter;
  } else if (letter == '\n') {
    out += "\\n";
  } else if (letter == '\t') {
    out += "\\t";
  } else if (letter < ' ' || letter == '\x7F') {
    const auto code = static_cast<std::uint8_t>(letter);
    out += "\\u00";
    out += kHex[code >> 4];
    out += kHex[code & 15];
  } else {
    out += letter;
  }
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) {
      out += kReplacement;
    } else if (length == 1) {
      append_ascii(out, text.front());
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out + '"';
}

}  // namespace kvwitness::harness
