// Rows of tokens and contexts as text, for a person.
#ifndef PROPERTIES_REPORT_ROW_TEXT_H
#define PROPERTIES_REPORT_ROW_TEXT_H

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "properties/run/wrong_row.h"

namespace kvwitness::harness {

// "[0, 5, -1 x 509]": up to 16 slots one by one, a wider row by its runs of equal tokens. Of many runs those around `slot`
// and the ends are shown: "[3, 9, (40 slots), 7, 12, -1 x 3, (200 slots), 5]". O(slots).
std::string row_text(std::span<const std::int32_t> row, std::int64_t slot);

// One line of a picture: its label, and a character for each token of the context.
struct PictureLine {
  std::string_view label;
  std::string tokens;
};

// A wrong row as a picture of its context: the learned tokens, the witnesses that the rule gives and those that the
// implementation gave, one character a token.
struct Picture {
  std::vector<std::int64_t> edges;  // of each segment, ascending
  std::vector<PictureLine> lines;
  std::string legend;
};

// The longest context of which a picture is drawn.
inline constexpr std::int32_t kLongestPicture = 100;

// Nothing (no lines) for an empty row or a context above kLongestPicture tokens.
Picture picture_of(const WrongRow& wrong);

// The picture as text, a bar before each segment, in blocks of at most `width` columns, each line indented by `indent`
// blanks.
std::string render_picture(const Picture& picture, std::size_t width, std::size_t indent);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_REPORT_ROW_TEXT_H
