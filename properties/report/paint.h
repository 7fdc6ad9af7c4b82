// Colours of the text reports.
#ifndef PROPERTIES_REPORT_PAINT_H
#define PROPERTIES_REPORT_PAINT_H

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "properties/report/report.h"

namespace kvwitness::harness {

// As ECMA-48 numbers them.
inline constexpr std::string_view kRed = "31", kGreen = "32", kYellow = "33", kBold = "1";

inline std::string paint(const TextStyle& style, std::string_view colour, std::string_view text) {
  return style.colour ? fmt::format("\x1b[{}m{}\x1b[0m", colour, text) : std::string(text);
}

}  // namespace kvwitness::harness

#endif  // PROPERTIES_REPORT_PAINT_H
