#include "properties/case/json_text.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

namespace kvwitness::harness {
namespace {

TEST(JsonTextTest, PlainTextIsPutInQuotes) {
  EXPECT_EQ(json_string(""), "\"\"");
  EXPECT_EQ(json_string("L=16, S=4"), "\"L=16, S=4\"");
}

TEST(JsonTextTest, QuotesBackslashesAndControlCharactersAreEscaped) {
  EXPECT_EQ(json_string("a\"b\\c"), R"("a\"b\\c")");
  EXPECT_EQ(json_string("a\nb\tc\rd"), R"("a\nb\tc\u000dd")");
  EXPECT_EQ(json_string(std::string_view("\0\x1F\x7F", 3)), R"("\u0000\u001f\u007f")");
}

TEST(JsonTextTest, CharactersOfEveryLengthStayAsTheyAre) {
  for (const std::string_view text : {"\u00E9", "\u20AC", "\uFFFD", "\U0001F600", "\U0010FFFF", "\u0800", "\uD7FF"}) {
    EXPECT_EQ(json_string(text), '"' + std::string(text) + '"');
  }
}

TEST(JsonTextTest, EachByteThatIsPartOfNoCharacterIsReplaced) {
  const std::string bad = "\uFFFD";
  EXPECT_EQ(json_string("a\xFFz"), "\"a" + bad + "z\"");
  EXPECT_EQ(json_string("\x80"), '"' + bad + '"');
  EXPECT_EQ(json_string("\xC3"), '"' + bad + '"');            // cut short
  EXPECT_EQ(json_string("\xC3\x28"), '"' + bad + "(\"");      // no second byte
  EXPECT_EQ(json_string("\xC0\xAF"), '"' + bad + bad + '"');  // an overlong slash
  EXPECT_EQ(json_string("\xE0\x9F\x80"), '"' + bad + bad + bad + '"');
  EXPECT_EQ(json_string("\xED\xA0\x80"), '"' + bad + bad + bad + '"');            // a surrogate
  EXPECT_EQ(json_string("\xF4\x90\x80\x80"), '"' + bad + bad + bad + bad + '"');  // above U+10FFFF
  EXPECT_EQ(json_string("\xE2\x82"), '"' + bad + bad + '"');
  EXPECT_EQ(json_string("\xE2\x82("), '"' + bad + bad + "(\"");
}

}  // namespace
}  // namespace kvwitness::harness
