// Which fields of a failing case play no part in its failure.
#ifndef PROPERTIES_RUN_IRRELEVANT_FIELDS_H
#define PROPERTIES_RUN_IRRELEVANT_FIELDS_H

#include <kvwitness/case.h>

#include <functional>
#include <string>
#include <vector>

#include "properties/shrinking/shrinking.h"

namespace kvwitness::harness {

// The JSON keys of those for which every other value that was tried fails too. Only values are tried that keep the
// call's status; a few for each field.
std::vector<std::string> irrelevant_fields(const Case& failing, const std::function<Attempt(const Case&)>& attempt);

}  // namespace kvwitness::harness

#endif  // PROPERTIES_RUN_IRRELEVANT_FIELDS_H
