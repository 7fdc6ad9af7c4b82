// The cells of the table of properties by implementations, for its text and its HTML form.
#ifndef PROPERTIES_REPORT_TABLE_CELLS_H
#define PROPERTIES_REPORT_TABLE_CELLS_H

#include <string>
#include <string_view>
#include <vector>

#include "properties/run/results.h"

namespace kvwitness::harness {

struct Cell {
  std::string text;         // "120 ok", "120 FAIL", "skipped", "no call", "unsupp."
  std::string_view colour;  // of paint.h; "": none
};
Cell cell_of(const PropertyResult& result);

// Properties in the order of their first mention.
std::vector<std::string> properties_of(const RunReport& report);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_REPORT_TABLE_CELLS_H
