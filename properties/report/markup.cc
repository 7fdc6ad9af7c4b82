#include "properties/report/markup.h"

#include <fmt/format.h>

#include <cstddef>

namespace kvwitness::harness {
namespace {

// The code point that starts at `text`, its length in bytes put into `length`; U+FFFD and 1 where the bytes are no
// UTF-8.
char32_t decode_utf8(std::string_view text, std::size_t& length) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  length = first < 0x80 ? 1 : first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0x80) return first;
  char32_t point = first & (0xffU >> (length + 1));
  bool valid = first >= 0xc2 && first < 0xf5 && text.size() >= length;
  for (std::size_t i = 1; valid && i < length; ++i) {
    valid = (byte(i) & 0xc0U) == 0x80;
    point = (point << 6) | (byte(i) & 0x3fU);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  valid = valid && point >= kLeast[length] && point <= 0x10ffff && (point < 0xd800 || point > 0xdfff);
  if (valid) return point;
  length = 1;
  return 0xfffd;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string result;
  for (std::size_t i = 0, length = 0; i < text.size(); i += length) {
    const char32_t point = decode_utf8(text.substr(i), length);
    if (point == 0xfffd) {
      result += "\xef\xbf\xbd";
    } else if (point == '&' || point == '<' || point == '>' || point == '"' || point == '\n' || point == '\t' ||
               point == '\r') {
      result += fmt::format("&#{};", static_cast<unsigned>(point));
    } else if (point >= 0x20 && point != 0xfffe && point != 0xffff) {
      result += text.substr(i, length);
    }
  }
  return result;
}

}  // namespace kvwitness::harness
