// Text within markup.
#ifndef PROPERTIES_REPORT_MARKUP_H
#define PROPERTIES_REPORT_MARKUP_H

#include <string>
#include <string_view>

namespace kvwitness::harness {

// Text for an element or an attribute of XML or HTML: markup escaped, line ends and tabs as references, bytes that are no
// UTF-8 replaced, and every character that XML 1.0 does not have left out (https://www.w3.org/TR/xml/#charsets).
std::string escaped(std::string_view text);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_REPORT_MARKUP_H
